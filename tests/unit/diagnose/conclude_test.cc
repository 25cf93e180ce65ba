// Conclusions and ranking from hand-written facts and rules.
#include "diagnose/conclude.h"

#include <string>
#include <utility>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

const char* const kRules = R"({"format": "whyoom.rules/1",
"failures": [{
  "code": "T1", "title": "test", "category": "Test", "phase": "run", "about": ["test"], "links": [{"title": "t", "url": "https://example.org"}],
  "heads": ["test failure of %{size:need_bytes} in %{size:limit_bytes}"],
  "facts": ["%{size:free_bytes} are free here"],
  "derived": [{"fact": "excess_bytes", "from": "need_bytes - limit_bytes"},
              {"fact": "twice_bytes", "from": "2 * excess_bytes", "when": "excess_bytes > 100"}],
  "numbers": ["need_bytes", "limit_bytes"], "identity": ["need_bytes"],
  "scenarios": [
    {"id": "big", "title": "big", "priority": 2, "when": "largest.size_bytes > 0.5 * limit_bytes", "about": "big",
     "why": [{"row": "size_bytes > 0.5 * limit_bytes", "text": "{shape} takes {size_bytes|size}"}, {"text": "never said: {free_bytes}"}],
     "remedies": [{"id": "free_lunch", "section": "1", "prior": 9}, {"id": "costly", "section": "1", "prior": 1}, {"id": "no_evidence", "section": "1", "prior": 0},
                  {"id": "too_little", "section": "1", "prior": 0}, {"id": "also_little", "section": "1", "prior": 0}, {"id": "impossible", "section": "1", "prior": 0}]},
    {"id": "sum", "title": "sum", "when": "largest.size_bytes <= 0.5 * limit_bytes", "about": "sum", "why": []},
    {"id": "never", "title": "never", "when": "need_bytes < 0", "about": "never", "why": []},
    {"id": "any", "title": "any", "priority": 1, "when": "largest.size_bytes > 0", "about": "any", "why": []}],
  "remedies": [{"id": "no_evidence", "section": "0", "prior": 1}, {"id": "look", "section": "0", "prior": 2}],
  "examples": [{"text": ["test failure of 2.00G in 1.00G"]}], "counterexamples": []}],
"remedies": [
  {"id": "free_lunch", "title": "free", "safety": "safe", "cost": 0, "inquiry": false, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "how": {"jax": ["Do it for {largest.shape}.", "never said: {free_bytes}"], "vllm": ["Do it in vLLM."]}, "links": [{"title": "t", "url": "https://example.org"}],
   "evidence": [{"at": "limit_bytes", "text": "evident"}], "saves": "excess_bytes + 1"},
  {"id": "costly", "title": "costly", "safety": "changes_training", "cost": 5, "inquiry": false, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "how": {"jax": ["x"]}, "links": [{"title": "t", "url": "https://example.org"}], "evidence": [{"text": "evident"}], "saves": "10 * excess_bytes"},
  {"id": "no_evidence", "title": "none", "safety": "safe", "cost": 0, "inquiry": false, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "how": {"jax": ["x"]}, "links": [{"title": "t", "url": "https://example.org"}]},
  {"id": "too_little", "title": "little", "safety": "safe", "cost": 0, "inquiry": false, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "how": {"jax": ["x"]}, "links": [{"title": "t", "url": "https://example.org"}], "evidence": [{"text": "evident"}], "saves": "0.6 * excess_bytes", "with": ["also_little"]},
  {"id": "also_little", "title": "little too", "safety": "safe", "cost": 1, "inquiry": false, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "how": {"jax": ["x"]}, "links": [{"title": "t", "url": "https://example.org"}], "evidence": [{"text": "evident"}], "saves": "0.5 * excess_bytes"},
  {"id": "impossible", "title": "impossible", "safety": "safe", "cost": 0, "inquiry": false, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "how": {"jax": ["x"]}, "links": [{"title": "t", "url": "https://example.org"}], "evidence": [{"text": "evident"}],
   "ruled_out": [{"when": "largest.dtype == 'bf16'", "text": "it is {largest.dtype} already"}]},
  {"id": "look", "title": "look", "safety": "safe", "cost": 0, "inquiry": true, "safe_why": "s", "gain": "g", "telltale": "t", "note": "n",
   "evidence": [{"text": "no list"}],
   "how": {"jax": ["x"]}, "links": [{"title": "t", "url": "https://example.org"}]}
]})";

const RuleSet& Rules() {
  static const RuleSet rules = RulesWith(kRules);
  return rules;
}

