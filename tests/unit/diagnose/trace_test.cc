// What `whyoom rules trace` tells, as data: which heads are near a line, and how a finding came to its diagnosis.
#include "diagnose/trace.h"

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

const RuleSet& Rules() {
  static const RuleSet rules = RulesWith(R"json({"format": "whyoom.rules/1",
"remedies": [
  {"id": "test_shrink", "title": "Shrink", "safety": "safe", "safe_why": "It is.", "cost": 1, "gain": "g", "telltale": "t",
   "note": "n", "links": [], "how": {"jax": ["Shrink it."]}, "saves": "used_bytes - free_bytes",
   "evidence": [{"when": "used_bytes > limit_bytes", "at": "used_bytes", "text": "{used_bytes|size} are used."},
                {"when": "limit_bytes > used_bytes", "text": "There is room."}]},
  {"id": "test_move", "title": "Move", "safety": "safe", "safe_why": "It is.", "cost": 3, "gain": "g", "telltale": "t",
   "note": "n", "links": [], "how": {"jax": ["Move it."]}, "evidence": [{"text": "always"}]},
  {"id": "test_wait", "title": "Wait", "safety": "safe", "safe_why": "It is.", "cost": 0, "gain": "g", "telltale": "t",
   "note": "n", "links": [], "how": {"jax": ["Wait."]},
   "ruled_out": [{"when": "used_bytes > 4", "text": "it never ends"}]},
  {"id": "test_hide", "title": "Hide", "safety": "safe", "safe_why": "It is.", "cost": 0, "gain": "g", "telltale": "t",
   "note": "n", "links": [], "how": {"jax": ["Hide."]}, "ruled_out": [{"when": "used_bytes > 4"}]},
  {"id": "test_when", "title": "When", "safety": "safe", "safe_why": "It is.", "cost": 0, "gain": "g", "telltale": "t",
   "note": "n", "links": [], "how": {"jax": ["Do."]}, "when": "free_bytes > 4"}],
"failures": [
  {"code": "T1", "title": "test", "category": "Test", "phase": "compile", "about": ["t"], "links": [],
   "heads": [{"id": "pool", "pattern": "Test pool of %{size:used_bytes} in %{size:limit_bytes} is full"},
             {"id": "status", "pattern": "TEST_EXHAUSTED", "line_start": true}],
   "facts": ["with %{size:free_bytes} free"], "contexts": ["test_mesh", "test_step"],
   "derived": [{"fact": "over_bytes", "from": "used_bytes - limit_bytes"},
               {"fact": "odd_bytes", "from": "free_bytes", "when": "free_bytes > 0"}],
   "identity": ["used_bytes"],
   "scenarios": [{"id": "tight", "title": "t", "priority": 1, "about": "t", "when": "free_bytes < 3", "why": []},
                 {"id": "small", "title": "s", "priority": 2, "about": "t", "when": "used_bytes < limit_bytes", "why": []}],
   "remedies": [{"id": "test_move", "section": "1", "prior": 1}, {"id": "test_shrink", "section": "1", "prior": 2},
                {"id": "test_wait", "section": "1", "prior": 3}, {"id": "test_hide", "section": "1", "prior": 4},
                {"id": "test_when", "section": "1", "prior": 5}],
   "examples": {"match": [{"text": "Test pool of 9B in 5B is full"}, {"text": "TEST_EXHAUSTED"}]}},
  {"code": "T2", "title": "inner", "category": "Test", "phase": "run", "about": ["t"], "links": [],
   "heads": [{"id": "request", "pattern": "Test request refused"}], "absorbed_by": ["T3"],
   "examples": {"match": [{"text": "Test request refused"}]}},
  {"code": "T3", "title": "outer", "category": "Test", "phase": "run", "about": ["t"], "links": [],
   "heads": [{"id": "load", "pattern": "Test load failed(?:; Test request refused)?"}],
   "examples": {"match": [{"text": "Test load failed"}]}}],
"contexts": [
  {"id": "test_mesh", "pattern": "test mesh of %{integer:test_devices}",
   "examples": {"match": [{"text": "test mesh of 8", "facts": {"test_devices": 8}}]}},
  {"id": "test_step", "pattern": "test step %{integer:test_step}",
   "examples": {"match": [{"text": "test step 8", "facts": {"test_step": 8}}]}}],
"quotations": [{"id": "test_grep", "pattern": "\n.*grep[ ][^\n]*\\z", "examples": ["grep TESTCOMPILEOOM"]}]
})json");
  return rules;
}

LogTrace TraceOf(const std::string& log, std::uint64_t line = 0, const std::set<std::string>& codes = {}) {
  static const Engine engine(Rules());
  const ScratchFolder scratch;
  return TraceInputs(engine, {{scratch.Write("test.log", log), ""}}, {line, codes}, Limits());
}

