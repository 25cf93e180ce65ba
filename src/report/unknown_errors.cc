#include "report/unknown_errors.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <unordered_map>

#include "read/candidate_errors.h"
#include "report/failure_view.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::vector<const Problem*> ProblemsThat(const Report& report, auto holds) {
  std::vector<const Problem*> problems;
  for (const Problem& problem : report.problems) {
    if (holds(problem)) problems.push_back(&problem);
  }
  return problems;
}

}  // namespace

std::vector<const Problem*> UnknownErrors(const Report& report) {
  return ProblemsThat(report, [](const Problem& problem) { return problem.is_unknown_error(); });
}

std::vector<const Problem*> NotesOnInputs(const Report& report) {
  return ProblemsThat(report, [](const Problem& problem) { return problem.is_note_on_input(); });
}

std::vector<const Problem*> UnreadInputs(const Report& report) {
  return ProblemsThat(
      report, [](const Problem& problem) { return !problem.is_unknown_error() && !problem.is_note_on_input(); });
}

std::uint64_t UnknownErrorsLeftOut(const Report& report) {
  return UnknownErrors(report).empty() ? 0 : report.problems_left_out;
}

std::uint64_t UnreadInputsLeftOut(const Report& report) {
  return report.problems_left_out - UnknownErrorsLeftOut(report);
}

std::string UnknownErrorPlace(const Problem& unknown) {
  const std::string artifact = ArtifactText({unknown.path, unknown.member});
  return unknown.line > 0 ? LineText(artifact, unknown.line) : artifact;
}

std::string UnknownErrorText(const Problem& unknown) {
  if (unknown.text.empty()) return Printable(unknown.what);
  const std::string text = Printable(unknown.text);
  return unknown.occurrences > 1 ? fmt::format("{} ({} times)", text, unknown.occurrences) : text;
}

std::vector<Remark> RemarksOf(const Report& report, std::size_t most) {
  std::vector<Remark> remarks;
  const auto add = [&](const std::vector<const Problem*>& problems, std::uint64_t left_out, const Remark& kind) {
    const bool is_cut = problems.size() > most || (left_out > 0 && problems.size() == most);
    const std::size_t shown = is_cut ? most - 1 : problems.size();
    for (std::size_t i = 0; i < shown; ++i) {
      const Problem& problem = *problems[i];
      remarks.push_back(kind);
      remarks.back().problem = &problem;
      if (!problem.path.empty()) remarks.back().place = UnknownErrorPlace(problem);
      remarks.back().text = kind.hint == nullptr ? Printable(problem.what) : UnknownErrorText(problem);
    }
    if (const std::uint64_t more = SaturatingAdd(problems.size() - shown, left_out); more > 0) {
      remarks.push_back(kind);
      remarks.back().text = fmt::format("{} more; --format json lists them", more);
    }
  };
  add(UnknownErrors(report), UnknownErrorsLeftOut(report),
      {kUnknownErrors, report.strict ? "error" : "warning", kRuleHint});
  add(UnreadInputs(report), UnreadInputsLeftOut(report), {"whyoom could not read everything", "warning"});
  return remarks;
}

bool AllRead(const Report& report) {
  const std::vector<const Problem*> unread = UnreadInputs(report);
  return std::all_of(unread.begin(), unread.end(), [](const Problem* each) { return each->kind == Problem::kNote; });
}

bool NothingRead(const Report& report) {
  return !report.problems.empty() && (report.artifacts == 0 || (report.bytes == 0 && !AllRead(report)));
}

std::string NothingFoundText(const Report& report) {
  if (NothingRead(report)) return "Nothing could be read";
  const bool all_known = UnknownErrors(report).empty();
  const std::string none = report.hidden.empty() ? "No" : "No other";
  return none + (all_known ? "" : " known") + " out-of-memory error found";
}

std::string HiddenText(const Report& report) {
  if (report.hidden.empty()) return {};
  return "Hidden: " + Counted(report.hidden.size(), "failure", "failures") + " excluded by --select or --ignore.";
}

}  // namespace whyoom
