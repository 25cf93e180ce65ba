#include "cli/report_filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <string>

#include "cli/exit_status.h"
#include "input/error.h"
#include "report/failure_view.h"
#include "report/record/fields.h"
#include "report/summary.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

Selection SelectionOf(const char* option, const std::vector<std::string>& names, const RuleSource& rules) {
  return names.empty() ? Selection() : Selection(option, names, rules.rules());
}

std::string WithoutBlanksAround(const std::string& text) {
  const std::size_t begin = text.find_first_not_of(' ');
  return begin == std::string::npos ? "" : text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

// The code and aliases of a failure.
std::vector<std::string> NamesOf(const FailureRule& rule) {
  std::vector<std::string> names = {rule.code};
  names.insert(names.end(), rule.aliases.begin(), rule.aliases.end());
  return names;
}

std::vector<std::string> KnownNames(const RuleSet& rules) {
  std::vector<std::string> known;
  for (const FailureRule& rule : rules.failures) {
    for (const std::string& name : NamesOf(rule)) {
      known.push_back(name);
      if (!rule.scenarios.empty()) known.push_back(name + kUndecidedSuffix);
      for (const Scenario& scenario : rule.scenarios) known.push_back(name + "." + scenario.id);
    }
  }
  return known;
}

[[noreturn]] void ThrowUnknown(const std::string& option, const std::string& name, std::vector<std::string> known) {
  std::erase_if(known, [](const std::string& each) { return each.ends_with(kUndecidedSuffix); });
  const std::string meant = DidYouMean(name, known);
  throw Error(fmt::format("{} {}: unknown code{} (`whyoom explain` lists the codes)", option, Printable(name),
                          meant.empty() ? "" : ", " + meant));
}

bool IsGlob(std::string_view text) {
  return !text.ends_with(kUndecidedSuffix) && text.find_first_of("*?") != std::string_view::npos;
}

bool Matches(std::string_view name, bool exact, std::string_view known) {
  if (IsGlob(name)) return fnmatch(std::string(name).c_str(), std::string(known).c_str(), FNM_NOESCAPE) == 0;
  if (!known.starts_with(name)) return false;
  return !exact || known.size() == name.size() || known[name.size()] == '.';
}

}  // namespace

ReportFilter::ReportFilter(const Options& options, const RuleSource& rules)
    : options_(options),
      select_(SelectionOf("--select", options.select, rules)),
      ignore_(SelectionOf("--ignore", options.ignore, rules)),
      fail_on_(SelectionOf("--fail-on", options.fail_on, rules)) {}

// If the scenario is not decided, reports the failure rather than hiding it.
void ReportFilter::Apply(Report* report) const {
  std::erase_if(report->failures, [&](const Failure& failure) {
    const bool is_hidden = (!select_.empty() && !select_.MayHold(failure)) || ignore_.Holds(failure);
    if (is_hidden) report->hidden.insert(failure.id);
    return is_hidden;
  });
}

bool ReportFilter::Fails(const Report& report) const {
  if (report.strict && !ProblemsByKind(report).unknown.empty()) return true;
  return std::any_of(report.failures.begin(), report.failures.end(),
                     [&](const Failure& failure) { return fail_on_.empty() || fail_on_.MayHold(failure); });
}

int ReportFilter::ExitStatus(const Report& report) const {
  if (options_.exit_zero) return kNothing;
  if (!AllRead(report)) return kUnreadInput;
  return Fails(report) ? kFound : kNothing;
}

Selection::Selection(const std::string& option, const std::vector<std::string>& names, const RuleSet& rules) {
  const std::vector<std::string> known = KnownNames(rules);
  for (const std::string& given : names) {
    const std::string name = WithoutBlanksAround(given);  // "E1000, 0100"
    if (IsId(name)) {
      names_.insert(name);
      continue;
    }
    const std::string lower = LowerAscii(name);
    const bool exact =
        std::any_of(known.begin(), known.end(), [&](const std::string& each) { return LowerAscii(each) == lower; });
    bool any = false;
    for (const std::string& each : known) {
      if (lower.empty() || !Matches(lower, exact, LowerAscii(each))) continue;
      names_.insert(each);
      any = true;
    }
    if (!any) ThrowUnknown(option, name, known);
  }
}

bool Selection::MatchesScenario(const FailureRule& rule, const Scenario* scenario) const {
  const std::string suffix = scenario != nullptr ? "." + scenario->id : rule.scenarios.empty() ? "" : kUndecidedSuffix;
  const std::vector<std::string> names = NamesOf(rule);
  return std::any_of(names.begin(), names.end(),
                     [&](const std::string& name) { return names_.contains(name) || names_.contains(name + suffix); });
}

bool Selection::Holds(const Failure& failure) const {
  return names_.contains(failure.id) || MatchesScenario(*failure.rule, failure.scenario) ||
         (!failure.candidates.empty() &&
          std::all_of(failure.candidates.begin(), failure.candidates.end(),
                      [&](const Scenario* candidate) { return MatchesScenario(*failure.rule, candidate); }));
}

bool Selection::MayHold(const Failure& failure) const {
  return names_.contains(failure.id) || MatchesScenario(*failure.rule, failure.scenario) ||
         std::any_of(failure.candidates.begin(), failure.candidates.end(),
                     [&](const Scenario* candidate) { return MatchesScenario(*failure.rule, candidate); });
}

}  // namespace whyoom
