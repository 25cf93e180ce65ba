// Messages about examples that do not do what the rules state.
#include "diagnose/rule_test.h"

#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

using namespace whyoom;

namespace TEST_FILE {

// Tests failures T1 and T2, with these examples of T1 and further entries.
RuleTestResult Test(const std::string& match, const std::string& no_match = "", const std::string& more = "") {
  RuleSet rules;
  CHECK(Load({},
             {{"test.json", R"json({"format": "whyoom.rules/1", "failures": [
{"code": "T1", "title": "t", "category": "Test", "phase": "run", "heads": ["test failure one of %{size:used_bytes}"],
 "links": [], "about": ["t"],
 "scenarios": [{"id": "big", "title": "b", "when": "used_bytes > 5", "about": "b", "why": []}],
 "examples": {"match": [)json" + match +
                                R"json(], "no_match": [)json" + no_match + R"json(]}},
{"code": "T2", "title": "t", "category": "Test", "phase": "run", "heads": ["test failure two"],
 "examples": {"match": [{"text": "test failure two"}]}}])json" +
                                more + "}"}},
             &rules) == "");
  return TestRules(rules);
}

// Returns the complaints, one per line.
std::string Complaints(const RuleTestResult& result) {
  std::string shown;
  for (const std::string& failure : result.Failures()) shown += failure + "\n";
  return shown;
}

const std::string kGood = R"({"text": "test failure one of 7B"})";

TEST_CASE("examples that pass are counted", "[diagnose]") {
  const RuleTestResult result =
      Test(kGood + R"(, {"text": "test failure one of 7B", "facts": {"used_bytes": 7}, "scenario": "big"})",
           R"({"text": "test failure", "why": "no number"})");
  CHECK(Complaints(result).empty());
  CHECK(result.ok());
  CHECK(result.reported == 3);
  CHECK(result.validated == 1);
  CHECK(result.noisy == 0);
  CHECK(result.missing == 0);
}

TEST_CASE("an example that must match is reported if it does not, or has another result", "[diagnose]") {
  const auto missing = [](const std::string& match) {
    const RuleTestResult result = Test(match);
    CHECK_FALSE(result.ok());
    CHECK(result.missing == 1);
    CHECK(result.noisy == 0);
    return Complaints(result);
  };
  CHECK(missing(R"({"text": "test failure none"})") == "T1: missing: \"test failure none\" gives nothing\n");
  CHECK(missing(R"({"text": "test failure two"})") == "T1: missing: \"test failure two\" gives T2\n");
  CHECK(missing(R"({"text": ["test failure one of 7B", "", "test failure two"]})") ==
        "T1: missing: \"test failure one of 7B\" gives T1, T2\n");
  CHECK(missing(R"({"text": "test failure one of 7B", "facts": {"used_bytes": 8}})") ==
        "T1: missing: \"test failure one of 7B\" fact used_bytes is 7, not 8\n");
  CHECK(missing(R"({"text": "test failure one of 7B", "scenario": null})") ==
        "T1: missing: \"test failure one of 7B\" scenario is big, not unknown\n");
  CHECK(missing(R"({"text": "test failure one of 3B", "scenario": "big"})") ==
        "T1: missing: \"test failure one of 3B\" scenario is unknown, not big\n");
}

TEST_CASE("an example that must not match is reported if it does", "[diagnose]") {
  const RuleTestResult result = Test(kGood, R"({"text": "test failure one of 3B", "why": "because"})");
  CHECK(result.noisy == 1);
  CHECK_FALSE(result.ok());
  CHECK(Complaints(result) == "T1: noisy: \"test failure one of 3B\" (because)\n");
  // Another failure may match.
  CHECK(Test(kGood, R"({"text": "test failure two", "why": "other"})").ok());
}

TEST_CASE("examples of contexts, frameworks, quotations and prefixes are tried", "[diagnose]") {
  const auto complaint = [](const std::string& more) { return Complaints(Test(kGood, "", ", " + more)); };
  CHECK(complaint(R"("contexts": [{"id": "c", "pattern": "test step %{integer:steps}",
    "examples": {"match": [{"text": "test step 3", "facts": {"steps": 3}}, {"text": "test step 3", "facts": {"steps": 4}},
                           {"text": "test stop 3"}]}}])") ==
        "context c: missing: \"test step 3\"\ncontext c: missing: \"test stop 3\"\n");
  CHECK(complaint(R"("contexts": [{"id": "c", "program": true, "pattern": "test program takes %{size:need_bytes}",
    "examples": {"match": [{"text": "test program takes 3B", "facts": {"need_bytes": 3}},
                           {"text": "test program takes 3B", "facts": {"need_bytes": 4}},
                           {"text": "test program takes 0B"}]}}])") ==
        "context c: missing: \"test program takes 3B\"\ncontext c: missing: \"test program takes 0B\"\n");
  CHECK(complaint(
            R"("frameworks": [{"id": "testwork", "signs": ["testwork"], "examples": ["testwork 1", "nothing"]}])") ==
        "framework testwork: missing: \"nothing\"\n");
  CHECK(complaint(R"("quotations": [{"id": "q", "pattern": "\n.*find ", "examples": ["\nfind x", "seek x"]}])") ==
        "quotation q: missing: \"seek x\"\n");
  CHECK(
      complaint(
          R"json("quotations": [{"id": "q", "pattern": "\\(\\z", "after": "\\A[^)]*\\)", "unless": "no", "unless_after": "not",
    "examples": ["f(<head>x)", "f(<head>x", "f<head>x)"], "logs": ["no f(<head>x)", "f(<head>x) not", "f(<head>x)"]
}])json") ==
      "quotation q: missing: \"f(<head>x\"\nquotation q: missing: \"f<head>x)\"\n"
      "quotation q: noisy: \"f(<head>x)\"\n");
  CHECK(complaint(
            R"("affixes": [{"id": "a", "place": "prefix", "pattern": "<<\\d+>> ", "examples": ["<<3>> x", "<<4>> x"],
    "leaves": ["x", "y"]}])") == "affix a: missing: \"<<4>> x\"\n");
}

}  // namespace TEST_FILE
