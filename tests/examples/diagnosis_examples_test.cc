#include "examples/diagnosis_examples.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "examples/rule_case.h"
#include "pool_rules.h"

namespace whyoom {
namespace TEST_FILE {

using Json = nlohmann::json;

std::string Complaint(const std::string& facts, const std::string& expect, const std::string& more = "") {
  static const RuleSet rules = RulesWith(PoolRules());
  static const Engine engine(rules);
  return Try(engine, PoolCase(facts, expect, more));
}

const std::string kFacts = R"({"need_bytes": "9.00G", "have_bytes": "4.00G"})";

TEST_CASE("a conclusion example passes if all its expectations are met", "[diagnose][situations]") {
  CHECK(Complaint(kFacts, R"({"scenario": "big", "facts": {"excess_bytes": 5368709120}, "retry": "unknown",
    "why": [{"text": "It wants 9.00 GiB.", "at": "need_bytes"}], "remedies": ["drain_pool"],
    "advice": {"drain_pool": {"says": [], "saves_bytes": 5368709120, "enough": true, "safety": "safe",
                              "steps": ["pool.drain"]}}})") == "");
  CHECK(Complaint(kFacts,
                  R"({"advice": {"drain_pool": {"says": [{"text": "One array takes 3.00 GiB.", "at": "row 1"}]}}})",
                  R"(, "rows": [{"size_bytes": "3.00G", "shape": "f32[8]{0}"}])") == "");
  CHECK(Complaint(R"({"need_bytes": 9, "have_bytes": 4})",
                  R"({"advice": {"drain_pool": {"rules_out": "the pool is small"}}})") == "");
}

TEST_CASE("a failed expectation of a conclusion example is reported", "[diagnose][situations]") {
  const auto only = [](const std::string& expect) { return Complaint(kFacts, expect); };
  CHECK(only(R"({"scenario": null})") == "scenario is \"big\", not unknown");
  CHECK(only(R"({"facts": {"excess_bytes": 3}})") == "facts excess_bytes is 5368709120.0, not 3");
  CHECK(only(R"({"remedies": []})") == R"(remedies is ["drain_pool"], not [])");
  CHECK(only(R"({"advice": {"drain_pool": null}})") == "advice: 'drain_pool' is given but must not be");
  CHECK(only(R"({"advice": {"drain_pool": {"enough": false}}})") == "advice drain_pool enough is true, not false");
}

TEST_CASE("examples may be separate from their entries", "[rules][situations]") {
  const auto file = [](const std::string& examples) {
    return RuleFile{"mine.json", R"({"format": "whyoom.rules/1", "examples": [)" + examples + "]}"};
  };
  const auto faults = [&](const std::string& examples) {
    RuleSet data = RuleSource().rules();
    return AddExamples({file(examples)}, &data);
  };
  RuleSet data = RuleSource().rules();
  CHECK(
      AddExamples({file(R"({"of": "failures/E1000", "counterexamples": [{"text": "hbm is well", "why": "no failure"}]},
    {"of": "quotations/search_command", "examples": ["\ngrep -r \"<head>"]})")},
                  &data) == "");
  CHECK(data.FindFailure("E1000")->samples.counterexamples.back().text == "hbm is well");
  CHECK(AffixExamples({file(R"({"of": "affixes/glog", "counterexamples": ["E1120 12:00"]})")}).back().example.leaves ==
        "E1120 12:00");
  const auto complaint = [&](const std::string& examples) {
    RuleSet rules = RuleSource().rules();
    CHECK(AddExamples({file(examples)}, &rules) == "");
    const Engine engine(rules);
    std::string all;
    for (const RuleCase& one : CasesOf(rules, AffixExamples({file(examples)}), false)) {
      if (one.section == "affixes" || one.section == "chips") all += Try(engine, one);
    }
    return all;
  };
  // The facts of a prefix besides the text.
  const std::string rank = R"({"of": "affixes/rank", "examples": [{"text": "[rank7]: x", "leaves": "x", "facts": )";
  CHECK(complaint(rank + R"({"reporter": "rank7", "repeats": 1, "healthy": false}}]})").empty());
  CHECK(complaint(rank + R"({"reporter": "rank8"}}]})") == "reporter is 'rank7', not 'rank8'");
  CHECK(complaint(rank + R"({"time": "2026-11-20"}}]})") == "time is unknown, not '2026-11-20'");
  CHECK(complaint(R"({"of": "affixes/rank", "examples": [{"text": "[rank7]: x", "leaves": "y"}]})") ==
        "leaves 'x', not 'y'");
  // The chip of a dump, and its usable memory.
  const std::string target =
      R"("reserved_hbm_usage_bytes: 0 tpu_topology_args { version: TPU_VERSION_JELLYFISH platform_type: X chip_config_name: \"default\"")";
  const std::string of_v2 = R"({"of": "chips/v2", "examples": [{"text": )" + target;
  CHECK(complaint(of_v2 + R"(, "facts": {"limit_bytes": "7.48G"}}]})").empty());
  CHECK(complaint(of_v2 + R"(, "facts": {"limit_bytes": "7.58G"}}]})") == "does not match");
  CHECK(complaint(R"({"of": "chips/v3", "examples": [{"text": )" + target + "}]}") == "does not match");
  CHECK(complaint(R"({"of": "chips/v2", "counterexamples": [{"text": )" + target + "}]}") == "matches but must not");
  CHECK(faults(R"({"of": "contexts/vllm_confg", "examples": ["x"]})") ==
        "mine.json:1:50: there is no 'contexts/vllm_confg' (did you mean 'contexts/vllm_config'?)\n");
  CHECK(faults(R"({"of": "remedies/donate_buffers", "examples": ["x"]})") ==
        "mine.json:1:50: its entries cannot have examples\n");
}

}  // namespace TEST_FILE

}  // namespace whyoom
