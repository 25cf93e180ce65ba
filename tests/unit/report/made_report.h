// Handmade reports for tests of printers.
#pragma once

#include <string>
#include <utility>

#include "report/report.h"

// Text with which a log's author could attack a terminal, a CI server or a parser. Reports contain it as logs would;
// printers must make it plain text.
inline const char* const kHostileText =
    "::error::x\n::set-env name=A::b\r\n  ::stop-commands::t ##[add-mask]x %0A::warning::y "
    "\x1b[2J\x07\xc2\x9b\xe2\x80\xae\xff\xef\xbf\xbe\xef\xbf\xbf</failure>]]><!--&amp;'\" {0} [a](https://example.org)";

inline whyoom::Failure MadeFailure() {
  whyoom::Failure failure;
  failure.code = "T1";
  failure.title = "a test";
  failure.category = "Test";
  failure.phase = "compile";
  failure.about = {"What it means."};
  failure.links = {{"page", "https://example.org/t1"}};
  whyoom::Scenario scenario;
  scenario.id = "2";
  scenario.title = "too large";
  scenario.about = "It is `too_large` by far.";
  scenario.remedies = {{"smaller", "", 20}, {"away", "", 10}};
  failure.scenarios.push_back(std::move(scenario));
  return failure;
}

inline whyoom::Diagnosis MadeFinding(const whyoom::Failure& failure, std::string id = "0123456789abcdef") {
  whyoom::Diagnosis finding;
  finding.failure = &failure;
  finding.scenario = &failure.scenarios.front();
  finding.id = std::move(id);
  finding.confidence = whyoom::Confidence::kHigh;
  finding.message = "out of memory";
  finding.where = {{"logs/train.log", ""}, 7, 9, 70};
  finding.facts.Set("need_bytes", 3221225472.0, {7, 70});
  finding.facts.Set("have_bytes", 1073741824.0, {7, 70});
  finding.facts.Set("module", std::string("jit_step"), {7, 70});
  finding.tally.hosts.Add("rank0");
  return finding;
}

inline void SetSource(const std::string& path, std::int64_t line, whyoom::Diagnosis* finding) {
  whyoom::Allocation row;
  row.rank = 1;
  row.size_bytes = 2147483648;
  row.source_file = path;
  row.source_line = line;
  finding->allocations.push_back(std::move(row));
}

inline whyoom::Diagnosis HostileFinding(const whyoom::Failure& failure) {
  whyoom::Diagnosis finding = MadeFinding(failure);
  finding.id = "fedcba9876543210";
  finding.message = kHostileText;
  finding.where = {{kHostileText, kHostileText}, 1, 1, 0};
  finding.facts.Set("module", std::string(kHostileText), {1, 0}, true);
  finding.why = {{kHostileText, 3}};
  finding.tally.hosts.Add(kHostileText);
  SetSource(std::string(kHostileText) + ".py", 3, &finding);
  finding.allocations.front().op_name = kHostileText;
  finding.allocations.front().shape_text = kHostileText;
  return finding;
}

inline whyoom::Report MadeReport(const std::vector<whyoom::Diagnosis>& findings) {
  whyoom::Report report;
  report.version = "1.2.3";
  report.rules_fingerprint = "abc";
  report.findings = findings;
  report.artifacts = 2;
  report.bytes = 4096;
  return report;
}
