// The order of remedies, their estimates, and which are not offered, with programs and with lists.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/conclude.h"

using namespace whyoom;

namespace TEST_FILE {

// Remedies named by letters: h, b, d and f modify a program; the estimate of l comes from facts.
const RuleSet& Rules() {
  static const RuleSet rules = [] {
    std::string remedies;
    const auto add = [&](const std::string& id, int cost, const std::string& more) {
      remedies += (remedies.empty() ? "" : ",") +
                  fmt::format(R"({{"id": "{}", "title": "{}", "safety": "safe", "safe_why": "It is.", "cost": {},
        "gain": "g", "telltale": "t", "note": "n", "links": [{{"title": "t", "url": "https://example.org"}}], {}}})",
                              id, id, cost, more);
    };
    add("h", 4, R"json("how": {"jax": ["Halve {made.array} to {made.length}, in {made.parts}.", "Halve."]},
        "change": "half_batch", "spread_percent": 10, "with": ["b"])json");
    add("b", 2, R"json("how": {"jax": ["Cast."]}, "change": "bfloat16", "with": ["h"])json");
    add("d", 1, R"json("how": {"jax": ["Give."]}, "change": "donate",
        "ruled_out": [{"when": "free_bytes > 5", "text": "it has {free_bytes|size} free"}])json");
    add("l", 3, R"json("how": {"jax": ["List."], "vllm": ["Serve."]}, "saves": "test_saves",
        "evidence": [{"when": "known(test_evidence)", "at": "test_evidence", "text": "it says so"}],
        "safety_when": [{"when": "free_bytes > 5", "safety": "risky", "safe_why": "Free."}])json");
    add("n", 3, R"json("how": {"jax": ["Use {free_bytes|size}."]})json");
    add("w", 3, R"json("how": {"jax": ["Try."]}, "when": "free_bytes > 9")json");
    add("f", 0, R"json("how": {"jax": ["Remove."]}, "change": "no_host_transfer", "when": "test_transfer > 0")json");
    add("i", 0, R"json("inquiry": true, "how": {"jax": ["Look."]}, "evidence": [{"text": "look"}])json");
    return RulesWith(R"({"format": "whyoom.rules/1",
      "wording": {"ruled_out.no_gradients": [{"text": "the program computes no gradients"}],
                  "ruled_out.next_to_nothing": [{"text": "worked out on this program, it saves next to nothing"}]},
      "remedies": [)" +
                     remedies + R"(], "failures": [{"code": "T1",
      "title": "t", "category": "Test", "phase": "compile", "links": [], "about": ["t"],
      "heads": ["test failure of %{size:need_bytes} in %{size:limit_bytes}"],
      "facts": ["free %{size:free_bytes}", "excess %{size:excess_bytes}", "saves %{size:test_saves}",
                "evidence %{size:test_evidence}", "transfer %{size:test_transfer}", "listed %{size:listed_bytes}"],
      "remedies": [{"id": "h", "section": "1", "prior": 1}, {"id": "b", "section": "1", "prior": 2},
                   {"id": "d", "section": "2", "prior": 3}, {"id": "l", "section": "1", "prior": 4},
                   {"id": "n", "section": "1", "prior": 5}, {"id": "w", "section": "1", "prior": 7}, {"id": "i", "section": "1", "prior": 6}, {"id": "f", "section": "1", "prior": 8}],
      "examples": [{"text": "test failure of 7B in 5B"}]}]})");
  }();
  return rules;
}

// 1000 bytes needed of 600, with a program whose modifications save given sizes, or with a list.
struct Case {
  Case() {
    failure.rule = Rules().FindFailure("T1");
    Set("need_bytes", 1000);
    Set("limit_bytes", 600);
    Set("excess_bytes", 400);
  }
  Case& Set(const std::string& fact, double value) {
    failure.facts.Set(fact, value, {3, 0});
    return *this;
  }
  Case& Change(const std::string& change, std::int64_t saves, std::int64_t spread = 0) {
    if (!failure.estimates) failure.estimates.emplace().need_bytes = 1000;
    Effect& estimate = failure.estimates->changes.emplace_back();
    estimate.change = change;
    estimate.saves_bytes = saves;
    estimate.left_bytes = 1000 - saves;
    estimate.spread_bytes = spread;
    return *this;
  }
  Failure failure;
};

