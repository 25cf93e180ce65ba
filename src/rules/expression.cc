// Evaluates expressions. Cannot fail: operands of the wrong type and results that are not finite yield Unknown.
#include "rules/expression.h"

#include <re2/re2.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include "rules/expression_node.h"
#include "rules/recorder.h"

namespace whyoom {
namespace internal {
namespace {

Value Finite(double number) { return std::isfinite(number) ? Value(number) : Value(Unknown{}); }

// Compilers print sizes with one decimal of a KiB or two of larger units; they may round or truncate.
double Rounding(double bytes) {
  constexpr double kUnit = 1024;
  const double size = std::abs(bytes);
  double step = size < kUnit ? 1 : kUnit / 10;
  for (double unit = kUnit * kUnit; size >= unit && unit < 1e19; unit *= kUnit) step = unit / 100;
  return std::abs(size - std::round(size / step) * step) <= 1 && size >= kUnit ? step : 0;
}

class Evaluator {
 public:
  // Records into `recorder` unless it is null; `source` is the text that the nodes were parsed from.
  Evaluator(const Scope& scope, const std::size_t* row, const std::string& source, Recorder* recorder)
      : scope_(scope), row_(row), source_(source), recorder_(recorder) {}

  // Evaluates the whole expression.
  Value RunRoot(const ExpressionNode& node) const {
    const bool is_plain = node.kind == NodeKind::kName || node.kind == NodeKind::kLiteral;
    return recorder_ == nullptr || is_plain ? Evaluate(node) : EvaluateAndRecord(node);
  }

 private:
  Value Run(const ExpressionNode& node) const {
    return recorder_ != nullptr && IsWorthRecording(node) ? EvaluateAndRecord(node) : Evaluate(node);
  }

  // Only conditions, terms and functions over rows are recorded.
  static bool IsWorthRecording(const ExpressionNode& node) {
    return node.kind == NodeKind::kOr || node.kind == NodeKind::kAnd || node.kind == NodeKind::kCompare ||
           node.kind == NodeKind::kTerm || (node.kind == NodeKind::kCall && node.function >= Function::kCountOf);
  }

  Value EvaluateAndRecord(const ExpressionNode& node) const {
    std::string part = source_.substr(node.begin, node.end - node.begin);
    while (part.ends_with(' ')) part.pop_back();
    recorder_->Open(row_ == nullptr ? std::move(part) : "row " + std::to_string(*row_ + 1) + ": " + part);
    Value value = Evaluate(node);
    recorder_->Close(ValueText(value));
    return value;
  }

  Value Evaluate(const ExpressionNode& node) const {
    switch (node.kind) {
      case NodeKind::kLiteral:
        return node.literal;
      case NodeKind::kName:
        return Name(node.name);
      case NodeKind::kTerm:
        return row_ == nullptr ? node.term->Evaluate(scope_) : node.term->EvaluateInRow(scope_, *row_);
      case NodeKind::kOr:
        return Logic(node, true);
      case NodeKind::kAnd:
        return Logic(node, false);
      case NodeKind::kNot: {
        const std::optional<bool> truth = AsBool(Operand(node, 0));
        return truth ? Value(!*truth) : Value(Unknown{});
      }
      case NodeKind::kCompare:
        return Compare(node);
      case NodeKind::kSum:
      case NodeKind::kProduct:
        return Arithmetic(node);
      case NodeKind::kNegate: {
        const std::optional<double> number = AsNumber(Operand(node, 0));
        return number ? Value(-*number) : Value(Unknown{});
      }
      case NodeKind::kCall:
        return Call(node);
    }
    return Unknown{};
  }

  Value Operand(const ExpressionNode& node, std::size_t index) const { return Run(*node.operands[index]); }

  Value Name(const std::string& name) const {
    Value value = row_ != nullptr ? scope_.GetInRow(*row_, name) : Value(Unknown{});
    if (!IsKnown(value)) value = scope_.Get(name);
    if (recorder_ != nullptr) recorder_->Note(name, value);
    return value;
  }

  // Kleene logic: an operand with the value `deciding` decides, even if others are unknown.
  Value Logic(const ExpressionNode& node, bool deciding) const {
    bool all_known = true;
    for (const auto& operand : node.operands) {
      const std::optional<bool> truth = AsBool(Run(*operand));
      if (!truth) {
        all_known = false;
      } else if (*truth == deciding) {
        return deciding;
      }
    }
    return all_known ? Value(!deciding) : Value(Unknown{});
  }

