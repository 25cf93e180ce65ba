// How the reports of one artifact are joined into failures, and what is kept of each.
#include <fmt/format.h>

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "made_lines.h"
#include "made_rows.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

// Returns a failure of T1 with these facts.
Failure See(std::uint64_t line, const std::vector<std::pair<std::string, Value>>& facts,
            const std::string& stream_name = "", std::vector<Allocation> rows = {}) {
  Failure failure;
  failure.rule = TestEngine().rules().FindFailure("T1");
  failure.stream_name = stream_name;
  failure.where = {{}, line, line + 1, line * 100};
  failure.message = fmt::format("message of line {}", line);
  for (const auto& [name, value] : facts) failure.facts.Set(name, value, {line, line * 100});
  failure.allocations = std::move(rows);
  return failure;
}

std::vector<Failure> Find(std::vector<Failure> failures, const std::string& path = "job.log") {
  ArtifactFailures found(TestEngine(), {path, ""});
  for (Failure& failure : failures) {
    std::vector<Failure> one;
    one.push_back(std::move(failure));
    found.Add(std::move(one), "jax");
  }
  std::vector<Problem> problems;
  return found.SoFar().Finish(&problems);
}

// Prints one failure per line, in order of place: "1-2 used_bytes=7; reports 2, also 5".
std::string ShowAll(const std::vector<Failure>& failures) {
  std::string shown;
  for (const Failure& failure : failures) {
    shown += fmt::format("{}-{} {}; reports {}", failure.where.line, failure.where.last_line, Show(failure.facts),
                         failure.tally.reports);
    if (!failure.allocations.empty()) shown += fmt::format(", rows {}", failure.allocations.size());
    for (const Where& place : failure.Also()) shown += fmt::format(", also {}", place.line);
    shown += '\n';
  }
  return shown;
}

using Facts = std::vector<std::pair<std::string, Value>>;
const Facts kSeven = {{"used_bytes", 7.0}, {"limit_bytes", 5.0}};
const Facts kNine = {{"used_bytes", 9.0}, {"limit_bytes", 5.0}};

TEST_CASE("reports with the same identity are one failure, others are not", "[diagnose]") {
  CHECK(ShowAll(Find({See(1, kSeven), See(3, kNine), See(5, kSeven)})) ==
        "1-2 limit_bytes=5 used_bytes=7; reports 2, also 5\n"
        "3-4 limit_bytes=5 used_bytes=9; reports 1\n");
  // A partial report belongs to the newest failure that it does not contradict.
  CHECK(ShowAll(Find({See(1, kSeven), See(3, kNine), See(5, {{"module", "f"}}), See(7, {{"used_bytes", 7.0}})})) ==
        "1-2 limit_bytes=5 used_bytes=7; reports 2, also 7\n"
        "3-4 limit_bytes=5 module='f' used_bytes=9; reports 2, also 5\n");
  CHECK(ShowAll(Find({See(1, {}), See(3, kSeven), See(5, kNine)})) ==
        "1-2 limit_bytes=5 used_bytes=7; reports 2, also 3\n"
        "5-6 limit_bytes=5 used_bytes=9; reports 1\n");
  // Derived facts may supply the identity.
  CHECK(ShowAll(Find({See(1, kSeven), See(3, {{"part_bytes", 4.0}, {"rest_bytes", 3.0}})})) ==
        "1-2 limit_bytes=5 part_bytes=4 rest_bytes=3 used_bytes=7; reports 2, also 3\n");
  CHECK(Find({See(1, kSeven), See(3, {{"part_bytes", 4.0}, {"rest_bytes", 4.0}})}).size() == 2);
  CHECK(Find({}).empty());
}

