// A report in which every text that a log's author controls attacks the viewer.
#pragma once

#include <string>

#include "diagnose/report.h"

inline const std::string& Hostile() {
  static const std::string text =
      "x\x1b[2J</details></code><script>alert(1)</script>' onload=\"alert(2)\" & @octocat #1 GH-2 o/r#3 "
      "https://evil.example www.evil.example me@evil.example | ``` ~~~ ` `` [x](javascript:alert(3)) "
      "![i](http://evil.example/i.png) <!-- ]]> 0123456789abcdef0123456789abcdef01234567 $$x$$ :tada: **b** _i_ \\| "
      "\xe2\x80\xae\xff\xef\xbf\xbf\n# heading\n- item\n| a | b |\n";
  return text;
}

// Hostile rule files are possible, too.
inline whyoom::FailureRule HostileFailure() {
  whyoom::FailureRule rule;
  rule.code = "T1";
  rule.title = Hostile();
  rule.phase = "compile";
  rule.links = {{Hostile(), "javascript:alert(4)"}, {"page", "https://example.org/> <b>"}};
  rule.scenarios.push_back({});
  rule.scenarios[0].id = "2";
  rule.scenarios[0].title = Hostile();
  return rule;
}

inline whyoom::Remedy HostileRemedy() {
  whyoom::Remedy remedy;
  remedy.id = "split";
  remedy.title = Hostile();
  remedy.safety = "safe";
  remedy.safe_why = remedy.gain = remedy.note = Hostile();
  remedy.links = {{Hostile(), "data:text/html,<script>"}};
  return remedy;
}

// Borrows the rules.
inline whyoom::Failure HostileFailure(const whyoom::FailureRule& rule, const whyoom::Remedy& remedy) {
  whyoom::Failure failure;
  failure.rule = &rule;
  failure.scenario = &rule.scenarios[0];
  failure.id = Hostile();
  failure.message = failure.framework = Hostile();
  failure.where = {{Hostile(), Hostile()}, 7, 9, 70};
  failure.tally.hosts.Add(Hostile());
  failure.tally.hosts.Add("rank0");
  failure.facts.Set("need_bytes", 3221225472.0, {7, 70});
  failure.facts.Set("have_bytes", 1073741824.0, {7, 70});
  for (const char* name : {"module", "device", "chip"}) failure.facts.Set(name, Hostile(), {7, 70});
  for (const int rank : {1, 2}) {
    whyoom::Allocation row;
    row.rank = rank;
    row.size_bytes = std::int64_t{1} << 30;
    row.padding_bytes = 1 << 20;
    row.padding_factor = 32;
    row.op_name = row.xla_label = row.kind = row.shape_text = row.source_file = Hostile() + std::to_string(rank);
    row.source_line = 3;
    row.place = {8, 80};
    failure.allocations.push_back(row);
  }
  failure.why = {{Hostile(), 7}};
  whyoom::RankedRemedy ranked;
  ranked.rank = 1;
  ranked.remedy = &remedy;
  ranked.section = "3.A";
  ranked.saves_bytes = 1 << 30;
  ranked.left_bytes = std::int64_t{17} << 30;
  ranked.spread_bytes = 1 << 29;
  ranked.basis = "program";
  ranked.enough = false;
  ranked.enough_with = {Hostile()};
  ranked.why = {{Hostile(), 8}};
  ranked.how = {Hostile()};
  ranked.safety = remedy.safety;
  ranked.safe_why = remedy.safe_why;
  failure.remedies.push_back(std::move(ranked));
  failure.estimates = whyoom::ProgramEstimates();
  failure.estimates->memory = {{"activations", std::int64_t{5} << 30, {{Hostile(), 1 << 30}}}};
  failure.ruled_out = {{&remedy, Hostile()}};
  return failure;
}

// `count` hostile failures; borrows the rules.
inline whyoom::Report HostileReport(const whyoom::FailureRule& rule, const whyoom::Remedy& remedy, std::size_t count) {
  whyoom::Report report;
  report.version = "1.2.3";
  report.rules_fingerprint = "0123456789abcdef0123456789abcdef";
  report.artifacts = count;
  report.problems.push_back({Hostile(), Hostile(), Hostile()});
  for (std::size_t i = 0; i < count; ++i) {
    report.failures.push_back(HostileFailure(rule, remedy));
    report.failures.back().id += std::to_string(i);
    report.failures.back().facts.Set("program", Hostile() + std::to_string(i), {});
    report.failures.back().tally.AddTime(whyoom::Timestamp{static_cast<std::int64_t>(i) * 60'000'000, true});
  }
  return report;
}
