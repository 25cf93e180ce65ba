#include "facts/compiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>
#include <utility>

#include "rules/sha256.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

// Merges another occurrence of the same program into `kept`.
void JoinPrograms(CompiledProgram program, CompiledProgram* kept) {
  if (program.where < kept->where) std::swap(program, *kept);
  kept->occurrences = SaturatingAdd(kept->occurrences, program.occurrences);
  kept->first_time = std::min(kept->first_time, program.first_time);  // an unknown time is the smallest
  if (!program.last_time) kept->last_time.reset();
  if (kept->last_time) kept->last_time = std::max(kept->last_time, program.last_time);
}

bool NeedsMore(const CompiledProgram& a, const CompiledProgram& b) {
  const auto key = [](const CompiledProgram& program) {
    return std::tuple(-program.facts.Number("need_bytes").value_or(0), std::string_view(program.id));
  };
  return key(a) < key(b);
}

}  // namespace

void Identify(CompiledProgram* program) {
  std::string text = program->basis + "\n";
  for (const auto& [name, fact] : program->facts.all()) {
    if (name == "limit_bytes" || name == "chip") continue;  // of the device, not the program
    const std::string* value = AsText(fact.value);
    text += name + "=" + (value != nullptr ? *value : fmt::format("{:.0f}", AsNumber(fact.value).value_or(0))) + "\n";
  }
  program->id = Sha256Hex(text).substr(0, 16);
}

void ProgramTable::Add(CompiledProgram program) {
  program.facts.MaskSecrets();
  for (Allocation& row : program.allocations) MaskSecretsOf(&row);
  if (program.estimates) MaskSecretsOf(&*program.estimates);
  const auto at = std::lower_bound(programs_.begin(), programs_.end(), program, NeedsMore);
  if (at != programs_.end() && !NeedsMore(program, *at)) return JoinPrograms(std::move(program), &*at);
  programs_.insert(at, std::move(program));
  if (programs_.size() <= kMost) return;
  LeaveOut(programs_.back().occurrences);
  programs_.pop_back();
}

void ProgramTable::LeaveOut(std::uint64_t occurrences) { left_out_ = SaturatingAdd(left_out_, occurrences); }

void ProgramTable::Join(ProgramTable other) {
  LeaveOut(other.left_out_);
  for (CompiledProgram& program : other.programs_) Add(std::move(program));
}

void ProgramTable::SetArtifact(const Artifact& artifact) {
  for (CompiledProgram& program : programs_)
    program.where.artifact = {BoundedPath(artifact.path), BoundedPath(artifact.member)};
}

std::vector<CompiledProgram> ProgramTable::Take() {
  left_out_ = 0;
  return std::exchange(programs_, {});
}

}  // namespace whyoom