// Returns "h 450, 550 ±95 program enough" for each remedy in order of rank; "| d: why" for those ruled out.
std::string Ranked(Case one) {
  RankRemedies(Rules(), FailureScope(Rules(), one.failure), &one.failure);
  std::string shown;
  int rank = 0;
  for (const RankedRemedy& ranked : one.failure.remedies) {
    CHECK(ranked.rank == ++rank);
    shown += (rank > 1 ? "; " : "") + ranked.remedy->id;
    if (ranked.saves_bytes) shown += fmt::format(" {}{}", ranked.at_least ? ">=" : "", *ranked.saves_bytes);
    if (ranked.left_bytes) shown += fmt::format(", {}", *ranked.left_bytes);
    if (ranked.spread_bytes) shown += fmt::format(" ±{}", *ranked.spread_bytes);
    if (!ranked.basis.empty()) shown += " " + ranked.basis;
    if (ranked.enough) shown += *ranked.enough ? " enough" : " little";
    if (ranked.borderline) shown += " maybe";
    for (const std::string& other : ranked.enough_with) shown += " +" + other;
  }
  for (const RuledOut& out : one.failure.ruled_out) shown += " | " + out.remedy->id + ": " + out.why;
  return shown;
}

const RankedRemedy& Of(const Failure& failure, const std::string& id) {
  for (const RankedRemedy& ranked : failure.remedies) {
    if (ranked.remedy->id == id) return ranked;
  }
  FAIL("no remedy " + id);
  return failure.remedies.front();
}

TEST_CASE("an estimate on the program counts, with its spread", "[diagnose]") {
  CHECK(Ranked(Case().Change("half_batch", 470)) == "h 470, 530 ±59 program enough; b; d; l; i");
  CHECK(Ranked(Case().Change("half_batch", 450, 20)) == "h 450, 550 ±77 program enough maybe; b; d; l; i");
  CHECK(Ranked(Case().Change("bfloat16", 399, 5)) == "h; d; l; i; b 399, 601 ±17 program little maybe");
  CHECK(Ranked(Case().Change("bfloat16", 400, 5)) == "b 400, 600 ±17 program enough maybe; h; d; l; i");
  // The spread contains 2 % of the 600 bytes of a device. It is at most what is left.
  CHECK(Ranked(Case().Change("bfloat16", 980, 50)) == "b 980, 20 ±20 program enough; h; d; l; i");
}

TEST_CASE("a modification that saves next to nothing is ruled out", "[diagnose]") {
  CHECK(Ranked(Case().Change("donate", 4).Change("bfloat16", 5)) ==
        "h; l; i; b 5, 995 ±12 program little | d: worked out on this program, it saves next to nothing");
  Case inference;
  inference.Change("half_batch", 0);
  inference.failure.estimates->changes[0].ruled_out = "no_gradients";
  CHECK(Ranked(inference) == "b; d; l; i | h: the program computes no gradients");
  // An estimate on the program overrides a condition that rules the remedy out.
  CHECK(Ranked(Case().Set("free_bytes", 6)) == "h; b; l; n; i | d: it has 6 B free");
  CHECK(Ranked(Case().Set("free_bytes", 6).Change("donate", 450)) == "d 450, 550 ±12 program enough; h; b; l; n; i");
}

TEST_CASE("an estimate from facts is based on the list", "[diagnose]") {
  CHECK(Ranked(Case().Set("test_saves", 399)) == "h; b; d; i; l 399 list little");
  CHECK(Ranked(Case().Set("test_saves", 400)) == "l 400 list enough; h; b; d; i");
  CHECK(Ranked(Case().Set("test_saves", -5)) == "h; b; d; i; l 0 list little");
  CHECK(Ranked(Case().Set("test_saves", 399).Set("listed_bytes", 100)) == "h; b; d; l >=399 list; i");
  CHECK(Ranked(Case().Set("test_saves", 400).Set("listed_bytes", 100)) == "l >=400 list enough; h; b; d; i");
  CHECK(Ranked(Case().Set("test_saves", 399).Change("bfloat16", 300)) ==
        "h; d; l 399 list; i; b 300, 700 ±12 program little");
}