const TracedHead* HeadOf(const LogTrace& trace, const std::string& id) {
  for (const LineTrace& line : trace.lines) {
    for (const TracedHead& head : line.heads) {
      if (head.trace.head->id == id) return &head;
    }
  }
  return nullptr;
}

const RemedyTrace& RemedyOf(const FindingTrace& finding, const std::string& id) {
  for (const RemedyTrace& remedy : finding.remedies) {
    if (remedy.remedy->id == id) return remedy;
  }
  FAIL("no remedy " << id);
  return finding.remedies.front();
}

using Outcome = HeadTrace::Outcome;
using Fate = TracedHead::Fate;

TEST_CASE("a head that is missed by one character is told to the column", "[diagnose]") {
  const LogTrace trace = TraceOf("step 1\nE Test pool of 9B on 5B is full\nstep 2\n", 2);
  REQUIRE(trace.lines.size() == 1);
  CHECK(trace.findings.empty());
  CHECK(trace.lines[0].line == 2);
  const TracedHead* head = HeadOf(trace, "pool");
  REQUIRE(head != nullptr);
  CHECK(head->trace.outcome == Outcome::kNoMatch);
  REQUIRE(head->trace.reach);
  CHECK(head->trace.met == "Test pool of 9B ");
  CHECK(head->trace.goes_on == "on 5B is full step 2");
  CHECK(head->trace.reach->wanted == "in %{size:limit_bytes} is full");
  CHECK(head->trace.stop.column == 19);
  CHECK(head->trace.again.column == 20);
}

TEST_CASE("where not even a literal is near, the nearest heads are told and what was looked for", "[diagnose]") {
  const LogTrace trace = TraceOf("all is well\nTest pol of 9B in 5B is ful\n", 2);
  REQUIRE(trace.lines.size() == 1);
  CHECK(trace.lines[0].heads.empty());
  REQUIRE_FALSE(trace.lines[0].nearest.empty());
  CHECK(trace.lines[0].nearest[0].head->id == "pool");
  CHECK(trace.lines[0].nearest[0].met == "Test po");
  CHECK(std::find(trace.literals.begin(), trace.literals.end(), "test_exhausted") != trace.literals.end());
  CHECK(TraceOf("all is well\n", 1, {"T1"}).lines[0].heads.size() == 2);
  CHECK(TraceOf("all is well\n", 7).lines.empty());
  CHECK(TraceOf("all is well\n", 7).last_line == 1);
}

TEST_CASE("a head that does not count is told why", "[diagnose]") {
  const TracedHead* head = nullptr;
  LogTrace trace = TraceOf("$ grep 'Test pool of 9B in 5B is full' log\n");
  REQUIRE((head = HeadOf(trace, "pool")) != nullptr);
  CHECK(head->trace.outcome == Outcome::kQuoted);
  REQUIRE(head->trace.quotation != nullptr);

  trace = TraceOf("the word TEST_EXHAUSTED in a sentence\n");
  REQUIRE((head = HeadOf(trace, "status")) != nullptr);
  CHECK(head->trace.outcome == Outcome::kNotAtLineStart);
  CHECK(head->trace.place.column == 10);

  trace = TraceOf("Test load failed; Test request refused\n");
  REQUIRE((head = HeadOf(trace, "request")) != nullptr);
  CHECK(head->fate == Fate::kAbsorbed);
  CHECK(head->by->code == "T3");
  REQUIRE((head = HeadOf(trace, "load")) != nullptr);
  CHECK(head->fate == Fate::kOpened);

  trace = TraceOf("here it comes\nTest load failed\n", 1);
  REQUIRE((head = HeadOf(trace, "load")) != nullptr);
  CHECK(head->trace.outcome == Outcome::kInLaterLine);
}

TEST_CASE("of lines that differ in figures only one is told, and no more than some", "[diagnose]") {
  std::string log;
  for (int i = 0; i < 30; ++i) log += "the word TEST_EXHAUSTED, " + std::to_string(i) + "\n";
  LogTrace trace = TraceOf(log);
  REQUIRE(trace.lines.size() == 1);
  CHECK(trace.lines[0].alike == 29);
  log.clear();
  for (int i = 0; i < 30; ++i) log += "the word TEST_EXHAUSTED" + std::string(static_cast<std::size_t>(i), '!') + "\n";
  trace = TraceOf(log);
  CHECK(trace.lines.size() == kMostTracedLines);
  CHECK(trace.lines_left_out == 30 - kMostTracedLines);
}

