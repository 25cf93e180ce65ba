// Every format reports whether a retry can succeed, if that is known.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "report/command_documents.h"
#include "report/failure_view.h"
#include "report/printers.h"
#include "report/record/describe.h"
#include "unit/report/made_report.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

using nlohmann::json;

constexpr const char* kNever = "A retry will fail the same way. ";

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// Joins wrapped lines.
std::string Unwrapped(const std::string& text) {
  std::string flat;
  for (const char c : text) {
    const bool blank = c == '\n' || c == ' ';
    if (!blank || flat.empty() || flat.back() != ' ') flat += blank ? ' ' : c;
  }
  return flat;
}

Failure Made(const FailureRule& rule, Retry retry) {
  Failure failure = MadeFailure(rule);
  failure.retry = std::move(retry);
  return failure;
}

TEST_CASE("the answer is a sentence, followed by its reason", "[report]") {
  CHECK(RetryText({Retry::Answer::kNever, "It is too large."}) == std::string(kNever) + "It is too large.");
  CHECK(RetryText({Retry::Answer::kMaybe, ""}) == "A retry may succeed.");
  CHECK(RetryText({Retry::Answer::kUnknown, "It gives no reason."}) ==
        "The log does not show whether a retry would succeed. It gives no reason.");
  CHECK(RetryText({}) == "");
}

TEST_CASE("a hope that a retry succeeds is on the first screen, the usual answer only in the whole report",
          "[report]") {
  const FailureRule rule = MadeFailure();
  const Report report = MadeReport({Made(rule, {Retry::Answer::kNever, "It is too large."})});
  const std::string whole = std::string(kNever) + "It is too large.";
  CHECK_FALSE(Holds(PrintText(report, TextOptions()), kNever));
  CHECK(Holds(Unwrapped(PrintText(report, {.detail = Detail::kAll})), "retry " + whole));
  CHECK(Holds(PrintMarkdown(report), whole));
  CHECK(Holds(PrintHtml(report), whole));
  const json result = json::parse(PrintSarif(report, ""))["runs"][0]["results"][0];
  CHECK(result["properties"]["retry"] == "never");
  const Report hopeful = MadeReport({Made(rule, {Retry::Answer::kMaybe, "Others used the chip."})});
  const std::string may = "A retry may succeed. Others used the chip.";
  CHECK(Holds(Unwrapped(PrintText(hopeful, TextOptions())), "retry " + may));
  CHECK(Holds(PrintShort(hopeful.failures[0]), may));
  CHECK(Holds(PrintMarkdown(hopeful), may));
  const json failure = json::parse(PrintJson(report))["diagnoses"][0];
  CHECK(failure["retry"] == "never");
  CHECK(failure["retry_why"] == "It is too large.");
}

TEST_CASE("an unknown answer is only in the formats that programs read", "[report]") {
  const FailureRule rule = MadeFailure();
  const Report report = MadeReport({Made(rule, {})});
  for (const std::string& text : {PrintText(report, {.detail = Detail::kAll}), PrintMarkdown(report),
                                  PrintGithub(report, ""), PrintJunit(report)})
    CHECK_FALSE(Holds(text, "retry"));
  CHECK(json::parse(PrintSarif(report, ""))["runs"][0]["results"][0]["properties"]["retry"] == "unknown");
  const json failure = json::parse(PrintJson(report))["diagnoses"][0];
  CHECK(failure["retry"] == "unknown");
  CHECK_FALSE(failure.contains("retry_why"));
}

TEST_CASE("an answer is read back as it was written", "[report]") {
  RuleSet rules;
  CHECK(Load({BaseRules()}, {}, &rules) == "");
  Failure failure;
  failure.rule = rules.FindFailure("E1000");
  failure.id = "0123456789abcdef";
  failure.retry = {Retry::Answer::kMaybe, "Others used the chip."};
  const json record = ToRecord(failure);
  const std::optional<Failure> read = FromRecord<Failure>(record, &rules);
  REQUIRE(read);
  CHECK(read->retry.answer == Retry::Answer::kMaybe);
  CHECK(read->retry.why == "Others used the chip.");
  json forged = record;
  forged["retry"] = "always";
  CHECK_FALSE(FromRecord<Failure>(forged, &rules));
  forged.erase("retry");
  CHECK_FALSE(FromRecord<Failure>(forged, &rules));
}

TEST_CASE("explain prints the answer of a failure, and of a scenario with its own answer", "[report]") {
  RuleSet rules;
  CHECK(Load({BaseRules()}, {{"ours.json", R"({"format": "whyoom.rules/1", "failures": [{
    "code": "T1", "title": "t", "category": "c", "phase": "run", "heads": ["our own test failed"],
    "retry": {"answer": "never", "why": "It is too large."},
    "scenarios": [{"id": "1", "title": "s", "when": "1 > 0"},
                  {"id": "2", "title": "s", "when": "1 > 2", "retry": {"answer": "maybe", "why": "Others used it."}}],
    "examples": [{"text": "our own test failed"}]}]})"}},
             &rules) == "");
  const auto explained = [&](const char* topic) {
    const std::optional<Explanation> found = FindExplanation(rules, topic);
    return found ? Unwrapped(PrintBlocks(ExplanationBlocks(rules, *found, {}), TextOptions())) : "nothing";
  };
  const std::string whole = std::string(kNever) + "It is too large.";
  CHECK(Holds(explained("T1"), whole));
  CHECK(Holds(explained("T1.1"), whole));
  CHECK_FALSE(Holds(explained("T1.2"), whole));
  CHECK(Holds(explained("T1.2"), "may succeed. Others used it."));
  CHECK_FALSE(Holds(explained("E1000"), "retry"));
}

}  // namespace TEST_FILE
}  // namespace whyoom
