// Printers only format a report, and text of a log stays text.
#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "report/command_documents.h"
#include "report/printers.h"
#include "text/utf8.h"

using namespace whyoom;
using nlohmann::json;

namespace TEST_FILE {

const char* const kHostile = "a\x1b[2Jb\x07\xc2\x9b\xe2\x80\xae\xff\nc";

FailureRule MakeFailure() {
  FailureRule rule;
  rule.code = "T1";
  rule.title = "a test";
  rule.category = "Test";
  rule.phase = "compile";
  rule.links = {{"page", "https://example.org/t1"}};
  Scenario scenario;
  scenario.id = "2";
  scenario.title = "too large";
  rule.scenarios.push_back(scenario);
  return rule;
}

Failure MakeFailure(const FailureRule& rule) {
  Failure failure;
  failure.rule = &rule;
  failure.id = "0123456789abcdef";
  failure.message = kHostile;
  failure.where = {{kHostile, "member"}, 7, 9, 70};
  failure.tally.hosts.Add("rank0");
  failure.tally.hosts.Add(kHostile);
  failure.facts.Set("need_bytes", 3221225472.0, {7, 70});
  failure.facts.Set("have_bytes", 1073741824.0, {7, 70});
  failure.facts.Set("module", std::string(kHostile), {7, 70});
  failure.facts.Set("huge", 1e300, {});
  Allocation row;
  row.rank = 1;
  row.size_bytes = 2147483648;
  row.op_name = kHostile;
  row.xla_label = kHostile;
  row.shape_text = "(f32[2]{0}, u32[])";
  row.place = {8, 80};
  failure.allocations.push_back(row);
  return failure;
}

bool IsClean(const std::string& text) {
  for (const char c : text) {
    if (static_cast<unsigned char>(c) < 0x20 && c != '\n') return false;
  }
  return text.find("\xc2\x9b") == std::string::npos && text.find("\xe2\x80\xae") == std::string::npos &&
         text.find('\x7f') == std::string::npos;
}

TEST_CASE("JSON contains known values and omits unknown ones", "[report]") {
  const FailureRule rule = MakeFailure();
  Report report;
  report.version = "1";
  report.failures.push_back(MakeFailure(rule));
  report.problems.push_back({kHostile, "", kHostile});
  const std::string printed = PrintJson(report);
  CHECK(IsClean(printed));
  const json parsed = json::parse(printed);
  const json& failure = parsed["diagnoses"][0];
  CHECK(failure["facts"]["need_bytes"] == 3221225472);
  CHECK(failure["facts"]["huge"] == 1e300);
  CHECK(
      failure["where"] ==
      json({{"path", failure["where"]["path"]}, {"member", "member"}, {"line", 7}, {"last_line", 9}, {"offset", 70}}));
  CHECK_FALSE(failure.contains("scenario"));
  CHECK_FALSE(failure.contains("framework"));
  CHECK(failure["occurrences"] == 2);
  CHECK(failure["allocations"][0]["shape"] == "(f32[2], u32[])");
  CHECK_FALSE(failure["allocations"][0].contains("dtype"));
  CHECK_FALSE(failure["allocations"][0].contains("unpadded_bytes"));
  CHECK(parsed["summary"]["by_code"]["T1"] == 1);
  CHECK(parsed["summary"]["problems"].size() == 1);
}

TEST_CASE("text without colour is plain, and wraps at the requested width", "[report]") {
  const FailureRule rule = MakeFailure();
  Report report;
  report.failures.push_back(MakeFailure(rule));
  report.failures[0].scenario = &rule.scenarios[0];
  for (const std::size_t width : {40U, 60U, 80U, 120U}) {
    CHECK(IsClean(PrintText(report, {.width = width})));
  }
  const std::string text = PrintText(report, {});
  CHECK(text.find("a test – too large\n") != std::string::npos);
  CHECK(text.find(" · scenario 2") != std::string::npos);
  CHECK(text.find("3.00 GiB, 2.00 GiB over the 1.00 GiB") != std::string::npos);
  CHECK(PrintText(report, {.colour = true}).find("\x1b[1;31mT1\x1b[0m") != std::string::npos);
}

TEST_CASE("a long list has whole paths in a file, and cuts them in the middle on a terminal", "[report]") {
  const FailureRule rule = MakeFailure();
  Report report;
  for (int i = 0; i < 30; ++i) {
    Failure failure = MakeFailure(rule);
    failure.where = {{"/archive/of/logs/" + std::string(60, 'x') + std::to_string(i) + "/worker.log", ""}, 7, 9, 70};
    report.failures.push_back(failure);
  }
  for (const std::size_t rows : {0U, 24U}) {
    const std::string text = PrintText(report, {.rows = rows});
    const std::size_t table = text.find("All failures");
    REQUIRE(table != std::string::npos);
    std::size_t lines = 0;
    for (std::size_t at = text.find("\n  T1.", table); at != std::string::npos; at = text.find("\n  T1.", at + 1)) {
      const std::string line = text.substr(at + 1, text.find('\n', at + 1) - at - 1);
      CAPTURE(line);
      CHECK(line.find("  2.00 GiB  ") != std::string::npos);
      CHECK(line.ends_with("worker.log:7"));
      CHECK((DisplayWidth(line) <= 80) == (rows > 0));
      ++lines;
    }
    CHECK((rows > 0 ? lines > 5 : lines == 30));
    CHECK((static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n')) < rows || rows == 0));
  }
}

TEST_CASE("the brief text of many failures is their summary", "[report]") {
  const FailureRule rule = MakeFailure();
  Report report;
  for (int i = 0; i < 30; ++i) report.failures.push_back(MakeFailure(rule));
  const std::string text = PrintText(report, {.detail = Detail::kBrief});
  CHECK(text.starts_with("30 different failures in "));
  CHECK(text.find("All failures") == std::string::npos);
  CHECK(std::count(text.begin(), text.end(), '\n') < 24);
}

TEST_CASE("a failure fits the terminal if it can, and no text is cut", "[report]") {
  const FailureRule rule = MakeFailure();
  Failure failure = MakeFailure(rule);
  failure.allocations.clear();
  failure.why = {{"The first reason.", 1}, {"The second reason.", 2}, {"The third reason.", 3}};
  Remedy remedy;
  remedy.title = "Do it";
  std::string step = "Change";
  for (int i = 0; i < 40; ++i) step += " word" + std::to_string(i);
  for (const int rank : {1, 2, 3, 4}) {
    RankedRemedy ranked;
    ranked.rank = rank;
    ranked.remedy = &remedy;
    ranked.safety = "safe";
    ranked.why = {{"It helps.", 4}};
    ranked.how = {step};
    failure.remedies.push_back(ranked);
  }
  Report report;
  report.failures = {failure};
  const auto lines = [&](std::size_t rows) {
    const std::string text = PrintText(report, {.rows = rows});
    CHECK(text.find("…") == std::string::npos);
    CHECK(text.find("word39") != std::string::npos);
    return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  };
  CHECK(lines(50) > lines(24));
  CHECK(lines(24) < 24);
  CHECK(lines(17) < 17);
  const std::string file = PrintText(report, {});
  CHECK(file.find("The second reason.") != std::string::npos);
  CHECK(file.find("The third reason.") == std::string::npos);
  CHECK(file.find("3  Do it") != std::string::npos);
  CHECK(file.find("1 other: --all") != std::string::npos);
}

TEST_CASE("no terminal is too narrow for the ids of remedies", "[report]") {
  const FailureRule rule = MakeFailure();
  std::vector<Remedy> remedies(5);
  Failure failure = MakeFailure(rule);
  for (int i = 0; i < 5; ++i) {
    Remedy& remedy = remedies[static_cast<std::size_t>(i)];
    remedy.id = "get_allocation_report_" + std::to_string(i);
    RankedRemedy ranked;
    ranked.rank = i + 1;
    ranked.remedy = &remedy;
    ranked.safety = "safe_slower";
    ranked.saves_bytes = std::int64_t{5} << 30;
    ranked.enough_with = {"get_allocation_report_0"};
    failure.remedies.push_back(ranked);
  }
  Report report;
  report.failures = {failure};
  for (const std::size_t width : {40U, 50U, 64U, 80U, 120U}) {
    const std::string text = PrintText(report, {.width = width, .rows = 24, .detail = Detail::kAll});
    const std::string others = text.substr(text.find("Other remedies"));
    INFO(text);
    CHECK(others.find("get_allocation_report_3") != std::string::npos);
    CHECK(others.find("get_allocation_report_4") != std::string::npos);
    CHECK((others.find("needs or saves:") != std::string::npos) == (width < 120));
    CHECK(others.find("…") == std::string::npos);
  }
}

TEST_CASE("a report without findings names the inputs that were not read", "[report]") {
  Report report;
  report.artifacts = 2;
  report.bytes = 2048;
  report.problems.push_back({"gone.log", "", "no such file"});
  CHECK(PrintText(report, {}) ==
        "No out-of-memory error found in 2 inputs (2.0 KiB).\nwarning: gone.log: no such file\n");
  CHECK(json::parse(PrintJson(report))["diagnoses"].empty());
}

TEST_CASE("diff: a difference below the rounding of a log is no change", "[report]") {
  const auto log = static_cast<std::int64_t>(std::llround(20.77 * (1 << 30)));  // "20.77G"
  const auto change = [](std::int64_t before, std::int64_t after) {
    Diff diff;
    diff.comparison.totals = {{"hlo_temp_bytes", "temporaries", before, after}};
    const std::string text = PrintBlocks(DiffBlocks(diff), TextOptions());
    const std::string row = text.substr(text.find("temporaries"));
    return row.substr(row.rfind("  ", row.find('\n')) + 2, row.find('\n') - row.rfind("  ", row.find('\n')) - 2);
  };
  CHECK(change(log, log) == "same");
  CHECK(change(log, log + 503316) == "about the same");
  CHECK(change(log - 503316, log) == "about the same");
  CHECK(change(log, log + (20 << 20)) == "+20.00 MiB");
  CHECK(change(log + 5000000, log + 5000000 + 503316) == "+491.5 KiB");  // both are exact
}

}  // namespace TEST_FILE
