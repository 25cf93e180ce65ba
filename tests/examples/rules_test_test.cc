// Messages about examples that do not do what the rules state.
#include <string>

#include "catch.h"
#include "cli/rules_command.h"
#include "unit/rules/rule_data.h"

using namespace whyoom;

namespace TEST_FILE {

// Tests failures T1 and T2, with these examples of T1. Returns what is printed.
std::string Test(const std::string& match, const std::string& no_match = "") {
  RuleSet rules;
  CHECK(Load({},
             {{"test.json", R"json({"format": "whyoom.rules/1", "failures": [
{"code": "T1", "title": "t", "category": "Test", "phase": "run", "heads": ["test failure one of %{size:used_bytes}"],
 "links": [], "about": ["t"],
 "scenarios": [{"id": "big", "title": "b", "when": "used_bytes > 5", "about": "b", "why": []}],
 "examples": [)json" + match + R"json(], "counterexamples": [)json" +
                                no_match + R"json(]},
{"code": "T2", "title": "t", "category": "Test", "phase": "run", "heads": ["test failure two"],
 "examples": [{"text": "test failure two"}]}]})json"}},
             &rules) == "");
  bool ok = true;
  std::string printed = TestRules(rules, &ok);
  CHECK(ok == (printed.find(" 0 failed") != printed.npos));
  return printed;
}

const std::string kGood = R"({"text": "test failure one of 7B"})";

TEST_CASE("examples that pass are counted", "[diagnose]") {
  CHECK(Test(kGood + R"(, {"text": "test failure one of 7B", "facts": {"used_bytes": 7}, "scenario": "big"})",
             R"({"text": "test failure", "why": "no number"})") == "4 examples of failures, 0 failed\n");
}

TEST_CASE("an example that must match is reported if it does not, or has another result", "[diagnose]") {
  const auto missing = [](const std::string& match) {
    const std::string printed = Test(match);
    return printed.substr(0, printed.find('\n'));
  };
  CHECK(missing(R"({"text": "test failure none"})") == "T1: \"test failure none\" gives nothing");
  CHECK(missing(R"({"text": "test failure two"})") == "T1: \"test failure two\" gives T2");
  CHECK(missing(R"({"text": ["test failure one of 7B", "", "test failure two"]})") ==
        "T1: \"test failure one of 7B\" gives T1, T2");
  CHECK(missing(R"({"text": "test failure one of 7B", "facts": {"used_bytes": 8}})") ==
        "T1: \"test failure one of 7B\" fact used_bytes is 7, not 8");
  CHECK(missing(R"({"text": "test failure one of 7B", "scenario": ""})") ==
        "T1: \"test failure one of 7B\" scenario is big, not unknown");
  CHECK(missing(R"({"text": "test failure one of 3B", "scenario": "big"})") ==
        "T1: \"test failure one of 3B\" scenario is unknown, not big");
}

TEST_CASE("an example that must not match is reported if it does", "[diagnose]") {
  CHECK(Test(kGood, R"({"text": "test failure one of 3B", "why": "because"})") ==
        "T1: \"test failure one of 3B\" matches but must not (because)\n"
        "3 examples of failures, 1 failed\n");
  // Another failure may match.
  CHECK(Test(kGood, R"({"text": "test failure two", "why": "other"})").find(" 0 failed") != std::string::npos);
}

TEST_CASE("a sample next to a pattern that it does not match is a fault", "[rules]") {
  const auto fault = [](const std::string& entry) {
    RuleSet rules;
    return Load({}, {{"t.json", R"({"format": "whyoom.rules/1", )" + entry + "}"}}, &rules);
  };
  const std::string context = R"("contexts": [{"id": "c", "patterns": ["test step %{integer:steps}"], )";
  CHECK(
      fault(
          context +
          R"("examples": [{"text": "test step 3", "facts": {"steps": 3}}], "counterexamples": [{"text": "test stop", "why": "w"}]}])") ==
      "");
  for (const char* wrong :
       {R"("examples": [{"text": "test step 3", "facts": {"steps": 4}}]}])", R"("examples": ["test stop 3"]}])"})
    CHECK(fault(context + wrong).find("the entry does not match this example") != std::string::npos);
  CHECK(fault(context + R"("examples": ["test step 3"], "counterexamples": [{"text": "test step 4", "why": "w"}]}])")
            .find("the entry matches this text but must not") != std::string::npos);
  for (
      const char* entry :
      {R"("frameworks": [{"id": "testwork", "signs": ["testwork"], "examples": ["testwork 1", "nothing"]}])",
       R"("quotations": [{"id": "q", "lead": "find ", "examples": ["\nfind x", "seek x"]}])",
       R"("lines": [{"id": "e", "kind": "error", "pattern": "\n[A-Z]\\w*Failure: ", "examples": ["\nfailure: x"]}])",
       R"("lines": [{"id": "p", "kind": "step", "pattern": "epoch %{integer:step} done", "examples": ["epoch"]}])",
       R"("affixes": [{"id": "a", "place": "prefix", "pattern": "<<\\d+>> ", "examples": [{"text": "<3> x", "leaves": "x"}]}])"})
    CHECK(fault(entry).find("match this example") != std::string::npos);
}

}  // namespace TEST_FILE
