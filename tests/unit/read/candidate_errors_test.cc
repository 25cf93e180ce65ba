// Candidate errors: which lines are reported as unknown memory errors, by the built-in rules.
#include "read/candidate_errors.h"

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "input/byte_source.h"
#include "read/engine.h"

namespace whyoom {
namespace TEST_FILE {

const std::string kUnknown = "pool.PoolError: RESOURCE_EXHAUSTED: pool 3 has no room for 1.5GiB";
const std::string kKnown =
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There "
    "are 6.43M free.; (0x0x1_HBM0)";

std::vector<Problem> ProblemsOf(const std::string& log, const ReadOptions& options = {}) {
  static const Engine engine(BuiltInRules());
  return ReadArtifact(engine, {"a.log", ""}, *OpenMemory(log), options).problems;
}

// Returns "line: text xN" of each, one per line.
std::string Reported(const std::string& log, const ReadOptions& options = {}) {
  std::string reported;
  for (const Problem& problem : ProblemsOf(log, options)) {
    CHECK(problem.is_unknown_error());
    CHECK(problem.path == "a.log");
    reported += std::to_string(problem.line) + ": " + problem.text + " x" + std::to_string(problem.occurrences) + "\n";
  }
  return reported;
}

std::string Chatter(int lines) {
  std::string text;
  for (int i = 0; i < lines; ++i) text += "step " + std::to_string(i) + " is done\n";
  return text;
}

TEST_CASE("a memory error that no rule knows is reported with its line", "[read]") {
  CHECK(Reported("well\n" + kUnknown + "\n") == "2: " + kUnknown + " x1\n");
  CHECK(Reported("all is well\n").empty());
}

TEST_CASE("a message that ends with a colon continues in the next line", "[read]") {
  const std::string head = "RuntimeError: RESOURCE_EXHAUSTED: E0007: ResourceExhausted:";
  CHECK(Reported(head + "\nthe pool has no room\nwell\n") == "1: " + head + " the pool has no room x1\n");
  CHECK(Reported(head + "\n2026-03-01 10:00:00,123 - trainer - INFO - well\n") == "1: " + head + " x1\n");
}

TEST_CASE("a line about memory is an error only if a process printed it as one", "[read]") {
  const std::string message = "pool 3 is out of memory";
  for (const std::string lead :
       {"ERROR:root:", "2026-03-01 10:00:00,123 - trainer - ERROR - ", "[2026-03-01 10:00:00] [ERROR] ",
        "E0718 12:00:00.123456    4242 pool.cc:71] ", "F0718 12:00:00.123456    4242 pool.cc:71] ", "RuntimeError: ",
        "Error: ", "INTERNAL: ", "(TrainWorker pid=7) RuntimeError: ", "fatal error: ", "worker7: error: "}) {
    CAPTURE(lead);
    CHECK(ProblemsOf(lead + message + "\n").size() == 1);
  }
  for (const std::string lead :
       {"", "INFO:root:", "WARNING:root:RuntimeError: ", "2026-03-01 10:00:00,123 - trainer - WARNING - ",
        "I0718 12:00:00.123456    4242 pool.cc:71] ", "W0718 12:00:00.123456    4242 pool.cc:71] ",
        "# RuntimeError: ", "// Error: ", "    raise RuntimeError('",
        "the trainer says RuntimeError: ", "    RuntimeError: ", "> Error: "}) {
    CAPTURE(lead);
    CHECK(ProblemsOf(lead + message + "\n").empty());
  }
  CHECK(ProblemsOf(R"({"level": "error", "message": "pool 3 is out of memory"})"
                   "\n")
            .size() == 1);
  CHECK(ProblemsOf(R"({"message": "pool 3 is out of memory", "level": "error"})"
                   "\n")
            .size() == 1);
  CHECK(ProblemsOf(R"({"level": "info", "message": "RuntimeError: pool 3 is out of memory"})"
                   "\n")
            .empty());
}

TEST_CASE("a line that belongs to a known failure is not an unknown error", "[read]") {
  CHECK(Reported(kKnown + "\n").empty());
  CHECK(Reported("RuntimeError: " + kKnown + "\n").empty());
  for (const int between : {0, 8, 20}) {
    CAPTURE(between);
    CHECK(Reported(kKnown + "\n" + Chatter(between) + kUnknown + "\n").empty());
    CHECK(Reported(kUnknown + "\n" + Chatter(between) + kKnown + "\n").empty());
  }
  SECTION("a distant line is another error") {
    CHECK(Reported(kKnown + "\n" + Chatter(300) + kUnknown + "\n") == "302: " + kUnknown + " x1\n");
    CHECK(Reported(kUnknown + "\n" + Chatter(300) + kKnown + "\n") == "1: " + kUnknown + " x1\n");
  }
  SECTION("a line of another stream is another error") {
    CHECK(ProblemsOf("[rank0] " + kKnown + "\n[rank1] " + kUnknown + "\n").size() == 1);
  }
  SECTION("a text that belongs to a known failure is not reported elsewhere") {
    CHECK(Reported(kKnown + "\n" + kUnknown + "\n" + Chatter(300) + kUnknown + "\n").empty());
  }
}

TEST_CASE("the same error is reported once, ignoring figures", "[read]") {
  const std::string other = "pool.PoolError: RESOURCE_EXHAUSTED: pool 12 has no room for 3.25GiB";
  CHECK(Reported(kUnknown + "\n" + Chatter(3) + other + "\n" + Chatter(100) + kUnknown + "\n") ==
        "1: " + kUnknown + " x3\n");
  std::string many;
  for (int i = 0; i < 25; ++i) {
    for (const char letter : std::string("ab"))
      many += "Error: pool " + std::string(i + 1, letter) + " is out of memory\n";
  }
  const std::vector<Problem> problems = ProblemsOf(many);
  REQUIRE(problems.size() == CandidateTable::kMost + 1);
  CHECK(problems.back().text.empty());
  CHECK(problems.back().occurrences == 50 - CandidateTable::kMost);
}

TEST_CASE("any line is shown as printable text of limited length", "[read]") {
  const std::vector<Problem> problems =
      ProblemsOf("Error: \x1b[31mpool\x1b[0m is out of memory \x07 \xff " + std::string(100000, 'x') + "\n");
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].text.size() <= 400);
  CHECK(problems[0].text.starts_with("Error: pool is out of memory"));
  CHECK(problems[0].text.ends_with("…"));
}

}  // namespace TEST_FILE
}  // namespace whyoom
