#include "facts/compiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>

#include "facts/masking.h"
#include "rules/sha256.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

// Facts that describe the device instead of the program.
constexpr const char* kNotOfProgram[] = {"limit_bytes", "chip"};

bool IsSooner(const std::optional<Timestamp>& a, const std::optional<Timestamp>& b) {
  return a && b && a->microseconds < b->microseconds;
}

// Merges another occurrence of the same program into `kept`.
void JoinPrograms(CompiledProgram program, CompiledProgram* kept) {
  if (CompareWhere(program.where, kept->where) < 0) std::swap(program, *kept);
  kept->occurrences = SaturatingAdd(kept->occurrences, program.occurrences);
  // If either time is unknown, the joined time is unknown.
  if (!program.first_time || IsSooner(program.first_time, kept->first_time)) kept->first_time = program.first_time;
  if (!program.last_time || (kept->last_time && !IsSooner(program.last_time, kept->last_time)))
    kept->last_time = program.last_time;
}

double NeedOf(const CompiledProgram& program) { return program.facts.Number("need_bytes").value_or(0); }

}  // namespace

void Identify(CompiledProgram* program) {
  std::string text = program->basis + "\n";
  for (const auto& [name, fact] : program->facts.all()) {
    if (std::find(std::begin(kNotOfProgram), std::end(kNotOfProgram), name) != std::end(kNotOfProgram)) continue;
    const std::string* value = AsText(fact.value);
    text += name + "=" + (value != nullptr ? *value : fmt::format("{:.0f}", AsNumber(fact.value).value_or(0))) + "\n";
  }
  program->id = Sha256Hex(text).substr(0, 16);
}

void ProgramTable::Add(CompiledProgram program) {
  MaskSecretsOf(&program.facts);
  MaskSecretsOf(&program.allocations);
  MaskSecretsOf(&program.estimates);
  const auto key = std::pair(-NeedOf(program), program.id);
  const auto same = programs_.find(key);
  if (same != programs_.end()) return JoinPrograms(std::move(program), &same->second);
  if (programs_.size() >= kMost && std::prev(programs_.end())->first < key) return LeaveOut(program.occurrences);
  programs_.emplace(key, std::move(program));
  if (programs_.size() <= kMost) return;
  const auto last = std::prev(programs_.end());
  LeaveOut(last->second.occurrences);
  programs_.erase(last);
}

void ProgramTable::AddFromArtifact(const Artifact& artifact, ProgramTable described) {
  LeaveOut(described.left_out_);
  for (CompiledProgram& program : described.Take()) {
    program.where.artifact = {BoundedPath(artifact.path), BoundedPath(artifact.member)};
    Add(std::move(program));
  }
}

void ProgramTable::LeaveOut(std::uint64_t occurrences) { left_out_ = SaturatingAdd(left_out_, occurrences); }

void ProgramTable::Join(ProgramTable other) {
  LeaveOut(other.left_out_);
  for (auto& [key, program] : other.programs_) Add(std::move(program));
}

std::vector<const CompiledProgram*> ProgramTable::programs() const {
  std::vector<const CompiledProgram*> all;
  for (const auto& [key, program] : programs_) all.push_back(&program);
  return all;
}

std::vector<CompiledProgram> ProgramTable::Take() {
  std::vector<CompiledProgram> all;
  for (auto& [key, program] : programs_) all.push_back(std::move(program));
  programs_.clear();
  left_out_ = 0;
  return all;
}

}  // namespace whyoom
