// The recording for `whyoom rules trace`: each pattern's result in a line, and the steps of a diagnosis.
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "rules/recorder.h"

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
   "heads": [{"pattern": "Test pool of %{size:used_bytes} in %{size:limit_bytes} is full"},
             {"pattern": "TEST_EXHAUSTED", "line_start": true}],
   "facts": ["with %{size:free_bytes} free"], "contexts": ["test_mesh", "test_step"],
   "derived": [{"fact": "over_bytes", "from": "used_bytes - limit_bytes"},
               {"fact": "odd_bytes", "from": "free_bytes", "when": "free_bytes > 0"}],
   "identity": ["used_bytes"],
   "scenarios": [{"id": "tight", "title": "t", "priority": 1, "about": "t", "when": "free_bytes < 3", "why": []},
                 {"id": "small", "title": "s", "priority": 2, "about": "t", "when": "used_bytes < limit_bytes", "why": []}],
   "remedies": [{"id": "test_move", "section": "1", "prior": 1}, {"id": "test_shrink", "section": "1", "prior": 2},
                {"id": "test_wait", "section": "1", "prior": 3}, {"id": "test_hide", "section": "1", "prior": 4},
                {"id": "test_when", "section": "1", "prior": 5}],
   "examples": [{"text": "Test pool of 9B in 5B is full"}, {"text": "TEST_EXHAUSTED"}]},
  {"code": "T2", "title": "inner", "category": "Test", "phase": "run", "about": ["t"], "links": [],
   "heads": [{"pattern": "Test request refused"}], "absorbed_by": ["T3"],
   "examples": [{"text": "Test request refused"}]},
  {"code": "T3", "title": "outer", "category": "Test", "phase": "run", "about": ["t"], "links": [],
   "heads": [{"pattern": "Test load failed(?:; Test request refused)?"}],
   "examples": [{"text": "Test load failed"}]}],
"contexts": [
  {"id": "test_mesh", "patterns": ["test mesh of %{integer:test_devices}"],
   "examples": [{"text": "test mesh of 8", "facts": {"test_devices": 8}}]},
  {"id": "test_step", "patterns": ["test step %{integer:test_step}"],
   "examples": [{"text": "test step 8", "facts": {"test_step": 8}}]}],
"quotations": [{"id": "test_grep", "lead": "grep[ ]", "examples": ["\ngrep TESTCOMPILEOOM"]}]
})json");
  return rules;
}

struct Recorded {
  std::vector<RecordEntry> reading;
  std::vector<RecordEntry> conclusions;
};

Recorded TraceOf(const std::string& log) {
  static const Engine engine(Rules());
  Recorder recorder;
  ReadOptions options;
  options.recorder = &recorder;
  Report report = ReadArtifact(engine, {"test.log", ""}, *OpenMemory(log), options);
  Recorded recorded{recorder.Take(), {}};
  if (!report.table) return recorded;
  std::vector<Problem> problems;
  report.table->settings.recorder = &recorder;
  report.table->settings.recorded_line = 0;
  report.table->Finish(&problems);
  recorded.conclusions = recorder.Take();
  return recorded;
}

// Returns what the patterns did in the lines of a log, one per line: "2: T1, head 1 = does not match".
std::string LinesOf(const std::string& log) {
  std::string shown;
  std::uint64_t line = 0;
  for (const RecordEntry& entry : TraceOf(log).reading) {
    if (entry.depth == 1) line = entry.line;
    if (entry.depth == 2) shown += std::to_string(line) + ": " + entry.what + " = " + entry.result + "\n";
  }
  return shown;
}

TEST_CASE("a header pattern that does not match is recorded for the line with its literal", "[diagnose]") {
  CHECK(LinesOf("step 1\nE Test pool of 9B on 5B is full\nstep 2\n") == "2: T1, head 1 = does not match\n");
  CHECK(LinesOf("all is well\nTest pol of 9B in 5B is ful\n").empty());
}

TEST_CASE("a header that starts no failure is recorded with the reason", "[diagnose]") {
  const Recorded quoted = TraceOf("$ grep 'Test pool of 9B in 5B is full' log\n");
  REQUIRE(quoted.reading.size() == 3);  // the input, the line and the pattern
  CHECK(quoted.reading[2].what == "T1, head 1");
  CHECK(quoted.reading[2].result == "matches, but only in a quotation");
  CHECK_FALSE(quoted.reading[2].detail.empty());
  CHECK(LinesOf("the word TEST_EXHAUSTED in a sentence\n") ==
        "1: T1, head 2 = must be at the start of a line (line_start)\n");
  CHECK(LinesOf("Test load failed; Test request refused\n") ==
        "1: T3, head 1 = matches; a failure begins here\n1: T2, head 1 = matches; belongs to another message\n");
  // A header that begins in the next line belongs to that line.
  CHECK(LinesOf("here it comes\nTest load failed\n") == "2: T3, head 1 = matches; a failure begins here\n");
}

