// Evaluates expressions. Cannot fail: operands of the wrong type and results that are not finite yield Unknown.
#include "rules/expression.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

#include "rules/recorder.h"
#include "rules/tiered_regex.h"

namespace whyoom {
namespace {

Value Finite(double number) { return std::isfinite(number) ? Value(number) : Value(Unknown{}); }

class Evaluator {
 public:
  // Records into `recorder` unless it is null; `source` is the text that was parsed.
  Evaluator(const std::string& source, const Scope& scope, const std::size_t* row, Recorder* recorder)
      : source_(source), scope_(scope), row_(row), recorder_(recorder) {}

  // Evaluates the node. Only conditions, terms, functions over rows and whole expressions are recorded.
  Value Run(const ExpressionNode& node, bool is_whole = false) const {
    const bool is_plain = node.operation == Operation::kName || node.operation == Operation::kLiteral;
    const bool is_recorded = recorder_ != nullptr && (is_whole ? !is_plain : node.operation < Operation::kLiteral);
    if (!is_recorded) return Evaluate(node);
    const std::string part = source_.substr(node.begin, node.end - node.begin);
    recorder_->Open(row_ == nullptr ? part : "row " + std::to_string(*row_ + 1) + ": " + part);
    Value value = Evaluate(node);
    recorder_->Close(ValueText(value));
    return value;
  }

 private:
  Value Evaluate(const ExpressionNode& node) const {
    const std::vector<ExpressionNode>& operands = node.operands;
    switch (node.operation) {
      case Operation::kLiteral:
        return node.value;
      case Operation::kName:
        return Name(*AsText(node.value));
      case Operation::kTerm:
        if (row_ == nullptr) return node.term->Evaluate(scope_);
        return node.term->parsed().of_row ? scope_.TermInRow(*row_, *node.term)
                                          : node.term->EvaluateInRow(scope_, *row_);
      case Operation::kOr:
      case Operation::kAnd:
        return Logic(operands, node.operation == Operation::kOr);
      case Operation::kSum:
      case Operation::kProduct:
        return Arithmetic(operands, node.operation == Operation::kProduct);
      case Operation::kDefault: {
        Value value = Run(operands[0]);
        return IsKnown(value) ? value : Run(operands[1]);
      }
      case Operation::kIf: {
        const std::optional<bool> condition = AsBool(Run(operands[0]));
        return condition ? Run(operands[*condition ? 1 : 2]) : Value(Unknown{});
      }
      case Operation::kCountOf:
      case Operation::kSumOf:
      case Operation::kAnyOf:
      case Operation::kFirstOf:
        return OverRows(node);
      default:
        return Apply(node);
    }
  }

  Value Name(const std::string& name) const {
    Value value = row_ != nullptr ? scope_.GetInRow(*row_, name) : Value(Unknown{});
    if (!IsKnown(value)) value = scope_.Get(name);
    if (recorder_ != nullptr) recorder_->Note(name, value);
    return value;
  }

  // Kleene logic: an operand with the value `deciding` decides, even if others are unknown.
  Value Logic(const std::vector<ExpressionNode>& operands, bool deciding) const {
    bool all_known = true;
    for (const ExpressionNode& operand : operands) {
      const std::optional<bool> truth = AsBool(Run(operand));
      if (truth == deciding) return deciding;
      all_known = all_known && truth;
    }
    return all_known ? Value(!deciding) : Value(Unknown{});
  }

  Value Arithmetic(const std::vector<ExpressionNode>& operands, bool is_product) const {
    double result = is_product ? 1.0 : 0.0;
    for (const ExpressionNode& operand : operands) {
      const std::optional<double> number = AsNumber(Run(operand));
      if (!number || (operand.sign == '/' && *number == 0.0)) return Unknown{};
      if (is_product) {
        result = operand.sign == '/' ? result / *number : result * *number;
      } else {
        result += operand.sign == '-' ? -*number : *number;
      }
    }
    return Finite(result);
  }

