// Tries the mutants of rules: a change that nothing detects could happen by mistake without anyone noticing.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mutation/rule_mutants.h"
#include "read/engine.h"
#include "rules/rule_compiler.h"

namespace whyoom {

// An output that may show a change to the rules that no example detects. If `words` is set, the output contains the
// texts for readers, and is compared only for changes to texts and lists.
struct RuleObserver {
  std::function<std::string(const Engine&)> says;
  bool words = false;
};

struct TriedMutant {
  enum class End { kSurvived, kExample, kObserver, kRefused };
  RuleMutant mutant;
  End end = End::kSurvived;
};

// The entry that contains the value at a JSON pointer: "remedies", "donate_buffers" for "/remedies/3/evidence/0".
struct RuleOwner {
  std::string section;
  std::string id;
};

RuleOwner OwnerOf(const std::string& pointer, const nlohmann::json& file);

struct MutationOptions {
  std::size_t jobs = 1;
  std::optional<std::size_t> sample;  // number of mutants to try, selected by a digest of each mutant and the seed
  std::uint64_t seed = 1;
  bool with_conclusions = false;  // try the cases of tests/examples/conclusions.json, too
  std::string only;               // part of the name of a file, entry or kind; empty: all
  // A last check of mutants that nothing else detected; called from any thread. May be empty.
  std::function<bool(const RuleMutant&, const Engine&)> detects;
};

// Mutates `files`. `others` precede them and are not changed; together they are valid rule data. `examples` are files
// with only examples, which are not parsed again for each mutant.
std::vector<TriedMutant> TryMutants(const std::vector<RuleFile>& others, const std::vector<RuleFile>& files,
                                    const std::vector<RuleFile>& examples, const std::vector<RuleObserver>& observers,
                                    const MutationOptions& options);

}  // namespace whyoom
