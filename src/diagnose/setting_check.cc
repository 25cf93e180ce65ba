#include "diagnose/setting_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string_view>

#include "rules/expression_node.h"

namespace whyoom {
namespace {

using internal::ExpressionNode;
using internal::Function;
using internal::NodeKind;

// Inputs: none, the least, shares, small numbers, and more than any job has.
constexpr double kExtremes[] = {0, 0.05, 0.5, 0.93, 0.95, 1, 2, 3, 4, 1e12};
// The other inputs meanwhile; unknown, too. The large one is prime, so that no quotient equals an input by chance.
constexpr double kOthers[] = {3, 7919};

// Whether the value of the expression is a number that is computed, not one that the log states.
bool Computes(const ExpressionNode& node) {
  const auto any_from = [&](std::size_t first) {
    return std::any_of(node.operands.begin() + static_cast<std::ptrdiff_t>(first), node.operands.end(),
                       [](const auto& operand) { return Computes(*operand); });
  };
  switch (node.kind) {
    case NodeKind::kSum:
    case NodeKind::kProduct:
    case NodeKind::kNegate:
      return true;
    case NodeKind::kTerm:
      return node.term && node.term->tree() != nullptr && Computes(*node.term->tree());
    case NodeKind::kCall:
      if (node.function == Function::kIf) return any_from(1);
      if (node.function == Function::kDefault) return any_from(0);
      return node.function >= Function::kMin && node.function <= Function::kWithin;
    default:
      return false;
  }
}

std::set<std::string> NamesOf(const Expression& expression) {
  std::set<std::string> names;
  for (const NameUse& use : expression.name_uses()) {
    if (!use.in_rows) names.insert(use.name);
  }
  return names;
}

// One name has a value, the others all another one, or none.
class ExtremeScope : public Scope {
 public:
  ExtremeScope(std::string name, double value, std::optional<double> others)
      : name_(std::move(name)), value_(value), others_(others) {}

  Value Get(std::string_view name) const override {
    if (name == name_) return value_;
    return others_ ? Value(*others_) : Value(Unknown{});
  }

 private:
  std::string name_;
  double value_;
  std::optional<double> others_;
};

// What is wrong with a hole, where `name` has this value; empty if nothing is. `is_shown`: the step shows the value.
std::string Fault(const Expression& hole, const std::string& name, double value, bool is_shown) {
  bool always_same = is_shown;
  bool any = false;
  for (const std::optional<double> others :
       {std::optional<double>(), std::optional(kOthers[0]), std::optional(kOthers[1])}) {
    const std::optional<double> proposed = AsNumber(hole.Evaluate(ExtremeScope(name, value, others)));
    if (!proposed) continue;
    any = true;
    if (!(*proposed > 0)) return fmt::format("proposes {:g} if {} is {:g}", *proposed, name, value);
    always_same = always_same && *proposed == value;
  }
  return any && always_same ? fmt::format("proposes the value in use if {} is {:g}", name, value) : "";
}

std::string Fault(const Expression& hole, const std::set<std::string>& shown) {
  for (const std::string& name : NamesOf(hole)) {
    for (const double value : kExtremes) {
      if (std::string fault = Fault(hole, name, value, shown.contains(name)); !fault.empty()) return fault;
    }
  }
  return "";
}

void CheckStep(const std::string& of, const Template& step, std::vector<std::string>* faults) {
  std::vector<Expression> computed;
  std::set<std::string> shown;
  for (const auto& [value, before] : step.holes()) {
    if (before.ends_with("try ") || (value.tree() != nullptr && Computes(*value.tree()))) {
      computed.push_back(value);
    } else {
      shown.merge(NamesOf(value));
    }
  }
  for (const Expression& hole : computed) {
    const std::string fault = Fault(hole, shown);
    if (!fault.empty()) faults->push_back(fmt::format("{}: {{{}}} {}", of, hole.source(), fault));
  }
}

}  // namespace

std::vector<std::string> BadSettings(const RuleSet& rules) {
  std::vector<std::string> faults;
  for (const auto& [id, remedy] : rules.remedies()) {
    for (const auto& [framework, steps] : remedy.how) {
      const std::string of = "remedies/" + id + (framework.empty() ? "" : "/how/" + framework);
      for (const Template& step : steps) CheckStep(of, step, &faults);
    }
  }
  return faults;
}

}  // namespace whyoom
