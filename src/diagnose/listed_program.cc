#include "diagnose/listed_program.h"

#include <algorithm>
#include <cstddef>
#include <string_view>

#include "text/numbers.h"

namespace whyoom {
namespace {

ListedPart PartOf(const FindingScope& scope, std::size_t row) {
  const auto is = [&](std::string_view field) { return AsBool(scope.GetInRow(row, field)) == true; };
  if (is("is_constant")) return ListedPart::kConstant;
  if (is("is_plain_argument")) return ListedPart::kArgument;
  if (is("is_argument")) return ListedPart::kCopied;
  if (is("is_convert")) return ListedPart::kConverted;
  if (is("is_loop_residual")) return ListedPart::kStacked;
  if (is("in_backward")) return ListedPart::kBackward;
  return is("in_gradient") ? ListedPart::kForward : ListedPart::kOther;
}

std::int64_t Bytes(const Finding& finding, std::string_view fact) {
  return WholeBytes(std::max(0.0, finding.facts.Number(fact).value_or(0)));
}

}  // namespace

ListedProgram ListedOf(const Finding& finding, const FindingScope& scope) {
  ListedProgram listed;
  listed.need_bytes = Bytes(finding, "need_bytes");
  listed.arguments_bytes = Bytes(finding, "arguments_bytes");
  listed.fragmentation_bytes = Bytes(finding, "fragmentation_bytes");
  for (std::size_t row = 0; row < scope.row_count(); ++row) {
    const Allocation& allocation = scope.RowAt(row);
    if (!allocation.array || !allocation.size_bytes || allocation.kind == kRequested) continue;
    listed.values.push_back({*allocation.array, *allocation.size_bytes, PartOf(scope, row)});
  }
  return listed;
}

}  // namespace whyoom
