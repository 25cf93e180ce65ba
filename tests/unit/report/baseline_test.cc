// Baseline files are read back as written; anything else is rejected.
#include "report/record/baseline.h"

#include <algorithm>
#include <string>

#include "catch.h"
#include "input/error.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

std::string FaultOf(const std::string& text) {
  try {
    ParseBaseline(text, "--baseline known.json");
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST_CASE("a baseline is read back as it was written", "[report]") {
  const FailureRule rule = MadeFailure();
  Baseline baseline;
  AddKnown(MadeFailure(rule), &baseline);
  AddKnown(HostileFailure(rule), &baseline);
  AddKnown(MadeFailure(rule), &baseline);
  CHECK(baseline.size() == 2);
  const std::string text = PrintBaseline(baseline);
  const Baseline again = ParseBaseline(text, "");
  CHECK(PrintBaseline(again) == text);
  REQUIRE(again.contains("0123456789abcdef"));
  CHECK(again.at("0123456789abcdef").code == "T1");
  CHECK(again.at("0123456789abcdef").program == "jit_step");
  for (const char c : text) CHECK((c == '\n' || (c >= ' ' && c <= '~')));
  // One line per failure, without location or time, so that merge and diff tools work.
  CHECK(std::count(text.begin(), text.end(), '\n') == 4);
  CHECK(text.find("train.log") == std::string::npos);
}

TEST_CASE("an empty baseline is valid", "[report]") { CHECK(ParseBaseline(PrintBaseline({}), "").empty()); }

TEST_CASE("other files are rejected", "[report]") {
  for (const char* wrong :
       {"", "{}", "[]", "null", "{\"schema\": \"whyoom.report/1\", \"failures\": []}", "{\"schema\": 1}",
        "{\"schema\": \"whyoom.baseline/1\", \"failures\": {}}", "{\"schema\": \"whyoom.baseline/1\"}",
        "{\"schema\": \"whyoom.baseline/1\", \"failures\": [1]}",
        "{\"schema\": \"whyoom.baseline/1\", \"failures\": [{\"id\": \"no id\", \"code\": \"T1\", \"title\": \"a\"}]}",
        "{\"schema\": \"whyoom.baseline/1\", \"failures\": [{\"code\": \"T1\", \"title\": \"a\"}]}"}) {
    INFO(wrong);
    CHECK(FaultOf(wrong).find("--baseline known.json: ") == 0);
  }
}

}  // namespace TEST_FILE
