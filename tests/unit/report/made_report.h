// Handmade reports for tests of printers.
#pragma once

#include <string>
#include <utility>

#include "diagnose/report.h"

// Text with which a log's author could attack a terminal, a CI server or a parser. Reports contain it as logs would;
// printers must make it plain text.
inline const char* const kHostileText =
    "::error::x\n::set-env name=A::b\r\n  ::stop-commands::t ##[add-mask]x %0A::warning::y "
    "\x1b[2J\x07\xc2\x9b\xe2\x80\xae\xff\xef\xbf\xbe\xef\xbf\xbf</failure>]]><!--&amp;'\" {0} [a](https://example.org)";

inline whyoom::FailureRule MadeFailure() {
  whyoom::FailureRule rule;
  rule.code = "T1";
  rule.title = "a test";
  rule.category = "Test";
  rule.phase = "compile";
  rule.about = {"What it means."};
  rule.links = {{"page", "https://example.org/t1"}};
  whyoom::Scenario scenario;
  scenario.id = "2";
  scenario.title = "too large";
  scenario.about = "It is `too_large` by far.";
  scenario.remedies = {{"smaller", "", 20}, {"away", "", 10}};
  rule.scenarios.push_back(std::move(scenario));
  return rule;
}

inline whyoom::Failure MadeFailure(const whyoom::FailureRule& rule, std::string id = "0123456789abcdef") {
  whyoom::Failure failure;
  failure.rule = &rule;
  failure.scenario = &rule.scenarios.front();
  failure.id = std::move(id);
  failure.confidence = whyoom::Confidence::kHigh;
  failure.message = "out of memory";
  failure.where = {{"logs/train.log", ""}, 7, 9, 70};
  failure.facts.Set("need_bytes", 3221225472.0, {7, 70});
  failure.facts.Set("have_bytes", 1073741824.0, {7, 70});
  failure.facts.Set("module", std::string("jit_step"), {7, 70});
  failure.tally.hosts.Add("rank0");
  return failure;
}

inline void SetSource(const std::string& path, std::int64_t line, whyoom::Failure* failure) {
  whyoom::Allocation row;
  row.rank = 1;
  row.size_bytes = 2147483648;
  row.source_file = path;
  row.source_line = line;
  failure->allocations.push_back(std::move(row));
}

inline whyoom::Failure HostileFailure(const whyoom::FailureRule& rule) {
  whyoom::Failure failure = MadeFailure(rule);
  failure.id = "fedcba9876543210";
  failure.message = kHostileText;
  failure.where = {{kHostileText, kHostileText}, 1, 1, 0};
  failure.facts.Set("module", std::string(kHostileText), {1, 0}, true);
  failure.why = {{kHostileText, 3}};
  failure.tally.hosts.Add(kHostileText);
  SetSource(std::string(kHostileText) + ".py", 3, &failure);
  failure.allocations.front().op_name = kHostileText;
  failure.allocations.front().shape_text = kHostileText;
  return failure;
}

inline whyoom::Report MadeReport(const std::vector<whyoom::Failure>& failures) {
  whyoom::Report report;
  report.version = "1.2.3";
  report.rules_fingerprint = "abc";
  report.failures = failures;
  report.artifacts = 2;
  report.bytes = 4096;
  return report;
}