// Returns the entries of a recording, one per line: "  what = result [detail]", two blanks per level.
std::string Shown(const std::vector<RecordEntry>& entries, const std::string& under) {
  std::string shown;
  bool is_inside = false;
  for (const RecordEntry& entry : entries) {
    if (entry.depth == 1) is_inside = entry.what == under;
    if (!is_inside || entry.depth < 2) continue;
    shown += std::string(2 * static_cast<std::size_t>(entry.depth - 2), ' ') + entry.what + " = " + entry.result;
    if (!entry.detail.empty()) shown += " [" + entry.detail + "]";
    if (entry.line > 0) shown += " line " + std::to_string(entry.line);
    shown += "\n";
  }
  return shown;
}

TEST_CASE("facts are recorded with their line, and with the context or header pattern there", "[diagnose]") {
  const std::string log = "test mesh of 8\nTest pool of 9B in 5B is full\n";
  const Recorded recorded = TraceOf(log);
  CHECK(Shown(recorded.conclusions, "Facts") ==
        "limit_bytes = 5 line 2\ntest_devices = 8 line 1\nused_bytes = 9 line 2\n");
  REQUIRE(recorded.reading.size() == 5);
  CHECK(recorded.reading[2].what == "context test_mesh");
  CHECK(recorded.reading[2].detail == "test_devices = 8");
  CHECK(recorded.reading[4].detail == "used_bytes = 9, limit_bytes = 5");
  CHECK(Shown(recorded.conclusions, "Derived facts") ==
        "over_bytes = 4\n"
        "  used_bytes - limit_bytes = 4 [used_bytes = 9, limit_bytes = 5]\n"
        "odd_bytes = not derived\n"
        "  free_bytes > 0 = unknown [free_bytes = unknown]\n");
}

TEST_CASE("an undecided scenario names the unknown facts", "[diagnose]") {
  const Recorded recorded = TraceOf("Test pool of 9B in 5B is full\n");
  CHECK(Shown(recorded.conclusions, "Scenarios") ==
        "scenario tight = unknown [priority 1, t]\n"
        "  free_bytes < 3 = unknown [free_bytes = unknown]\n"
        "scenario small = false [priority 2, s]\n"
        "  used_bytes < limit_bytes = false [used_bytes = 9, limit_bytes = 5]\n");
  const Recorded decided = TraceOf("Test pool of 9B in 5B is full with 2B free\n");
  CHECK(Shown(decided.conclusions, "Scenarios").starts_with("scenario tight = true"));
}

TEST_CASE("remedies are recorded with the reasons for and against them", "[diagnose]") {
  const Recorded recorded = TraceOf("Test pool of 9B in 5B is full\n");
  CHECK(Shown(recorded.conclusions, "Remedies") ==
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

TEST_CASE("a recording is bounded, and may keep one line only", "[diagnose]") {
  const auto record = [](Recorder* recorder, std::uint64_t lines) {
    RecordedStep input(recorder, "test.log");
    for (std::uint64_t line = 1; line <= lines; ++line) {
      RecordedStep text(recorder, "text");
      text.Set("", "", line);
      RecordedStep(recorder, "T1, head 1").Set("does not match");
    }
  };
  Recorder all;
  record(&all, 100'000);
  CHECK(all.full());
  CHECK(all.Take().size() <= 65'536);
  Recorder one(99'000);
  record(&one, 100'000);
  CHECK_FALSE(one.full());
  const std::vector<RecordEntry> entries = one.Take();
  REQUIRE(entries.size() == 3);
  CHECK(entries[1].line == 99'000);
  CHECK(entries[2].result == "does not match");
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
  for (RecordEntry& entry : entries) entry.depth += 2;
  entries.insert(entries.begin(), RecordEntry{.depth = 1, .what = "all"});
  CHECK(Shown(entries, "all") ==
        "not (count_of(size > 2) == 2 and size > 1) = true\n"
        "  count_of(size > 2) == 2 and size > 1 = false\n"
        "    count_of(size > 2) == 2 = false\n"
        "      count_of(size > 2) = 1\n"
        "        row 1: size > 2 = true [size = 3]\n");
}

}  // namespace TEST_FILE