  Value Compare(const ExpressionNode& node) const {
    const Value left = Operand(node, 0);
    const Value right = Operand(node, 1);
    if (!IsKnown(left) || !IsKnown(right) || left.index() != right.index()) return Unknown{};
    if (node.comparison == Comparison::kEqual) return left == right;
    if (node.comparison == Comparison::kNotEqual) return left != right;
    const std::optional<double> a = AsNumber(left);
    const std::optional<double> b = AsNumber(right);
    if (!a || !b) return Unknown{};
    switch (node.comparison) {
      case Comparison::kLess:
        return *a < *b;
      case Comparison::kLessOrEqual:
        return *a <= *b;
      case Comparison::kGreater:
        return *a > *b;
      default:
        return *a >= *b;
    }
  }

  Value Arithmetic(const ExpressionNode& node) const {
    double result = node.kind == NodeKind::kProduct ? 1.0 : 0.0;
    for (std::size_t i = 0; i < node.operands.size(); ++i) {
      const std::optional<double> number = AsNumber(Operand(node, i));
      if (!number) return Unknown{};
      switch (node.ops[i]) {
        case '+':
          result += *number;
          break;
        case '-':
          result -= *number;
          break;
        case '*':
          result *= *number;
          break;
        default:
          if (*number == 0.0) return Unknown{};
          result /= *number;
      }
    }
    return Finite(result);
  }

  Value Call(const ExpressionNode& node) const {
    switch (node.function) {
      case Function::kKnown:
        return IsKnown(Operand(node, 0));
      case Function::kDefault: {
        Value value = Operand(node, 0);
        return IsKnown(value) ? value : Operand(node, 1);
      }
      case Function::kIf: {
        const std::optional<bool> condition = AsBool(Operand(node, 0));
        return condition ? Operand(node, *condition ? 1 : 2) : Value(Unknown{});
      }
      case Function::kMatches: {
        const Value text = Operand(node, 0);
        if (AsText(text) == nullptr) return Unknown{};
        return re2::RE2::PartialMatch(*AsText(text), node.regex.Of(*AsText(node.operands[1]->literal)));
      }
      case Function::kContains:
      case Function::kOlder: {
        const Value text = Operand(node, 0);
        const Value other = Operand(node, 1);
        if (AsText(text) == nullptr || AsText(other) == nullptr) return Unknown{};
        if (node.function == Function::kContains) return AsText(text)->find(*AsText(other)) != std::string::npos;
        const std::optional<int> order = CompareVersions(*AsText(text), *AsText(other));
        return order ? Value(*order < 0) : Unknown{};
      }
      case Function::kMin:
      case Function::kMax:
      case Function::kFloor:
      case Function::kCeil:
      case Function::kRound:
      case Function::kAbs:
      case Function::kRounding:
        return Numeric(node);
      case Function::kWithin:
      case Function::kBetween: {
        const Value value = Operand(node, 0);
        const std::optional<double> number = AsNumber(value);
        const std::optional<double> least = AsNumber(Operand(node, 1));
        const std::optional<double> most = AsNumber(Operand(node, 2));
        if (!number || !least || !most) return Unknown{};
        const bool holds = *least <= *number && *number <= *most;
        if (node.function == Function::kBetween) return holds;
        return holds ? value : Value(Unknown{});
      }
      default:
        return OverRows(node);
    }
  }

  Value Numeric(const ExpressionNode& node) const {
    const std::optional<double> first = AsNumber(Operand(node, 0));
    const std::optional<double> last = AsNumber(Operand(node, node.operands.size() - 1));
    if (!first || !last) return Unknown{};
    switch (node.function) {
      case Function::kMin:
        return std::min(*first, *last);
      case Function::kMax:
        return std::max(*first, *last);
      case Function::kFloor:
        return std::floor(*first);
      case Function::kCeil:
        return std::ceil(*first);
      case Function::kAbs:
        return std::abs(*first);
      case Function::kRounding:
        return Rounding(*first);
      default:
        return std::round(*first);
    }
  }

  Value OverRows(const ExpressionNode& node) const {
    const std::size_t rows = scope_.row_count();
    if (rows == 0) return Unknown{};
    const bool has_x = node.operands.size() == 2;
    const ExpressionNode& condition = *node.operands.back();
    Tally tally;
    for (std::size_t row = 0; row < rows; ++row) {
      // Only the evaluation of the largest row is recorded.
      const Evaluator in_row(scope_, &row, source_, row == 0 ? recorder_ : nullptr);
      const std::optional<bool> met = AsBool(in_row.Run(condition));
      if (!met) continue;
      if (!*met) {
        ++tally.failed;
        continue;
      }
      Value x = has_x ? in_row.Run(*node.operands[0]) : Value(true);
      if (!IsKnown(x)) continue;
      if (node.function == Function::kFirstOf) return x;
      if (node.function == Function::kAnyOf) return true;
      const std::optional<double> number = AsNumber(x);
      if (node.function != Function::kCountOf && node.function != Function::kAllOf && !number) continue;
      ++tally.met;
      tally.sum += number.value_or(0);
      tally.max = tally.met == 1 ? number.value_or(0) : std::max(tally.max, number.value_or(0));
    }
    return tally.Result(node.function);
  }

