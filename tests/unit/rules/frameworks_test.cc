// Failure frameworks by name, and which rule files were requested.
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

TEST_CASE("a framework without steps gets those of the framework that it is based on, else the default ones",
          "[rules]") {
  const RuleSet rules = RulesWith(R"({"format": "whyoom.rules/1", "frameworks": [
    {"id": "ours", "based_on": "haliax", "signs": ["ours"], "examples": ["ours"]}]})");
  const Remedy& bf16 = *rules.FindRemedy("bf16");  // has steps for Equinox, which Haliax is based on
  REQUIRE_FALSE(bf16.how.contains("haliax"));
  CHECK(rules.KeyOfSteps(bf16, "ours") == "equinox");
  CHECK(rules.KeyOfSteps(bf16, "equinox") == "equinox");
  CHECK(rules.KeyOfSteps(*rules.FindRemedy("donate_buffers"), "ours") == "haliax");
  CHECK(rules.KeyOfSteps(*rules.FindRemedy("reduce_batch"), "ours") == "jax");
  CHECK(rules.KeyOfSteps(bf16, "unknown") == "jax");
  const RuleSet circle = RulesWith(R"({"format": "whyoom.rules/1", "frameworks": [
    {"id": "a", "based_on": "b", "signs": ["a"], "examples": ["a"]},
    {"id": "b", "based_on": "a", "signs": ["b"], "examples": ["b"]}]})");
  CHECK(circle.KeyOfSteps(bf16, "a") == "jax");
}

TEST_CASE("a rule set lists the files that the user requested", "[rules]") {
  const std::string empty = R"({"format": "whyoom.rules/1"})";
  const CompiledRules compiled = AddToBuiltIn(
      {{"a/1.json", empty, "a"}, {"a/2.json", empty, "a"}, {"/etc/rules.json", empty}, {"b.json", empty, "b.json"}});
  CHECK(compiled.faults.empty());
  CHECK(compiled.rules.given == std::vector<std::string>{"a", "b.json"});
  CHECK(BuiltInRules().given.empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
