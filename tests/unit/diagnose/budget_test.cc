// Budgets from hand-written estimates.
#include "diagnose/budget.h"

#include <list>
#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// Remedies in order of rank; by default 40 GiB are needed and 16 available.
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
  // Returns "covered: a 10 b 5", in GiB.
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
  // Sets the need of the program modified by both remedies.
  Case& Together(const std::string& one, const std::string& other, double left_gib) {
    for (Remedy& remedy : remedies_) remedy.change = remedy.id;
    if (!finding_.estimates) finding_.estimates.emplace();
    finding_.estimates->pairs.push_back({one, other, static_cast<std::int64_t>(left_gib * static_cast<double>(kGiB))});
    return *this;
  }
  Diagnosis& finding() { return finding_; }

 private:
  std::list<Remedy> remedies_;
  Diagnosis finding_;
};

TEST_CASE("the cheapest single remedy that is enough is chosen", "[diagnose]") {
  CHECK(Case().Add("dear", 4, 30).Add("cheap", 1, 25).Add("little", 0, 5).Sum() == "covered: cheap 25");
  CHECK(Case().Add("first", 1, 30).Add("second", 1, 35).Sum() == "covered: first 30");
}

TEST_CASE("savings are added only if all remedies name each other", "[diagnose]") {
  CHECK(Case().Add("a", 0, 20, {"b"}).Add("b", 0, 20, {"a"}).Sum() == "covered: a 20 b 10");
  CHECK(Case().Add("a", 0, 20, {"b"}).Add("b", 0, 20).Sum() == "short: a 20");
  CHECK(Case().Add("a", 0, 20).Add("b", 0, 20).Sum() == "short: a 20");
  // Three remedies, two of which do not name each other.
  CHECK(Case().Add("a", 0, 12, {"b", "c"}).Add("b", 0, 12, {"a"}).Add("c", 0, 12, {"a"}).Sum() == "short: a 12 b 8");
  CHECK(Case().Add("a", 0, 12, {"b", "c"}).Add("b", 0, 12, {"a", "c"}).Add("c", 0, 12, {"a", "b"}).Sum() ==
        "covered: a 12 b 8 c 6");
}

TEST_CASE("if the program was modified by two remedies, it is enough that one names the other", "[diagnose]") {
  CHECK(Case().Add("a", 0, 20, {"b"}).Add("b", 0, 20).Together("a", "b", 15).Sum() == "covered: a 20 b 5");
  CHECK(Case().Add("a", 0, 20).Add("b", 0, 20).Together("a", "b", 15).Sum() == "short: a 20");
}

TEST_CASE("a step saves only a share of what the previous steps leave", "[diagnose]") {
  // Their sum, 25 GiB, would cover the excess of 24. But the second saves a fifth of only half the need.
  CHECK(Case().Add("half", 0, 20, {"fifth"}).Add("fifth", 0, 5, {"half"}).Sum() == "short: half 20 fifth 3");
}

TEST_CASE("the estimate of a pair comes from the program modified by both", "[diagnose]") {
  const std::vector<std::string> all = {"a", "b", "c"};
  CHECK(Case().Add("a", 0, 20, all).Add("b", 0, 20, all).Together("a", "b", 12).Sum() == "covered: a 20 b 8");
  CHECK(Case().Add("a", 0, 20, all).Add("b", 0, 20, all).Together("a", "b", 17).Sum() == "short: a 20 b 3");
  // The third saves a fifth of the remaining 18.
  CHECK(Case().Add("a", 0, 20, all).Add("b", 0, 20, all).Add("c", 0, 8, all).Together("a", "b", 18).Sum(40, 10) ==
        "short: a 20 b 2 c 4");
}

TEST_CASE("cheap remedies together come before an expensive one alone, and no step is unnecessary", "[diagnose]") {
  const std::vector<std::string> both = {"a", "b", "dear"};
  CHECK(Case().Add("dear", 4, 39, both).Add("a", 0, 20, both).Add("b", 2, 20, both).Sum() == "covered: a 20 b 10");
  CHECK(Case().Add("a", 1, 25, both).Add("b", 0, 20, both).Sum() == "covered: a 25");
}

TEST_CASE("if nothing covers the excess, the budget saves as much as possible", "[diagnose]") {
  CHECK(Case().Add("a", 0, 5).Add("b", 3, 9).Sum() == "short: b 9");
  CHECK(Case().Add("a", 0, std::nullopt).Add("b", 3, 0).Sum() == "short:");
  CHECK(Case().Sum() == "short:");
}

TEST_CASE("without an excess there is no budget, and inquiries save nothing", "[diagnose]") {
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