  struct Tally {
    std::size_t met = 0;
    std::size_t failed = 0;
    double sum = 0;
    double max = 0;

    Value Result(Function function) const {
      switch (function) {
        case Function::kCountOf:
          return static_cast<double>(met);
        case Function::kSumOf:
          return Finite(sum);
        case Function::kMaxOf:
          return met > 0 ? Value(max) : Value(Unknown{});
        case Function::kAnyOf:
          return false;
        case Function::kAllOf:
          return met + failed > 0 ? Value(failed == 0) : Value(Unknown{});
        default:
          return Unknown{};
      }
    }
  };

  const Scope& scope_;
  const std::size_t* row_;
  const std::string& source_;
  Recorder* recorder_;
};

}  // namespace

void CollectNames(const ExpressionNode& node, bool in_rows, std::vector<NameUse>* uses) {
  if (node.kind == NodeKind::kName) uses->push_back({node.name, node.at, in_rows, ""});
  if (node.kind == NodeKind::kTerm) {
    for (const NameUse& use : node.term->name_uses()) {
      uses->push_back({use.name, node.at, in_rows || use.in_rows, node.name});
    }
  }
  const bool over_rows = node.kind == NodeKind::kCall && node.function >= Function::kCountOf;
  for (const auto& operand : node.operands) CollectNames(*operand, in_rows || over_rows, uses);
}

}  // namespace internal

// Shared by the copies of an expression.
struct Expression::Parse {
  std::string source;
  std::shared_ptr<const Terms> terms;  // set for deferred parsing
  mutable std::once_flag done;
  mutable std::shared_ptr<const Node> root;

  void Do(std::vector<SyntaxFault>* faults, const Terms& with) const {
    internal::ParsedExpression parsed = internal::ParseExpression(source, with, faults);
    if (parsed.tree != nullptr) root = std::make_shared<const Node>(Node{std::move(parsed)});
  }
};

Expression::Expression() {
  static const auto unknown = std::make_shared<const Parse>();
  parse_ = unknown;
}

Expression::Expression(std::shared_ptr<const Parse> parse) : parse_(std::move(parse)) {}

Expression Expression::Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms) {
  const auto parse = std::make_shared<Parse>();
  parse->source = source;
  parse->Do(faults, terms);
  return Expression(parse);
}

Expression Expression::Deferred(std::string_view source, std::shared_ptr<const Terms> terms) {
  const auto parse = std::make_shared<Parse>();
  parse->source = source;
  parse->terms = std::move(terms);
  return Expression(parse);
}

const Expression::Node* Expression::root() const {
  if (parse_->terms != nullptr) {
    std::call_once(parse_->done, [this] { parse_->Do(nullptr, *parse_->terms); });
  }
  return parse_->root.get();
}

Value Expression::Evaluate(const Scope& scope) const {
  const Node* const node = root();
  return node == nullptr ? Value(Unknown{})
                         : internal::Evaluator(scope, nullptr, source(), scope.recorder()).RunRoot(*node->tree);
}

Value Expression::EvaluateInRow(const Scope& scope, std::size_t row) const {
  const Node* const node = root();
  return node == nullptr
             ? Value(Unknown{})
             : internal::Evaluator(scope, &row, source(), row == 0 ? scope.recorder() : nullptr).RunRoot(*node->tree);
}

const std::string& Expression::source() const { return parse_->source; }

std::vector<NameUse> Expression::name_uses() const {
  std::vector<NameUse> uses;
  if (root() != nullptr) internal::CollectNames(*root()->tree, false, &uses);
  return uses;
}

std::size_t Expression::size() const { return root() == nullptr ? 0 : root()->size; }

bool Expression::is_over_rows() const { return root() != nullptr && root()->over_rows; }

const internal::ExpressionNode* Expression::tree() const { return root() == nullptr ? nullptr : root()->tree.get(); }

int Expression::term_levels() const { return root() == nullptr ? 0 : root()->term_levels; }

namespace {

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
