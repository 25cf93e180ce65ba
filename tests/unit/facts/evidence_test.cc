// Facts from a log.
#include "facts/evidence.h"

#include <string>
#include <vector>

#include "catch.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

Evidence Facts(const std::vector<std::pair<std::string, Value>>& facts) {
  Evidence evidence;
  for (const auto& [name, value] : facts) evidence.Set(name, value, {});
  return evidence;
}

TEST_CASE("the first value of a fact is kept unless it is replaced", "[facts]") {
  Evidence facts;
  facts.Set("a", 1.0, {1, 10});
  facts.Set("a", 2.0, {2, 20});
  CHECK(ShowWithLines(facts) == "a=1@1");
  facts.Set("a", 3.0, {3, 30}, true);
  CHECK(ShowWithLines(facts) == "a=3@3");
  CHECK(facts.Find("a")->place.offset == 30);
  facts.Set("a", Unknown{}, {4, 40}, true);
  facts.Set("b", Unknown{}, {4, 40});
  CHECK(ShowWithLines(facts) == "a=3@3");
}

TEST_CASE("facts are found by name and type", "[facts]") {
  const Evidence facts = Facts({{"number", 1.5}, {"text", "x"}, {"truth", true}});
  CHECK(Show(facts) == "number=1.5 text='x' truth=true");
  CHECK(facts.Find("other") == nullptr);
  CHECK(Show(facts.Get("truth")) == "true");
  CHECK(Show(facts.Get("other")) == "unknown");
  CHECK(facts.Number("number") == 1.5);
  CHECK_FALSE(facts.Number("text"));
  CHECK_FALSE(facts.Number("other"));
  CHECK(facts.Text("text") == "x");
  CHECK(facts.Text("number").empty());
  CHECK(facts.Text("other").empty());
}

TEST_CASE("Add keeps known facts", "[facts]") {
  Evidence facts = Facts({{"a", 1.0}, {"b", 2.0}});
  facts.Add(Facts({{"b", 3.0}, {"c", 4.0}}));
  CHECK(Show(facts) == "a=1 b=2 c=4");
}

TEST_CASE("two sets of facts contradict each other if a named fact differs", "[facts]") {
  const Evidence facts = Facts({{"a", 1.0}, {"b", 2.0}});
  CHECK(Contradict(facts, Facts({{"a", 1.0}, {"b", 9.0}}), {"a", "b"}));
  CHECK_FALSE(Contradict(facts, Facts({{"a", 1.0}, {"b", 9.0}}), {"a"}));
  CHECK_FALSE(Contradict(facts, Facts({{"c", 9.0}}), {"a", "b", "c"}));
  CHECK(Contradict(facts, Facts({{"a", "1"}}), {"a"}));
  CHECK_FALSE(Contradict(facts, facts, {"a", "b"}));
}

TEST_CASE("a report counts only temporaries if they exceed the limit and all else is 0", "[facts]") {
  const auto counts = [](double temporaries, double limit, double arguments, double output) {
    return CountsTemporariesOnly(Facts({{"hlo_temp_bytes", temporaries},
                                        {"limit_bytes", limit},
                                        {"arguments_bytes", arguments},
                                        {"output_bytes", output}}));
  };
  CHECK(counts(6, 5, 0, 0));
  CHECK_FALSE(counts(5, 5, 0, 0));
  CHECK_FALSE(counts(6, 5, 1, 0));
  CHECK_FALSE(counts(6, 5, 0, 1));
  CHECK_FALSE(CountsTemporariesOnly(Facts({{"hlo_temp_bytes", 6.0}, {"limit_bytes", 5.0}})));
  CHECK_FALSE(CountsTemporariesOnly(Facts({{"hlo_temp_bytes", 6.0}, {"arguments_bytes", 0.0}, {"output_bytes", 0.0}})));
  CHECK_FALSE(CountsTemporariesOnly(Facts({{"limit_bytes", 5.0}, {"arguments_bytes", 0.0}, {"output_bytes", 0.0}})));
}

}  // namespace TEST_FILE