TEST_CASE("a finding's facts are told with what gave them", "[diagnose]") {
  const LogTrace trace = TraceOf("test mesh of 8\nTest pool of 9B in 5B is full\n");
  REQUIRE(trace.findings.size() == 1);
  const FindingTrace& finding = trace.findings[0];
  std::string facts;
  for (const FactTrace& fact : finding.facts) {
    facts += fact.name + "=" + ValueText(fact.value) + " " + std::to_string(fact.line) + " " +
             std::to_string(static_cast<int>(fact.from)) + " " + fact.by + "\n";
  }
  CHECK(facts ==
        "limit_bytes=5 2 0 pool\nover_bytes=4 0 4 used_bytes - limit_bytes\ntest_devices=8 1 3 test_mesh\n"
        "used_bytes=9 2 0 pool\n");
  REQUIRE(finding.patterns.size() == 1);
  CHECK(finding.patterns[0].line == 0);
  REQUIRE(finding.contexts.size() == 2);
  CHECK(finding.contexts[0].gave == std::vector<std::string>{"test_devices"});
  CHECK(finding.contexts[1].lines.empty());
  REQUIRE(finding.derived.size() == 2);
  CHECK(finding.derived[1].outcome == DerivedTrace::Outcome::kNotNow);
  REQUIRE(finding.derived[1].when);
  CHECK(finding.derived[1].when->UnknownNames() == std::vector<std::string>{"free_bytes"});
}

TEST_CASE("a scenario that the log leaves open names what is not known", "[diagnose]") {
  const LogTrace trace = TraceOf("Test pool of 9B in 5B is full\n");
  REQUIRE(trace.findings.size() == 1);
  const std::vector<ScenarioTrace>& scenarios = trace.findings[0].scenarios;
  REQUIRE(scenarios.size() == 2);
  CHECK(scenarios[0].verdict == ScenarioTrace::Verdict::kUnknown);
  CHECK(scenarios[0].when.UnknownNames() == std::vector<std::string>{"free_bytes"});
  CHECK(scenarios[1].verdict == ScenarioTrace::Verdict::kFalse);
  CHECK(scenarios[1].when.parts[0].with_values == "9 < 5");
  const LogTrace told = TraceOf("Test pool of 9B in 5B is full with 2B free\n");
  CHECK(told.findings.at(0).scenarios.at(0).verdict == ScenarioTrace::Verdict::kHolds);
}

TEST_CASE("a remedy is told with its evidence, why it is not offered, and why it stands before the next",
          "[diagnose]") {
  const LogTrace trace = TraceOf("Test pool of 9B in 5B is full\n");
  REQUIRE(trace.findings.size() == 1);
  const FindingTrace& finding = trace.findings[0];
  const RemedyTrace& shrink = RemedyOf(finding, "test_shrink");
  CHECK(shrink.verdict == RemedyTrace::Verdict::kOffered);
  CHECK(shrink.ranked->rank == 1);
  CHECK(shrink.next == RemedyOf(finding, "test_move").ranked);
  CHECK(shrink.before_next == RankPart::kCost);
  REQUIRE(shrink.evidence.size() == 2);
  CHECK(shrink.evidence[0].said == "9 B are used.");
  CHECK_FALSE(shrink.evidence[1].said.has_value());
  CHECK(shrink.evidence[1].when->parts[0].with_values == "5 > 9");
  REQUIRE(shrink.saves);
  CHECK(shrink.saves->UnknownNames() == std::vector<std::string>{"free_bytes"});
  const RemedyTrace& wait = RemedyOf(finding, "test_wait");
  CHECK(wait.verdict == RemedyTrace::Verdict::kRuledOut);
  CHECK(wait.why == "it never ends");
  CHECK(wait.against.at(0).when->parts[0].with_values == "9 > 4");
  CHECK(RemedyOf(finding, "test_hide").verdict == RemedyTrace::Verdict::kNotMeant);
  const RemedyTrace& when = RemedyOf(finding, "test_when");
  CHECK(when.verdict == RemedyTrace::Verdict::kNotMeant);
  REQUIRE(when.when);
  CHECK(when.when->UnknownNames() == std::vector<std::string>{"free_bytes"});
}

TEST_CASE("what decides between two remedies is what they are sorted by", "[diagnose]") {
  const RankReasons one{.supported = true, .cost = 1, .estimated = true, .prior = 5};
  RankReasons other = one;
  CHECK(DecidingPart(one, other) == RankPart::kId);
  other.prior = 6;
  CHECK(DecidingPart(one, other) == RankPart::kPrior);
  CHECK(SortKey(one) < SortKey(other));
  other.doubtful = true;
  CHECK(DecidingPart(one, other) == RankPart::kDoubtful);
  other.too_little = true;
  CHECK(DecidingPart(one, other) == RankPart::kTooLittle);
  other.supported = false;
  CHECK(DecidingPart(other, one) == RankPart::kSupported);
  other.falls_short = true;
  CHECK(DecidingPart(one, other) == RankPart::kFallsShort);
  other.free = true;
  CHECK(DecidingPart(one, other) == RankPart::kFree);
  other.finds_out = true;
  CHECK(SortKey(other) < SortKey(one));
}

}  // namespace TEST_FILE