Failure MakeDiagnosis(double need, double limit, const std::string& shape = "", std::int64_t size = 0) {
  Failure failure;
  failure.rule = Rules().FindFailure("T1");
  REQUIRE(failure.rule != nullptr);
  if (need != 0) failure.facts.Set("need_bytes", need, {3, 30});
  if (limit != 0) failure.facts.Set("limit_bytes", limit, {4, 40});
  if (!shape.empty()) {
    Allocation row;
    row.rank = 1;
    row.size_bytes = size;
    row.shape_text = shape;
    row.array = ParseArrayShape(shape);
    row.place = {7, 70};
    failure.allocations.push_back(row);
  }
  return Conclude(Rules(), std::move(failure));
}

std::vector<std::string> Ids(const Failure& failure) {
  std::vector<std::string> ids;
  for (const RankedRemedy& ranked : failure.remedies) ids.push_back(ranked.remedy->id);
  return ids;
}

TEST_CASE("derived facts need known facts", "[diagnose]") {
  CHECK(MakeDiagnosis(300, 100).facts.Get("excess_bytes") == Value(200.0));
  CHECK(MakeDiagnosis(300, 100).facts.Get("twice_bytes") == Value(400.0));
  CHECK(MakeDiagnosis(150, 100).facts.Get("twice_bytes") == Value(Unknown{}));
  CHECK(MakeDiagnosis(150, 0).facts.Get("excess_bytes") == Value(Unknown{}));
}

TEST_CASE("the true scenario with the highest priority is chosen; if none is true, all that may be are candidates",
          "[diagnose]") {
  const Failure big = MakeDiagnosis(300, 100, "s8[30]{0}", 60);
  REQUIRE(big.scenario != nullptr);
  CHECK(big.scenario->id == "big");
  REQUIRE(big.why.size() == 1);
  CHECK(big.why[0].text == "s8[30] takes 60 B");
  CHECK(big.why[0].line == 7);
  CHECK(MakeDiagnosis(300, 100, "s8[30]{0}", 50).scenario->id == "any");
  const Failure unknown = MakeDiagnosis(300, 100);
  CHECK(unknown.scenario == nullptr);
  REQUIRE(unknown.candidates.size() == 3);  // the scenario "never" is false
  CHECK(unknown.candidates[0]->id == "big");
}

TEST_CASE("confidence depends on the known numbers", "[diagnose]") {
  CHECK(MakeDiagnosis(300, 100).confidence == Confidence::kHigh);
  CHECK(MakeDiagnosis(300, 0).confidence == Confidence::kMedium);
  CHECK(MakeDiagnosis(0, 0).confidence == Confidence::kLow);
}

TEST_CASE("remedies are ranked by evidence, then sufficiency, then cost; those without an estimate rank lower",
          "[diagnose]") {
  const Failure failure = MakeDiagnosis(300, 100, "s8[30]{0}", 60);
  CHECK(Ids(failure) ==
        std::vector<std::string>{"free_lunch", "costly", "impossible", "no_evidence", "also_little", "too_little"});
  const RankedRemedy& first = failure.remedies[0];
  CHECK(first.rank == 1);
  CHECK(first.saves_bytes == 201);
  CHECK(first.enough == true);
  REQUIRE(first.why.size() == 1);
  CHECK(first.why[0].line == 4);
  CHECK(first.how == std::vector<std::string>{"Do it for s8[30]."});
  CHECK(failure.remedies[1].enough == true);
  CHECK_FALSE(failure.remedies[2].enough);
  // Remedies that are not enough alone come after those without an estimate, and the free one last. They are not enough
  // together, because they do not name each other and no program was modified by both.
  CHECK(failure.remedies[4].enough == false);
  CHECK(failure.remedies[5].enough == false);
  CHECK(failure.remedies[5].free);
  CHECK(failure.remedies[4].enough_with.empty());
}

TEST_CASE("a remedy that cannot help is not offered, and the reason is kept", "[diagnose]") {
  const Failure failure = MakeDiagnosis(300, 100, "bf16[30]{0}", 60);
  CHECK(Ids(failure) == std::vector<std::string>{"free_lunch", "costly", "no_evidence", "also_little", "too_little"});
  REQUIRE(failure.ruled_out.size() == 1);
  CHECK(failure.ruled_out[0].remedy->id == "impossible");
  CHECK(failure.ruled_out[0].why == "it is bf16 already");
}

TEST_CASE("if the scenario is unknown, the remedy that finds it out comes first", "[diagnose]") {
  CHECK(Ids(MakeDiagnosis(300, 100)) == std::vector<std::string>{"look", "no_evidence"});
}

}  // namespace TEST_FILE
