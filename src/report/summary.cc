#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "report/failure_view.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

void Count(const std::string& name, const std::string& title, std::uint64_t occurrences,
           std::map<std::string, Share>* shares) {
  Share& share = shares->try_emplace(name, Share{title}).first->second;
  ++share.failures;
  share.occurrences = SaturatingAdd(share.occurrences, occurrences);
}

}  // namespace

Summary Summarize(const Report& report) {
  Summary summary;
  summary.artifacts = report.artifacts;
  summary.bytes = report.bytes;
  summary.failures = report.failures.size();
  summary.programs = report.programs.size();
  summary.problems = SaturatingAdd(report.problems.size(), report.problems_left_out);
  Tally times;
  for (const Failure& failure : report.failures) {
    const std::uint64_t occurrences = failure.tally.occurrences();
    summary.occurrences = SaturatingAdd(summary.occurrences, occurrences);
    ++summary.by_code[failure.rule->code];
    Count(ScenarioName(failure), failure.scenario != nullptr ? failure.scenario->title : failure.rule->title,
          occurrences, &summary.by_scenario);
    if (!failure.remedies.empty()) {
      const Remedy& first = *failure.remedies.front().remedy;
      Count(first.id, first.title, occurrences, &summary.by_remedy);
    }
    times.AddTime(failure.tally.first_time);
    times.AddTime(failure.tally.last_time);
  }
  summary.first_time = times.first_time;
  summary.last_time = times.last_time;
  return summary;
}

// Problems are omitted from the end of the report, and unknown errors come last.
ProblemsByKind::ProblemsByKind(const Report& report) {
  for (const Problem& problem : report.problems)
    (problem.is_unknown_error() ? unknown : problem.is_note_on_input() ? notes : unread).push_back(&problem);
  (unknown.empty() ? unread_left_out : unknown_left_out) = report.problems_left_out;
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
  const auto add = [&](const std::vector<const Problem*>& problems, std::uint64_t left_out, bool is_unknown) {
    const bool is_cut = problems.size() > most || (left_out > 0 && problems.size() == most);
    const std::size_t shown = is_cut ? most - 1 : problems.size();
    for (std::size_t i = 0; i < shown; ++i) {
      const Problem& problem = *problems[i];
      remarks.push_back({is_unknown, &problem, problem.path.empty() ? "" : UnknownErrorPlace(problem),
                         is_unknown ? UnknownErrorText(problem) : Printable(problem.what)});
    }
    if (const std::uint64_t more = SaturatingAdd(problems.size() - shown, left_out); more > 0)
      remarks.push_back({is_unknown, nullptr, "", fmt::format("{} more; --format json lists them", more)});
  };
  const ProblemsByKind problems(report);
  add(problems.unknown, problems.unknown_left_out, true);
  add(problems.unread, problems.unread_left_out, false);
  return remarks;
}

bool AllRead(const std::vector<Problem>& problems) {
  return std::all_of(problems.begin(), problems.end(), [](const Problem& problem) {
    return problem.kind == Problem::kNote || problem.is_unknown_error();
  });
}

bool NothingRead(const Report& report) {
  return !report.problems.empty() && (report.artifacts == 0 || (report.bytes == 0 && !AllRead(report.problems)));
}

std::string NothingFoundText(const Report& report) {
  if (NothingRead(report)) return "Nothing could be read";
  return std::string(report.hidden.empty() ? "No" : "No other") +
         (ProblemsByKind(report).unknown.empty() ? "" : " known") + " out-of-memory error found";
}

std::string HiddenText(const Report& report) {
  if (report.hidden.empty()) return {};
  return "Hidden: " + Counted(report.hidden.size(), "failure", "failures") + " excluded by --ignore.";
}

}  // namespace whyoom
