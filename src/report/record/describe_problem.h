// The record of a problem: an input that could not be read whole, or an error that no rule knows. See describe.h.
#pragma once

#include "input/artifact.h"
#include "report/record/fields.h"
#include "report/unknown_errors.h"

namespace whyoom {

void Describe(auto& v, RecordOf<Problem> auto& problem) {
  v.Record("problem");
  v.NeedName("path", problem.path);
  v.MaybeName("member", problem.member);
  v.Need("what", problem.what);
  v.Maybe("kind", problem.kind,
          {.about = "unknown_error: a line tells of an error about memory that no rule knows; note: all was read, and "
                    "something is to be said of it. Absent: the input could not be read whole, or a limit was met."});
  v.Maybe("line", problem.line, {.about = "The first one of an unknown error; absent where more of them are counted."});
  v.Maybe("text", problem.text, {.about = "What it says, cut where it is long."});
  v.Maybe("occurrences", problem.occurrences, {.about = "How often it was printed, figures aside."});
  v.MayShow("rule_command", [&] { return RuleCommand(problem); },
            {.about = "A shell command that prints a rule for it to begin with."});
}

// A line of --format ndjson.
template <class V>
void DescribeProblem(V& v, RecordOf<Problem> auto& problem) {
  v.Record("problem_record");
  v.Constant("type", "problem");
  v.Extend(problem);
  v.Maybe("of_report", problem.of_report,
          {.about = "Not of an input: a limit of the report, or what follows from a diagnosis."});
}

}  // namespace whyoom
