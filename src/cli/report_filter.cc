#include "cli/report_filter.h"

#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <string>
#include <vector>

#include "cli/exit_status.h"
#include "input/error.h"
#include "report/failure_view.h"
#include "report/record/fields.h"
#include "report/summary.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Elements = std::vector<std::string>;  // of an option

bool IsMatch(const std::string& element, const std::string& name) {
  const auto matches = [&](const std::string& pattern) {
    return fnmatch(pattern.c_str(), name.c_str(), FNM_NOESCAPE | FNM_CASEFOLD) == 0;
  };
  return matches(element) || matches(element + ".*");
}

// The code and aliases of a failure.
std::vector<std::string> NamesOf(const FailureRule& rule) {
  std::vector<std::string> names = {rule.code};
  names.insert(names.end(), rule.aliases.begin(), rule.aliases.end());
  return names;
}

void ThrowIfUnknown(const char* option, const Elements& elements, const RuleSource& rules) {
  if (elements.empty()) return;
  std::vector<std::string> known;
  for (const FailureRule& rule : rules.rules().failures) {
    for (const std::string& name : NamesOf(rule)) {
      known.push_back(name);
      if (!rule.scenarios.empty()) known.push_back(name + kUndecidedSuffix);
      for (const Scenario& scenario : rule.scenarios) known.push_back(name + "." + scenario.id);
    }
  }
  for (const std::string& element : elements) {
    const auto matches = [&](const std::string& name) { return IsMatch(element, name); };
    if (IsId(element) || std::any_of(known.begin(), known.end(), matches)) continue;
    const std::string meant = DidYouMean(element, known);
    throw Error(fmt::format("{} {}: unknown code{} (`whyoom explain` lists the codes)", option, Printable(element),
                            meant.empty() ? "" : ", " + meant));
  }
}

// `scenario`: null if it is not decided.
bool MatchesScenario(const Elements& elements, const FailureRule& rule, const Scenario* scenario) {
  const std::string suffix = scenario != nullptr ? "." + scenario->id : rule.scenarios.empty() ? "" : kUndecidedSuffix;
  for (const std::string& name : NamesOf(rule)) {
    for (const std::string& element : elements) {
      const bool is_literal = element.ends_with(kUndecidedSuffix);
      if (is_literal ? LowerAscii(element) == LowerAscii(name + suffix)
                     : IsMatch(element, name) || IsMatch(element, name + suffix))
        return true;
    }
  }
  return false;
}

bool Matches(const Elements& elements, const Failure& failure, bool needs_all_candidates) {
  const auto matches = [&](const Scenario* scenario) { return MatchesScenario(elements, *failure.rule, scenario); };
  if (std::find(elements.begin(), elements.end(), failure.id) != elements.end() || matches(failure.scenario))
    return true;
  const auto count = std::count_if(failure.candidates.begin(), failure.candidates.end(), matches);
  return count > 0 && (!needs_all_candidates || count == std::ssize(failure.candidates));
}

}  // namespace

ReportFilter::ReportFilter(const Options& options, const RuleSource& rules) : options_(options) {
  ThrowIfUnknown("--select", options.select, rules);
  ThrowIfUnknown("--ignore", options.ignore, rules);
  ThrowIfUnknown("--fail-on", options.fail_on, rules);
}

void ReportFilter::Apply(Report* report) const {
  std::erase_if(report->failures, [&](const Failure& failure) {
    const bool is_hidden = (!options_.select.empty() && !Matches(options_.select, failure, false)) ||
                           Matches(options_.ignore, failure, true);
    if (is_hidden) report->hidden.insert(failure.id);
    return is_hidden;
  });
}

int ReportFilter::ExitStatus(const Report& report) const {
  if (options_.exit_zero) return kNothing;
  if (!AllRead(report)) return kUnreadInput;
  if (report.strict && !ProblemsByKind(report).unknown.empty()) return kFound;
  const bool fails = std::any_of(report.failures.begin(), report.failures.end(), [&](const Failure& failure) {
    return options_.fail_on.empty() || Matches(options_.fail_on, failure, false);
  });
  return fails ? kFound : kNothing;
}

}  // namespace whyoom
