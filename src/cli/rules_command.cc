#include "cli/rules_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "cli/rules_mutate.h"
#include "cli/terminal.h"
#include "diagnose/rule_test.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "report/layout.h"
#include "report/text/explain_printer.h"
#include "rules/new_rule.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::string Listing(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += Printable(fault.ToString()) + "\n";
  return WithoutCommands(text);  // file names and keys may be another's, and a CI server may check them
}

int Check(const Options& options) {
  std::vector<Fault> faults;
  RuleSet::Load(RuleFiles(options.rules), &faults, RuleSet::BuiltInData::kChecked);
  if (faults.empty()) {
    WriteOutput("The rule data is in order. `whyoom rules test` runs its examples.\n", options.output);
    return kNothing;
  }
  WriteOutput(Listing(faults), options.output);
  return kCouldNotRun;
}

int New(const Options& options) {
  std::vector<std::string> message(options.new_rule.begin() + 1, options.new_rule.end());
  if (message.empty()) {
    if (InputIsTerminal()) throw Error("rules new: give the lines of the message, or pipe them in");
    constexpr std::size_t kMost = std::size_t{64} << 10;  // a message, not a log
    const std::string text = ReadUpTo(*OpenStandardInput(), kMost);
    for (std::size_t begin = 0; begin < text.size(); begin = std::min(text.find('\n', begin), text.size()) + 1)
      message.push_back(text.substr(begin, text.find('\n', begin) - begin));
  }
  for (std::string& line : message) line = Printable(line);
  if (LoadRules(options).FindFailure(options.new_rule[0]) != nullptr)
    throw Error(Printable(options.new_rule[0]) + " is there already: choose a code of your own");
  const std::string rule = NewRule(options.new_rule[0], message);
  std::vector<Fault> faults;
  std::vector<RuleFile> files = RuleFiles(options.rules);
  files.push_back({"the new rule", rule});
  RuleSet::Load(files, &faults, RuleSet::BuiltInData::kTrusted);
  if (!faults.empty()) throw Error("no rule can be made of this message:\n" + Listing(faults));
  WriteOutput(rule, options.output);
  return kNothing;
}

int Test(const Options& options) {
  const RuleTestResult result = TestRules(LoadRules(options, RuleSet::BuiltInData::kChecked));
  std::string text;
  for (const std::string& failure : result.Failures()) text += Printable(failure) + "\n";
  const int examples = result.reported + result.validated + result.noisy + result.missing;
  text += result.ok() ? fmt::format("{} examples, all right ({} that must match, {} that must not)\n", examples,
                                    result.reported, result.validated)
                      : fmt::format(
                            "{} examples: {} reported, {} validated, {} noisy (match and must not), {} missing (do not "
                            "match as they say)\n",
                            examples, result.reported, result.validated, result.noisy, result.missing);
  WriteOutput(WithoutCommands(text), options.output);
  return result.ok() ? kNothing : kFound;
}

}  // namespace

std::vector<RuleFile> RuleFiles(const std::vector<std::string>& paths) {
  std::vector<RuleFile> files;
  for (const std::string& path : paths) {
    std::vector<RuleFile> more = RuleSet::ReadFiles(path);
    files.insert(files.end(), more.begin(), more.end());
  }
  return files;
}

RuleSet LoadRules(const Options& options, RuleSet::BuiltInData built_in) {
  std::vector<Fault> faults;
  RuleSet rules = RuleSet::Load(RuleFiles(options.rules), &faults, built_in);
  if (!faults.empty())
    throw Error(fmt::format("the rule data has {} {}:\n{}", faults.size(), faults.size() == 1 ? "fault" : "faults",
                            Listing(faults)));
  return rules;
}

int RunRules(const Options& options, const TextOptions& text, const OutputFiles& outputs) {
  switch (options.command) {
    case Command::kRulesCheck:
      return Check(options);
    case Command::kRulesTest:
      return Test(options);
    case Command::kRulesMutate:
      return RunRulesMutate(options, outputs);
    case Command::kRulesNew:
      return New(options);
    case Command::kRulesLiterals:
      WriteOutput(ListLiterals(LoadRules(options)), options.output);
      return kNothing;
    case Command::kRulesSchema:
      WriteOutput(RuleSet::SchemaText(), options.output);
      return kNothing;
    default:
      WriteOutput(ListTopics(LoadRules(options), text), options.output);
      return kNothing;
  }
}

}  // namespace whyoom
