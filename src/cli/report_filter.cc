#include "cli/report_filter.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/exit_status.h"
#include "cli/file_writer.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "report/failure_view.h"
#include "report/unknown_errors.h"
#include "rules/suggest.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

// Enough for a hundred thousand failures. Bounds the memory, because a device or pipe may be endless.
constexpr std::size_t kLargestBaseline = std::size_t{16} << 20;

// Returns an empty baseline if --write-baseline names the same file and it does not exist yet: this run creates it.
Baseline ReadBaseline(const Options& options) {
  const std::string& path = options.baseline;
  std::error_code error;
  if (path.empty() || (path == options.write_baseline && !fs::exists(path, error))) return {};
  const std::unique_ptr<ByteSource> file = OpenFile(path);
  const std::string text = ReadUpTo(*file, kLargestBaseline + 1);
  if (!file->problem().empty())
    throw Error(fmt::format("--baseline {}: {} (create it with --write-baseline)", Printable(path), file->problem()));
  if (text.size() > kLargestBaseline)
    throw Error(fmt::format("--baseline {}: not a whyoom baseline (larger than {})", Printable(path),
                            FormatSize(kLargestBaseline)));
  return ParseBaseline(text, "--baseline " + path);
}

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

// Names the scenarios of the code, or else similar codes.
[[noreturn]] void ThrowUnknown(const std::string& option, const std::string& name, std::vector<std::string> known) {
  std::erase_if(known, [](const std::string& each) { return each.ends_with(kUndecidedSuffix); });
  const std::string code = LowerAscii(name.substr(0, name.rfind('.') + 1));  // with the point; empty if there is none
  std::vector<std::string> scenarios;
  for (const std::string& each : known) {
    if (!code.empty() && LowerAscii(each).starts_with(code)) scenarios.push_back(each);
  }
  if (!scenarios.empty())
    throw Error(
        fmt::format("{} {}: unknown scenario (expected {})", option, Printable(name), fmt::join(scenarios, ", ")));
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
      fail_on_(SelectionOf("--fail-on", options.fail_on, rules)),
      known_(ReadBaseline(options)) {}

// If the scenario is not decided, reports the failure rather than hiding it.
void ReportFilter::RemoveHidden(Report* report) const {
  std::erase_if(report->failures, [&](const Failure& failure) {
    const bool unasked = (!select_.empty() && !select_.MayHold(failure)) || ignore_.Holds(failure);
    const bool known = !unasked && known_.contains(failure.id);
    HiddenFailures one;
    if (unasked) one.ignored.insert(failure.id);
    if (known) one.known.insert(failure.id);
    report->hidden_failures.Join(one);
    return unasked || known;
  });
}

void ReportFilter::Apply(Report* report) const {
  RemoveHidden(report);
  if (options_.write_baseline.empty()) return;
  // Keep the old baseline, because an unread input may contain one of its failures.
  std::error_code error;
  if (!AllRead(*report) && fs::exists(options_.write_baseline, error)) {
    report->problems.push_back(
        {options_.write_baseline, "", "baseline not changed, because some inputs could not be read", true});
    return;
  }
  Baseline all = known_;
  for (const Failure& failure : report->failures) AddKnown(failure, &all);
  WriteFile(PrintBaseline(all), options_.write_baseline);
}

bool ReportFilter::Fails(const Report& report) const {
  if (report.strict && !UnknownErrors(report).empty()) return true;
  if (!options_.write_baseline.empty()) return false;
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
  return MatchesScenario(*failure.rule, failure.scenario) ||
         (!failure.candidates.empty() &&
          std::all_of(failure.candidates.begin(), failure.candidates.end(),
                      [&](const Scenario* candidate) { return MatchesScenario(*failure.rule, candidate); }));
}

bool Selection::MayHold(const Failure& failure) const {
  return MatchesScenario(*failure.rule, failure.scenario) ||
         std::any_of(failure.candidates.begin(), failure.candidates.end(),
                     [&](const Scenario* candidate) { return MatchesScenario(*failure.rule, candidate); });
}

}  // namespace whyoom
