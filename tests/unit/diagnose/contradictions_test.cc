// Figures that contradict each other are reported and not used for conclusions.
#include <algorithm>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "diagnose_log.h"
#include "examples/diagnosis_examples.h"

using namespace whyoom;

namespace TEST_FILE {

const std::string kHead = "XlaRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. ";

// A report with one row.
std::string Report(const std::string& total, const std::string& row) {
  return "\n\nTotal hbm usage >= " + total +
         ":\n    reserved        256.00M\n    program          20.00G\n    arguments            0B\n\n"
         "Output size 0B; shares 0B with arguments.\n\nProgram hbm requirement 20.00G:\n    HLO temp         20.00G\n\n"
         "  Largest program allocations in hbm:\n\n  1. Size: " +
         row +
         "\n     Operator: op_name=\"jit(step)/mul\"\n     Shape: f32[4294967296]{0:T(1024)}\n"
         "     Unpadded size: 16.00G\n     Allocation type: HLO temp\n     ==========================\n";
}

bool Reports(const Failure& failure, const std::string& id) {
  return std::any_of(failure.contradictions.begin(), failure.contradictions.end(),
                     [&](const Contradiction& one) { return one.id == id; });
}

bool HasEstimate(const Failure& failure) {
  return std::any_of(failure.remedies.begin(), failure.remedies.end(),
                     [](const RankedRemedy& one) { return one.enough || one.left_bytes; });
}

TEST_CASE("figures that agree are not a contradiction", "[diagnose]") {
  const Failure failure =
      Diagnose(kHead + "Used 20.00G of 15.75G hbm. Exceeded hbm capacity by 4.25G." + Report("20.25G", "16.00G"));
  CHECK(failure.contradictions.empty());
  CHECK(failure.confidence == Confidence::kHigh);
  REQUIRE(failure.scenario != nullptr);
  CHECK(failure.scenario->id == "2");
}

TEST_CASE("nothing is concluded from figures that contradict each other", "[diagnose]") {
  // The use is below the limit, or the excess does not match it.
  for (const std::string figures : {"Used 2.00G of 15.75G hbm. Exceeded hbm capacity by 4.25G.",
                                    "Used 20.00G of 15.75M hbm. Exceeded hbm capacity by 4.25G.",
                                    "Used 20.00G of 15.75G hbm. Exceeded hbm capacity by 4.25M.",
                                    "Used 20.00G of 0B hbm. Exceeded hbm capacity by 20.00G."}) {
    INFO(figures);
    const Failure failure = Diagnose(kHead + figures);
    REQUIRE_FALSE(failure.contradictions.empty());
    const Contradiction& first = failure.contradictions.front();
    CHECK(first.text.starts_with("The log contradicts itself: "));
    CHECK(first.line == 1);
    CHECK(first.figures.Find("limit_bytes") != nullptr);
    CHECK(failure.confidence == Confidence::kLow);
    CHECK(failure.scenario == nullptr);
    CHECK(failure.candidates.size() == 2);
    for (const char* fact : {"used_bytes", "limit_bytes", "excess_bytes", "need_bytes", "have_bytes", "chip"})
      CHECK(failure.facts.Find(fact) == nullptr);
    CHECK_FALSE(HasEstimate(failure));
  }
}

TEST_CASE("an allocation list that does not fit the need is dropped", "[diagnose]") {
  const std::string head = kHead + "Used 20.00G of 15.75G hbm. Exceeded hbm capacity by 4.25G.";
  for (const std::string row : {"160.00G", "1.60G"}) {
    const Failure failure = Diagnose(head + Report("20.25G", row));
    INFO(row);
    CHECK_FALSE(failure.contradictions.empty());
    CHECK(failure.allocations.empty());
    CHECK(failure.confidence == Confidence::kLow);
    CHECK(failure.scenario == nullptr);
    CHECK(failure.facts.Number("used_bytes") == 20.0 * (1 << 30));  // the message agrees with the totals
  }
  CHECK(Reports(Diagnose(head + Report("31.25G", "16.00G")), "used_differs_from_total"));
}

TEST_CASE("equal printed sizes leave open whether enough memory was free", "[diagnose]") {
  const std::string buffer =
      "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 1.00G. "
      "That was not possible. There are ";
  const auto scenario = [](const std::string& log) {
    const Failure failure = Diagnose(log);
    INFO(log);
    CHECK(failure.contradictions.empty());
    return failure.scenario == nullptr ? "open" : failure.scenario->id;
  };
  CHECK(scenario(buffer + "1.00G free.; (0x0x0_HBM0)") == "open");
  CHECK(scenario(buffer + "1.01G free.; (0x0x0_HBM0)") == "fragmentation");
  CHECK(scenario(buffer + "1023.99M free.; (0x0x0_HBM0)") == "true_oom");
  // The runtime itself states the reason.
  CHECK(
      scenario(buffer + "1.00G free. The largest contiguous region of free memory is 512.00M due to fragmentation.") ==
      "fragmentation");
  // Exact figures decide.
  CHECK(scenario("RESOURCE_EXHAUSTED: Could not allocate 1073741824 bytes in memory 0x0x0_HBM0; 4374528 bytes "
                 "allocatable, 1073741824 bytes available") == "fragmentation");
  CHECK(scenario("RESOURCE_EXHAUSTED: Error loading program 'jit_f': Attempting to reserve 1.00G at the bottom of "
                 "memory. That was not possible. There are 1.00G free, 0B reserved, and 512.00M reservable.") ==
        "open");
}

TEST_CASE("interleaved report lines of two processes belong to neither", "[diagnose]") {
  const auto zip = [](const std::string& a, const std::string& b) {
    std::string both;
    for (std::size_t i = 0, j = 0; i < a.size() || j < b.size();) {
      const std::size_t a_end = std::min(a.find('\n', i), a.size());
      const std::size_t b_end = std::min(b.find('\n', j), b.size());
      if (i < a.size()) both += a.substr(i, a_end - i) + "\n";
      if (j < b.size()) both += b.substr(j, b_end - j) + "\n";
      i = a_end + 1;
      j = b_end + 1;
    }
    return both;
  };
  const std::string one =
      kHead + "Used 20.00G of 15.75G hbm. Exceeded hbm capacity by 4.25G." + Report("20.25G", "16.00G");
  const std::string other =
      kHead + "Used 30.00G of 15.75G hbm. Exceeded hbm capacity by 14.25G." + Report("30.25G", "16.00G");
  static const Engine engine(BuiltInRules());
  whyoom::Report found = ReadArtifact(engine, {"job.log", ""}, *OpenMemory(zip(one, other)));
  std::vector<Problem> problems;
  REQUIRE(found.table);
  const std::vector<Failure> both = found.table->Finish(&problems);
  REQUIRE(both.size() == 2);
  CHECK(both[0].facts.Number("used_bytes") == 20.0 * (1 << 30));
  CHECK(both[1].facts.Number("used_bytes") == 30.0 * (1 << 30));
  // The report of the first ended at the message of the second.
  CHECK(Reports(both[1], "lines_of_two_reports"));
  CHECK(both[1].confidence == Confidence::kLow);
  for (const Failure& failure : both) {
    CHECK(failure.allocations.empty());
    CHECK(failure.facts.Find("total_bytes") == nullptr);
  }
}

TEST_CASE("each contradiction in the rule data has an example", "[diagnose]") {
  const RuleSet rules = RuleSource().rules();
  std::set<std::string> shown;
  for (const DiagnosisExample& situation : DiagnosisExamples()) {
    const std::optional<Failure> failure = Diagnose(rules, situation);
    REQUIRE(failure);
    for (const Contradiction& one : failure->contradictions) shown.insert(one.id);
  }
  for (const ContradictionRule& rule : rules.contradictions) {
    INFO(rule.id);
    CHECK(shown.contains(rule.id));
  }
}

}  // namespace TEST_FILE
