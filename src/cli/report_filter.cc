#include "cli/report_filter.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <string>
#include <system_error>

#include "cli/exit_status.h"
#include "cli/file_writer.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "report/unknown_errors.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

// Room for a hundred thousand failures. A device or a pipe may have no end.
constexpr std::size_t kLargestBaseline = std::size_t{16} << 20;

// What --baseline and --write-baseline both name is made by the first run.
Baseline ReadBaseline(const Options& options) {
  const std::string& path = options.baseline;
  std::error_code error;
  if (path.empty() || (path == options.write_baseline && !fs::exists(path, error))) return {};
  const std::unique_ptr<ByteSource> file = OpenFile(path);
  const std::string text = ReadUpTo(*file, kLargestBaseline + 1);
  if (!file->problem().empty())
    throw Error(fmt::format("--baseline {}: {}; --write-baseline makes one", Printable(path), file->problem()));
  if (text.size() > kLargestBaseline)
    throw Error(fmt::format("--baseline {}: it is larger than {}, so it is no baseline of whyoom", Printable(path),
                            FormatSize(kLargestBaseline)));
  return ParseBaseline(text, "--baseline " + path);
}

Selection SelectionOf(const char* option, const std::vector<std::string>& names, const RuleSource& rules) {
  return names.empty() ? Selection() : Selection(option, names, rules.rules());
}

}  // namespace

ReportFilter::ReportFilter(const Options& options, const RuleSource& rules)
    : options_(options),
      select_(SelectionOf("--select", options.select, rules)),
      ignore_(SelectionOf("--ignore", options.ignore, rules)),
      fail_on_(SelectionOf("--fail-on", options.fail_on, rules)),
      known_(ReadBaseline(options)) {}

// In doubt a failure is told of.
void ReportFilter::TakeOut(Report* report) const {
  std::erase_if(report->findings, [&](const Diagnosis& finding) {
    const bool unasked = (!select_.empty() && !select_.MayHold(finding)) || ignore_.Holds(finding);
    const bool known = !unasked && known_.contains(finding.id);
    PassedOver one;
    if (unasked) one.ignored.insert(finding.id);
    if (known) one.known.insert(finding.id);
    report->passed_over.Join(one);
    return unasked || known;
  });
}

void ReportFilter::Apply(Report* report) const {
  TakeOut(report);
  if (options_.write_baseline.empty()) return;
  // What was not read may hold what an older baseline knows.
  std::error_code error;
  if (!AllRead(*report) && fs::exists(options_.write_baseline, error)) {
    report->problems.push_back(
        {options_.write_baseline, "", "the baseline stays as it was, since not all inputs could be read", true});
    return;
  }
  Baseline all = known_;
  for (const Diagnosis& finding : report->findings) AddKnown(finding, &all);
  WriteFile(PrintBaseline(all), options_.write_baseline);
}

bool ReportFilter::Fails(const Report& report) const {
  if (report.strict && !UnknownErrors(report).empty()) return true;
  if (!options_.write_baseline.empty()) return false;
  return std::any_of(report.findings.begin(), report.findings.end(),
                     [&](const Diagnosis& finding) { return fail_on_.empty() || fail_on_.MayHold(finding); });
}

int ReportFilter::ExitStatus(const Report& report) const {
  if (options_.exit_zero) return kNothing;
  if (!AllRead(report)) return kNotAllRead;
  return Fails(report) ? kFound : kNothing;
}

}  // namespace whyoom
