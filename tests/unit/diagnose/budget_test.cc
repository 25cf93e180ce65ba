// The budget from hand-written estimates.
#include "diagnose/budget.h"

#include <list>
#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Remedies in the order of rank, with 40 GiB needed of 16.
class Case {
 public:
  Case& Add(const std::string& id, int cost, std::optional<double> saves_gib, std::vector<std::string> with = {}) {
    Remedy& remedy = remedies_.emplace_back();
    remedy.id = id;
    remedy.cost = cost;
    remedy.with = std::move(with);
    RankedRemedy ranked;
    ranked.rank = static_cast<int>(remedies_.size());
    ranked.remedy = &remedy;
    if (saves_gib) ranked.saves_bytes = static_cast<std::int64_t>(*saves_gib * static_cast<double>(kGiB));
    finding_.remedies.push_back(ranked);
    return *this;
  }
  // "covered: a 10 b 5", in GiB.
  std::string Sum(double need_gib = 40, double limit_gib = 16) {
    finding_.facts.Set("need_bytes", need_gib * kGiB, {});
    finding_.facts.Set("limit_bytes", limit_gib * kGiB, {});
    finding_.facts.Set("excess_bytes", (need_gib - limit_gib) * kGiB, {});
    const std::optional<Budget> budget = MakeBudget(finding_, 0.01);
    if (!budget) return "none";
    CHECK(budget->excess_bytes == static_cast<std::int64_t>((need_gib - limit_gib) * kGiB));
    std::string text = budget->covered ? "covered:" : "short:";
    for (const BudgetStep& step : budget->steps)
      text += " " + step.remedy->id + " " + std::to_string((step.saves_bytes + kGiB / 2) / kGiB);
    return text;
  }
  // What the program needs where both were made on it.
  Case& Together(const std::string& one, const std::string& other, double left_gib) {
    for (Remedy& remedy : remedies_) remedy.change = remedy.id;
    if (!finding_.prospects) finding_.prospects.emplace();
    finding_.prospects->pairs.push_back({one, other, static_cast<std::int64_t>(left_gib * static_cast<double>(kGiB))});
    return *this;
  }
  Diagnosis& finding() { return finding_; }

 private:
  std::list<Remedy> remedies_;
  Diagnosis finding_;
};

TEST_CASE("one remedy that is enough, the least dear", "[diagnose]") {
  CHECK(Case().Add("dear", 4, 30).Add("cheap", 1, 25).Add("little", 0, 5).Sum() == "covered: cheap 25");
  CHECK(Case().Add("first", 1, 30).Add("second", 1, 35).Sum() == "covered: first 30");
}

TEST_CASE("only remedies that name each other are added", "[diagnose]") {
  CHECK(Case().Add("a", 0, 20, {"b"}).Add("b", 0, 20, {"a"}).Sum() == "covered: a 20 b 10");
  CHECK(Case().Add("a", 0, 20, {"b"}).Add("b", 0, 20).Sum() == "short: a 20");
  CHECK(Case().Add("a", 0, 20).Add("b", 0, 20).Sum() == "short: a 20");
  // Three of which two do not name each other.
  CHECK(Case().Add("a", 0, 12, {"b", "c"}).Add("b", 0, 12, {"a"}).Add("c", 0, 12, {"a"}).Sum() == "short: a 12 b 8");
  CHECK(Case().Add("a", 0, 12, {"b", "c"}).Add("b", 0, 12, {"a", "c"}).Add("c", 0, 12, {"a", "b"}).Sum() ==
        "covered: a 12 b 8 c 6");
}

TEST_CASE("one name is enough where the program was changed by both", "[diagnose]") {
  CHECK(Case().Add("a", 0, 20, {"b"}).Add("b", 0, 20).Together("a", "b", 15).Sum() == "covered: a 20 b 5");
  CHECK(Case().Add("a", 0, 20).Add("b", 0, 20).Together("a", "b", 15).Sum() == "short: a 20");
}

TEST_CASE("a step saves only of what the steps before leave", "[diagnose]") {
  // Added up plainly the two would be enough: 25 of 24. But halving what is left saves half of what is left.
  CHECK(Case().Add("half", 0, 20, {"fifth"}).Add("fifth", 0, 5, {"half"}).Sum() == "short: half 20 fifth 3");
}

TEST_CASE("what two leave together is taken from the program that was changed by both", "[diagnose]") {
  const std::vector<std::string> all = {"a", "b", "c"};
  CHECK(Case().Add("a", 0, 20, all).Add("b", 0, 20, all).Together("a", "b", 12).Sum() == "covered: a 20 b 8");
  CHECK(Case().Add("a", 0, 20, all).Add("b", 0, 20, all).Together("a", "b", 17).Sum() == "short: a 20 b 3");
  // The third of what those leave: a fifth of 18.
  CHECK(Case().Add("a", 0, 20, all).Add("b", 0, 20, all).Add("c", 0, 8, all).Together("a", "b", 18).Sum(40, 10) ==
        "short: a 20 b 2 c 4");
}

TEST_CASE("cheap ones together come before a dear one alone, and no step is idle", "[diagnose]") {
  const std::vector<std::string> both = {"a", "b", "dear"};
  CHECK(Case().Add("dear", 4, 39, both).Add("a", 0, 20, both).Add("b", 2, 20, both).Sum() == "covered: a 20 b 10");
  CHECK(Case().Add("a", 1, 25, both).Add("b", 0, 20, both).Sum() == "covered: a 25");
}

TEST_CASE("where nothing covers it, what saves most is told", "[diagnose]") {
  CHECK(Case().Add("a", 0, 5).Add("b", 3, 9).Sum() == "short: b 9");
  CHECK(Case().Add("a", 0, std::nullopt).Add("b", 3, 0).Sum() == "short:");
  CHECK(Case().Sum() == "short:");
}

TEST_CASE("without an excess there is no budget, and what finds out more saves nothing", "[diagnose]") {
  CHECK(Case().Add("a", 0, 5).Sum(10, 16) == "none");
  CHECK_FALSE(MakeBudget(Case().Add("a", 0, 5).finding(), 0.01));
  Case inquiry;
  inquiry.Add("look", 0, 30);
  Remedy remedy = *inquiry.finding().remedies[0].remedy;
  remedy.inquiry = true;
  inquiry.finding().remedies[0].remedy = &remedy;
  CHECK(inquiry.Sum() == "short:");
}

}  // namespace TEST_FILE
