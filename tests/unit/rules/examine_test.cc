#include "rules/examine.h"

#include <map>
#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

class TableScope : public Scope {
 public:
  Value Get(std::string_view name) const override { return Look(facts, name); }
  std::size_t row_count() const override { return rows.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return Look(rows.at(row), name); }

  using Row = std::map<std::string, Value, std::less<>>;
  Row facts;
  std::vector<Row> rows;

 private:
  static Value Look(const Row& table, std::string_view name) {
    const auto found = table.find(name);
    return found == table.end() ? Value(Unknown{}) : found->second;
  }
};

TableScope Report() {
  TableScope scope;
  scope.facts = {{"used", 30.0}, {"limit", 16.0}, {"module", std::string("f")}};
  scope.rows = {{{"size", 20.0}, {"dtype", std::string("f32")}}, {{"size", 8.0}}, {{"size", 2.0}}};
  return scope;
}

Expression Compiled(const std::string& source, const Terms& terms = {}) {
  std::vector<SyntaxFault> faults;
  const Expression expression = Expression::Compile(source, &faults, terms);
  REQUIRE(faults.empty());
  return expression;
}

// A part a line: "source = value [with values]", indented by its depth; then "? names that are unknown".
std::string Shown(const Examination& examination) {
  std::string text;
  for (const ExaminedPart& part : examination.parts) {
    text += std::string(static_cast<std::size_t>(part.depth), ' ');
    if (part.row > 0) text += "row " + std::to_string(part.row) + ": ";
    text += part.source + " = " + ValueText(part.value);
    if (!part.with_values.empty()) text += " [" + part.with_values + "]";
    if (part.rows)
      text += " {" + std::to_string(part.rows->met) + "," + std::to_string(part.rows->failed) + "," +
              std::to_string(part.rows->unknown) + "}";
    text += "\n";
  }
  for (const std::string& name : examination.UnknownNames()) text += "? " + name + "\n";
  return text;
}

TEST_CASE("an examined expression shows each part with the values that it saw", "[rules]") {
  const TableScope scope = Report();
  CHECK(Shown(Examine(Compiled("used > 0.5 * limit"), scope)) == "used > 0.5 * limit = true [30 > 8]\n");
  CHECK(Shown(Examine(Compiled("used > limit and not (free > 3 or module == 'g')"), scope)) ==
        "used > limit and not (free > 3 or module == 'g') = unknown\n"
        " used > limit = true [30 > 16]\n"
        " not (free > 3 or module == 'g') = unknown\n"
        "  free > 3 or module == 'g' = unknown\n"
        "   free > 3 = unknown [unknown > 3]\n"
        "   module == 'g' = false ['f' == 'g']\n"
        "? free\n");
  CHECK(Shown(Examine(Compiled("(used - limit) * 2"), scope)) == "(used - limit) * 2 = 28 [(30 - 16) * 2]\n");
  CHECK(Shown(Examine(Compiled("known(free)"), scope)) == "known(free) = false [known(unknown)]\n? free\n");
}

TEST_CASE("what a term stands for is shown below it", "[rules]") {
  const Terms terms = {{"is_over", Compiled("used > limit")}, {"half", Compiled("limit / 2")}};
  CHECK(Shown(Examine(Compiled("is_over and half < 9", terms), Report())) ==
        "is_over and half < 9 = true\n"
        " is_over = true\n"
        "  used > limit = true [30 > 16]\n"
        " half < 9 = true [8 < 9]\n"
        "  half = 8\n"
        "   limit / 2 = 8 [16 / 2]\n");
}

TEST_CASE("of a function over the rows it is told how many meet the condition, and one is shown", "[rules]") {
  CHECK(Shown(Examine(Compiled("sum_of(size, size < 10) > limit"), Report())) ==
        "sum_of(size, size < 10) > limit = false [10 > 16]\n"
        " sum_of(size, size < 10) = 10 {2,1,0}\n"
        "  row 2: size < 10 = true [8 < 10]\n");
  CHECK(Shown(Examine(Compiled("any_of(dtype == 'bf16')"), Report())) ==
        "any_of(dtype == 'bf16') = false {0,1,2}\n"
        " row 1: dtype == 'bf16' = false ['f32' == 'bf16']\n");
  CHECK(Shown(ExamineRows(Compiled("size < limit"), Report())) ==
        "size < limit = true {2,1,0}\n row 2: size < limit = true [8 < 16]\n");
  CHECK(Shown(ExamineRows(Compiled("size < limit"), TableScope())) ==
        "size < limit = unknown {0,0,0}\n? size\n? limit\n");
}

TEST_CASE("an examination comes to what the expression comes to", "[rules]") {
  const TableScope scope = Report();
  for (const char* source :
       {"used", "free", "-used + 3 * limit / 4 - (2 - 1)", "if(used > 3, 'a', 'b')", "default(free, min(used, limit))",
        "matches(module, '^f')", "unknown or true", "first_of(size, size < 10) == 8", "not free", "1 / 0"}) {
    INFO(source);
    const Expression expression = Compiled(source);
    const Examination examination = Examine(expression, scope);
    CHECK(examination.value == expression.Evaluate(scope));
    REQUIRE_FALSE(examination.parts.empty());
    CHECK(Compiled(examination.parts[0].source).Evaluate(scope) == examination.value);
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
