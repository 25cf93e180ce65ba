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

std::vector<const Problem*> ProblemsThat(const Report& report, bool are_unknown_errors) {
  std::vector<const Problem*> problems;
  for (const Problem& problem : report.problems) {
    if (problem.is_unknown_error() == are_unknown_errors && !problem.is_note_on_input()) problems.push_back(&problem);
  }
  return problems;
}

}  // namespace

std::vector<const Problem*> UnknownErrors(const Report& report) { return ProblemsThat(report, true); }

std::vector<const Problem*> UnreadInputs(const Report& report) { return ProblemsThat(report, false); }

std::uint64_t UnknownErrorsLeftOut(const Report& report) {
  const auto is_unknown = [](const Problem& problem) { return problem.is_unknown_error(); };
  return std::any_of(report.problems.begin(), report.problems.end(), is_unknown) ? report.problems_left_out : 0;
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

std::string ProblemText(const Problem& problem) {
  const std::string what = Printable(problem.what);
  return problem.path.empty() ? what : ArtifactText({problem.path, problem.member}) + ": " + what;
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
  const std::string none = report.hidden_failures.empty() ? "No" : "No other";
  return none + (all_known ? "" : " known") + " out-of-memory error found";
}

std::string HiddenText(const Report& report) {
  const auto& [ignored, known] = report.hidden_failures;
  std::string text;
  if (!known.empty()) text += Counted(known.size(), "failure", "failures") + " listed in the baseline";
  if (!ignored.empty())
    text += (text.empty() ? "" : ", and ") + Counted(ignored.size(), "failure", "failures") +
            " excluded by --select or --ignore";
  return text.empty() ? text : "Hidden: " + text + ".";
}

}  // namespace whyoom
