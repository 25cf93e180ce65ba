// One artifact from bytes to failures, and several joined.
#include "diagnose/report.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "made_lines.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

const std::string kFails = "test program main takes 3B\nTest compile: used 7B of 5B\n";

Report Read(const std::string& log, const std::string& path = "job.log", const ReadOptions& options = {}) {
  return ReadArtifact(TestEngine(), {path, ""}, *OpenMemory(log), options);
}

// Returns "T1 x2 in b.log; program 6 in b.log".
std::string ShowAll(Report report) {
  if (!report.table) return "nothing";
  std::vector<Problem> problems;
  std::string shown;
  for (const Failure& failure : report.table->Finish(&problems))
    shown += fmt::format("{} x{} in {}; ", failure.rule->code, failure.tally.reports, failure.where.artifact.path);
  for (const CompiledProgram& program : report.table->programs().Take())
    shown += fmt::format("program {} x{} in {}; ", Show(program.facts.Get("need_bytes")), program.occurrences,
                         program.where.artifact.path);
  return shown;
}

TEST_CASE("an artifact's findings and programs have its name", "[diagnose]") {
  CHECK(ShowAll(Read(kFails)) == "T1 x1 in job.log; program 6 x1 in job.log; ");
  CHECK(ShowAll(Read("test program main takes 3B\n")) == "program 6 x1 in job.log; ");
  CHECK(ShowAll(Read("Test compile: used 7B of 5B")) == "T1 x1 in job.log; ");
  const Report nothing = Read("all is well\n");
  CHECK_FALSE(nothing.table);
  CHECK(nothing.artifacts == 1);
  CHECK(nothing.bytes == 12);
}

TEST_CASE("errors that look like quotations are noted only if the artifact has no failure", "[diagnose]") {
  const Engine engine(BuiltInRules());
  const std::string message = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 22.89G of 15.75G hbm.";
  const std::string quoted = "step 3\n    raise ValueError(\"" + message + "\")\n";
  const auto notes = [&](const std::string& log) {
    std::string shown;
    for (const Problem& problem : ReadArtifact(engine, {"a.py", ""}, *OpenMemory(log)).problems)
      shown += fmt::format("{} {} {}: {}", problem.path, problem.kind, problem.line, problem.occurrences);
    return shown;
  };
  CHECK(notes(quoted) == "a.py note 2: 1");
  CHECK(notes(quoted + quoted) == "a.py note 2: 2");
  CHECK(notes("XlaRuntimeError: " + message + "\n\n\n\n" + quoted).empty());
  CHECK(notes("step 3\n").empty());
}

TEST_CASE("readings of many artifacts are joined", "[diagnose]") {
  Report all;
  all.Join(Read("all is well\n"));
  CHECK_FALSE(all.table);
  all.Join(Read(kFails, "b.log"));
  all.Join(Read(kFails, "a.log"));
  CHECK(all.artifacts == 3);
  CHECK(all.bytes == 12 + 2 * kFails.size());
  CHECK_FALSE(all.retry);
  Report more;
  more.retry = true;
  more.problems = {{"c.log", "", "cut"}};
  more.problems_left_out = 4;
  all.Join(more);
  all.Join(more);
  CHECK(all.retry);
  CHECK(all.problems_left_out == 8);
  CHECK(all.problems.size() == 2);
  CHECK(ShowAll(std::move(all)) == "T1 x2 in a.log; program 6 x2 in a.log; ");
}

TEST_CASE("findings are available while the artifact is being read", "[diagnose]") {
  const std::unique_ptr<ByteSource> source = OpenMemory("Test load of 'f' failed\n\nstep\nTest load of 'g' failed\n");
  FailureReader reader(TestEngine(), *source);
  ArtifactFailures found(TestEngine(), {"job.log", ""});
  found.Add(reader.Next(), "");
  std::vector<Problem> problems;
  CHECK(found.SoFar().Finish(&problems).size() >= 1);
  for (std::vector<Failure> more = reader.Next(); !more.empty(); more = reader.Next()) found.Add(std::move(more), "");
  CHECK(ShowAll(found.Finish(reader.Finish())).starts_with("T2 x"));
}

}  // namespace TEST_FILE
