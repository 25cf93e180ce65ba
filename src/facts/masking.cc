#include "facts/masking.h"

#include <string>

#include "text/secrets.h"

namespace whyoom {
namespace {

void Mask(std::string* text) {
  if (!text->empty()) *text = MaskSecrets(*text);
}

void Mask(std::optional<AxisLocation>* axis) {
  if (!*axis) return;
  Mask(&(*axis)->array);
  Mask(&(*axis)->name);
}

}  // namespace

void MaskSecretsOf(Evidence* facts) {
  Evidence masked;
  for (const auto& [name, fact] : facts->all()) {
    const std::string* text = AsText(fact.value);
    if (text == nullptr) continue;
    if (std::string shown = MaskSecrets(*text); shown != *text) masked.Set(name, std::move(shown), fact.place);
  }
  for (const auto& [name, fact] : masked.all()) facts->Set(name, fact.value, fact.place, /*replace=*/true);
}

void MaskSecretsOf(std::vector<Allocation>* rows) {
  for (Allocation& row : *rows) {
    for (std::string* text : {&row.op_name, &row.source_file, &row.xla_label, &row.kind, &row.tag}) Mask(text);
  }
}

void MaskSecretsOf(std::optional<ProgramEstimates>* estimates) {
  if (!*estimates) return;
  for (MemoryPart& part : (*estimates)->memory) {
    for (auto& [module, bytes] : part.modules) Mask(&module);
  }
  Mask(&(*estimates)->room.batch_axis);
  Mask(&(*estimates)->room.sequence_axis);
  for (RemedyEstimate& estimate : (*estimates)->changes) Mask(&estimate.axis);
}

void MaskSecretsOf(std::vector<Problem>* problems) {
  for (Problem& problem : *problems) {
    for (std::string* text : {&problem.path, &problem.member, &problem.what, &problem.text}) Mask(text);
  }
}

}  // namespace whyoom
