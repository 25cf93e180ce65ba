// Tables of failures join in any order and grouping to the same table, even at the limits.
#include "diagnose/failure_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

Failure Make(const std::string& code, int id, int artifact, std::uint64_t row_bytes = 0) {
  Failure failure;
  failure.rule = BuiltInRules().FindFailure(code);
  failure.id = fmt::format("{:016x}", static_cast<unsigned>(id) * 2654435761U);
  failure.message = fmt::format("message {} of {}", id, artifact);
  failure.where = {{fmt::format("log-{:05}", artifact), ""}, 1, 1, static_cast<std::uint64_t>(id)};
  failure.facts.Set("limit_bytes", 16.9e9 + id, {1, 1});
  failure.facts.Set("used_bytes", 20e9, {1, 1});
  failure.completeness.row_bytes = row_bytes;
  if (row_bytes > 0) {
    failure.allocations.emplace_back().size_bytes = 16000000000;  // nearly the whole limit: one oversized allocation
    failure.allocations.back().rank = 1;
  }
  failure.tally.AddPlace(failure.where);
  failure.tally.reports = 1;
  failure.tally.artifacts = 1;
  failure.tally.nameless_artifacts = 1;
  return failure;
}

std::string Show(const std::vector<Failure>& failures, const std::vector<Problem>& problems) {
  std::string text;
  for (const Failure& failure : failures) {
    text += fmt::format("{} {} {}:{} rows {} left {} reports {} occurrences {} also {} remedies {} scenario {}\n",
                        failure.id, failure.message, failure.where.artifact.path, failure.where.offset,
                        failure.allocations.size(), failure.allocations_left_out, failure.tally.reports,
                        failure.tally.occurrences(), failure.Also().size(), failure.remedies.size(),
                        failure.scenario == nullptr ? "" : failure.scenario->id);
  }
  for (const Problem& problem : problems) text += problem.path + ": " + problem.what + "\n";
  return text;
}

std::string Finish(FailureTable table) {
  std::vector<Problem> problems;
  return Show(table.Finish(&problems), problems);
}

void CheckAnyGrouping(std::vector<Failure> failures) {
  FailureTable whole(BuiltInRules());
  for (const Failure& failure : failures) whole.Add(failure);
  const std::string expected = Finish(std::move(whole));
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    std::shuffle(failures.begin(), failures.end(), random);
    std::vector<FailureTable> parts(1 + random() % 7, FailureTable(BuiltInRules()));
    for (const Failure& failure : failures) parts[random() % parts.size()].Add(failure);
    while (parts.size() > 1) {  // join two random tables
      const std::size_t from = random() % parts.size();
      FailureTable taken = std::move(parts[from]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from));
      parts[random() % parts.size()].Join(std::move(taken));
    }
    CHECK(Finish(std::move(parts[0])) == expected);
  }
}

TEST_CASE("the same failure in many artifacts is one finding", "[diagnose]") {
  std::vector<Failure> failures;
  for (int artifact = 0; artifact < 200; ++artifact) {
    for (int id = 0; id < 5; ++id) failures.push_back(Make(id % 2 == 0 ? "E1000" : "0100", id, artifact));
  }
  FailureTable table(BuiltInRules());
  for (const Failure& failure : failures) table.Add(failure);
  std::vector<Problem> problems;
  const std::vector<Failure> found = table.Finish(&problems);
  REQUIRE(found.size() == 5);
  for (const Failure& failure : found) {
    CHECK(failure.tally.artifacts == 200);
    CHECK(failure.tally.occurrences() == 200);
    CHECK(failure.where.artifact.path == "log-00000");
    CHECK_FALSE(failure.remedies.empty());
  }
  CHECK(problems.empty());
  CheckAnyGrouping(failures);
}

TEST_CASE("the most complete report of a failure is kept", "[diagnose]") {
  FailureTable table(BuiltInRules());
  table.Add(Make("E1000", 1, 1));
  table.Add(Make("E1000", 1, 3, 500));
  table.Add(Make("E1000", 1, 2, 500));
  Failure fragment = Make("E1000", 1, 0);
  fragment.completeness.whole = false;
  table.Add(fragment);
  std::vector<Problem> problems;
  const std::vector<Failure> found = table.Finish(&problems);
  REQUIRE(found.size() == 1);
  CHECK(found[0].where.artifact.path == "log-00002");
  CHECK(found[0].allocations.size() == 1);
  CHECK(found[0].Also().size() == 3);
}

TEST_CASE("beyond the maximum number of failures, reports are only counted, whatever the order", "[diagnose][slow]") {
  std::vector<Failure> failures;
  for (int id = 0; id < 1500; ++id) {
    for (int artifact = 0; artifact < 1 + id % 3; ++artifact) failures.push_back(Make("E1000", id, artifact));
  }
  FailureTable table(BuiltInRules());
  for (const Failure& failure : failures) table.Add(failure);
  std::vector<Problem> problems;
  const std::vector<Failure> found = table.Finish(&problems);
  CHECK(found.size() == FailureTable::kMostOfCode);
  std::uint64_t reports = table.left_out().at("E1000");
  for (const Failure& failure : found) reports += failure.tally.reports;
  CHECK(reports == failures.size());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].of_report);
  CheckAnyGrouping(failures);
}

TEST_CASE("the order of inputs with the same name, failure and location does not matter", "[diagnose]") {
  std::vector<Failure> failures;
  for (int i = 0; i < 6; ++i) {
    failures.push_back(Make("E1000", 1, 1));
    failures.back().message = "message " + std::to_string(i % 3);
  }
  CheckAnyGrouping(failures);
}

TEST_CASE("failures are sorted by location, but known consequences of other failures come last", "[diagnose]") {
  FailureTable table(BuiltInRules());
  for (const int id : {9, 4, 6}) table.Add(Make("E1000", id, id));
  table.Add(Make("0100", 1, 1));  // a run that fails after a failed compile
  std::vector<Problem> problems;
  const std::vector<Failure> found = table.Finish(&problems);
  REQUIRE(found.size() == 4);
  CHECK(found[0].where.artifact.path == "log-00004");
  CHECK(found[2].where.artifact.path == "log-00009");
  CHECK(found[3].rule->code == "0100");
}

}  // namespace TEST_FILE
