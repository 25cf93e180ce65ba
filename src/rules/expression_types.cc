// Static types of expressions, and comparisons and computations that can never yield a value.
#include <string>
#include <utility>

#include "rules/expression.h"
#include "rules/expression_node.h"

namespace whyoom {
namespace internal {
namespace {

const char* NameOf(ValueType type) {
  switch (type) {
    case ValueType::kTruth:
      return "true or false";
    case ValueType::kNumber:
      return "a number";
    case ValueType::kText:
      return "a text";
    case ValueType::kAny:
      break;
  }
  return "anything";
}

ValueType TypeOfValue(const Value& value) {
  if (AsBool(value)) return ValueType::kTruth;
  if (AsNumber(value)) return ValueType::kNumber;
  return AsText(value) != nullptr ? ValueType::kText : ValueType::kAny;
}

class Typing {
 public:
  Typing(const TypeOfName& types, std::vector<SyntaxFault>* faults) : types_(types), faults_(faults) {}

  ValueType Of(const ExpressionNode& node, bool in_rows) {
    switch (node.kind) {
      case NodeKind::kLiteral:
        return TypeOfValue(node.literal);
      case NodeKind::kName:
        return types_(node.name, in_rows);
      case NodeKind::kTerm:
        return node.term->type(types_, in_rows);
      case NodeKind::kOr:
      case NodeKind::kAnd:
      case NodeKind::kNot:
        for (const auto& operand : node.operands) Of(*operand, in_rows);
        return ValueType::kTruth;
      case NodeKind::kCompare:
        Compare(node, in_rows);
        return ValueType::kTruth;
      case NodeKind::kSum:
      case NodeKind::kProduct:
      case NodeKind::kNegate:
        Arithmetic(node, in_rows);
        return ValueType::kNumber;
      case NodeKind::kCall:
        return Call(node, in_rows);
    }
    return ValueType::kAny;
  }

 private:
  void Compare(const ExpressionNode& node, bool in_rows) {
    const ValueType left = Of(*node.operands[0], in_rows);
    const ValueType right = Of(*node.operands[1], in_rows);
    const bool orders = node.comparison != Comparison::kEqual && node.comparison != Comparison::kNotEqual;
    if (left != ValueType::kAny && right != ValueType::kAny && left != right) {
      Report(node.at,
             std::string(NameOf(left)) + " is compared with " + NameOf(right) + ", so the result is always unknown",
             left == ValueType::kText || right == ValueType::kText
                 ? "write texts in single quotes, and numbers without quotes"
                 : "");
      return;
    }
    for (const ValueType type : {left, right}) {
      if (!orders || type == ValueType::kAny || type == ValueType::kNumber) continue;
      Report(node.at, std::string(NameOf(type)) + " cannot be ordered: only numbers can be less or greater",
             "write == or !=");
      return;
    }
  }

  void Arithmetic(const ExpressionNode& node, bool in_rows) {
    for (const auto& operand : node.operands) {
      const ValueType type = Of(*operand, in_rows);
      if (type == ValueType::kAny || type == ValueType::kNumber) continue;
      Report(operand->at > 0 ? operand->at : node.at,
             std::string("arithmetic with ") + NameOf(type) + " is always unknown", "");
    }
  }

  ValueType Call(const ExpressionNode& node, bool in_rows) {
    const bool over_rows = node.function >= Function::kCountOf;
    std::vector<ValueType> types;
    for (const auto& operand : node.operands) types.push_back(Of(*operand, in_rows || over_rows));
    const auto either = [&](std::size_t a, std::size_t b) {
      return a < types.size() && b < types.size() && types[a] == types[b] ? types[a] : ValueType::kAny;
    };
    switch (node.function) {
      case Function::kKnown:
      case Function::kBetween:
      case Function::kMatches:
      case Function::kContains:
      case Function::kOlder:
      case Function::kAnyOf:
      case Function::kAllOf:
        return ValueType::kTruth;
      case Function::kDefault:
        return either(0, 1);
      case Function::kIf:
        return either(1, 2);
      case Function::kFirstOf:
        return types.empty() ? ValueType::kAny : types[0];
      default:
        return ValueType::kNumber;
    }
  }

  void Report(std::size_t at, std::string what, std::string hint) {
    if (faults_ != nullptr) faults_->push_back({at, std::move(what), std::move(hint)});
  }

  const TypeOfName& types_;
  std::vector<SyntaxFault>* faults_;
};

}  // namespace

ValueType TypeOf(const ExpressionNode& node, const TypeOfName& types, bool in_rows, std::vector<SyntaxFault>* faults) {
  return Typing(types, faults).Of(node, in_rows);
}

}  // namespace internal

ValueType Expression::type(const TypeOfName& types, bool in_rows) const {
  return root() == nullptr ? ValueType::kAny : internal::TypeOf(*root()->tree, types, in_rows, nullptr);
}

std::vector<SyntaxFault> Expression::type_faults(const TypeOfName& types, bool in_rows) const {
  std::vector<SyntaxFault> faults;
  if (root() != nullptr) internal::TypeOf(*root()->tree, types, in_rows, &faults);
  return faults;
}

}  // namespace whyoom
