// Any text as an expression and as a template of the rule data: it compiles, or faults are reported.
#include "fuzz/fuzz.h"
#include "rules/expression.h"

using namespace whyoom;

namespace {

struct ThreeRows : Scope {
  Value Get(std::string_view name) const override {
    if (name == "n") return 3.0;
    if (name == "t") return std::string("text");
    if (name == "b") return true;
    return Unknown{};
  }
  std::size_t row_count() const override { return 3; }
  Value GetInRow(std::size_t row, std::string_view name) const override {
    return name == "r" ? Value(static_cast<double>(row)) : Get(name);
  }
};

// Returns true if there are no faults.
bool Check(const std::vector<SyntaxFault>& faults, std::size_t size) {
  for (const SyntaxFault& fault : faults) {
    Require(fault.at <= size, "a fault is in the source");
    Require(!fault.what.empty(), "a fault has a message");
  }
  return faults.empty();
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view source = Bytes(data, size);
  const ThreeRows scope;
  std::vector<SyntaxFault> faults;
  const Expression expression = Expression::Compile(source, &faults);
  const Value value = expression.Evaluate(scope);
  expression.EvaluateInRow(scope, 1);
  if (!Check(faults, size)) Require(!IsKnown(value), "an expression with faults is unknown");
  for (const NameUse& use : expression.parsed().names) Require(use.at < size, "a name is in the source");

  faults.clear();
  const Template text = Template::Compile(source, &faults);
  Check(faults, size);
  text.Fill(scope);
  text.FillInRow(scope, 1);
  for (const NameUse& use : NamesIn(text)) Require(use.at < size, "a name is in the source");
  return 0;
}
