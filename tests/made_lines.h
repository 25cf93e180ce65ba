// Normalized lines and a small rule set, for tests of `read/`.
#pragma once

#include <deque>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "read/engine.h"
#include "text/line.h"

// Returns lines 1, 2, … of a log. A text may begin with marks: "~" if lines before it were skipped; "^" for the prefix
// of a logger or collector; "+" for one whose level means that nothing failed. It ends with "$" if the log is truncated
// there.
inline std::deque<whyoom::Line> LinesOf(const std::vector<std::string>& texts) {
  std::deque<whyoom::Line> lines;
  std::uint64_t offset = 0;
  for (const std::string& text : texts) {
    whyoom::Line line;
    line.number = lines.size() + 1;
    line.offset = offset;
    const std::string marks = text.substr(0, text.find_first_not_of("~^+"));
    line.after_gap = marks.starts_with('~');
    line.healthy = marks.ends_with('+');
    line.prefixes = static_cast<int>(marks.size()) - (line.after_gap ? 1 : 0);
    line.text = text.substr(marks.size());
    line.may_continue = line.text.ends_with('$');
    if (line.may_continue) line.text.pop_back();
    line.segments = {{0, 0}};
    offset += line.text.size() + 1;
    lines.push_back(line);
  }
  return lines;
}

// T1 is a failed compile, followed by a memory report. T2 is a failed run, whose message may contain a compile's as its
// cause. T3 is a request, whose message may be part of T2's header.
inline const whyoom::Engine& TestEngine() {
  static const whyoom::RuleSet rules = RulesWith(R"json({"format": "whyoom.rules/1",
"failures": [
  {"code": "T1", "title": "test compile", "category": "Test", "phase": "compile",
   "heads": ["Test compile: used %{size:used_bytes} of %{size:limit_bytes}",
             {"pattern": "TESTCOMPILEOOM", "fragment": true},
             {"pattern": "TEST_EXHAUSTED", "line_start": true},
             {"pattern": "Test list:", "fragment": true, "of_report": true}],
   "facts": ["Exceeded by %{size:excess_bytes}", "of program (?P<module>\\w+)", "part of %{size:part_bytes}",
             "rest of %{size:rest_bytes}"],
   "derived": [{"fact": "used_bytes", "from": "part_bytes + rest_bytes"}],
   "memory_space": "hbm", "identity": ["used_bytes", "limit_bytes"], "numbers": ["used_bytes", "limit_bytes"], "contexts": ["test_step", "test_mesh", "test_need", "test_list"],
   "examples": [{"text": "Test compile: used 7B of 5B"}, {"text": "TESTCOMPILEOOM"},
                          {"text": "TEST_EXHAUSTED"}, {"text": "Test list:"}]},
  {"code": "T2", "title": "test run", "category": "Test", "phase": "run",
   "heads": ["Test load of '(?P<module>\\w+)' failed(?:; Test request refused)?"],
   "facts": ["with %{size:free_bytes} free"], "absorbed_by": ["T1"],
   "examples": [{"text": "Test load of 'f' failed"}]},
  {"code": "T3", "title": "test request", "category": "Test", "phase": "run",
   "heads": ["Test request refused"], "absorbed_by": ["T2"],
   "facts": ["of %{size:request_bytes} as (?P<request_shape>\\S+)", "tagged (?P<request_tag>\\w+)"],
   "examples": [{"text": "Test request refused"}]}],
"contexts": [
  {"id": "test_step", "patterns": ["test step %{integer:test_step}(?: of %{integer:test_steps})?", "then step %{integer:test_step}"],
   "examples": [{"text": "test step 3 of 5", "facts": {"test_step": 3}}, {"text": "then step 4"}]},
  {"id": "test_mesh", "job_wide": true, "patterns": ["test mesh of %{integer:test_devices}"],
   "examples": [{"text": "test mesh of 8", "facts": {"test_devices": 8}}]},
  {"id": "test_need", "of_next_failure": true, "patterns": ["test needs %{size:test_need}"], "until": "test program done",
   "examples": [{"text": "test needs 7B", "facts": {"test_need": 7}}]},
  {"id": "test_list", "of_next_failure": true, "of_report": true, "patterns": ["test total %{size:test_total}"],
   "examples": [{"text": "test total 9B", "facts": {"test_total": 9}}]},
  {"id": "test_program", "program": true, "patterns": ["test program (?P<module>\\w+) takes %{size:test_bytes}"],
   "derived": [{"fact": "need_bytes", "from": "2 * test_bytes"}],
   "examples": [{"text": "test program f takes 3B", "facts": {"need_bytes": 6}}]}],
"quotations": [{"id": "test_grep", "lead": "grep[ ]", "examples": ["\ngrep TESTCOMPILEOOM"]}]
})json");
  static const whyoom::Engine engine(rules);
  return engine;
}