  // Operations that use all of their operands, at most three.
  Value Apply(const ExpressionNode& node) const {
    std::array<Value, 3> v;
    std::array<double, 3> numbers{};
    bool all_known = true;
    bool all_numbers = true;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      v[i] = Run(node.operands[i]);
      all_known = all_known && IsKnown(v[i]);
      all_numbers = all_numbers && AsNumber(v[i]);
      numbers[i] = AsNumber(v[i]).value_or(0);
    }
    if (node.operation == Operation::kKnown) return all_known;
    if (!all_known) return Unknown{};
    if (node.of_numbers != nullptr)
      return all_numbers ? node.of_numbers(numbers[0], numbers[1], numbers[2]) : Value(Unknown{});
    if (node.operation == Operation::kEqual || node.operation == Operation::kNotEqual)
      return v[0].index() == v[1].index() ? Value((v[0] == v[1]) == (node.operation == Operation::kEqual)) : Unknown{};
    if (node.operation == Operation::kNot) return AsBool(v[0]) ? Value(!*AsBool(v[0])) : Unknown{};
    const std::string* text = AsText(v[0]);
    const std::string* other = AsText(v[1]);
    if (text == nullptr || other == nullptr) return Unknown{};
    if (node.operation == Operation::kMatches) return node.regex->IsIn(*text);
    if (node.operation == Operation::kContains) return text->find(*other) != text->npos;
    const std::optional<int> order = CompareVersions(*text, *other);
    return order ? Value(*order < 0) : Unknown{};
  }

  Value OverRows(const ExpressionNode& node) const {
    const std::size_t rows = scope_.row_count();
    if (rows == 0) return Unknown{};
    const bool has_x = node.operands.size() == 2;
    double result = 0;  // the sum or the number
    for (std::size_t row = 0; row < rows; ++row) {
      // Only the evaluation of the largest row is recorded.
      const Evaluator in_row(source_, scope_, &row, row == 0 ? recorder_ : nullptr);
      if (AsBool(in_row.Run(node.operands.back())) != true) continue;
      const Value x = has_x ? in_row.Run(node.operands[0]) : Value(1.0);
      if (!IsKnown(x)) continue;
      if (node.operation == Operation::kFirstOf) return x;
      if (node.operation == Operation::kAnyOf) return true;
      result += AsNumber(x).value_or(0);
    }
    if (node.operation == Operation::kFirstOf) return Unknown{};
    return node.operation == Operation::kAnyOf ? Value(false) : Finite(result);
  }

  const std::string& source_;
  const Scope& scope_;
  const std::size_t* row_;
  Recorder* recorder_;
};

std::vector<unsigned> Numbers(std::string_view version) {
  std::vector<unsigned> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  for (unsigned number = 0;;) {
    const auto [behind, fault] = std::from_chars(at, end, number);
    if (fault != std::errc()) return numbers;
    numbers.push_back(number);
    if (behind == end || *behind != '.') return numbers;
    at = behind + 1;
  }
}

}  // namespace

Value Expression::Evaluate(const Scope& scope, const std::size_t* row) const {
  Recorder* const recorder = row == nullptr || *row == 0 ? scope.recorder() : nullptr;
  return Evaluator(source(), scope, row, recorder).Run(parsed().root, true);
}

Value Scope::TermInRow(std::size_t row, const Expression& term) const { return term.EvaluateInRow(*this, row); }

std::optional<int> CompareVersions(std::string_view one, std::string_view other) {
  std::vector<unsigned> a = Numbers(one);
  std::vector<unsigned> b = Numbers(other);
  if (a.empty() || b.empty()) return std::nullopt;
  const std::size_t parts = std::max(a.size(), b.size());
  a.resize(parts);
  b.resize(parts);
  return a < b ? -1 : a == b ? 0 : 1;
}

}  // namespace whyoom
