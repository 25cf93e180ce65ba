// The failures of one stream's lines, and when they are complete.
#include "read/session.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "made_lines.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

// Returns "T1 1-3 used_bytes=7@1; 2 rows | message".
std::string ShowFailure(const Failure& failure) {
  return fmt::format("{}{} {}-{} {}{} | {}", failure.rule->code, !failure.completeness.whole ? " fragment" : "",
                     failure.where.line, failure.where.last_line, ShowWithLines(failure.facts),
                     failure.allocations.empty() ? "" : fmt::format("; {} rows", failure.allocations.size()),
                     failure.message);
}

struct Lines {
  SharedByStreams shared{.engine = TestEngine()};
  Session session{&shared, "host 3"};
  std::vector<Failure>& done = shared.done;
};

// Returns the failures, one per line.
std::string Read(const std::vector<std::string>& texts) {
  Lines read;
  for (const Line& line : LinesOf(texts)) read.session.Feed(line);
  read.session.Flush();
  std::string shown;
  for (const Failure& failure : read.done) shown += ShowFailure(failure) + "\n";
  return shown;
}

// Returns the line after which each failure was complete: "T2 after 12". Adds lines up to the given number.
std::string WhenDone(std::vector<std::string> texts, std::size_t lines) {
  Lines read;
  std::string shown;
  texts.resize(lines, "step");
  for (const Line& line : LinesOf(texts)) {
    read.session.Feed(line);
    for (const Failure& failure : read.done)
      shown += fmt::format("{}{} after {}", shown.empty() ? "" : ", ", failure.rule->code, line.number);
    read.done.clear();
  }
  return shown;
}

// Returns the number of lines that are still requested after `texts`.
int WantedAfter(const std::vector<std::string>& texts, const std::string& filler = "") {
  Lines read;
  for (const Line& line : LinesOf(texts)) read.session.Feed(line);
  int wanted = 0;
  Line line;
  line.text = filler;
  for (; read.session.active(); ++wanted) read.session.Feed(line);
  return wanted;
}

const std::vector<std::string> kReport = {"Total hbm usage >= 9.00G:",
                                          "    reserved        1.00G",
                                          "    program         8.00G",
                                          "",
                                          "  Largest program allocations in hbm:",
                                          "",
                                          "  1. Size: 6.00G",
                                          "     Shape: f32[1536,1024,1024]{2,1,0}",
                                          "     ==========================",
                                          "",
                                          "  2. Size: 512B",
                                          "     Shape: f32[128]{0}",
                                          "     =========================="};

std::vector<std::string> Join(std::vector<std::string> lines, const std::vector<std::string>& more) {
  lines.insert(lines.end(), more.begin(), more.end());
  return lines;
}

TEST_CASE("a message is one failure, with its facts and their lines", "[read]") {
  CHECK(Read({"step 1", "Test compile: used 7B of 5B. Exceeded by 2B.", "step 2"}) ==
        "T1 2-2 excess_bytes=2@2 limit_bytes=5@2 used_bytes=7@2 | Test compile: used 7B of 5B. Exceeded by 2B.\n");
  CHECK(Read({"Test compile: used 7B of 5B.", "Exceeded", "by 2B."}) ==
        "T1 1-3 excess_bytes=2@3 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B. Exceeded by 2B.\n");
  CHECK(Read({"TESTCOMPILEOOM"}) == "T1 fragment 1-1  | TESTCOMPILEOOM\n");
  CHECK(Read({"", "nothing here"}).empty());
  CHECK(Read({}).empty());
}

