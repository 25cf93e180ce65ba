#include "rules/expression.h"

#include <map>
#include <string>
#include <vector>

#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

using Row = std::map<std::string, Value, std::less<>>;

class TableScope : public Scope {
 public:
  TableScope() = default;
  TableScope(Row facts, std::vector<Row> rows) : facts_(std::move(facts)), rows_(std::move(rows)) {}

  Value Get(std::string_view name) const override { return Look(facts_, name); }
  std::size_t row_count() const override { return rows_.size(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return Look(rows_.at(row), name); }

 private:
  static Value Look(const Row& table, std::string_view name) {
    const auto found = table.find(name);
    return found != table.end() ? found->second : Value(Unknown{});
  }

  Row facts_;
  std::vector<Row> rows_;
};

TableScope Report() {
  return {Row{{"used", 30.0}, {"limit", 16.0}, {"yes", true}, {"no", false}, {"module", std::string("jit_step")}},
          {Row{{"size", 20.0}, {"dtype", std::string("f32")}, {"op", std::string("a/transpose(jvp())/b")}},
           Row{{"size", 8.0}, {"dtype", std::string("bf16")}},
           Row{{"size", 2.0}, {"dtype", std::string("f32")}, {"used", 1.0}}}};
}

std::string Show(const Value& value) {
  if (const std::optional<bool> truth = AsBool(value)) return *truth ? "true" : "false";
  if (const std::string* text = AsText(value)) return "'" + *text + "'";
  if (!IsKnown(value)) return "unknown";
  std::string number = std::to_string(*AsNumber(value));
  number.erase(number.find_last_not_of('0') + 1);
  if (number.back() == '.') number.pop_back();
  return number;
}

std::string Evaluate(const std::string& source, const Scope& scope) {
  std::vector<SyntaxFault> faults;
  const Expression expression = Expression::Compile(source, &faults);
  if (!faults.empty()) return "fault: " + faults[0].what;
  return Show(expression.Evaluate(scope));
}

std::string Faults(const std::string& source) {
  std::vector<SyntaxFault> faults;
  const Expression expression = Expression::Compile(source, &faults);
  std::string text;
  for (const SyntaxFault& fault : faults) {
    text += std::to_string(fault.at) + ": " + fault.what + (fault.hint.empty() ? "" : " (" + fault.hint + ")") + "\n";
  }
  if (!faults.empty()) CHECK_FALSE(IsKnown(expression.Evaluate(Report())));
  return text;
}

struct Case {
  const char* source;
  const char* result;
};

void CheckAll(const std::vector<Case>& cases, const Scope& scope) {
  for (const Case& c : cases) {
    INFO(c.source);
    CHECK(Evaluate(c.source, scope) == c.result);
  }
}

TEST_CASE("operators are applied by precedence", "[rules]") {
  CheckAll({{"1 + 2 * 3", "7"},
            {"(1 + 2) * 3", "9"},
            {"10 - 4 - 3", "3"},
            {"24 / 4 / 2", "3"},
            {"-2 * -3", "6"},
            {"--2", "2"},
            {"2 - -3", "5"},
            {"-used + 1", "-29"},
            {"1 + 1 == 2 and 2 < 3", "true"},
            {"not 1 == 2", "true"},
            {"not no and no", "false"},
            {"yes or yes and no", "true"},
            {"(yes or yes) and no", "false"},
            {"not not yes", "true"},
            {"notyes or android", "unknown"},  // names that begin with an operator
            {"2==2and yes", "fault: unknown unit 'and'"},
            {"1 / 0", "unknown"},
            {"1 / (used - 30)", "unknown"}},
           Report());
}

TEST_CASE("units of numbers are powers of 1024", "[rules]") {
  CheckAll({{"1B", "1"},
            {"64KiB", "65536"},
            {"16MiB", "16777216"},
            {"1.5GiB", "1610612736"},
            {"2TiB / 1GiB", "2048"},
            {"1PiB / 1TiB", "1024"},
            {"1EiB / 1PiB", "1024"},
            {"0.5", "0.5"},
            {"10B", "10"}},
           Report());
}

TEST_CASE("comparing or computing with mixed types is unknown", "[rules]") {
  CheckAll({{"used > limit", "true"},
            {"used >= 30", "true"},
            {"used <= 29.5", "false"},
            {"used != 30", "false"},
            {"module == 'jit_step'", "true"},
            {"module != 'it''s'", "true"},
            {"'it''s'", "'it's'"},
            {"yes == true", "true"},
            {"yes != false", "true"},
            {"module == 30", "unknown"},
            {"module < 'z'", "unknown"},
            {"yes < no", "unknown"},
            {"module + 1", "unknown"},
            {"not used", "unknown"},
            {"used and yes", "unknown"},
            {"-module", "unknown"}},
           Report());
}

TEST_CASE("expressions use Kleene logic", "[rules]") {
  CheckAll({{"no and missing", "false"},
            {"missing and no", "false"},
            {"yes and missing", "unknown"},
            {"missing and missing", "unknown"},
            {"yes or missing", "true"},
            {"missing or yes", "true"},
            {"no or missing", "unknown"},
            {"no or no", "false"},
            {"not missing", "unknown"},
            {"missing == missing", "unknown"},
            {"missing > 1", "unknown"},
            {"missing + 1", "unknown"},
            {"missing * 0", "unknown"},
            {"no and 1 / 0 == 1", "false"}},
           Report());
}

TEST_CASE("functions compute their results", "[rules]") {
  CheckAll({{"known(used)", "true"},
            {"known(missing)", "false"},
            {"known(1 / 0)", "false"},
            {"default(missing, 4)", "4"},
            {"default(used, 4)", "30"},
            {"default(missing, missing)", "unknown"},
            {"if(used > 1, 'a', 'b')", "'a'"},
            {"if(used < 1, missing, 2)", "2"},
            {"if(missing, 1, 1)", "unknown"},
            {"min(used, limit)", "16"},
            {"max(used, missing)", "unknown"},
            {"floor(2.7) + ceil(2.1) + round(2.5)", "8"},
            {"floor(-2.5)", "-3"},
            {"abs(2 - 5)", "3"},
            // A hundredth of the unit, or a tenth of a KiB; 0 if the figure has more digits than a rounded one.
            {"rounding(1.25GiB) == 0.01GiB", "true"},
            {"rounding(1.5KiB) == 0.1KiB", "true"},
            {"rounding(1073741825 + 4096) + rounding(1023)", "0"},
            {"within(2, 2, 3) + within(3, 2, 3)", "5"},
            {"within(1.9, 2, 3)", "unknown"},
            {"within(3.1, 2, 3)", "unknown"},
            {"within(2, 1, unknown)", "unknown"},
            {"matches(module, '^jit_\\w+$')", "true"},
            {"matches(module, 'step')", "true"},
            {"matches(used, '3')", "unknown"},
            {"contains(module, 'it_')", "true"},
            {"contains(module, '.*')", "false"},
            {"contains(missing, 'a')", "unknown"},
            {"older('0.4.9', '0.4.18')", "true"},
            {"older('0.4.18', '0.4.18')", "false"},
            {"older(module, '0.4')", "unknown"},
            {"older(missing, '0.4')", "unknown"}},
           Report());
}

TEST_CASE("functions over rows evaluate their condition in each row", "[rules]") {
  CheckAll({{"count_of(dtype == 'f32')", "2"},
            {"sum_of(size, dtype == 'f32')", "22"},
            {"sum_of(size, size > 100)", "0"},
            {"count_of(missing)", "0"},
            {"any_of(size == 8)", "true"},
            {"any_of(size == 9)", "false"},
            {"any_of(missing)", "false"},
            {"first_of(dtype, size < 10)", "'bf16'"},
            {"first_of(dtype, size < 1)", "unknown"},
            // Rows without the field do not count.
            {"count_of(contains(op, 'jvp'))", "1"},
            {"sum_of(size, not contains(op, 'jvp'))", "0"},
            {"first_of(op, true)", "'a/transpose(jvp())/b'"},
            // A row's field hides a fact of the same name; the fact is used if the row lacks the field.
            {"sum_of(used, true)", "61"},
            {"sum_of(size / limit, true) == 30 / 16", "true"},
            {"size", "unknown"}},
           Report());
}

TEST_CASE("functions over rows are unknown without rows", "[rules]") {
  const TableScope scope(Row{{"used", 1.0}}, {});
  CheckAll({{"count_of(true)", "unknown"},
            {"sum_of(1, true)", "unknown"},
            {"any_of(true)", "unknown"},
            {"first_of(1, true)", "unknown"},
            {"default(count_of(true), 0)", "0"}},
           scope);
}

TEST_CASE("an expression in a row prefers the row's fields", "[rules]") {
  std::vector<SyntaxFault> faults;
  const Expression expression = Expression::Compile("size + used", &faults);
  REQUIRE(faults.empty());
  CHECK(Show(expression.EvaluateInRow(Report(), 1)) == "38");
  CHECK(Show(expression.EvaluateInRow(Report(), 2)) == "3");
  CHECK(Show(expression.Evaluate(Report())) == "unknown");
}

TEST_CASE("numbers that overflow are unknown", "[rules]") {
  const std::string nines(300, '9');
  CheckAll({{(nines + " * " + nines).c_str(), "unknown"}}, Report());
  CHECK(Faults(std::string(400, '9')) == "0: the number is too large\n");
  CHECK(Faults("1" + std::string(300, '0') + "EiB") == "0: the number is too large\n");
}

TEST_CASE("expression faults have a location and a hint", "[rules]") {
  CHECK(Faults("") == "0: expected a number, a text, a name or '(', found the end\n");
  CHECK(Faults("used >") == "6: expected a number, a text, a name or '(', found the end\n");
  CHECK(Faults("used limit") == "5: expected an operator or the end, found 'limit'\n");
  CHECK(Faults("(used") == "5: expected ')', found the end\n");
  CHECK(Faults("used = 1") == "5: expected an operator or the end, found '=' (write '==')\n");
  CHECK(Faults("a && b") == "2: expected an operator or the end, found '&' (write 'and')\n");
  CHECK(Faults("a || b") == "2: expected an operator or the end, found '|' (write 'or')\n");
  CHECK(Faults("5 % 2") == "2: expected an operator or the end, found '%' (write a fraction such as 0.05)\n");
  CHECK(Faults("!a") == "0: expected a number, a text, a name or '(', found '!' (write 'not' or '!=')\n");
  CHECK(Faults("a == \"b\"") ==
        "5: expected a number, a text, a name or '(', found '\"' (write texts in single quotes)\n");
  CHECK(Faults("a == 'b") == "5: this text is not closed (close it with a single quote)\n");
  CHECK(Faults("a < b < c") == "6: comparisons cannot be chained (write a < b and b < c)\n");
  CHECK(Faults("a > 5GB") == "5: unknown unit 'GB' (units are B, KiB, MiB, GiB, TiB, PiB, EiB)\n");
  CHECK(Faults("\xC3\xA9") ==
        "0: expected a number, a text, a name or '(', found a character that expressions cannot contain\n");
  CHECK(Faults("min(1 2)") == "6: expected ',' or ')' after an argument of 'min', found '2'\n");
  CHECK(Faults("min(1, 2, 3)") == "0: 'min' takes 2 arguments, not 3\n");
  CHECK(Faults("known()") == "0: 'known' takes 1 argument, not 0\n");
  CHECK(Faults("1 + summ_of(a, b)") == "4: unknown function 'summ_of' (did you mean 'sum_of'?)\n");
  CHECK(Faults("matches(a, b)") ==
        "11: the second argument of 'matches' must be a text (write matches(name, 'RE2'))\n");
  CHECK(Faults("matches(a, '(b')") == "11: RE2 rejects the pattern of 'matches': missing ): (b\n");
  CHECK(Faults("sum_of(count_of(a), b)") ==
        "7: 'count_of' cannot be used inside another function over the rows (compute it as a derived fact first)\n");
}

TEST_CASE("all semantic faults of an expression are reported at once", "[rules]") {
  CHECK(Faults("foor(1) + known() + cell(2)") ==
        "0: unknown function 'foor' (did you mean 'floor'?)\n"
        "10: 'known' takes 1 argument, not 0\n"
        "20: unknown function 'cell' (did you mean 'ceil'?)\n");
}

TEST_CASE("an expression of a row alone is known as such", "[rules]") {
  const auto of_row = [](const char* source) {
    std::vector<SyntaxFault> faults;
    return Expression::Compile(source, &faults).parsed().of_row;
  };
  CHECK(of_row("size_bytes > 5 and default(kind, '') == 'parameter'"));
  CHECK_FALSE(of_row("size_bytes > limit_bytes"));
  CHECK_FALSE(of_row("any_of(size_bytes > 5)"));
  CHECK_FALSE(of_row("true"));
}

TEST_CASE("an expression lists its names with their positions", "[rules]") {
  std::vector<SyntaxFault> faults;
  const Expression expression = Expression::Compile("largest.size > 0.5 * limit and any_of(size > limit)", &faults);
  REQUIRE(faults.empty());
  std::string uses;
  for (const NameUse& use : expression.parsed().names) uses += use.name + "@" + std::to_string(use.at) + " ";
  CHECK(uses == "largest.size@0 limit@21 size@38 limit@45 ");
  CHECK(expression.source() == "largest.size > 0.5 * limit and any_of(size > limit)");
}

TEST_CASE("the nesting and length of expressions are limited", "[rules]") {
  const auto nested = [](int depth) { return std::string(depth, '(') + "1" + std::string(depth, ')'); };
  CHECK(Evaluate(nested(100), Report()) == "1");
  CHECK(Faults(nested(200)) == "101: nested more than 100 levels deep\n");
  CHECK(Faults(std::string(5000, '-') + "1") == "100: nested more than 100 levels deep\n");
  std::string nots;
  std::string calls;
  for (int i = 0; i < 5000; ++i) {
    nots += "not ";
    calls += "known(";
  }
  CHECK(Faults(nots + "yes") == "400: nested more than 100 levels deep\n");
  CHECK(Faults(calls) == "605: nested more than 100 levels deep\n");
  CHECK(Faults(std::string(100'000, '1')) == "0: the expression is longer than 65536 bytes\n");
  // A long chain is not a deep tree.
  std::string chain = "1";
  for (int i = 0; i < 15'000; ++i) chain += "+1";
  CHECK(Evaluate(chain, Report()) == "15001");
}

}  // namespace TEST_FILE
}  // namespace whyoom
