// Interleaved lines of several streams, and the failures of each.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "made_lines.h"
#include "read/failure_reader.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

std::string ShowAll(const std::vector<Failure>& failures) {
  std::string shown;
  for (const Failure& failure : failures)
    shown += fmt::format("{} {}-{} [{}] {}{}\n", failure.rule->code, failure.where.line, failure.where.last_line,
                         failure.stream_name, Show(failure.facts),
                         failure.allocations.empty() ? "" : fmt::format("; {} rows", failure.allocations.size()));
  return shown;
}

// Feeds lines to a LineReader, adjacent ones or one after a gap.
class Reading {
 public:
  void Feed(const std::vector<std::string>& texts) {
    for (const std::string& text : texts) {
      RawLine raw;
      raw.number = ++number_;
      raw.offset = offset_;
      raw.bytes = text;
      lines_.Feed(raw);
      offset_ += text.size() + 1;
    }
  }
  void FeedAfterGap(const std::string& next) {
    RawLine raw;
    raw.number = number_ += 100;
    raw.offset = offset_;
    raw.bytes = next;
    raw.after_gap = true;
    lines_.Feed(raw);
  }
  explicit Reading(std::size_t max_buffered = LineReader::kMaxBuffered) : lines_(TestEngine(), {}, max_buffered) {}
  LineReader& lines() { return lines_; }
  std::string Take() { return ShowAll(lines_.Take()); }
  std::string Finish() {
    lines_.Pause();
    return Take();
  }

 private:
  LineReader lines_;
  std::uint64_t number_ = 0;
  std::uint64_t offset_ = 0;
};

std::string Read(const std::vector<std::string>& texts) {
  Reading reading;
  reading.Feed(texts);
  return reading.Finish();
}

TEST_CASE("the rest of a wrapped line belongs to the stream of the line", "[read]") {
  const std::string wide = "[rank0]: after a minute, the compiler of this step said: Test compile: used";
  CHECK(Read({wide, "7B of 5B"}) == "T1 1-2 [rank0] limit_bytes=5 used_bytes=7\n");
  // An indented line, and a line that does not follow directly.
  CHECK(Read({wide, "  7B of 5B"}).empty());
  CHECK(Read({wide, "[rank1]: well", "7B of 5B"}).empty());
}

TEST_CASE("interleaved messages are joined per stream", "[read]") {
  CHECK(
      Read({"[rank0]: Test compile: used", "[rank1]: Test compile: used", "[rank0]: 7B of 5B", "[rank1]: 9B of 5B"}) ==
      "T1 1-3 [rank0] limit_bytes=5 used_bytes=7\n"
      "T1 2-4 [rank1] limit_bytes=5 used_bytes=9\n");
  CHECK(Read({"[rank0]: Test compile: used", "7B of 5B"}).empty());
  // Each report belongs to the header of its own stream.
  CHECK(Read({"[rank0]: TESTCOMPILEOOM", "[rank1]: TESTCOMPILEOOM", "[rank1]: Total hbm usage >= 9.00G:",
              "[rank0]: Total hbm usage >= 8.00G:", "[rank1]:     program         9.00G",
              "[rank0]:     program         8.00G"}) ==
        "T1 1-6 [rank0] program_bytes=8589934592 total_bytes=8589934592\n"
        "T1 2-5 [rank1] program_bytes=9663676416 total_bytes=9663676416\n");
}

TEST_CASE("facts about the job apply to all streams, facts about a stream do not", "[read]") {
  CHECK(Read({"[rank0]: test mesh of 8", "[rank0]: test step 3", "[rank1]: TESTCOMPILEOOM"}) ==
        "T1 3-3 [rank1] test_devices=8\n");
}

TEST_CASE("a retry that fails again is another failure", "[read]") {
  CHECK(Read({"[rank0]: Test compile: used 7B of 5B", "[rank0]: ", "[rank0]: retrying",
              "[rank0]: Test compile: used 7B of 5B"}) ==
        "T1 1-1 [rank0] limit_bytes=5 used_bytes=7\n"
        "T1 4-4 [rank0] limit_bytes=5 used_bytes=7\n");
}

TEST_CASE("failures that are completed together keep the order of the log", "[read]") {
  CHECK(Read({"[rank1]: TESTCOMPILEOOM", "[rank0]: Test load of 'f' failed", "[rank2]: Test load of 'g' failed"}) ==
        "T1 1-1 [rank1] \n"
        "T2 2-2 [rank0] module='f'\n"
        "T2 3-3 [rank2] module='g'\n");
}

