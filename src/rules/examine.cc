#include "rules/examine.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "rules/expression_node.h"

namespace whyoom {
namespace {

using internal::Comparison;
using internal::ExpressionNode;
using internal::Function;
using internal::NodeKind;

std::string_view SignOf(Comparison comparison) {
  switch (comparison) {
    case Comparison::kEqual:
      return "==";
    case Comparison::kNotEqual:
      return "!=";
    case Comparison::kLess:
      return "<";
    case Comparison::kLessOrEqual:
      return "<=";
    case Comparison::kGreater:
      return ">";
    case Comparison::kGreaterOrEqual:
      return ">=";
  }
  return "";
}

const internal::FunctionInfo& InfoOf(Function function) {
  const std::vector<internal::FunctionInfo>& all = internal::Functions();
  return *std::find_if(all.begin(), all.end(),
                       [&](const internal::FunctionInfo& info) { return info.function == function; });
}

bool IsOverRows(const ExpressionNode& node) { return node.kind == NodeKind::kCall && InfoOf(node.function).over_rows; }

// How tightly a node holds together; what is looser inside needs brackets.
int Binding(const ExpressionNode& node) {
  switch (node.kind) {
    case NodeKind::kOr:
      return 1;
    case NodeKind::kAnd:
      return 2;
    case NodeKind::kNot:
      return 3;
    case NodeKind::kCompare:
      return 4;
    case NodeKind::kSum:
      return 5;
    case NodeKind::kProduct:
      return 6;
    case NodeKind::kNegate:
      return 7;
    default:
      return 8;
  }
}

// Writes a node as the rule data would, or with the values of what it names.
class Writer {
 public:
  Writer() = default;
  Writer(const Scope& scope, const std::size_t* row) : scope_(&scope), row_(row) {}

  std::string Write(const ExpressionNode& node) const {
    switch (node.kind) {
      case NodeKind::kLiteral:
        return ValueText(node.literal);
      case NodeKind::kName:
      case NodeKind::kTerm:
        return scope_ == nullptr ? node.name : ValueText(internal::EvaluateNode(node, *scope_, row_));
      case NodeKind::kOr:
        return Chain(node, " or ");
      case NodeKind::kAnd:
        return Chain(node, " and ");
      case NodeKind::kNot:
        return "not " + Inner(node, 0, 3);
      case NodeKind::kCompare:
        return Inner(node, 0, 5) + " " + std::string(SignOf(node.comparison)) + " " + Inner(node, 1, 5);
      case NodeKind::kSum:
      case NodeKind::kProduct:
        return Arithmetic(node);
      case NodeKind::kNegate:
        return "-" + Inner(node, 0, 7);
      case NodeKind::kCall:
        return Call(node);
    }
    return {};
  }

 private:
  std::string Inner(const ExpressionNode& node, std::size_t index, int least) const {
    const ExpressionNode& inner = *node.operands[index];
    return Binding(inner) < least ? "(" + Write(inner) + ")" : Write(inner);
  }
  std::string Chain(const ExpressionNode& node, std::string_view word) const {
    std::string text;
    for (std::size_t i = 0; i < node.operands.size(); ++i)
      text += std::string(i == 0 ? "" : word) + Inner(node, i, Binding(node) + 1);
    return text;
  }
  std::string Arithmetic(const ExpressionNode& node) const {
    std::string text;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      if (i > 0) text += std::string(" ") + node.ops[i] + " ";
      text += Inner(node, i, Binding(node) + 1);
    }
    return text;
  }
  std::string Call(const ExpressionNode& node) const {
    // Names of a row have no one value.
    if (scope_ != nullptr && IsOverRows(node)) return ValueText(internal::EvaluateNode(node, *scope_, row_));
    std::string text(InfoOf(node.function).name);
    for (std::size_t i = 0; i < node.operands.size(); ++i) text += (i == 0 ? "(" : ", ") + Write(*node.operands[i]);
    return text + ")";
  }

  const Scope* scope_ = nullptr;  // null: as the rule data has it
  const std::size_t* row_ = nullptr;
};

class Examiner {
 public:
  Examiner(const Scope& scope, Examination* out) : scope_(scope), out_(*out) {}

  void Run(const ExpressionNode& node, int depth, const std::size_t* row) {
    ExaminedPart part;
    part.depth = depth;
    part.source = Writer().Write(node);
    part.value = internal::EvaluateNode(node, scope_, row);
    part.row = row == nullptr ? 0 : *row + 1;
    part.with_values = WithValues(node, row);
    if (part.with_values == part.source || part.with_values == ValueText(part.value)) part.with_values.clear();
    const ExpressionNode* condition = IsOverRows(node) ? node.operands.back().get() : nullptr;
    std::size_t shown = 0;
    if (condition != nullptr) part.rows = CountRows(*condition, &shown);
    out_.parts.push_back(std::move(part));
    if (condition != nullptr) {
      NoteNames(*condition, &shown);
      if (node.operands.size() == 2) NoteNames(*node.operands[0], &shown);
      if (scope_.row_count() > 0) Run(*condition, depth + 1, &shown);
      return;
    }
    RunInner(node, depth + 1, row);
  }