TEST_CASE("the first report is kept, unless only a later one has an allocation list", "[diagnose]") {
  const std::vector<Allocation> one = {MakeRow("s8[2]", 2)};
  const std::vector<Allocation> two = {MakeRow("s8[2]", 2), MakeRow("s8[3]", 3)};
  const Facts with_module = {{"used_bytes", 7.0}, {"limit_bytes", 5.0}, {"module", "f"}};
  const Facts with_other = {{"used_bytes", 7.0}, {"limit_bytes", 5.0}, {"module", "g"}};
  CHECK(ShowAll(Find({See(1, with_module), See(3, with_other)})) ==
        "1-2 limit_bytes=5 module='f' used_bytes=7; reports 2, also 3\n");
  const std::vector<Failure> found = Find({See(1, with_module), See(3, with_other, "", one), See(5, kSeven, "", two)});
  CHECK(ShowAll(found) == "3-4 limit_bytes=5 module='g' used_bytes=7; reports 3, rows 1, also 1, also 5\n");
  CHECK(found[0].message == "message of line 3");
  // If no report has a list, the first one in the log is kept, whichever was completed first.
  CHECK(ShowAll(Find({See(3, kSeven), See(1, kSeven)})) == "1-2 limit_bytes=5 used_bytes=7; reports 2, also 3\n");
  CHECK(ShowAll(Find({See(3, kSeven, "", one), See(1, kSeven)})) ==
        "3-4 limit_bytes=5 used_bytes=7; reports 2, rows 1, also 1\n");
}

TEST_CASE("the tally counts hosts, reports and repeats, and has the first and last time", "[diagnose]") {
  Failure late = See(3, kSeven, "host b");
  late.repeats = 5;
  late.time = ParseTimestamp("2026-11-20T13:00:00Z");
  Failure soon = See(1, kSeven, "host a");
  soon.time = ParseTimestamp("2026-11-20T12:00:00Z");
  const Tally tally = Find({soon, late, See(5, kSeven, "host a")})[0].tally;
  CHECK(tally.hosts.names() == std::vector<std::string>{"host a", "host b"});
  CHECK(tally.reports == 3);
  CHECK(tally.repeats == 4);
  CHECK(tally.artifacts == 1);
  CHECK(tally.nameless_artifacts == 0);
  CHECK(tally.replicas == 0);
  CHECK(ToString(*tally.first_time) == "2026-11-20T12:00:00Z");
  CHECK(ToString(*tally.last_time) == "2026-11-20T13:00:00Z");
}

TEST_CASE("without a prefix, replicas are counted by replica and partition number", "[diagnose]") {
  const auto of = [](double replica, double partition) {
    Facts facts = kSeven;
    facts.emplace_back("replica", replica);
    facts.emplace_back("partition", partition);
    return facts;
  };
  const Tally tally = Find({See(1, of(0, 1)), See(3, of(0, 2)), See(5, of(1, 1)), See(7, of(0, 1))})[0].tally;
  CHECK(tally.replicas == 3);
  CHECK(tally.nameless_artifacts == 1);
  CHECK(Find({See(1, of(0, 1), "host a")})[0].tally.replicas == 0);
}

TEST_CASE("a failure is complete as soon as one report is", "[diagnose]") {
  Failure fragment = See(1, kSeven);
  fragment.completeness.whole = false;
  CHECK_FALSE(Find({fragment})[0].completeness.whole);
  CHECK(Find({fragment, See(3, kSeven)})[0].completeness.whole);
  CHECK(Find({See(3, kSeven), fragment})[0].completeness.whole);
  CHECK(Find({See(3, kSeven)})[0].completeness.numbers == 2);
  CHECK(Find({See(3, {{"used_bytes", 7.0}})})[0].completeness.numbers == 1);
  CHECK(Find({See(3, kSeven)})[0].completeness.facts == 2 + 1);  // and the framework
  CHECK(Find({See(3, kSeven)})[0].framework == "jax");
}

