// Tables of findings join in any order and grouping to the same table, even at the limits.
#include "diagnose/finding_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

Diagnosis Make(const std::string& code, int id, int artifact, std::uint64_t row_bytes = 0) {
  Diagnosis finding;
  finding.failure = BuiltInRules().FindFailure(code);
  finding.id = fmt::format("{:016x}", static_cast<unsigned>(id) * 2654435761U);
  finding.message = fmt::format("message {} of {}", id, artifact);
  finding.where = {{fmt::format("log-{:05}", artifact), ""}, 1, 1, static_cast<std::uint64_t>(id)};
  finding.facts.Set("limit_bytes", 16.9e9 + id, {1, 1});
  finding.facts.Set("used_bytes", 20e9, {1, 1});
  finding.completeness.row_bytes = row_bytes;
  if (row_bytes > 0) {
    finding.allocations.emplace_back().size_bytes = 16000000000;  // nearly the whole limit: one oversized allocation
    finding.allocations.back().rank = 1;
  }
  finding.tally.places.Add(finding.where);
  finding.tally.reports = 1;
  finding.tally.artifacts = 1;
  finding.tally.nameless_artifacts = 1;
  return finding;
}

std::string Show(const std::vector<Diagnosis>& findings, const std::vector<Problem>& problems) {
  std::string text;
  for (const Diagnosis& finding : findings) {
    text += fmt::format("{} {} {}:{} rows {} left {} reports {} occurrences {} also {} remedies {} scenario {}\n",
                        finding.id, finding.message, finding.where.artifact.path, finding.where.offset,
                        finding.allocations.size(), finding.allocations_left_out, finding.tally.reports,
                        finding.tally.occurrences(), finding.Also().size(), finding.remedies.size(),
                        finding.scenario == nullptr ? "" : finding.scenario->id);
  }
  for (const Problem& problem : problems) text += problem.path + ": " + problem.what + "\n";
  return text;
}

std::string Finish(FindingTable table) {
  std::vector<Problem> problems;
  return Show(table.Finish(&problems), problems);
}

void CheckAnyGrouping(std::vector<Diagnosis> findings) {
  FindingTable whole(BuiltInRules());
  for (const Diagnosis& finding : findings) whole.Add(finding);
  const std::string expected = Finish(std::move(whole));
  std::mt19937 random(3);
  for (int round = 0; round < 6; ++round) {
    std::shuffle(findings.begin(), findings.end(), random);
    std::vector<FindingTable> parts(1 + random() % 7, FindingTable(BuiltInRules()));
    for (const Diagnosis& finding : findings) parts[random() % parts.size()].Add(finding);
    while (parts.size() > 1) {  // join two random tables
      const std::size_t from = random() % parts.size();
      FindingTable taken = std::move(parts[from]);
      parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(from));
      parts[random() % parts.size()].Join(std::move(taken));
    }
    CHECK(Finish(std::move(parts[0])) == expected);
  }
}

TEST_CASE("the same failure in many artifacts is one finding", "[diagnose]") {
  std::vector<Diagnosis> findings;
  for (int artifact = 0; artifact < 200; ++artifact) {
    for (int id = 0; id < 5; ++id) findings.push_back(Make(id % 2 == 0 ? "E1000" : "0100", id, artifact));
  }
  FindingTable table(BuiltInRules());
  for (const Diagnosis& finding : findings) table.Add(finding);
  std::vector<Problem> problems;
  const std::vector<Diagnosis> found = table.Finish(&problems);
  REQUIRE(found.size() == 5);
  for (const Diagnosis& finding : found) {
    CHECK(finding.tally.artifacts == 200);
    CHECK(finding.tally.occurrences() == 200);
    CHECK(finding.where.artifact.path == "log-00000");
    CHECK_FALSE(finding.remedies.empty());
  }
  CHECK(problems.empty());
  CheckAnyGrouping(findings);
}

TEST_CASE("the most complete report of a failure is kept", "[diagnose]") {
  FindingTable table(BuiltInRules());
  table.Add(Make("E1000", 1, 1));
  table.Add(Make("E1000", 1, 3, 500));
  table.Add(Make("E1000", 1, 2, 500));
  Diagnosis fragment = Make("E1000", 1, 0);
  fragment.completeness.whole = false;
  table.Add(fragment);
  std::vector<Problem> problems;
  const std::vector<Diagnosis> found = table.Finish(&problems);
  REQUIRE(found.size() == 1);
  CHECK(found[0].where.artifact.path == "log-00002");
  CHECK(found[0].allocations.size() == 1);
  CHECK(found[0].Also().size() == 3);
}

TEST_CASE("beyond the maximum number of failures, reports are only counted, whatever the order", "[diagnose][slow]") {
  std::vector<Diagnosis> findings;
  for (int id = 0; id < 1500; ++id) {
    for (int artifact = 0; artifact < 1 + id % 3; ++artifact) findings.push_back(Make("E1000", id, artifact));
  }
  FindingTable table(BuiltInRules());
  for (const Diagnosis& finding : findings) table.Add(finding);
  std::vector<Problem> problems;
  const std::vector<Diagnosis> found = table.Finish(&problems);
  CHECK(found.size() == FindingTable::kMostOfCode);
  std::uint64_t reports = table.left_out().at("E1000");
  for (const Diagnosis& finding : found) reports += finding.tally.reports;
  CHECK(reports == findings.size());
  REQUIRE(problems.size() == 1);
  CHECK(problems[0].of_report);
  CheckAnyGrouping(findings);
}

TEST_CASE("allocation lists beyond the limit are dropped consistently, after the conclusions", "[diagnose]") {
  std::vector<Diagnosis> findings;
  for (int id = 0; id < 30; ++id) {
    findings.push_back(Make("E1000", id, 1, std::uint64_t{5} << 20));
    if (id % 4 == 0) findings.push_back(Make("E1000", id, 2, std::uint64_t{9} << 20));
  }
  FindingTable table(BuiltInRules());
  for (const Diagnosis& finding : findings) table.Add(finding);
  std::vector<Problem> problems;
  const std::vector<Diagnosis> found = table.Finish(&problems);
  const auto without =
      std::count_if(found.begin(), found.end(), [](const Diagnosis& f) { return f.allocations.empty(); });
  CHECK(without > 5);
  CHECK(without < 25);
  CHECK(problems.size() == 1);
  for (const Diagnosis& finding : found) {
    REQUIRE(finding.scenario != nullptr);
    CHECK(finding.scenario->id == "2");
  }
  CheckAnyGrouping(findings);
}

TEST_CASE("the order of inputs with the same name, failure and location does not matter", "[diagnose]") {
  std::vector<Diagnosis> findings;
  for (int i = 0; i < 6; ++i) {
    findings.push_back(Make("E1000", 1, 1));
    findings.back().message = "message " + std::to_string(i % 3);
  }
  CheckAnyGrouping(findings);
}

TEST_CASE("failures are sorted by location, but known consequences of other failures come last", "[diagnose]") {
  FindingTable table(BuiltInRules());
  for (const int id : {9, 4, 6}) table.Add(Make("E1000", id, id));
  table.Add(Make("0100", 1, 1));  // a run that fails after a failed compile
  std::vector<Problem> problems;
  const std::vector<Diagnosis> found = table.Finish(&problems);
  REQUIRE(found.size() == 4);
  CHECK(found[0].where.artifact.path == "log-00004");
  CHECK(found[2].where.artifact.path == "log-00009");
  CHECK(found[3].failure->code == "0100");
}

}  // namespace TEST_FILE
