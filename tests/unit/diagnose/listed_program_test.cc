// The rows of a report as values of a program.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/conclude.h"
#include "made_rows.h"

using namespace whyoom;

namespace TEST_FILE {

std::string PartName(ListedPart part) {
  switch (part) {
    case ListedPart::kArgument:
      return "argument";
    case ListedPart::kCopied:
      return "copied";
    case ListedPart::kConverted:
      return "converted";
    case ListedPart::kConstant:
      return "constant";
    case ListedPart::kStacked:
      return "stacked";
    case ListedPart::kForward:
      return "forward";
    case ListedPart::kBackward:
      return "backward";
    case ListedPart::kOther:
      return "other";
  }
  return "?";
}

Failure Make(std::vector<Allocation> rows) {
  Failure failure;
  failure.rule = BuiltInRules().FindFailure("E1000");
  failure.allocations = std::move(rows);
  return failure;
}

ListedProgram Listed(const Failure& failure) { return ToListedProgram(failure, FailureScope(BuiltInRules(), failure)); }

std::string PartOf(const std::string& op_name, const std::string& label, const std::string& kind = "HLO temp") {
  Failure failure = Make({MakeRow("f32[8,128]{1,0}", 4096, op_name, label)});
  failure.allocations[0].kind = kind;
  const ListedProgram listed = Listed(failure);
  REQUIRE(listed.values.size() == 1);
  return PartName(listed.values[0].part);
}

TEST_CASE("a row's part in the program is recognized by its operation", "[diagnose]") {
  CHECK(PartOf("", "", "parameter") == "argument");
  CHECK(PartOf("batch", "") == "argument");
  CHECK(PartOf("batch", "copy.1 = copy(param.1)") == "copied");
  CHECK(PartOf("jit(f)/convert_element_type", "%convert.1 = convert(%param.1)") == "converted");
  CHECK(PartOf("", "constant.1 = f32[8,128] constant({...})", "global") == "constant");
  CHECK(PartOf("", "custom-call(), custom_call_target=\"AllocateBuffer\"") == "stacked");
  CHECK(PartOf("jit(f)/jvp(g)/while/body/dynamic_update_slice", "%x = dynamic-update-slice(%a, %b)") == "stacked");
  CHECK(PartOf("jit(f)/transpose(jvp(g))/mul", "fusion.1") == "backward");
  CHECK(PartOf("jit(f)/jvp(g)/mul", "fusion.1") == "forward");
  CHECK(PartOf("jit(f)/mul", "fusion.1") == "other");
}

TEST_CASE("values are the rows with a single array of known size, largest first", "[diagnose]") {
  Failure failure = Make({MakeRow("f32[8,128]{1,0}", 4096), MakeRow("(f32[2], u32[])", 9000), MakeRow("f32[16,128]"),
                          MakeRow("f32[32,128]{1,0}", 16384), MakeRow("f32[64,128]{1,0}", 32768)});
  failure.allocations[4].kind = "requested";
  failure.facts.Set("need_bytes", 70000.0, {});
  failure.facts.Set("arguments_bytes", 500.0, {});
  failure.facts.Set("fragmentation_bytes", -3.0, {});
  const ListedProgram listed = Listed(failure);
  std::string shown;
  for (const ListedValue& value : listed.values) shown += fmt::format("{} {}; ", value.shape.shape, value.size);
  CHECK(shown == "f32[32,128] 16384; f32[8,128] 4096; ");
  CHECK(listed.need_bytes == 70000);
  CHECK(listed.arguments_bytes == 500);
  CHECK(listed.fragmentation_bytes == 0);
}

}  // namespace TEST_FILE