TEST_CASE("the id depends on the identifying facts, not on the location", "[diagnose]") {
  const auto id = [](const Facts& facts, std::uint64_t line, const std::string& path) {
    return Find({See(line, facts)}, path)[0].id;
  };
  CHECK(id(kSeven, 1, "a").size() == 16);
  CHECK(id(kSeven, 1, "a") == id(kSeven, 9, "b"));
  CHECK(id(kSeven, 1, "a") != id(kNine, 1, "a"));
  CHECK(id({{"used_bytes", 7.0}, {"limit_bytes", 5.0}, {"module", "f"}}, 1, "a") == id(kSeven, 1, "a"));
  CHECK(id({{"part_bytes", 4.0}, {"rest_bytes", 3.0}, {"limit_bytes", 5.0}}, 1, "a") == id(kSeven, 1, "a"));
  // Without identifying facts, the message counts.
  CHECK(id({}, 1, "a") == id({{"module", "f"}}, 1, "b"));
  CHECK(id({}, 1, "a") != id({}, 2, "a"));
}

TEST_CASE("a partial report is compared with the newest failures only, one with the same identity with all",
          "[diagnose]") {
  std::vector<Failure> failures;
  for (int i = 1; i <= 257; ++i)
    failures.push_back(See(static_cast<std::uint64_t>(i), {{"used_bytes", 7.0}, {"limit_bytes", i * 1.0}}));
  failures.push_back(See(1000, {{"used_bytes", 7.0}, {"limit_bytes", 1.0}}));
  CHECK(Find(failures).size() == 257);
  failures.push_back(See(1001, {{"limit_bytes", 2.0}}));
  CHECK(Find(failures).size() == 257);
  failures.push_back(See(1002, {{"limit_bytes", 1.0}}));
  CHECK(Find(failures).size() == 258);
}

TEST_CASE("partial reports that yield the same identity together are one failure", "[diagnose]") {
  std::vector<Failure> failures = {See(1, {{"limit_bytes", 5.0}, {"part_bytes", 4.0}}, "host a")};
  for (int i = 1; i <= 256; ++i)
    failures.push_back(See(static_cast<std::uint64_t>(i) + 10, {{"used_bytes", 7.0}, {"limit_bytes", i * 100.0}}));
  failures.push_back(See(1000, kSeven, "host b"));
  CHECK(Find(failures).size() == 258);
  failures.push_back(See(1001, {{"limit_bytes", 5.0}, {"rest_bytes", 3.0}}, "host c"));
  const std::vector<Failure> found = Find(failures);
  CHECK(found.size() == 257);
  CHECK(found[0].tally.reports == 3);
  CHECK(found[0].tally.nameless_artifacts == 0);
  CHECK(found[0].tally.hosts.names() == std::vector<std::string>{"host a", "host b", "host c"});
}

TEST_CASE("a long allocation list loses its last rows", "[diagnose]") {
  std::vector<Allocation> rows(3000);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i].rank = static_cast<int>(i) + 1;
  std::vector<Failure> failures;
  failures.push_back(See(1, kSeven, "", std::move(rows)));
  const std::vector<Failure> found = Find(std::move(failures));
  REQUIRE(found.size() == 1);
  CHECK(found[0].allocations.size() > 200);
  CHECK(found[0].allocations.back().rank == static_cast<int>(found[0].allocations.size()));
  CHECK(found[0].allocations.size() + found[0].allocations_left_out == 3000);
}

TEST_CASE("beyond a thousand different failures, reports are only counted", "[diagnose]") {
  ArtifactFailures found(TestEngine(), {"job.log", ""});
  for (std::size_t i = 0; i < FailureTable::kMostOfCode + 3; ++i) {
    std::vector<Failure> one;
    one.push_back(See(i + 1, {{"used_bytes", 1.0 + static_cast<double>(i)}, {"limit_bytes", 5.0}}));
    found.Add(std::move(one), "");
  }
  FailureTable table = found.SoFar();
  CHECK(table.left_out().at("T1") == 3);
}

}  // namespace TEST_FILE
