#include "facts/compiled_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rules/sha256.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

// Merges another occurrence of the same program into `kept`.
void JoinPrograms(CompiledProgram program, CompiledProgram* kept) {
  if (program.where < kept->where) std::swap(program, *kept);
  kept->occurrences = SaturatingAdd(kept->occurrences, program.occurrences);
}

bool NeedsMore(const CompiledProgram& a, const CompiledProgram& b) {
  const double need = a.facts.Number("need_bytes").value_or(0);
  const double other = b.facts.Number("need_bytes").value_or(0);
  return need != other ? need > other : a.id < b.id;
}

}  // namespace

const Effect* ProgramEstimates::Find(std::string_view change) const {
  const auto found =
      std::find_if(changes.begin(), changes.end(), [&](const Effect& estimate) { return estimate.change == change; });
  return found == changes.end() ? nullptr : &*found;
}

void MaskSecretsOf(ProgramEstimates* estimates) {
  const auto mask = [](std::optional<AxisLocation>* axis) {
    if (*axis) (*axis)->array = MaskSecrets((*axis)->array);
  };
  for (MemoryPart& part : estimates->memory) {
    for (auto& [module, bytes] : part.modules) module = MaskSecrets(module);
  }
  mask(&estimates->room.batch_axis);
  mask(&estimates->room.sequence_axis);
  for (Effect& effect : estimates->changes) mask(&effect.axis);
}

const CompiledAttempt* Recompilation::Best(const std::string& remedy, const Evidence& facts) const {
  const CompiledAttempt* best = nullptr;
  for (const CompiledAttempt& attempt : attempts) {
    if (attempt.remedy != remedy || !attempt.need_bytes) continue;
    if (Fits(attempt, facts)) return &attempt;
    if (best == nullptr || *attempt.need_bytes < *best->need_bytes) best = &attempt;
  }
  return best;
}

const CompiledAttempt* Recompilation::FittingPair(const std::string& remedy, const std::string& other,
                                                  const Evidence& facts) const {
  for (const std::string& pair : {remedy + "+" + other, other + "+" + remedy}) {
    if (const CompiledAttempt* best = Best(pair, facts); best != nullptr && Fits(*best, facts)) return best;
  }
  return nullptr;
}

std::int64_t Recompilation::Difference(const Evidence& facts) const {
  constexpr double kRounding = 0.001;  // logs print "20.42G"
  const auto unchanged = static_cast<double>(unchanged_bytes);
  const double need = facts.Number("need_bytes").value_or(unchanged);
  return std::abs(need - unchanged) <= kRounding * need ? 0 : static_cast<std::int64_t>(need) - unchanged_bytes;
}

std::int64_t Recompilation::NeedOf(const CompiledAttempt& attempt, const Evidence& facts) const {
  return std::max<std::int64_t>(0, *attempt.need_bytes + Difference(facts));
}

bool Recompilation::Fits(const CompiledAttempt& attempt, const Evidence& facts) const {
  const std::optional<double> limit = facts.Number("limit_bytes");
  return attempt.need_bytes && limit && static_cast<double>(NeedOf(attempt, facts)) <= *limit;
}

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

void ProgramTable::Join(ProgramTable other) {
  LeaveOut(other.left_out_);
  for (CompiledProgram& program : other.programs_) Add(std::move(program));
}

void ProgramTable::SetArtifact(const Artifact& artifact) {
  for (CompiledProgram& program : programs_)
    program.where.artifact = {BoundedPath(artifact.path), BoundedPath(artifact.member)};
}

}  // namespace whyoom
