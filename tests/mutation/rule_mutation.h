// Changes rules in one place after the other and looks whether anything notices: what nothing notices can be broken
// without anybody hearing of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "mutation/rule_mutants.h"
#include "read/engine.h"
#include "rules/rule_set.h"

namespace whyoom {

// What all is looked at to see a difference, beside the examples. `words`: it tells the words that are for people, and
// is asked about changes to these alone.
struct RuleWitness {
  std::function<std::string(const Engine&)> says;
  bool words = false;
};

struct TriedMutant {
  enum class End { kSurvived, kExample, kWitness, kRefused };
  RuleMutant mutant;
  End end = End::kSurvived;
};

// "remedies", "donate_buffers" of "/remedies/3/evidence/0" in a file.
struct RuleOwner {
  std::string section;
  std::string id;
};

RuleOwner OwnerOf(const std::string& pointer, const nlohmann::json& file);

struct MutationOptions {
  std::size_t jobs = 1;
  std::optional<std::size_t> sample;  // only so many, drawn by chance: by a digest of each and of the seed
  std::uint64_t seed = 1;
  std::string only;  // part of the name of a file, of an entry or of a kind; empty: all
  // Asked of each mutant that nothing noticed whether it does, all the same; from any thread. May be empty.
  std::function<bool(const RuleMutant&, const Engine&)> notices;
};

// `files` are mutated, in front of them stand `others`, which stay; together they are all rule data, and right.
// `examples` are files with nothing but examples, which need not be read for each mutant.
std::vector<TriedMutant> TryMutants(const std::vector<RuleFile>& others, const std::vector<RuleFile>& files,
                                    const std::vector<RuleFile>& examples, const std::vector<RuleWitness>& witnesses,
                                    const MutationOptions& options);

}  // namespace whyoom
