#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "cli/commands.h"
#include "diagnose/report.h"
#include "read/failure_reader.h"

namespace whyoom {
namespace TEST_FILE {

// Returns the bound as parsed at noon of 2026-11-20.
std::string Bound(std::string_view text) {
  const std::optional<Timestamp> time = ParseTimeBound(text, *ParseTimestamp("2026-11-20T12:00:00Z"));
  return time ? ToString(*time) : "none";
}

// Returns those of `times` (empty: unknown) that pass the range, and sets the note.
std::vector<std::string> Kept(const std::string& since, const std::string& until, const std::vector<std::string>& times,
                              std::string* note) {
  const TimeRange range{ParseTimestamp(since), ParseTimestamp(until)};
  std::vector<std::string> kept;
  std::uint64_t unknown = 0;
  for (const std::string& time : times) {
    const std::optional<bool> contained = range.Contains(ParseTimestamp(time));
    if (!contained) ++unknown;
    if (contained != false) kept.push_back(time);
  }
  Report found;
  found.unknown_times = unknown;
  const std::vector<Problem> problems = MakeReport("", std::move(found)).problems;
  *note = problems.empty() ? "" : problems[0].what;
  return kept;
}

using Times = std::vector<std::string>;

TEST_CASE("bounds are parsed as people write them", "[read]") {
  CHECK(Bound("2026-11-20") == "2026-11-20T00:00:00");
  CHECK(Bound("2026-11-20 11:30") == "2026-11-20T11:30:00");
  CHECK(Bound("2026-11-20T11:30:05+01:00") == "2026-11-20T10:30:05Z");
  CHECK(Bound("45s") == "2026-11-20T11:59:15Z");
  CHECK(Bound("30m") == "2026-11-20T11:30:00Z");
  CHECK(Bound("2h") == "2026-11-20T10:00:00Z");
  CHECK(Bound("7d") == "2026-11-13T12:00:00Z");
  for (const std::string_view text :
       {"", "h", "2", "2w", "-2h", "2h ", "999999d", "11-20", "noon", "2026-11-20 25:00"}) {
    CAPTURE(text);
    CHECK(Bound(text) == "none");
  }
}

TEST_CASE("a range includes its start and excludes its end", "[read]") {
  std::string note;
  const std::string noon = "2026-11-20T12:00:00Z";
  const std::string before = "2026-11-20T11:59:59.999999Z";
  CHECK(Kept(noon, "", {before, noon}, &note) == Times{noon});
  CHECK(Kept("", noon, {before, noon}, &note) == Times{before});
  CHECK(Kept(before, noon, {before, noon}, &note) == Times{before});
  CHECK(Kept("", "", {before, noon, ""}, &note) == Times{before, noon, ""});
  CHECK(note.empty());
}

TEST_CASE("a failure whose time cannot be compared with the range is kept and counted", "[read]") {
  std::string note;
  const std::string local = "2026-11-20T09:00:00";
  CHECK(Kept("2026-11-20T12:00:00Z", "", {"", local, "2026-11-20T09:00:00Z"}, &note) == Times{"", local});
  CHECK(note == "2 reports of failures have no time that can be compared with --since or --until; they were kept");
  // A bound without a zone is compared with each logger's own clock.
  CHECK(Kept("2026-11-20T12:00:00", "", {local, "2026-11-20T09:00:00Z", "2026-11-20T12:00:00+00:00"}, &note) ==
        Times{"2026-11-20T12:00:00+00:00"});
  CHECK(note.empty());
  // Outside by one bound is outside, regardless of the other.
  CHECK(Kept("2026-11-20T12:00:00Z", "2026-11-20T08:00:00", {local}, &note).empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
