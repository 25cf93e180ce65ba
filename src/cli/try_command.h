// `whyoom try`: which remedies the compiler confirms, see cli/recompile.h.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/recompile.h"
#include "cli/run_context.h"
#include "facts/prospects.h"
#include "program/xla_dump.h"
#include "rules/rule_set.h"

namespace whyoom {

// A change to compile the program with.
struct Attempt {
  std::string remedy;   // id
  std::string setting;  // what to type: "LIBTPU_INIT_ARGS=--xla_tpu_pre_fusion_remat=true"
  ModuleChange change;
};

// What the rule data says to try of each remedy, made for this module; of the remedies in `only`, or of all if it is
// empty.
std::vector<Attempt> MakeAttempts(const RuleSet& rules, const ModuleDescription& module,
                                  const std::vector<std::string>& only);

// Compiles the module of the dump that failed (or needs most) again, unchanged and with each attempt. nullopt, and the
// reason in `problem`, if there is no such module, or it cannot be compiled.
std::optional<Recompilation> Recompile(const RunContext& run, const std::string& python, const XlaDump& dump,
                                       const ReadControl& control, std::string* problem);

// Diagnoses the dump, with what the compiler says of the remedies. Returns the exit status.
int RunTry(const RunContext& run);

}  // namespace whyoom
