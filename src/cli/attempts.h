// The changes to a dumped program that `whyoom try` compiles. Which ones a remedy has is rule data (`attempts`).
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
};

// Returns the attempts for this module, cheapest remedies first. `only`: remedies, each "ID" or "ID=SETTING"; empty:
// all. A setting is a compiler option (--name=value), a fitting level (JAX_MEMORY_FITTING_LEVEL=O3), an argument to
// donate or to keep on the host, or an argument or mesh axis to split. Throws Error if `only` names an unknown remedy,
// one that needs the program to be traced again, or an unusable setting.
std::vector<Attempt> MakeAttempts(const RuleSet& rules, const ModuleDescription& module,
                                  const std::vector<std::string>& only);

// Returns combinations of two attempts that save memory but do not fit alone, the largest savings first. `results` are
// those of `attempts`, in the same order. Combines two changes of one remedy only if they set compiler options.
std::vector<Attempt> MakePairs(const std::vector<Attempt>& attempts, const std::vector<CompiledAttempt>& results,
                               std::int64_t unchanged_bytes);

}  // namespace whyoom
