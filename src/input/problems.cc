#include "input/problems.h"

#include <algorithm>
#include <cstddef>
#include <tuple>

namespace whyoom {
namespace {

constexpr std::size_t kMostProblems = 10000;

}  // namespace

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

void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out) {
  if (problems->size() >= 4 * kMostProblems) SortProblems(problems, left_out);
}

}  // namespace whyoom
