// Finding frameworks by name, and which rule files were requested.
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("a framework is found by id, name or alias, however it is written", "[rules]") {
  const RuleSet rules = RulesWith(R"({"format": "whyoom.rules/1", "frameworks": [
    {"id": "our_torch", "name": "Our Torch/TPU", "aliases": ["flames"], "signs": ["our torch"], "examples": ["our torch"]},
    {"id": "plain", "signs": ["plainly"], "examples": ["plainly"]}]})");
  for (const char* written : {"our_torch", "OUR_TORCH", "our-torch", "Our Torch/TPU", "our torch/tpu", "Flames"}) {
    INFO(written);
    REQUIRE(rules.FindFramework(written) != nullptr);
    CHECK(rules.FindFramework(written)->id == "our_torch");
  }
  CHECK(rules.FindFramework("plain")->name == "plain");
  for (const char* written : {"our", "tpu", "", "/", "all"}) CHECK(rules.FindFramework(written) == nullptr);
}

TEST_CASE("there is a default framework", "[rules]") {
  const Framework* usual = BuiltInRules().default_framework();
  REQUIRE(usual != nullptr);
  CHECK(BuiltInRules().FindFramework(usual->name) == usual);
}

TEST_CASE("a rule set lists the files that the user requested", "[rules]") {
  std::vector<Fault> faults;
  const std::string empty = R"({"format": "whyoom.rules/1"})";
  const RuleSet rules = RuleSet::Load(
      {{"a/1.json", empty, "a"}, {"a/2.json", empty, "a"}, {"/etc/rules.json", empty}, {"b.json", empty, "b.json"}},
      &faults);
  CHECK(faults.empty());
  CHECK(rules.given() == std::vector<std::string>{"a", "b.json"});
  CHECK(BuiltInRules().given().empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
