// Compiles the user's own command with other settings, if its framework can compile ahead of time (`whyoom try --
// CMD`). Which commands and settings these are is rule data: `compiles_ahead` of a framework, `settings` of a remedy.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "cli/attempts.h"
#include "cli/compile_child.h"
#include "cli/recompile.h"

namespace whyoom {

// A setting whose largest value with which the program fits is to be found. With the current value it does not fit.
struct SettingSearch {
  std::string remedy;
  std::string name;        // "per_device_batch_size"
  std::int64_t value = 0;  // the current one

  Attempt With(std::int64_t other) const;
};

class CommandCompiler {
 public:
  // Borrows `rules` and `control`. Throws Error if the rule data does not know how to change this command.
  CommandCompiler(const RuleSet& rules, std::vector<std::string> command, const CompileLimits& limits,
                  const ReadControl& control);

  const std::string& framework() const { return framework_; }  // its id

  // Runs the command unchanged, to its end. Returns the folder of its XLA dump, which is removed with this object.
  // Throws Error if the command wrote no dump.
  const std::filesystem::path& RunUnchanged();

  // The attempts and searches for this command, in the order of `wanted`.
  std::vector<Attempt> Attempts(const std::vector<WantedRemedy>& wanted) const;
  std::vector<SettingSearch> Searches(const std::vector<WantedRemedy>& wanted) const;

  // Runs the command with the attempt's words, until the need of `module` is known. Call from any thread.
  CompileResult Compile(const Attempt& attempt, const std::string& module) const;

 private:
  std::vector<std::string> SettingsOf(const WantedRemedy& wanted) const;
  std::string Run(const std::vector<std::string>& words, const PrivateFolder& folder, const std::string& module) const;

  const std::vector<std::string> command_;
  const CompileLimits limits_;
  const ReadControl& control_;
  std::string framework_;  // id
  PrivateFolder unchanged_;
};

}  // namespace whyoom
