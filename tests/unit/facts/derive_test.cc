// Deriving facts by formulas, in order.
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "facts/evidence.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

// The formulas of a context that states a program. They can use only facts.
const std::vector<DerivedFact>& Formulas() {
  static const RuleSet rules = RulesWith(R"json({"format": "whyoom.rules/1", "contexts": [
    {"id": "test", "program": true, "patterns": ["test statement of %{integer:a} and %{integer:b}"],
     "derived": [{"fact": "sum", "from": "a + b"},
                 {"fact": "need_bytes", "from": "sum * 10"},
                 {"fact": "large", "from": "sum", "when": "sum > 5"},
                 {"fact": "b", "from": "a"},
                 {"fact": "a", "from": "a + 100", "replace": true},
                 {"fact": "after", "from": "a"}],
     "examples": [{"text": "test statement of 1 and 2"}]}]})json");
  for (const Context& context : rules.contexts) {
    if (context.id == "test") return context.derived;
  }
  FAIL("no such context");
  return rules.contexts.front().derived;
}

Evidence Read(const std::vector<std::pair<std::string, double>>& facts) {
  Evidence read;
  for (const auto& [name, value] : facts) read.Set(name, value, {7, 0});
  return read;
}

std::string Follows(const Evidence& read) { return ShowWithLines(Derive(Formulas(), read)); }

TEST_CASE("a formula can use facts that were read and facts derived before it", "[facts]") {
  CHECK(Follows(Read({{"a", 1}, {"b", 2}})) == "a=101@0 after=101@0 need_bytes=30@0 sum=3@0");
  CHECK(Follows(Read({{"a", 4}, {"b", 2}})) == "a=104@0 after=104@0 large=6@0 need_bytes=60@0 sum=6@0");
}

TEST_CASE("a formula replaces a known fact only if replace is set, and derives nothing from unknown facts", "[facts]") {
  CHECK(Follows(Read({{"a", 1}, {"b", 2}, {"sum", 9}})) == "a=101@0 after=101@0 large=9@0 need_bytes=90@0");
  CHECK(Follows(Read({{"a", 1}})) == "a=101@0 after=101@0 b=1@0");
  CHECK(Follows(Read({{"b", 1}})).empty());
}

TEST_CASE("derived facts are added to those that were read", "[facts]") {
  Evidence facts = Read({{"a", 1}, {"b", 2}});
  const Evidence read = facts;
  facts.Add(Derive(Formulas(), read), /*replace=*/true);
  CHECK(ShowWithLines(facts) == "a=101@0 after=101@0 b=2@7 need_bytes=30@0 sum=3@0");
}

}  // namespace TEST_FILE
