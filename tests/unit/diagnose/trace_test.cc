// The data of `whyoom rules trace`: the headers near a line, and how a finding was diagnosed.
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

const TracedHeader* HeadOf(const LogTrace& trace, const std::string& id) {
  for (const LineTrace& line : trace.lines) {
    for (const TracedHeader& head : line.header_patterns) {
      if (head.trace.head->id == id) return &head;
    }
  }
  return nullptr;
}

using Outcome = HeaderTrace::Outcome;
using Fate = TracedHeader::Fate;

TEST_CASE("a header with a literal near the line is recorded if it does not match", "[diagnose]") {
  const LogTrace trace = TraceOf("step 1\nE Test pool of 9B on 5B is full\nstep 2\n", 2);
  REQUIRE(trace.lines.size() == 1);
  CHECK(trace.findings.empty());
  CHECK(trace.lines[0].line == 2);
  const TracedHeader* head = HeadOf(trace, "pool");
  REQUIRE(head != nullptr);
  CHECK(head->trace.outcome == Outcome::kNoMatch);
  CHECK(head->trace.literal == "test pool of");
}

TEST_CASE("without a matching literal, the literals are listed", "[diagnose]") {
  const LogTrace trace = TraceOf("all is well\nTest pol of 9B in 5B is ful\n", 2);
  REQUIRE(trace.lines.size() == 1);
  CHECK(trace.lines[0].header_patterns.empty());
  CHECK(std::find(trace.literals.begin(), trace.literals.end(), "test_exhausted") != trace.literals.end());
  CHECK(TraceOf("all is well\n", 1, {"T1"}).lines[0].header_patterns.size() == 2);
  CHECK(TraceOf("all is well\n", 7).lines.empty());
  CHECK(TraceOf("all is well\n", 7).last_line == 1);
}

TEST_CASE("a header that starts no failure is recorded with the reason", "[diagnose]") {
  const TracedHeader* head = nullptr;
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

TEST_CASE("lines that differ only in figures are traced once, at most kMostTracedLines in all", "[diagnose]") {
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

// Returns the entries of a recording, one per line: "  what = result [detail]", two blanks per level.
std::string Shown(const std::vector<RecordEntry>& entries, const std::string& under) {
  std::string shown;
  bool is_inside = false;
  for (const RecordEntry& entry : entries) {
    if (entry.depth == 0) is_inside = entry.what == under;
    if (!is_inside || entry.depth == 0) continue;
    shown += std::string(2 * static_cast<std::size_t>(entry.depth - 1), ' ') + entry.what + " = " + entry.result;
    if (!entry.detail.empty()) shown += " [" + entry.detail + "]";
    if (entry.line > 0) shown += " line " + std::to_string(entry.line);
    shown += "\n";
  }
  return shown;
}

TEST_CASE("the facts of a finding name their pattern or context", "[diagnose]") {
  const LogTrace trace = TraceOf("test mesh of 8\nTest pool of 9B in 5B is full\n");
  REQUIRE(trace.findings.size() == 1);
  const FindingTrace& finding = trace.findings[0];
  std::string facts;
  for (const FactTrace& fact : finding.facts)
    facts += fact.name + "=" + ValueText(fact.value) + " " + std::to_string(fact.line) + " " + fact.from + "\n";
  CHECK(facts ==
        "limit_bytes=5 2 header pattern pool\nover_bytes=4 0 \ntest_devices=8 1 context test_mesh\n"
        "used_bytes=9 2 header pattern pool\n");
  CHECK(finding.silent == std::vector<std::string>{"pattern with %{size:free_bytes} free", "context test_step"});
  CHECK(Shown(finding.recorded, "Derived facts") ==
        "over_bytes = 4\n"
        "  used_bytes - limit_bytes = 4 [used_bytes = 9, limit_bytes = 5]\n"
        "odd_bytes = not derived\n"
        "  free_bytes > 0 = unknown [free_bytes = unknown]\n");
}

TEST_CASE("an undecided scenario names the unknown facts", "[diagnose]") {
  const LogTrace trace = TraceOf("Test pool of 9B in 5B is full\n");
  REQUIRE(trace.findings.size() == 1);
  CHECK(Shown(trace.findings[0].recorded, "Scenarios") ==
        "scenario tight = unknown [priority 1, t]\n"
        "  free_bytes < 3 = unknown [free_bytes = unknown]\n"
        "scenario small = false [priority 2, s]\n"
        "  used_bytes < limit_bytes = false [used_bytes = 9, limit_bytes = 5]\n");
  const LogTrace told = TraceOf("Test pool of 9B in 5B is full with 2B free\n");
  CHECK(Shown(told.findings.at(0).recorded, "Scenarios").starts_with("scenario tight = true"));
}

TEST_CASE("remedies are recorded with the reasons for and against them", "[diagnose]") {
  const LogTrace trace = TraceOf("Test pool of 9B in 5B is full\n");
  REQUIRE(trace.findings.size() == 1);
  CHECK(Shown(trace.findings[0].recorded, "Remedies") ==
        "remedy test_move = offered\n"
        "  for = yes [always]\n"
        "remedy test_shrink = offered\n"
        "  for = yes [9 B are used.] line 1\n"
        "    used_bytes > limit_bytes = true [used_bytes = 9, limit_bytes = 5]\n"
        "  for = no [There is room.]\n"
        "    limit_bytes > used_bytes = false [limit_bytes = 5, used_bytes = 9]\n"
        "  saves = unknown\n"
        "    used_bytes - free_bytes = unknown [used_bytes = 9, free_bytes = unknown]\n"
        "remedy test_wait = ruled out [it never ends]\n"
        "  against = yes [it never ends]\n"
        "    used_bytes > 4 = true [used_bytes = 9]\n"
        "remedy test_hide = not offered\n"
        "  against = yes\n"
        "    used_bytes > 4 = true [used_bytes = 9]\n"
        "remedy test_when = not offered\n"
        "  free_bytes > 4 = unknown [free_bytes = unknown]\n");
}

TEST_CASE("for a function over rows, the largest row and the result are recorded", "[diagnose]") {
  struct Rows : Scope {
    Value Get(std::string_view) const override { return Unknown{}; }
    std::size_t row_count() const override { return 3; }
    Value GetInRow(std::size_t row, std::string_view) const override { return 3.0 - static_cast<double>(row); }
    Recorder* recorder() const override { return &recording; }
    mutable Recorder recording;
  } rows;
  std::vector<SyntaxFault> faults;
  const Expression condition = Expression::Compile("not (count_of(size > 2) == 2 and size > 1)", &faults);
  REQUIRE(faults.empty());
  CHECK(condition.Evaluate(rows) == Value(true));
  std::vector<RecordEntry> entries = rows.recording.Take();
  for (RecordEntry& entry : entries) ++entry.depth;
  entries.insert(entries.begin(), RecordEntry{.depth = 0, .what = "all"});
  CHECK(Shown(entries, "all") ==
        "not (count_of(size > 2) == 2 and size > 1) = true\n"
        "  count_of(size > 2) == 2 and size > 1 = false\n"
        "    count_of(size > 2) == 2 = false\n"
        "      count_of(size > 2) = 1\n"
        "        row 1: size > 2 = true [size = 3]\n");
}

}  // namespace TEST_FILE
