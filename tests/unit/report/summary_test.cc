// Summaries of reports: counts, the most frequent failures, the most helpful remedies.
#include "report/summary.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "made_report.h"
#include "report/printers.h"
#include "report/report_document.h"

using namespace whyoom;

namespace TEST_FILE {

// A failure in one artifact that `processes` processes reported.
Failure Reported(const FailureRule& rule, const std::string& id, int processes) {
  Failure failure = MadeFailure(rule, id);
  failure.tally = Tally();
  for (int i = 0; i < processes; ++i) failure.tally.hosts.Add("rank" + std::to_string(i));
  failure.tally.reports = static_cast<std::uint64_t>(processes);
  failure.tally.artifacts = 1;
  return failure;
}

// "T1 2/5": the number of different failures and of occurrences.
std::string Show(const std::map<std::string, Share>& shares) {
  std::string shown;
  for (const auto& [name, share] : shares) {
    shown += (shown.empty() ? "" : " ") + name + " " + std::to_string(share.failures) + "/" +
             std::to_string(share.occurrences);
  }
  return shown;
}

std::string Ids(const std::vector<const Failure*>& failures) {
  std::string ids;
  for (const Failure* failure : failures) ids += failure->id;
  return ids;
}

Timestamp AfterSeconds(std::int64_t seconds) { return {seconds * 1000000, true}; }

TEST_CASE("an empty report has an empty summary", "[report]") {
  const Report report;
  const Summary summary = Summarize(report);
  CHECK(summary.artifacts == 0);
  CHECK(summary.failures == 0);
  CHECK(summary.occurrences == 0);
  CHECK(summary.problems == 0);
  CHECK(summary.by_code.empty());
  CHECK_FALSE(summary.first_time);
  CHECK_FALSE(summary.last_time);
  CHECK_FALSE(MakeDocument(report).is_batch);
}

TEST_CASE("different failures and their occurrences are counted", "[report]") {
  const FailureRule rule = MadeFailure();
  FailureRule other = MadeFailure();
  other.code = "T2";
  other.title = "another test";
  Report report = MadeReport({Reported(rule, "a", 1), Reported(rule, "b", 4), Reported(other, "c", 2)});
  report.failures[2].facts = Evidence();
  report.failures[2].scenario = nullptr;
  report.problems.resize(2);
  report.problems_left_out = 3;
  const Summary summary = Summarize(report);
  CHECK(summary.artifacts == 2);
  CHECK(summary.bytes == 4096);
  CHECK(summary.failures == 3);
  CHECK(summary.occurrences == 7);
  CHECK(summary.problems == 5);
  CHECK(summary.by_code == std::map<std::string, std::uint64_t>{{"T1", 2}, {"T2", 1}});
  CHECK(Show(summary.by_scenario) == "T1.2 2/5 T2.? 1/2");
  CHECK(summary.by_scenario.at("T1.2").title == "too large");
}

TEST_CASE("by_remedy counts the remedy that the failure lists first", "[report]") {
  Remedy inquiry;
  inquiry.id = "look";
  inquiry.inquiry = true;
  Remedy cure;
  cure.id = "cut";
  cure.title = "Cut it";
  const auto ranked = [](const Remedy& remedy) {
    RankedRemedy made;
    made.remedy = &remedy;
    return made;
  };
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Reported(rule, "a", 1), Reported(rule, "b", 2), Reported(rule, "c", 3)});
  report.failures[0].remedies = {ranked(inquiry), ranked(cure)};
  report.failures[1].remedies = {ranked(inquiry)};
  report.failures[2].remedies = {ranked(cure), ranked(inquiry)};
  const Summary summary = Summarize(report);
  CHECK(Show(summary.by_remedy) == "cut 1/3 look 2/3");
  CHECK(summary.by_remedy.at("cut").title == "Cut it");
}

TEST_CASE("in a large batch, each failure has its own first remedy", "[report]") {
  Remedy rare;
  rare.id = "rare";
  rare.title = "Rare cure";
  Remedy usual;
  usual.id = "usual";
  usual.title = "Usual cure";
  const FailureRule rule = MadeFailure();
  std::vector<Failure> failures;
  for (int i = 0; i < 24; ++i) {
    Failure& failure = failures.emplace_back(Reported(rule, std::to_string(i), i < 20 ? 1 : 5));
    RankedRemedy& first = failure.remedies.emplace_back();
    first.remedy = i < 20 ? &rare : &usual;
    first.rank = 1;
  }
  const std::string text = PrintText(MadeReport(std::move(failures)), TextOptions());
  // Only the most frequent failures, which are last in the order of paths, have blocks.
  CHECK(text.find("do    1  Usual cure") != std::string::npos);
  CHECK(text.find("do    1  Rare cure") == std::string::npos);
  CHECK(text.find("by 5 processes; 2.00 GiB") != std::string::npos);
}

