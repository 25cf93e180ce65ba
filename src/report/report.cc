#include "report/report.h"

#include <algorithm>
#include <tuple>

namespace whyoom {

namespace {
constexpr std::size_t kMostProblems = 10000;
}

void TakePrograms(FindingTable* table, const std::optional<double>& limit, Report* report) {
  report->programs_left_out = table->programs().left_out();
  report->programs = table->programs().Take();
  if (!limit) return;
  for (CompiledProgram& program : report->programs) program.facts.Set("limit_bytes", *limit, {});
}

void SortProblems(std::vector<Problem>* problems, std::uint64_t* left_out) {
  std::stable_sort(problems->begin(), problems->end(), [](const Problem& a, const Problem& b) {
    return std::tie(a.of_report, a.path, a.member, a.what) < std::tie(b.of_report, b.path, b.member, b.what);
  });
  const auto of_report = std::find_if(problems->begin(), problems->end(), [](const Problem& p) { return p.of_report; });
  const auto of_inputs = static_cast<std::size_t>(of_report - problems->begin());
  if (of_inputs <= kMostProblems) return;
  *left_out += of_inputs - kMostProblems;
  problems->erase(problems->begin() + kMostProblems, of_report);
}

void SortProblems(Report* report) { SortProblems(&report->problems, &report->problems_left_out); }

void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out) {
  if (problems->size() >= 4 * kMostProblems) SortProblems(problems, left_out);
}

}  // namespace whyoom
