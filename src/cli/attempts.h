// The changes to a program that `whyoom try` compiles. Which ones a remedy has is rule data: `attempts` for a dumped
// module, `settings` for a command that compiles ahead of time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/recompile.h"
#include "facts/program_estimates.h"
#include "rules/rule_set.h"

namespace whyoom {

struct Attempt {
  std::string remedy;   // id
  std::string setting;  // what the user types: "LIBTPU_INIT_ARGS=--xla_tpu_pre_fusion_remat=true"
  ModuleChange change;
  std::vector<std::string> words;  // to change in the user's command instead: "remat_policy=full"
};

// The part of "name=value" before the "=".
std::string SettingName(const std::string& word);

// An entry of --remedy: "ID" or "ID=SETTING".
struct WantedRemedy {
  const Remedy* remedy = nullptr;
  std::string setting;  // empty: all settings of the rule data
};

// Returns the remedies to try: those of `only`, or all, cheapest first. Throws Error if `only` names an unknown remedy
// or one without anything to try.
std::vector<WantedRemedy> WantedRemedies(const RuleSet& rules, const std::vector<std::string>& only);

// Returns the attempts for this module, in the order of `wanted`; of a remedy, the smallest changes first. A setting is
// a compiler option (--name=value), a fitting level (JAX_MEMORY_FITTING_LEVEL=O3), an argument to donate or to keep on
// the host, or an argument or mesh axis to split. Skips settings that this module cannot have.
std::vector<Attempt> MakeAttempts(const RuleSet& rules, const ModuleDescription& module,
                                  const std::vector<WantedRemedy>& wanted);

// Throws Error if one of the remedies, which the user asked for, has no attempt for a module.
void ThrowIfUnused(const std::vector<WantedRemedy>& wanted, const std::vector<Attempt>& attempts);

// Returns combinations of two attempts that do not fit alone, the largest savings first. `results` are those of
// `attempts`, in the same order; an attempt that saves less than `least_bytes` is not combined. Combines two changes of
// one remedy only if they set compiler options.
std::vector<Attempt> MakePairs(const std::vector<Attempt>& attempts, const std::vector<CompiledAttempt>& results,
                               std::int64_t unchanged_bytes, std::int64_t least_bytes);

}  // namespace whyoom