TEST_CASE("a message makes only one failure", "[read]") {
  // The code's name and the sentence after it; only the sentence is complete.
  CHECK(Read({"TESTCOMPILEOOM: Test compile: used 7B of 5B"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | TESTCOMPILEOOM\n");
  CHECK(Read({"TESTCOMPILEOOM", "Test compile: used 7B of 5B"}) ==
        "T1 1-1 limit_bytes=5@2 used_bytes=7@2 | TESTCOMPILEOOM\n");
  // A header with contradicting facts is another failure.
  CHECK(Read({"Test compile: used 7B of 5B", "Test compile: used 9B of 5B"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 2-2 limit_bytes=5@2 used_bytes=9@2 | Test compile: used 9B of 5B\n");
  // The message of a failure that expects a report ends at another header of the same failure, and only there.
  CHECK(Read({"Test compile: used 7B of 5B", "Test compile: used 9B of 5B", "Test compile: used 7B of 5B"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 2-2 limit_bytes=5@2 used_bytes=9@2 | Test compile: used 9B of 5B\n"
        "T1 3-3 limit_bytes=5@3 used_bytes=7@3 | Test compile: used 7B of 5B\n");
  CHECK(Read({"Test request refused", "TESTCOMPILEOOM", "Test request refused"}) ==
        "T3 1-1  | Test request refused\n"
        "T1 fragment 2-2  | TESTCOMPILEOOM\n");
  // The same message after the end of the first is another failure.
  CHECK(Read({"Test compile: used 7B of 5B", "", "Test compile: used 7B of 5B"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 3-3 limit_bytes=5@3 used_bytes=7@3 | Test compile: used 7B of 5B\n");
}

TEST_CASE("facts of the next failure's message do not belong to the one before it", "[read]") {
  CHECK(Read({"Test compile: used 7B of 5B", "Test compile: used 9B of 5B. Exceeded by 4B."}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 2-2 excess_bytes=4@2 limit_bytes=5@2 used_bytes=9@2 | Test compile: used 9B of 5B. Exceeded by 4B.\n");
  // Nor do they belong to a later header of its message.
  CHECK(Read({"Test compile: used 7B of 5B; TESTCOMPILEOOM",
              "Test compile: used 9B of 5B. Exceeded by 4B; TESTCOMPILEOOM"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 2-2 excess_bytes=4@2 limit_bytes=5@2 used_bytes=9@2 | Test compile: used 9B of 5B. Exceeded by 4B\n");
  // The header of an unrelated failure also ends the report.
  CHECK(Read({"Test compile: used 7B of 5B", "Test request refused", "Total hbm usage >= 9.00G:"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T3 2-2  | Test request refused\n");
}

TEST_CASE("facts of a program in one report do not apply to the next", "[read]") {
  CHECK(Read({"Test compile: used 7B of 5B", "Total hbm usage >= 9.00G: test needs 3B", "", "TESTCOMPILEOOM"}) ==
        "T1 1-2 limit_bytes=5@1 total_bytes=9663676416@2 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 fragment 4-4  | TESTCOMPILEOOM\n");
}

TEST_CASE("a traceback belongs to one failure", "[read]") {
  const std::string frame = "  File \"/home/ada/a.py\", line 7, in f";
  const std::string call = "user_source='a.py:7'@1 user_source_path='/home/ada/a.py'@1";
  CHECK(Read({frame, "ValueError: TESTCOMPILEOOM", "Test load of 'f' failed"}) ==
        "T2 3-3 module='f'@3 | Test load of 'f' failed\n"
        "T1 fragment 2-2 " +
            call + " | ValueError: TESTCOMPILEOOM\n");
  CHECK(Read({frame, "ValueError: 7", "RuntimeError: TESTCOMPILEOOM"}) ==
        "T1 fragment 3-3  | RuntimeError: TESTCOMPILEOOM\n");
  CHECK(Read({frame, "ValueError: 7", "^TESTCOMPILEOOM"}) == "T1 fragment 3-3  | TESTCOMPILEOOM\n");
  // A line with only the exception's class or status is the start of its message.
  CHECK(Read({frame, "ValueError:", "RESOURCE_EXHAUSTED:", "TESTCOMPILEOOM"}) ==
        "T1 fragment 4-4 " + call + " | TESTCOMPILEOOM\n");
  CHECK(Read({frame, "ValueError: 2 root errors found.", "  (0) Test load of 'f' failed"}) ==
        "T2 3-3 module='f'@3 " + call + " | (0) Test load of 'f' failed\n");
  // A failure inside the exception's message is the cause.
  CHECK(Read({frame, "ValueError: Test load of 'f' failed:", "Test compile: used 7B of 5B"}) ==
        "T1 3-3 limit_bytes=5@3 used_bytes=7@3 " + call + " | Test compile: used 7B of 5B\n");
}

TEST_CASE("a header inside another one is absorbed, and a failed run by its compile error", "[read]") {
  CHECK(Read({"Test request refused"}) == "T3 1-1  | Test request refused\n");
  CHECK(Read({"Test load of 'f' failed; Test request refused"}) ==
        "T2 1-1 module='f'@1 | Test load of 'f' failed; Test request refused\n");
  CHECK(Read({"Test load of 'f' failed; Test", "request refused"}) ==
        "T2 1-2 module='f'@1 | Test load of 'f' failed; Test request refused\n");
  // A header after the other one is a separate failure.
  CHECK(Read({"Test load of 'f' failedTest request refused"}) ==
        "T2 1-1 module='f'@1 | Test load of 'f' failed\n"
        "T3 1-1  | Test load of 'f' failedTest request refused\n");
  CHECK(Read({"Test load of 'f' failed. Test request refused"}) ==
        "T2 1-1 module='f'@1 | Test load of 'f' failed.\n"
        "T3 1-1  | Test load of 'f' failed. Test request refused\n");
  CHECK(Read({"Test load of 'f' failed:", "Test compile: used 7B of 5B"}) ==
        "T1 2-2 limit_bytes=5@2 used_bytes=7@2 | Test compile: used 7B of 5B\n");
  // Only a compile error is a cause.
  CHECK(Read({"Test request refused", "Test load of 'f' failed"}) ==
        "T3 1-1  | Test request refused\n"
        "T2 2-2 module='f'@2 | Test load of 'f' failed\n");
  // A compile error after the end of the message is separate, and so is a failed run after a compile error.
  CHECK(Read({"Test load of 'f' failed:", "", "Test compile: used 7B of 5B"}) ==
        "T2 1-1 module='f'@1 | Test load of 'f' failed\n"
        "T1 3-3 limit_bytes=5@3 used_bytes=7@3 | Test compile: used 7B of 5B\n");
  CHECK(Read({"Test compile: used 7B of 5B", "Test load of 'f' failed"}) ==
        "T2 2-2 module='f'@2 | Test load of 'f' failed\n"
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n");
}

TEST_CASE("a report belongs to the header directly above it", "[read]") {
  const std::string read_2_to_14 =
      "T1 1-14 limit_bytes=5@1 list_seen=true@6 listed=2@0 program_bytes=8589934592@4 "
      "system_reserved_bytes=1073741824@3 total_bytes=9663676416@2 used_bytes=7@1; 2 rows | Test compile: used 7B of "
      "5B\n";
  const std::vector<std::string> head = {"Test compile: used 7B of 5B"};
  CHECK(Read(Join(head, kReport)) == read_2_to_14);
  CHECK(Read(Join({"Test compile: used 9B of 5B", "", head[0]}, {"    program 8.00G"})) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=9@1 | Test compile: used 9B of 5B\n"
        "T1 3-4 limit_bytes=5@3 program_bytes=8589934592@4 used_bytes=7@3 | Test compile: used 7B of 5B\n");
  // A report after the next header belongs to that header.
  CHECK(Read(Join(Join(head, kReport), {"Test compile: used 9B of 5B", "Total hbm usage >= 9.00G:"})) ==
        read_2_to_14 +
            "T1 15-16 limit_bytes=5@15 total_bytes=9663676416@16 used_bytes=9@15 | Test compile: used 9B of 5B\n");
  // A report may begin in the line of its header.
  CHECK(
      Read({"Test compile: used 7B of 5B Total hbm usage >= 9.00G: program 8.00G"}) ==
      "T1 1-1 limit_bytes=5@1 program_bytes=8589934592@1 total_bytes=9663676416@1 used_bytes=7@1 | Test compile: used "
      "7B of 5B\n");
  // Within one line, a report ends at the next header.
  CHECK(Read({"Test compile: used 7B of 5B Total hbm usage >= 9.00G: Test compile: used 9B of 5B program 8.00G"}) ==
        "T1 1-1 limit_bytes=5@1 total_bytes=9663676416@1 used_bytes=7@1 | Test compile: used 7B of 5B\n"
        "T1 1-1 limit_bytes=5@1 program_bytes=8589934592@1 used_bytes=9@1 | Test compile: used 7B of 5B Total hbm "
        "usage >= 9.00G: Test compile: used 9B of 5B\n");
  // If a failure never has a report, a report after it belongs to the header above.
  CHECK(Read({head[0], "Test load of 'f' failed", "Total hbm usage >= 9.00G:"}) ==
        "T2 2-2 module='f'@2 | Test load of 'f' failed\n"
        "T1 1-3 limit_bytes=5@1 total_bytes=9663676416@3 used_bytes=7@1 | Test compile: used 7B of 5B\n");
}

TEST_CASE("a message about one allocation yields a row for it", "[read]") {
  Lines read;
  for (const Line& line : LinesOf({"Test request refused", "of 4096B as f32[8,16]{1,0}, tagged stack"}))
    read.session.Feed(line);
  read.session.Flush();
  REQUIRE(read.done.size() == 1);
  REQUIRE(read.done[0].allocations.size() == 1);
  const Allocation& row = read.done[0].allocations[0];
  CHECK(row.rank == 1);
  CHECK(row.kind == "requested");
  CHECK(row.size_bytes == 4096);
  CHECK(row.unpadded_bytes == 512);
  CHECK(row.padding_bytes == 3584);
  CHECK(row.padding_factor == 8.0);
  CHECK(row.xla_label == "stack");
  CHECK(row.place.line == 2);
  CHECK(Read({"Test request refused of 512B"}) == "T3 1-1  | Test request refused\n");
}

TEST_CASE("context facts are added, and the last one counts", "[read]") {
  CHECK(Read({"test step 3 of 5", "test step 4", "test mesh of 8", "TESTCOMPILEOOM"}) ==
        "T1 fragment 4-4 test_devices=8@3 test_step=4@2 | TESTCOMPILEOOM\n");
  CHECK(Read({"TESTCOMPILEOOM", "test mesh of 8", "test step 3"}) == "T1 fragment 1-1  | TESTCOMPILEOOM\n");
  CHECK(Read({"test step 3", "Test load of 'f' failed"}) == "T2 2-2 module='f'@2 | Test load of 'f' failed\n");
  CHECK(Read({"  File \"/home/ada/a.py\", line 7, in f", "ValueError: TESTCOMPILEOOM"}) ==
        "T1 fragment 2-2 user_source='a.py:7'@1 user_source_path='/home/ada/a.py'@1 | ValueError: TESTCOMPILEOOM\n");
}

TEST_CASE("job facts are known immediately, at any column", "[read]") {
  for (const std::size_t column : {0, 6144, 7000, 20000}) {
    INFO(column);
    Lines read;
    read.session.Feed(LinesOf({std::string(column, ' ') + "test mesh of 8"})[0]);
    Evidence facts;
    read.shared.of_job.AddTo(*TestEngine().rules().FindFailure("T1"), 1000000, &facts);
    CHECK(ShowWithLines(facts) == "test_devices=8@1");
  }
}

TEST_CASE("a gap ends open messages, reports and tracebacks", "[read]") {
  CHECK(Read({"Test load of 'f' failed with", "9B free"}) ==
        "T2 1-2 free_bytes=9@2 module='f'@1 | Test load of 'f' failed with 9B free\n");
  CHECK(Read({"Test load of 'f' failed with", "~9B free"}) == "T2 1-1 module='f'@1 | Test load of 'f' failed\n");
  CHECK(Read({"TESTCOMPILEOOM", "~Total hbm usage >= 9.00G:", "    program 8.00G"}) ==
        "T1 fragment 1-1  | TESTCOMPILEOOM\n");
  CHECK(Read({"  File \"/home/ada/a.py\", line 7, in f", "~ValueError: TESTCOMPILEOOM"}) ==
        "T1 fragment 2-2  | ValueError: TESTCOMPILEOOM\n");
  // Facts from before the gap still apply.
  CHECK(Read({"test step 3", "~TESTCOMPILEOOM"}) == "T1 fragment 2-2 test_step=3@1 | TESTCOMPILEOOM\n");
}

TEST_CASE("a failure is returned as soon as its message and report are complete", "[read]") {
  // A message may have twelve lines, which are read together.
  CHECK(WhenDone({"Test load of 'f' failed", ""}, 40) == "T2 after 12");
  CHECK(WhenDone({"Test load of 'f' failed"}, 40) == "T2 after 23");
  // A failure that may have a report waits for it for a limited number of lines.
  CHECK(WhenDone({"Test compile: used 7B of 5B", ""}, 90) == "T1 after 52");
  CHECK(WhenDone({"Test compile: used 7B of 5B", "", "Test compile: used 9B of 5B", ""}, 90) ==
        "T1 after 14, T1 after 54");
  CHECK(WhenDone(Join({"TESTCOMPILEOOM"}, Join(kReport, kReport)), 90) == "T1 after 26");
}

TEST_CASE("lines are requested as long as they may belong to something", "[read]") {
  CHECK(WantedAfter({"step"}) == 0);
  CHECK(WantedAfter({"test step 3"}) == 16);
  // Eleven lines until it is processed, plus those requested after it.
  CHECK(WantedAfter({"Test load of 'f' failed"}) == 11 + 16);
  CHECK(WantedAfter({"TESTCOMPILEOOM"}) == 11 + 48);
  CHECK(WantedAfter(Join({"TESTCOMPILEOOM"}, kReport)) == 11 + 48 - 13);
  std::vector<std::string> report = Join({"TESTCOMPILEOOM"}, kReport);
  for (int row = 3; row < 40; ++row) report.push_back(fmt::format("  {}. Size: 1B", row));
  CHECK(WantedAfter(report) == 11 + 24);
  // A piece of a very long line counts as several lines.
  CHECK(WantedAfter({"test step 3"}, std::string(std::size_t{64} << 10, 'x')) == 4);
  CHECK(WantedAfter({"test step 3"}, std::string(std::size_t{16} << 10, 'x')) == 8);
  CHECK(WantedAfter({"test step 3", "~step"}) == 0);
}

TEST_CASE("the session knows whether a report is expected or being read", "[read]") {
  Lines read;
  std::deque<Line> lines = LinesOf(Join({"TESTCOMPILEOOM"}, kReport));
  lines.resize(lines.size() + 12);
  std::string states;
  for (const Line& line : lines) {
    read.session.Feed(line);
    states += read.session.in_report() ? 'r' : '-';
  }
  CHECK(states == "-----------rrrrrrrrrrrrrrr");
  read.session.Flush();
  CHECK_FALSE(read.session.in_report());
}

TEST_CASE("a header is found anywhere in a long line", "[read]") {
  for (const std::size_t column : {5000, 6143, 6144, 6145, 12288, 20000}) {
    INFO(column);
    CHECK(Read({std::string(column - 1, 'x') + " TESTCOMPILEOOM: Test compile: used 7B of 5B"}) ==
          "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | TESTCOMPILEOOM\n");
  }
}

TEST_CASE("a long line is not waited for", "[read]") {
  const std::string long_line((std::size_t{64} << 10) + 1, 'x');
  CHECK(WhenDone({"Test load of 'f' failed", "", long_line}, 3) == "T2 after 3");
  CHECK(WhenDone({"Test load of 'f' failed", "", long_line.substr(2)}, 3).empty());
}

TEST_CASE("each failure has its stream, time and location", "[read]") {
  Lines read;
  std::deque<Line> lines = LinesOf({"step 1", "x: TESTCOMPILEOOM"});
  lines[1].repeats = 5;
  lines[1].time = ParseTimestamp("2026-11-20T12:00:00Z");
  for (const Line& line : lines) read.session.Feed(line);
  read.session.Flush();
  REQUIRE(read.done.size() == 1);
  CHECK(read.done[0].stream_name == "host 3");
  CHECK(read.done[0].repeats == 5);
  CHECK(ToString(*read.done[0].time) == "2026-11-20T12:00:00Z");
  CHECK(read.done[0].where.offset == 10);
}

TEST_CASE("stated programs are separate from failures", "[read]") {
  Lines read;
  for (const Line& line : LinesOf({"test program f takes 3B", "test program", "g takes 4B", "test program h takes 0B"}))
    read.session.Feed(line);
  read.session.Flush();
  CHECK(read.done.empty());
  std::string shown;
  for (const CompiledProgram& program : read.shared.programs.Take())
    shown += fmt::format("{}-{} {}\n", program.where.line, program.where.last_line, Show(program.facts));
  CHECK(shown ==
        "2-3 module='g' need_bytes=8 test_bytes=4\n"
        "1-1 module='f' need_bytes=6 test_bytes=3\n");
}

TEST_CASE("figures of a healthy program's report do not belong to a failure", "[read]") {
  // Its list is not a failure, and a warning does not use its figures.
  CHECK(Read({"^Test list:"}) == "T1 fragment 1-1  | Test list:\n");
  CHECK(Read({"+Test list:"}).empty());
  CHECK(Read({"^test total 9B", "^Test compile: used 7B of 5B"}) ==
        "T1 2-2 limit_bytes=5@2 test_total=9@1 used_bytes=7@2 | Test compile: used 7B of 5B\n");
  CHECK(Read({"+test total 9B", "^Test compile: used 7B of 5B"}) ==
        "T1 2-2 limit_bytes=5@2 used_bytes=7@2 | Test compile: used 7B of 5B\n");
  // The level belongs to the message, not to the line.
  CHECK(Read({"+test total 9B", "Test list:", "^Test compile: used 7B of 5B"}) ==
        "T1 3-3 limit_bytes=5@3 used_bytes=7@3 | Test compile: used 7B of 5B\n");
  // A collector's prefix before each line has no level.
  CHECK(Read({"^+test total 9B", "^Test list:", "^Test compile: used 7B of 5B"}) ==
        "T1 3-3 limit_bytes=5@3 used_bytes=7@3 | Test compile: used 7B of 5B\n");
  CHECK(Read({"^+the program", "^Test list:"}) == "T1 fragment 2-2  | Test list:\n");
  CHECK(Read({"^+test total 9B", "^^Test list:"}) == "T1 fragment 2-2  | Test list:\n");
  CHECK(Read({"^+the program", "^test total 9B", "^Test list:"}) == "T1 fragment 3-3 test_total=9@2 | Test list:\n");
  // Another healthy message may come between its lines, but an error ends it.
  CHECK(Read({"+test total 9B", "+another", "Test list:"}).empty());
  CHECK(Read({"+test total 9B", "^another", "Test list:"}) == "T1 fragment 3-3  | Test list:\n");
  // A report that another line begins is not part of the message before it: people paste reports without prefixes.
  CHECK(Read({"+the program", "test total 9B", "Test list:"}) == "T1 fragment 3-3 test_total=9@2 | Test list:\n");
  CHECK(Read({"+the program", "^another", "test total 9B", "^Test compile: used 7B of 5B"}) ==
        "T1 4-4 limit_bytes=5@4 test_total=9@3 used_bytes=7@4 | Test compile: used 7B of 5B\n");
  // Any other header counts, whatever its level.
  CHECK(Read({"+Test compile: used 7B of 5B"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n");
}

TEST_CASE("the report of a later compile that succeeded is not read into a failure", "[read]") {
  const std::string failed = Read({"Test compile: used 7B of 5B", "retrying"});
  CHECK(failed == "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n");
  std::vector<std::string> lines = {"Test compile: used 7B of 5B", "retrying", "+test total 9B"};
  lines.insert(lines.end(), kReport.begin(), kReport.end());
  CHECK(Read(lines) == failed);
  lines[2] = "test total 9B";
  CHECK(Read(lines) != failed);
}

TEST_CASE("a memory list does not start a failure while a report is being read", "[read]") {
  CHECK(Read({"Test compile: used 7B of 5B", "Total bytes used: 7", "", "Test list:"}) ==
        "T1 1-1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B\n");
}

TEST_CASE("a value that the end of the log may cut is unknown", "[read]") {
  CHECK(Read({"Test load of 'f' failed", "with 12$"}) == "T2 1-1 module='f'@1 | Test load of 'f' failed\n");
  CHECK(Read({"Test load of 'f' failed", "with 12B$"}) == "T2 1-1 module='f'@1 | Test load of 'f' failed\n");
  CHECK(Read({"TESTCOMPILEOOM", "of program jit_train$"}) ==
        "T1 fragment 1-2  | TESTCOMPILEOOM of program jit_train\n");
  CHECK(Read({"TESTCOMPILEOOM", "of program jit_train"}) ==
        "T1 fragment 1-2 module='jit_train'@2 | TESTCOMPILEOOM of program jit_train\n");
  CHECK(Read({"TESTCOMPILEOOM", "of program jit_train$", "more"}) ==
        "T1 fragment 1-2 module='jit_train'@2 | TESTCOMPILEOOM of program jit_train\n");
  // A unit ends a figure.
  CHECK(Read({"Test compile: used 7B of 15K$"}) ==
        "T1 1-1 limit_bytes=15360@1 used_bytes=7@1 | Test compile: used 7B of 15K\n");
  CHECK(Read({"test step 12$", "Test compile: used 7B of 5B"}) ==
        "T1 2-2 limit_bytes=5@2 test_step=12@1 used_bytes=7@2 | Test compile: used 7B of 5B\n");
}

}  // namespace TEST_FILE