TEST_CASE("a gap ends the open messages of all streams", "[read]") {
  Reading reading;
  reading.Feed({"[rank0]: Test load of 'f' failed with", "[rank1]: Test load of 'g' failed with"});
  CHECK(reading.Take().empty());
  reading.FeedAfterGap("[rank0]: 9B free");
  CHECK(reading.Take() ==
        "T2 1-1 [rank0] module='f'\n"
        "T2 2-2 [rank1] module='g'\n");
}

TEST_CASE("the memory of open reports is limited", "[read]") {
  const auto report = [](Reading* reading) {
    std::vector<std::string> lines;
    for (int line = 0; line < 3; ++line) {
      for (int host = 0; host < 64; ++host) {
        const std::string who = fmt::format("[rank{}]: ", host);
        if (line == 0) lines.push_back(who + "TESTCOMPILEOOM");
        if (line == 1) lines.push_back(who + "Total hbm usage >= 8.00G:");
        if (line == 2) lines.push_back(who + "    program         8.00G");
      }
    }
    reading->Feed(lines);
  };
  Reading roomy;
  report(&roomy);
  CHECK(roomy.lines().Finish().problems.empty());
  const std::string all = roomy.Finish();
  CHECK(std::count(all.begin(), all.end(), '\n') == 64);
  CHECK(all.find("program_bytes") != std::string::npos);

  constexpr std::size_t kOfSome = std::size_t{200} << 10;  // 64 streams need more
  Reading narrow(kOfSome);
  report(&narrow);
  const std::vector<Problem> problems = narrow.lines().Finish().problems;
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].what == "some reports lack lines: too many hosts or processes print at once for the memory limit");
  CHECK(problems[0].is_note_on_input());
  const std::string cut = narrow.Finish();
  CHECK(std::count(cut.begin(), cut.end(), '\n') == 64);  // none is lost
  CHECK(cut != all);
}

TEST_CASE("in a line with very many headers the first are read, and the limit is reported", "[read]") {
  std::string line;
  for (int i = 0; i < 3000; ++i) line += fmt::format("Test compile: used {}B of 5B. ", 10 + i);
  Reading reading;
  reading.Feed({line, "step 1", "Test compile: used 7B of 5B.", "step 2"});
  const std::string read = reading.Finish();
  const auto count = static_cast<std::size_t>(std::count(read.begin(), read.end(), '\n'));
  CHECK(count >= Session::kMostOpen);
  CHECK(count < 2 * Session::kMostOpen + 2);
  CHECK(read.find("T1 3-3") != std::string::npos);  // the next line is read as usual
  const std::vector<Problem> problems = reading.lines().Finish().problems;
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].what == "line 1 contains more than 256 failure messages; the rest of the line was not searched");
  CHECK_FALSE(problems[0].is_note_on_input());
}

TEST_CASE("lines of one record do not share the limit of a line", "[read]") {
  std::string record = R"({"message": ")";
  for (int i = 0; i < 1000; ++i) record += fmt::format("Test compile: used {}B of 5B.\\n", 10 + i);
  record += "\"}";
  Reading reading;
  reading.Feed({record});
  const std::string read = reading.Finish();
  CHECK(std::count(read.begin(), read.end(), '\n') == 1000);
  CHECK(reading.lines().Finish().problems.empty());
}

TEST_CASE("once a stop is overdue, lines are skipped", "[read]") {
  ReadControl control;
  const Stop stop(&control, Limits());
  LineReader lines(TestEngine(), {.stop = &stop});
  RawLine raw;
  raw.number = 1;
  raw.bytes = "Test compile: used 7B of 5B.";
  control.stop = true;
  CHECK_FALSE(stop.IsOverdue());  // lines read so far are still processed
  lines.Feed(raw);
  CHECK(lines.wants_adjacent());
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  CHECK(stop.IsOverdue());
  raw.number = 2;
  raw.bytes = "Test compile: used 9B of 5B.";
  lines.Feed(raw);
  lines.Pause();
  CHECK(lines.Take().size() <= 1);
}