  // The rows that meet `condition`; `shown` becomes the first that does, else 0.
  RowCount CountRows(const ExpressionNode& condition, std::size_t* shown) {
    RowCount count;
    for (std::size_t row = 0; row < scope_.row_count(); ++row) {
      const std::optional<bool> met = AsBool(internal::EvaluateNode(condition, scope_, &row));
      if (met == true && count.met == 0) *shown = row;
      ++(!met ? count.unknown : *met ? count.met : count.failed);
    }
    return count;
  }

  // In a row only what no row has a value for is a name of the finding.
  void NoteNames(const ExpressionNode& node, const std::size_t* row) {
    std::vector<NameUse> uses;
    internal::CollectNames(node, row != nullptr, &uses);
    for (const NameUse& use : uses) NoteName(use.name, use.in_rows);
  }

 private:
  void NoteName(const std::string& name, bool in_rows) {
    const Value value = scope_.Get(name);
    for (std::size_t row = 0; in_rows && !IsKnown(value) && row < scope_.row_count(); ++row) {
      if (IsKnown(scope_.GetInRow(row, name))) return;
    }
    const bool is_new =
        std::none_of(out_.names.begin(), out_.names.end(), [&](const NamedValue& named) { return named.name == name; });
    if (is_new) out_.names.push_back({name, value});
  }

  std::string WithValues(const ExpressionNode& node, const std::size_t* row) const {
    if (node.kind == NodeKind::kCompare) {
      return ValueText(internal::EvaluateNode(*node.operands[0], scope_, row)) + " " +
             std::string(SignOf(node.comparison)) + " " +
             ValueText(internal::EvaluateNode(*node.operands[1], scope_, row));
    }
    const bool is_formula = node.kind == NodeKind::kSum || node.kind == NodeKind::kProduct ||
                            node.kind == NodeKind::kNegate || (node.kind == NodeKind::kCall && !IsOverRows(node));
    return is_formula ? Writer(scope_, row).Write(node) : std::string();
  }

  // What a part is made of, where that says more: of logic the operands, of terms what they stand for, of the rest the
  // terms and functions over rows that are in it.
  void RunInner(const ExpressionNode& node, int depth, const std::size_t* row) {
    if (node.kind == NodeKind::kName) NoteName(node.name, row != nullptr);
    if (node.kind == NodeKind::kTerm && node.term->tree() != nullptr) return Run(*node.term->tree(), depth, row);
    const bool is_logic = node.kind == NodeKind::kOr || node.kind == NodeKind::kAnd || node.kind == NodeKind::kNot;
    for (const auto& operand : node.operands) {
      const bool says_more = operand->kind == NodeKind::kTerm || IsOverRows(*operand);
      // What stands for the same in several places is shown once.
      if (operand->kind == NodeKind::kTerm && !is_logic && row == nullptr && !shown_terms_.insert(operand->name).second)
        continue;
      if (is_logic || says_more) {
        Run(*operand, depth, row);
      } else {
        RunInner(*operand, depth, row);
      }
    }
  }

  const Scope& scope_;
  Examination& out_;
  std::set<std::string> shown_terms_;
};

}  // namespace

std::vector<std::string> Examination::UnknownNames() const {
  std::vector<std::string> unknown;
  for (const NamedValue& named : names) {
    if (!IsKnown(named.value)) unknown.push_back(named.name);
  }
  return unknown;
}

Examination Examine(const Expression& expression, const Scope& scope) {
  Examination examination;
  if (expression.tree() == nullptr) return examination;
  examination.value = expression.Evaluate(scope);
  Examiner(scope, &examination).Run(*expression.tree(), 0, nullptr);
  return examination;
}

Examination ExamineRows(const Expression& expression, const Scope& scope) {
  Examination examination;
  if (expression.tree() == nullptr) return examination;
  Examiner examiner(scope, &examination);
  std::size_t shown = 0;
  const RowCount rows = examiner.CountRows(*expression.tree(), &shown);
  if (scope.row_count() > 0) examination.value = rows.met > 0;
  examiner.NoteNames(*expression.tree(), &shown);
  ExaminedPart whole;
  whole.source = expression.source();
  whole.value = examination.value;
  whole.rows = rows;
  examination.parts.push_back(std::move(whole));
  if (scope.row_count() > 0) examiner.Run(*expression.tree(), 1, &shown);
  return examination;
}

std::string ValueText(const Value& value) {
  if (const std::optional<double> number = AsNumber(value)) {
    constexpr double kExact = 9.0e15;
    const bool is_whole = std::abs(*number) < kExact && *number == std::floor(*number);
    const bool is_large = std::abs(*number) >= 1.0e6 && std::abs(*number) < kExact;
    return is_whole || is_large ? fmt::format("{:.0f}", *number) : fmt::format("{:.6g}", *number);
  }
  if (const std::optional<bool> truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? "unknown" : "'" + *text + "'";
}

}  // namespace whyoom
