#include "input/artifact.h"

#include <algorithm>
#include <cstddef>
#include <string_view>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kMostProblems = 10000;

// Sorts by kind (unread inputs, notes, unknown errors), then by input and line. Problems of the report come last.
auto OrderOf(const Problem& problem) {
  return std::tuple(problem.of_report, std::string_view(problem.kind), std::string_view(problem.path),
                    std::string_view(problem.member), problem.text.empty(), problem.line,
                    std::string_view(problem.what));
}

}  // namespace

Problem UnknownError(std::uint64_t line, const std::string& text, std::uint64_t occurrences) {
  Problem problem;
  problem.kind = Problem::kUnknownError;
  problem.line = line;
  problem.text = text;
  problem.occurrences = occurrences;
  const std::string times = std::to_string(occurrences);
  if (text.empty()) {
    problem.what =
        times + (occurrences == 1 ? " more line" : " more lines") + " with a memory error that no rule knows";
  } else {
    problem.what = "line " + std::to_string(line) + ": memory error that no rule knows" +
                   (occurrences > 1 ? ", in " + times + " lines" : "") + ": " + text;
  }
  return problem;
}

void SortProblems(std::vector<Problem>* problems, std::uint64_t* left_out) {
  std::stable_sort(problems->begin(), problems->end(),
                   [](const Problem& a, const Problem& b) { return OrderOf(a) < OrderOf(b); });
  const auto of_report = std::find_if(problems->begin(), problems->end(), [](const Problem& p) { return p.of_report; });
  const auto of_inputs = static_cast<std::size_t>(of_report - problems->begin());
  if (of_inputs <= kMostProblems) return;
  *left_out += of_inputs - kMostProblems;
  problems->erase(problems->begin() + kMostProblems, of_report);
}

void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out) {
  if (problems->size() >= 4 * kMostProblems) SortProblems(problems, left_out);
}

}  // namespace whyoom