TEST_CASE("a pause does not lose context", "[read]") {
  Reading reading;
  reading.Feed({"[rank0]: test step 3", "[rank0]: TESTCOMPILEOOM"});
  CHECK(reading.Finish() == "T1 2-2 [rank0] test_step=3\n");
  reading.Feed({"[rank0]: TESTCOMPILEOOM"});
  CHECK(reading.Finish() == "T1 3-3 [rank0] test_step=3\n");
  CHECK(reading.Finish().empty());
}

TEST_CASE("adjacent lines are requested while something is open, for a limited number of lines", "[read]") {
  Reading reading;
  CHECK_FALSE(reading.lines().wants_adjacent());
  reading.Feed({"[rank0]: Test load of 'f' failed"});
  CHECK(reading.lines().wants_adjacent());
  // Lines of other streams are read while the message of this stream may continue.
  reading.Feed(std::vector<std::string>(200, "[rank1]: step"));
  CHECK(reading.lines().wants_adjacent());
  reading.Feed(std::vector<std::string>(100, "[rank1]: step"));
  CHECK_FALSE(reading.lines().wants_adjacent());
  // A multi-line record is read completely.
  Reading record;
  record.Feed({"{", "  \"message\": \"step\","});
  CHECK(record.lines().wants_adjacent());
}

TEST_CASE("a statement is read once, and repetitions alone are counted", "[read]") {
  const std::string statement = "INFO test program main_step takes 3B";
  Reading reading;
  reading.Feed({statement, statement, statement + " before TESTCOMPILEOOM"});
  CHECK(reading.Finish() == "T1 3-3 [] \n");
  const std::vector<CompiledProgram> programs = reading.lines().Finish().programs.Take();
  REQUIRE(programs.size() == 1);
  CHECK(programs[0].occurrences == 3);
}

TEST_CASE("the framework is recognized in lines", "[read]") {
  Reading reading;
  CHECK(reading.lines().framework().empty());
  reading.Feed({"step", "  File \"/x/site-packages/jax/_src/pjit.py\", line 3, in f"});
  CHECK(reading.lines().framework() == "jax");
  reading.Feed({"  File \"/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py\", line 251, in __call__"});
  CHECK(reading.lines().framework() == "flax");
}

TEST_CASE("bytes become failures, whatever the chunking", "[read]") {
  const std::string log = "step 1\nTESTCOMPILEOOM\nstep 2\ntest program main takes 3B\nTest load of 'f' failed\n";
  for (const std::size_t chunk : {1, 7, 1000}) {
    INFO(chunk);
    const std::unique_ptr<ByteSource> source = OpenMemory(log, chunk);
    FailureReader reader(TestEngine(), *source);
    std::string shown;
    for (std::vector<Failure> found = reader.Next(); !found.empty(); found = reader.Next()) shown += ShowAll(found);
    CHECK(shown == "T1 2-2 [] \nT2 5-5 [] module='f'\n");
    CHECK(reader.Next().empty());
    ReadEnd end = reader.Finish();
    CHECK(end.bytes == log.size());
    CHECK(end.problems.empty());
    CHECK(end.programs.Take().size() == 1);
  }
}

TEST_CASE("a failure has the last timestamp of its stream", "[read]") {
  // Returns the time of each failure, or "none".
  const auto times = [](const std::vector<std::string>& texts) {
    Reading reading;
    for (const std::string& text : texts) {
      if (text.starts_with('~')) {
        reading.FeedAfterGap(text.substr(1));
      } else {
        reading.Feed({text});
      }
    }
    reading.lines().Pause();
    std::string shown;
    for (const Failure& failure : reading.lines().Take())
      shown += (failure.time ? ToString(*failure.time) : "none") + " ";
    return shown;
  };
  const std::string stamped = "2026-11-20 12:00:00,123 - ERROR - ";
  CHECK(times({stamped + "it failed", "Traceback (most recent call last):", "TESTCOMPILEOOM"}) ==
        "2026-11-20T12:00:00.123000 ");
  CHECK(times({stamped + "it failed", "2026-11-20 12:00:07,000 - ERROR - TESTCOMPILEOOM"}) == "2026-11-20T12:00:07 ");
  CHECK(times({"TESTCOMPILEOOM", stamped + "it failed"}) == "none ");
  // Text after a gap may be hours later.
  CHECK(times({stamped + "it failed", "~TESTCOMPILEOOM"}) == "none ");
  // Another host's clock does not apply.
  CHECK(times({"2026-11-20T12:00:00Z host-1: step 3", "host-2: TESTCOMPILEOOM"}) == "none ");
}

}  // namespace TEST_FILE
