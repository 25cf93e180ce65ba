#include <map>
#include <string>
#include <vector>

#include "catch.h"
#include "rules/expression.h"

namespace whyoom {
namespace TEST_FILE {

class FactScope : public Scope {
 public:
  Value Get(std::string_view name) const override {
    if (name == "size") return 24578350203.0;
    if (name == "share") return 0.729;
    if (name == "factor") return 32.0;
    if (name == "module") return std::string("jit_step");
    if (name == "long") return "begin" + std::string(100, 'x') + "end";
    if (name == "wide") {
      std::string text;
      for (int i = 0; i < 61; ++i) text += "é";
      return text;
    }
    if (name == "yes") return true;
    return Unknown{};
  }
  std::size_t row_count() const override { return 2; }
  Value GetInRow(std::size_t row, std::string_view name) const override {
    return name == "rank" ? Value(static_cast<double>(row + 1)) : Value(Unknown{});
  }
};

std::string Fill(const std::string& source) {
  std::vector<SyntaxFault> faults;
  const Template text = Template::Compile(source, &faults);
  std::string shown;
  for (const SyntaxFault& fault : faults) {
    shown += std::to_string(fault.at) + ": " + fault.what + (fault.hint.empty() ? "" : " (" + fault.hint + ")") + "\n";
  }
  return faults.empty() ? text.Fill(FactScope()).value_or("(not said)") : shown;
}

TEST_CASE("templates combine text, braces and values", "[rules]") {
  CHECK(Fill("") == "");
  CHECK(Fill("plain, don't touch") == "plain, don't touch");
  CHECK(Fill("f32[4]{{1,0}} of {module}.") == "f32[4]{1,0} of jit_step.");
  CHECK(Fill("{module}{module}") == "jit_stepjit_step");
  CHECK(Fill("{'a|b}'|text}") == "a|b}");
  CHECK(Fill("{ if(yes, 'it''s', 'no') | text }") == "it's");
}

TEST_CASE("formats print values", "[rules]") {
  CHECK(Fill("{size|size}") == "22.89 GiB");
  CHECK(Fill("{64KiB|size}") == "64.0 KiB");
  CHECK(Fill("{-512|size}") == "-512 B");
  CHECK(Fill("{share|percent}") == "73 %");
  CHECK(Fill("{1|percent} {2.5|percent} {0.004|percent} {0|percent}") == "100 % 250 % 0.4 % 0 %");
  CHECK(Fill("{factor|times} {2.5|times} {2.04|times} {9.97|times} {31.6|times}") == "32 × 2.5 × 2 × 10 × 32 ×");
  CHECK(Fill("{1234567|number} {2.50|number} {-0.126|number} {0.001|number}") == "1234567 2.5 -0.13 0.001");
  CHECK(Fill("{share} {size} {yes} {module|text}") == "0.73 24578350203 true jit_step");
  CHECK(Fill("{module|short}") == "jit_step");
  CHECK(Fill("{long|short}") == "begin" + std::string(25, 'x') + "…" + std::string(26, 'x') + "end");
  std::string wide;
  for (int i = 0; i < 60; ++i) wide += i == 30 ? "…" : "é";
  CHECK(Fill("{wide|short}") == wide);
}

TEST_CASE("a template with an unknown value is not filled", "[rules]") {
  CHECK(Fill("takes {missing|size}") == "(not said)");
  CHECK(Fill("{module} takes {1 / 0}") == "(not said)");
  CHECK(Fill("{module|size}") == "(not said)");
  CHECK(Fill("{yes|percent}") == "(not said)");
}

TEST_CASE("a template in a row uses the row's fields", "[rules]") {
  std::vector<SyntaxFault> faults;
  const Template text = Template::Compile("number {rank} of {module}", &faults);
  REQUIRE(faults.empty());
  CHECK(text.FillInRow(FactScope(), 1) == "number 2 of jit_step");
  CHECK(text.Fill(FactScope()) == std::nullopt);
  const std::vector<NameUse> uses = NamesIn(text);
  REQUIRE(uses.size() == 2);
  CHECK((uses[0].name == "rank" && uses[1].name == "module" && uses[1].at == 18));
}

TEST_CASE("template faults have a location", "[rules]") {
  CHECK(Fill("a {size") == "2: '{' without '}' (write '{{' and '}}' for literal braces)\n");
  CHECK(Fill("a } b") == "2: '}' without '{' (write '{{' and '}}' for literal braces)\n");
  CHECK(Fill("a {b {size}}") == "2: '{' without '}' (write '{{' and '}}' for literal braces)\n");
  CHECK(Fill("a {}") == "3: expected a number, a text, a name or '(', found the end\n");
  CHECK(Fill("a {size + }") == "10: expected a number, a text, a name or '(', found the end\n");
  CHECK(Fill("{size|sise}") == "6: unknown format 'sise' (did you mean 'size'?)\n");
  CHECK(Fill("{size|gigabytes}") ==
        "6: unknown format 'gigabytes' (formats are size, percent, times, number, text, short)\n");
  CHECK(Fill("{knwon(size)} {size| siz } {a &&}") ==
        "1: unknown function 'knwon' (did you mean 'known'?)\n"
        "21: unknown format 'siz' (did you mean 'size'?)\n"
        "30: expected an operator or the end, found '&' (write 'and')\n");
}

}  // namespace TEST_FILE
}  // namespace whyoom