TEST_CASE("the most frequent failures come first", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Reported(rule, "a", 1), Reported(rule, "b", 2), Reported(rule, "c", 5),
                              Reported(rule, "d", 2), Reported(rule, "e", 1)});
  report.failures[4].tally.artifacts = 2;
  CHECK(Ids(MakeDocument(report).failures) == "cbdea");
}

TEST_CASE("the times are the first and last of all failures", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Reported(rule, "a", 1), Reported(rule, "b", 1), Reported(rule, "c", 1)});
  report.failures[0].tally.first_time = AfterSeconds(50);
  report.failures[0].tally.last_time = AfterSeconds(90);
  report.failures[1].tally.first_time = AfterSeconds(20);
  report.failures[1].tally.last_time = AfterSeconds(30);
  const Summary summary = Summarize(report);
  CHECK(summary.first_time == AfterSeconds(20));
  CHECK(summary.last_time == AfterSeconds(90));
}

TEST_CASE("a period is printed in whole seconds", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport(std::vector<Failure>(4, Reported(rule, "a", 1)));
  report.failures[0].tally.AddTime(Timestamp{1500000, true});
  CHECK(PrintText(report, TextOptions()).find("· 1970-01-01T00:00:01Z ·") != std::string::npos);
  report.failures[1].tally.AddTime(Timestamp{61000000, true});
  CHECK(PrintText(report, TextOptions()).find("· 1970-01-01T00:00:01Z to 1970-01-01T00:01:01Z ·") != std::string::npos);
}

TEST_CASE("the most frequent scenarios come first, ties by name", "[report]") {
  std::vector<FailureRule> rules(4, MadeFailure());
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].code = std::string("F") + "badc"[i];
    failures.push_back(Reported(rules[i], std::to_string(i), std::vector{5, 2, 9, 2}[i]));
  }
  const std::string text = PrintText(MadeReport(std::move(failures)), TextOptions());
  std::size_t at = 0;
  for (const char* code : {"Fd.2", "Fb.2", "Fa.2"}) {  // and 1 more
    at = text.find(std::string("         1  ") + code, at);
    CHECK(at != std::string::npos);
  }
}

TEST_CASE("one failure is no batch, a hundred are", "[report]") {
  const FailureRule rule = MadeFailure();
  CHECK_FALSE(MakeDocument(MadeReport({Reported(rule, "a", 1)})).is_batch);
  CHECK_FALSE(MakeDocument(MadeReport({Reported(rule, "a", 1000)})).is_batch);  // still one failure
  CHECK(MakeDocument(MadeReport(std::vector<Failure>(100, Reported(rule, "a", 1)))).is_batch);
}

TEST_CASE("a batch on a terminal reaches its first failure within a screen", "[report]") {
  std::vector<FailureRule> rules(30, MadeFailure());
  std::vector<Failure> failures;
  for (std::size_t i = 0; i < rules.size(); ++i) {
    rules[i].code = fmt::format("F{:02}", i);
    failures.push_back(Reported(rules[i], std::to_string(i), i == 7 ? 9 : 1));
    failures.back().where.artifact.path = fmt::format("logs/{}.log", i);
  }
  failures[7].tally.first_time = AfterSeconds(20);
  for (const std::size_t count : {30, 9}) {  // a table, and each in full
    failures.resize(count);
    Report report = MadeReport(failures);
    for (int i = 0; i < 30; ++i) report.problems.push_back({fmt::format("logs/{}.bin", i), "", "cannot open: denied"});
    const std::string text = PrintText(report, {.rows = 24});
    INFO(text);
    const std::string most = "Most frequent: F07.2";
    CHECK(text.find(most) < text.find('\n') + 2);
    CHECK(text.find("See logs/7.log:") < text.find("\n\n"));
    CHECK(text.find("since 1970-01-01T00:00:20Z") < text.find("\n\n"));
    CHECK(text.find("warning: logs/0.bin and 29 more inputs: cannot open: denied\n") != std::string::npos);
    CHECK(std::count(text.begin(), text.begin() + static_cast<std::ptrdiff_t>(text.rfind("F07")), '\n') < 24);
  }
}

}  // namespace TEST_FILE
