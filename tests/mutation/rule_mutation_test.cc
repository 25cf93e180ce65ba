#include "mutation/rule_mutation.h"

#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

using End = TriedMutant::End;

// One failure with `examples`.
std::string Rules(const std::string& examples) {
  return R"({"format": "whyoom.rules/1", "failures": [{"code": "my.pool", "title": "the pool is full", "phase": "run",
    "category": "Pool", "about": "about it", "links": [],
    "heads": [{"pattern": "pool is full: (?:wanted|needs) %{size:need_bytes}"}],
    "examples": [)" +
         examples + "]}]}";
}

std::vector<TriedMutant> Try(const std::string& examples, const std::string& only = "") {
  MutationOptions options;
  options.only = only;
  return TryMutants({}, {{"mine.json", Rules(examples)}}, {}, {}, options);
}

std::vector<std::string> Survivors(const std::vector<TriedMutant>& tried) {
  std::vector<std::string> what;
  for (const TriedMutant& one : tried) {
    if (one.end == End::kSurvived && one.mutant.kind != RuleMutant::Kind::kWords) what.push_back(one.mutant.what);
  }
  return what;
}

const std::string kOne = R"({"text": "the pool is full: wanted 12.50G", "facts": {"need_bytes": 13421772800}})";
const std::string kOther = R"({"text": "the pool is full: needs 1G"})";

TEST_CASE("a mutant survives if no example tests it", "[diagnose][mutants]") {
  const std::vector<std::string> survivors = Survivors(Try(kOne));
  CHECK(survivors == std::vector<std::string>{"without the alternative 'needs'", "a character of 'needs' another"});
  CHECK(Survivors(Try(kOne + ", " + kOther)).empty());
}

TEST_CASE("mutants are selected by name and at random", "[diagnose][mutants]") {
  const std::size_t all = Try(kOne).size();
  CHECK(Try(kOne, "mine.json").size() == all);
  CHECK(Try(kOne, "my.pool").size() == all);
  const std::vector<TriedMutant> patterns = Try(kOne, "pattern");
  CHECK(!patterns.empty());
  CHECK(std::all_of(patterns.begin(), patterns.end(),
                    [](const TriedMutant& one) { return one.mutant.kind == RuleMutant::Kind::kPattern; }));
  CHECK(Try(kOne, "nothing of the kind").empty());
  MutationOptions options;
  options.sample = 3;
  options.jobs = 2;
  std::size_t done = 0;
  const std::vector<RuleFile> files = {{"mine.json", Rules(kOne)}};
  const auto pick = [&](std::uint64_t seed) {
    options.seed = seed;
    std::string picked;
    for (const TriedMutant& one : TryMutants({}, files, {}, {}, options)) {
      picked += one.mutant.pointer + one.mutant.what + "\n";
      ++done;
    }
    return picked;
  };
  CHECK(pick(7) == pick(7));
  CHECK(done == 6);  // three each time
}

TEST_CASE("an observer detects changes that examples do not", "[diagnose][mutants]") {
  const std::vector<RuleFile> files = {{"mine.json", Rules(kOne)}};
  const RuleObserver words = {[](const Engine& engine) { return engine.rules().failures.at(0).title; }, true};
  for (const TriedMutant& one : TryMutants({}, files, {}, {words}, {})) {
    if (one.mutant.kind != RuleMutant::Kind::kWords) continue;
    CAPTURE(one.mutant.pointer);
    CHECK((one.end == End::kObserver) == (one.mutant.pointer == "/failures/0/title"));
  }
}

TEST_CASE("a change that the loader rejects is detected", "[diagnose][mutants]") {
  const std::vector<RuleFile> files = {
      {"mine.json",
       R"({"format": "whyoom.rules/1", "terms": {"is_big": "a_bytes > 3", "is_huge": "is_big and a_bytes > 9"}})"}};
  const std::vector<TriedMutant> tried = TryMutants({}, files, {}, {}, {});
  const auto gone = std::find_if(tried.begin(), tried.end(),
                                 [](const TriedMutant& one) { return one.mutant.what == "without the term is_big"; });
  REQUIRE(gone != tried.end());
  CHECK(gone->end == End::kRefused);
}

}  // namespace TEST_FILE

}  // namespace whyoom
