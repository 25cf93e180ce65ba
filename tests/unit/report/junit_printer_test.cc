// JUnit XML is valid by the schema of Jenkins's plugin, and legal XML for every log.
#include <string>

#include "catch.h"
#include "clean_text.h"
#include "junit_schema.h"
#include "report/printers.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

std::string ValidJunit(const Report& report) {
  const std::string printed = PrintJunit(report);
  CHECK(IsClean(printed, "\n"));
  CheckJunit(printed);
  return printed;
}

bool Has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a diagnosis is a failed test with the report as text", "[report]") {
  const FailureRule rule = MadeFailure();
  const std::string printed = ValidJunit(MadeReport({MadeFailure(rule)}));
  CHECK(Has(printed, "<testsuites name=\"whyoom\" tests=\"1\" failures=\"1\" errors=\"0\">\n"));
  CHECK(Has(printed, "<testsuite name=\"whyoom\" tests=\"1\" failures=\"1\" errors=\"0\">\n"));
  CHECK(Has(printed, "<property name=\"inputs\" value=\"2\"/>"));
  CHECK(Has(printed,
            "<testcase classname=\"T1.2\" name=\"jit_step [0123456789abcdef]\">\n"
            "      <failure type=\"T1.2\" message=\"a test – too large\">T1  a test – too large\n"));
  CHECK(Has(printed, "needs 3.00 GiB"));
}

TEST_CASE("a report without findings and problems is one test that passed", "[report]") {
  const std::string printed = ValidJunit(MadeReport({}));
  CHECK(Has(printed, "tests=\"1\" failures=\"0\" errors=\"0\""));
  CHECK(Has(printed, "<testcase classname=\"whyoom\" name=\"no out-of-memory error\"/>"));
}

TEST_CASE("problems are errors with different names, and no test passes", "[report]") {
  Report report = MadeReport({});
  report.problems = {{"a.log", "", "cut short"}, {"a.log", "", "damaged"}, {"lists", "", "too many", true}};
  report.problems_left_out = 5;
  const std::string printed = ValidJunit(report);
  CHECK(Has(printed, "tests=\"4\" failures=\"0\" errors=\"4\""));
  CHECK(Has(printed,
            "<testcase classname=\"whyoom.input\" name=\"a.log\">\n"
            "      <error type=\"whyoom.input\" message=\"cut short\">a.log: cut short</error>\n"));
  CHECK(Has(printed, "name=\"a.log (2)\""));
  CHECK(Has(printed, "<testcase classname=\"whyoom.report\" name=\"lists\">"));
  CHECK(Has(printed, "5 more; --format json lists them"));
  CHECK_FALSE(Has(printed, "no out-of-memory error"));
}

TEST_CASE("log text cannot become markup in XML", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({HostileFailure(rule)});
  report.problems = {{kHostileText, kHostileText, kHostileText}, {"\xef\xbf\xbe\xed\xa0\x80", "", "\x01"}};
  const std::string printed = ValidJunit(report);
  CHECK_FALSE(Has(printed, "\xef\xbf\xbe"));  // XML 1.0 excludes U+FFFE and U+FFFF
  CHECK_FALSE(Has(printed, "\xef\xbf\xbf"));
  CHECK_FALSE(Has(printed, "]]>"));
  CHECK(Has(printed, "&lt;/failure&gt;]]&gt;&lt;!--&amp;amp;"));
}

TEST_CASE("the schema rejects invalid files", "[report]") {
  std::string printed = PrintJunit(MadeReport({}));
  if (!HasXmllint()) return;
  CHECK(JunitFault(printed).empty());
  CHECK_FALSE(JunitFault("<testsuites><testsuite/></testsuites>").empty());
  printed.replace(printed.find("<testcase"), 9, "<test&case");
  CHECK_FALSE(JunitFault(printed).empty());
}

TEST_CASE("only the first of very many failures are shown in full", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report;
  for (int i = 0; i < 1001; ++i) report.failures.push_back(MadeFailure(rule, "id" + std::to_string(i)));
  const std::string printed = ValidJunit(report);
  CHECK(Has(printed, "tests=\"1001\" failures=\"1001\""));
  const std::string last = printed.substr(printed.find("[id1000]"));
  CHECK_FALSE(Has(last, "▲"));
  CHECK(Has(last, "jit_step needs 3.00 GiB"));
}

}  // namespace TEST_FILE
