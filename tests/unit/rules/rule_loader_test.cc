#include <filesystem>
#include <fstream>
#include <string>

#include "built_in_rules.h"
#include "catch.h"
#include "cli/rules_command.h"
#include "input/error.h"
#include "rules/rule_compiler.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

RuleSet Base() {
  RuleSet set;
  CHECK(Load({BaseRules()}, {}, &set) == "");
  return set;
}

TEST_CASE("the built-in data has no faults", "[rules]") {
  const CompiledRules compiled = CompileRules({}, BuiltInFiles());
  for (const Fault& fault : compiled.faults) {
    INFO(fault.ToString());
    CHECK(false);
  }
  CHECK_FALSE(compiled.rules.failures.empty());
}

TEST_CASE("all fields of failures are read", "[rules]") {
  const RuleSet set = Base();
  REQUIRE(set.failures.size() == 2);
  CHECK(set.failures[0].code == "0100");
  const FailureRule& failure = set.failures[1];
  CHECK(failure.about == std::vector<std::string>{"One paragraph.", "Another."});
  CHECK(failure.links.at(0).url == "https://example.com/");
  REQUIRE(failure.header_patterns.size() == 3);
  CHECK(failure.NameOf(failure.header_patterns[1]) == "E1000, head 2");
  CHECK((failure.header_patterns[1].line_start && failure.header_patterns[1].fragment &&
         !failure.header_patterns[0].fragment));
  CHECK(failure.facts.size() == 3);
  CHECK(failure.absorbed_by == std::vector<std::string>{"0100"});
  CHECK(set.failures[0].consequence_of == std::vector<std::string>{"E1000"});
  CHECK(failure.derived.at(0).when.has_value());
  CHECK(failure.derived.at(1).replace);
  REQUIRE(failure.scenarios.size() == 1);
  CHECK(failure.scenarios[0].about == "for explain");
  CHECK(failure.scenarios[0].why.at(1).text.source() == "All take {total_bytes|size}.");
  CHECK(failure.scenarios[0].remedies.at(0).prior == 20);
  CHECK(failure.scenarios[0].remedies.at(1).prior == 100);
  CHECK(failure.example == "Ran out of memory.\nUsed 2G of 1G");
  REQUIRE(failure.samples.examples.size() == 3);
  CHECK(failure.samples.examples[0].text == "Ran out of memory.\nUsed 2G of 1G");
  CHECK(failure.samples.examples[0].facts.at("used_bytes") == Value(2147483648.0));
  CHECK(failure.samples.examples[0].facts.at("tag") == Value(std::string("x")));
  CHECK(failure.samples.examples[0].scenario == "2");
  CHECK(failure.samples.examples[1].scenario == "");
  CHECK(failure.samples.examples[2].scenario == std::nullopt);
  CHECK(failure.samples.counterexamples.at(0).why == "it says so");
}

TEST_CASE("the fields of other sections are read", "[rules]") {
  const RuleSet set = Base();
  const Remedy* remedy = set.FindRemedy("shard");
  REQUIRE(remedy != nullptr);
  CHECK(remedy->how.at("jax").at(1).text.source() == "then run");
  CHECK(remedy->how.at("keras").size() == 1);
  CHECK(remedy->saves.has_value());
  CHECK(remedy->ruled_out.size() == 1);
  CHECK(set.FindRemedy("bf16")->inquiry);
  CHECK(set.FindRemedy("nothing") == nullptr);
  CHECK(set.frameworks.at(0).id == "keras");
  CHECK(set.chips.at(0).limits == std::vector<double>{16911433728.0, 16911433728.0});
  CHECK(set.contexts.at(0).samples.examples.at(0).facts.at("before_bytes") == Value(5368709120.0));
  CHECK(set.quotations.at(0).samples.examples.at(0).text == "grep x");
  REQUIRE(set.affixes.size() == 2);
  CHECK(set.affixes[1].place == PrefixOrSuffix::Place::kSuffix);
  CHECK(set.json_keys.text == std::vector<std::string>{"/message"});
}

TEST_CASE("a failure is found by any of its names", "[rules]") {
  const RuleSet set = Base();
  for (const char* name : {"E1000", "e1000", "1000", "HbmOom", "hbmoom"}) {
    INFO(name);
    REQUIRE(set.FindFailure(name) != nullptr);
    CHECK(set.FindFailure(name)->code == "E1000");
  }
  for (const char* name : {"0100", "E0100", "e0100"}) {
    INFO(name);
    REQUIRE(set.FindFailure(name) != nullptr);
    CHECK(set.FindFailure(name)->code == "0100");
  }
  for (const char* name : {"", "100", "E100", "E", "x"}) CHECK(set.FindFailure(name) == nullptr);
}

