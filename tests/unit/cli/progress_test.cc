// The progress that is shown for given counters.
#include "cli/progress.h"

#include <string>

#include "catch.h"
#include "text/utf8.h"

using namespace whyoom;

TEST_CASE("the time left is estimated by size once all inputs are listed", "[cli]") {
  BatchCounts counts;
  counts.files_known = 10;
  counts.size_known = 1000;
  counts.files_done = 2;
  counts.size_done = 200;
  counts.bytes_done = 200;
  CHECK_FALSE(StateOf(counts, 250, 10).seconds_left);
  counts.listed = true;
  const ProgressState state = StateOf(counts, 250, 10);  // 50 bytes of the next file are read
  CHECK(state.part_done.value() == Approx(0.25));
  CHECK(state.seconds_left.value() == Approx(30));
  CHECK_FALSE(StateOf(counts, 250, 0.1).seconds_left);  // too early to estimate
  counts.size_unknown = true;
  CHECK_FALSE(StateOf(counts, 250, 10).seconds_left);
}

TEST_CASE("compressed and reused files do not distort the time left", "[cli]") {
  BatchCounts counts;
  counts.listed = true;
  counts.files_known = 10;
  counts.size_known = 1000;
  counts.size_done = 100;
  counts.bytes_done = 1000;  // ten times the size
  CHECK(StateOf(counts, 2000, 10).part_done.value() == Approx(0.2));
  CHECK(StateOf(counts, 2000, 10).seconds_left.value() == Approx(40));
  counts.size_reused = 400;  // took no time
  CHECK(StateOf(counts, 2000, 10).part_done.value() == Approx(0.6));
  CHECK(StateOf(counts, 2000, 10).seconds_left.value() == Approx(20));
  // Inconsistent counters: more was read than exists.
  CHECK(StateOf(counts, 200000, 10).part_done.value() == Approx(1));
  CHECK(StateOf(counts, 200000, 10).seconds_left.value() == Approx(0));
}

TEST_CASE("the progress line fits any terminal", "[cli]") {
  ProgressState state;
  state.files_done = 1234;
  state.files_known = 2000;
  state.bytes = std::uint64_t{12} << 30;
  state.seconds = 10;
  state.failures = 5;
  CHECK(ProgressText(state, 80) == "1234 of 2000+ files · 5 findings · 12.00 GiB · 1.20 GiB/s");
  state.listed = true;
  state.part_done = 0.5;
  state.seconds_left = 200;
  CHECK(ProgressText(state, 100).find("1234 of 2000 files · 5 findings · 3 min 20 s left · 12.00 GiB") !=
        std::string::npos);
  for (std::size_t columns = 0; columns < 120; ++columns) CHECK(DisplayWidth(ProgressText(state, columns)) <= columns);
}