TEST_CASE("the cure of a mistake ranks first if it is enough", "[diagnose]") {
  // Without a mistake, b ranks above h because it costs less.
  CHECK(Ranked(Case().Change("half_batch", 470).Change("bfloat16", 420)) ==
        "b 420, 580 ±12 program enough; h 470, 530 ±59 program enough; d; l; i");
  Case cured = Case().Change("half_batch", 470).Change("bfloat16", 420);
  cured.failure.why = {{.text = "The batch is whole.", .mistake = "whole_batch", .cure = "h"}};
  CHECK(Ranked(cured) == "h 470, 530 ±59 program enough; b 420, 580 ±12 program enough; d; l; i");
  Case too_little = Case().Change("half_batch", 200).Change("bfloat16", 420);
  too_little.failure.why = cured.failure.why;
  CHECK(Ranked(too_little) == "b 420, 580 ±12 program enough; d; l; i; h 200, 800 ±32 program little");
}

TEST_CASE("a remedy estimated to be too little is not first and ranks below those that cover the excess",
          "[diagnose]") {
  // The log supports l, whose estimate is too little; h and b have no estimate.
  CHECK(Ranked(Case().Set("test_evidence", 1).Set("test_saves", 399)) == "h; b; d; i; l 399 list little");
  // If there is a program, an estimate from the list does not show that a remedy is too little.
  CHECK(Ranked(Case().Set("test_evidence", 1).Set("test_saves", 399).Change("half_batch", 470)) ==
        "h 470, 530 ±59 program enough; l 399 list; b; d; i");
}

TEST_CASE("a free remedy that is not enough is listed separately, after all others", "[diagnose]") {
  const auto free = [](Case one) {
    RankRemedies(Rules(), FailureScope(Rules(), one.failure), &one.failure);
    std::string shown;
    for (const RankedRemedy& ranked : one.failure.remedies) shown += ranked.remedy->id + (ranked.free ? " free;" : ";");
    return shown;
  };
  CHECK(free(Case().Set("test_transfer", 1).Change("no_host_transfer", 399).Change("half_batch", 10)) ==
        "b;d;l;i;h;f free;");
  CHECK(free(Case().Set("test_transfer", 1).Change("no_host_transfer", 400).Change("half_batch", 10)) ==
        "f;b;d;l;i;h;");
}

TEST_CASE("remedies with evidence come first, inquiries last", "[diagnose]") {
  CHECK(Ranked(Case().Set("test_evidence", 1)) == "l; h; b; d; i");
  CHECK(Ranked(Case()) == "h; b; d; l; i");
}

TEST_CASE("a remedy with a condition is offered only if the condition is known to be true", "[diagnose]") {
  CHECK(Ranked(Case().Set("free_bytes", 10)) == "h; b; l; n; i; w | d: it has 10 B free");
  CHECK(Ranked(Case().Set("free_bytes", 9)) == "h; b; l; n; i | d: it has 9 B free");
  CHECK(Ranked(Case()) == "h; b; d; l; i");
}

TEST_CASE("steps are those of the framework, with the values of the estimate", "[diagnose]") {
  Case one = Case().Change("half_batch", 450);
  RankRemedies(Rules(), FailureScope(Rules(), one.failure), &one.failure);
  CHECK(Of(one.failure, "h").how == std::vector<std::string>{"Halve."});
  CHECK(Of(one.failure, "h").parts == 0);
  one.failure.estimates->changes[0].parts = 2;
  one.failure.estimates->changes[0].axis = AxisLocation{"batch", 0, 64, "batch"};
  RankRemedies(Rules(), FailureScope(Rules(), one.failure), &one.failure);
  CHECK(Of(one.failure, "h").how == std::vector<std::string>{"Halve batch to 64, in 2.", "Halve."});
  CHECK(Of(one.failure, "h").parts == 2);
  CHECK(Of(one.failure, "h").section == "1");
  CHECK(Of(one.failure, "d").section == "2");
  CHECK(Of(one.failure, "l").how == std::vector<std::string>{"List."});
  CHECK(Of(one.failure, "l").safety == "safe");
  CHECK(Of(one.failure, "l").safe_why == "It is.");
  one.failure.framework = "vllm";
  one.failure.facts.Set("free_bytes", 6.0, {});
  RankRemedies(Rules(), FailureScope(Rules(), one.failure), &one.failure);
  CHECK(Of(one.failure, "l").how == std::vector<std::string>{"Serve."});
  CHECK(Of(one.failure, "n").how == std::vector<std::string>{"Use 6 B."});
  CHECK(Of(one.failure, "b").how == std::vector<std::string>{"Cast."});
  CHECK(Of(one.failure, "l").safety == "risky");
  CHECK(Of(one.failure, "l").safe_why == "Free.");
}

}  // namespace TEST_FILE