TEST_CASE("headers, contexts and long facts provide literals for the prefilter", "[rules]") {
  CHECK(Base().literals == std::vector<std::string>{"a long literal of", "compiletimehbmoom", "devicenamefailure",
                                                    "error allocating device buffer", "exceeded by ", "hostnamefailure",
                                                    "ran out of memory. used", "rematerialization from"});
}

TEST_CASE("a user's entry replaces a built-in one with its id", "[rules]") {
  RuleSet set;
  const RuleFile user{"user.json", R"({"format": "whyoom.rules/1",
    "chips": [{"id": "v5e", "limits": ["1G"]}, {"id": "mine", "limits": ["2G"]}],
    "failures": [{"code": "0100", "title": "mine", "category": "c", "phase": "run", "heads": ["Something else"],
                  "examples": [{"text": "Something else"}]}],
    "json_logs": {"text": ["/message", "/msg"]}})"};
  CHECK(Load({BaseRules()}, {user}, &set) == "");
  CHECK(set.failures.size() == 2);
  CHECK(set.FindFailure("0100")->title == "mine");
  REQUIRE(set.chips.size() == 2);
  CHECK(set.chips[0].id == "mine");
  CHECK(set.chips[1].limits == std::vector<double>{1073741824.0});
  CHECK(set.json_keys.text.back() == "/msg");
}

TEST_CASE("a duplicate id in the same layer is a fault", "[rules]") {
  RuleSet set;
  const std::string chips = R"({"format": "whyoom.rules/1",
 "chips": [{"id": "mine", "limits": ["2G"]}]})";
  CHECK(Load({BaseRules()}, {{"a.json", chips}, {"b.json", chips}}, &set) ==
        "b.json:2:19: 'mine' is already in use (by a.json:2:19)\n");
  CHECK(Load({BaseRules(), {"c.json", chips}, {"d.json", chips}}, {}, &set) ==
        "d.json:2:19: 'mine' is already in use (by c.json:2:19)\n");
  CHECK(Load({BaseRules(), {"c.json", chips}}, {{"a.json", chips}}, &set) == "");
}

TEST_CASE("the fingerprint depends only on the data", "[rules]") {
  const auto fingerprint = [](const std::vector<RuleFile>& files) {
    RuleSet set;
    CHECK(Load({BaseRules()}, files, &set) == "");
    return set.fingerprint;
  };
  const std::string a = R"({"format": "whyoom.rules/1", "chips": [{"id": "a", "limits": ["2G"]}]})";
  const std::string a_spread =
      "{\n\"chips\": [{\"limits\":\n[\"2G\"], \"id\": \"a\"}], \"format\": \"whyoom.rules/1\"}\n";
  const std::string b = R"({"format": "whyoom.rules/1", "chips": [{"id": "b", "limits": ["2G"]}]})";
  CHECK(fingerprint({}).size() == 64);
  CHECK(fingerprint({}) == fingerprint({}));
  CHECK(fingerprint({{"x", a}}) != fingerprint({}));
  CHECK(fingerprint({{"x", a}}) != fingerprint({{"x", b}}));
  CHECK(fingerprint({{"x", a}}) == fingerprint({{"y", a_spread}}));
  CHECK(fingerprint({{"x", a}, {"y", b}}) == fingerprint({{"x", b}, {"y", a}}));
}

TEST_CASE("rule files are read from files and folders", "[rules]") {
  const std::filesystem::path folder = std::filesystem::temp_directory_path() / "whyoom_rule_loader_test";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directories(folder / "empty");
  for (const char* name : {"b.json", "a.json", "schema.json", "note.txt"}) std::ofstream(folder / name) << name;
  const std::vector<RuleFile> files = ReadRuleFiles(folder.string());
  REQUIRE(files.size() == 2);
  CHECK(files[0].text == "a.json");
  CHECK(files[1].name == (folder / "b.json").string());
  CHECK(ReadRuleFiles((folder / "note.txt").string()).at(0).text == "note.txt");
  CHECK_THROWS_AS(ReadRuleFiles((folder / "empty").string()), Error);
  CHECK_THROWS_AS(ReadRuleFiles((folder / "missing").string()), Error);
  std::filesystem::remove_all(folder);
}

}  // namespace TEST_FILE
}  // namespace whyoom
