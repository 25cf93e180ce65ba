// Evaluates expressions. Cannot fail: operands of the wrong type and results that are not finite yield Unknown.
#include "rules/expression.h"

#include <algorithm>
#include <array>
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
  // Records into `recorder` unless it is null; `source` is the text that was parsed.
  Evaluator(const ParsedExpression& parsed, const Scope& scope, const std::size_t* row, const std::string& source,
            Recorder* recorder)
      : parsed_(parsed), scope_(scope), row_(row), source_(source), recorder_(recorder) {}

  // Evaluates the whole expression.
  Value RunRoot() const {
    const bool is_plain =
        parsed_.nodes[0].operation == Operation::kName || parsed_.nodes[0].operation == Operation::kLiteral;
    return recorder_ == nullptr || is_plain ? Evaluate(0) : EvaluateAndRecord(0);
  }

 private:
  Value Run(std::size_t at) const {
    return recorder_ != nullptr && IsWorthRecording(parsed_.nodes[at].operation) ? EvaluateAndRecord(at) : Evaluate(at);
  }

  // Only conditions, terms and functions over rows are recorded.
  static bool IsWorthRecording(Operation operation) {
    return operation == Operation::kOr || operation == Operation::kAnd || IsComparison(operation) ||
           operation == Operation::kTerm || IsOverRows(operation);
  }

  static bool IsComparison(Operation operation) {
    return operation >= Operation::kEqual && operation <= Operation::kGreaterOrEqual;
  }

  Value EvaluateAndRecord(std::size_t at) const {
    const ExpressionNode& node = parsed_.nodes[at];
    std::string part = source_.substr(node.begin, node.end - node.begin);
    while (part.ends_with(' ')) part.pop_back();
    recorder_->Open(row_ == nullptr ? std::move(part) : "row " + std::to_string(*row_ + 1) + ": " + part);
    Value value = Evaluate(at);
    recorder_->Close(ValueText(value));
    return value;
  }

  Value Evaluate(std::size_t at) const {
    const ExpressionNode& node = parsed_.nodes[at];
    switch (node.operation) {
      case Operation::kLiteral:
        return parsed_.values[node.index];
      case Operation::kName:
        return Name(parsed_.NameOf(node));
      case Operation::kTerm: {
        const Expression& term = parsed_.terms[node.index];
        return row_ == nullptr ? term.Evaluate(scope_) : term.EvaluateInRow(scope_, *row_);
      }
      case Operation::kOr:
      case Operation::kAnd:
        return Logic(at, node.operation == Operation::kOr);
      case Operation::kSum:
      case Operation::kProduct:
        return Arithmetic(at);
      case Operation::kDefault: {
        Value value = Run(at + 1);
        return IsKnown(value) ? value : Operand(at, 1);
      }
      case Operation::kIf: {
        const std::optional<bool> condition = AsBool(Run(at + 1));
        return condition ? Operand(at, *condition ? 1 : 2) : Value(Unknown{});
      }
      default:
        return IsOverRows(node.operation) ? OverRows(at) : Apply(node, at);
    }
  }

  Value Operand(std::size_t at, std::size_t number) const {
    std::size_t operand = at + 1;
    for (; number > 0; --number) operand = parsed_.nodes[operand].next;
    return Run(operand);
  }

  Value Name(const std::string& name) const {
    Value value = row_ != nullptr ? scope_.GetInRow(*row_, name) : Value(Unknown{});
    if (!IsKnown(value)) value = scope_.Get(name);
    if (recorder_ != nullptr) recorder_->Note(name, value);
    return value;
  }

  // Kleene logic: an operand with the value `deciding` decides, even if others are unknown.
  Value Logic(std::size_t at, bool deciding) const {
    bool all_known = true;
    std::size_t operand = at + 1;
    for (int i = 0; i < parsed_.nodes[at].operands; ++i, operand = parsed_.nodes[operand].next) {
      const std::optional<bool> truth = AsBool(Run(operand));
      if (truth == deciding) return deciding;
      all_known = all_known && truth;
    }
    return all_known ? Value(!deciding) : Value(Unknown{});
  }

  Value Arithmetic(std::size_t at) const {
    const bool is_product = parsed_.nodes[at].operation == Operation::kProduct;
    double result = is_product ? 1.0 : 0.0;
    bool all_known = true;
    parsed_.EachOperand(at, [&](std::size_t operand) {
      const std::optional<double> number = all_known ? AsNumber(Run(operand)) : std::nullopt;
      const char sign = parsed_.nodes[operand].sign;
      all_known = number && !(sign == '/' && *number == 0.0);
      if (!all_known) return;
      if (is_product) {
        result = sign == '/' ? result / *number : result * *number;
      } else {
        result += sign == '-' ? -*number : *number;
      }
    });
    return all_known ? Finite(result) : Value(Unknown{});
  }

  // Operations that use all of their operands, at most three.
  Value Apply(const ExpressionNode& node, std::size_t at) const {
    std::array<Value, 3> operands;
    std::size_t count = 0;
    parsed_.EachOperand(at, [&](std::size_t operand) { operands[count++] = Run(operand); });
    const auto& [a, b, c] = operands;
    if (node.operation == Operation::kKnown) return IsKnown(a);
    if (!std::all_of(operands.begin(), operands.begin() + count, IsKnown)) return Unknown{};
    if (IsComparison(node.operation) && a.index() != b.index()) return Unknown{};
    if (node.operation == Operation::kEqual) return a == b;
    if (node.operation == Operation::kNotEqual) return a != b;
    if (const std::optional<bool> truth = AsBool(a))
      return node.operation == Operation::kNot ? Value(!*truth) : Value(Unknown{});
    if (const std::string* text = AsText(a)) return OfText(node, *text, AsText(b));
    return OfNumbers(node.operation, *AsNumber(a), AsNumber(b), AsNumber(c), count);
  }

  Value OfText(const ExpressionNode& node, const std::string& text, const std::string* other) const {
    if (other == nullptr) return Unknown{};
    switch (node.operation) {
      case Operation::kMatches:
        return parsed_.regexes[node.index]->IsIn(text);
      case Operation::kContains:
        return text.find(*other) != text.npos;
      case Operation::kOlder: {
        const std::optional<int> order = CompareVersions(text, *other);
        return order ? Value(*order < 0) : Unknown{};
      }
      default:
        return Unknown{};
    }
  }

  static Value OfNumbers(Operation operation, double a, std::optional<double> b, std::optional<double> c,
                         std::size_t count) {
    if ((count > 1 && !b) || (count > 2 && !c)) return Unknown{};
    switch (operation) {
      case Operation::kLess:
        return a < *b;
      case Operation::kLessOrEqual:
        return a <= *b;
      case Operation::kGreater:
        return a > *b;
      case Operation::kGreaterOrEqual:
        return a >= *b;
      case Operation::kNegate:
        return -a;
      case Operation::kMin:
        return std::min(a, *b);
      case Operation::kMax:
        return std::max(a, *b);
      case Operation::kFloor:
        return std::floor(a);
      case Operation::kCeil:
        return std::ceil(a);
      case Operation::kRound:
        return std::round(a);
      case Operation::kAbs:
        return std::abs(a);
      case Operation::kRounding:
        return Rounding(a);
      case Operation::kWithin:
        return *b <= a && a <= *c ? Value(a) : Value(Unknown{});
      default:
        return Unknown{};
    }
  }

  Value OverRows(std::size_t at) const {
    const std::size_t rows = scope_.row_count();
    if (rows == 0) return Unknown{};
    const ExpressionNode& node = parsed_.nodes[at];
    const bool has_x = node.operands == 2;
    const std::size_t condition = has_x ? parsed_.nodes[at + 1].next : at + 1;
    double result = 0;  // the sum or the number
    for (std::size_t row = 0; row < rows; ++row) {
      // Only the evaluation of the largest row is recorded.
      const Evaluator in_row(parsed_, scope_, &row, source_, row == 0 ? recorder_ : nullptr);
      if (AsBool(in_row.Run(condition)) != true) continue;
      const Value x = has_x ? in_row.Run(at + 1) : Value(1.0);
      if (!IsKnown(x)) continue;
      if (node.operation == Operation::kFirstOf) return x;
      if (node.operation == Operation::kAnyOf) return true;
      result += AsNumber(x).value_or(0);
    }
    if (node.operation == Operation::kFirstOf) return Unknown{};
    return node.operation == Operation::kAnyOf ? Value(false) : Finite(result);
  }

  const ParsedExpression& parsed_;
  const Scope& scope_;
  const std::size_t* row_;
  const std::string& source_;
  Recorder* recorder_;
};

}  // namespace
}  // namespace internal

// Shared by the copies of an expression.
struct Expression::Parse {
  std::string source;
  std::shared_ptr<const Terms> terms;  // set for deferred parsing
  mutable std::once_flag done;
  mutable internal::ParsedExpression parsed;
};

Expression::Expression() {
  static const auto unknown = std::make_shared<const Parse>();
  parse_ = unknown;
}

Expression::Expression(std::shared_ptr<const Parse> parse) : parse_(std::move(parse)) {}

Expression Expression::Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms) {
  const auto parse = std::make_shared<Parse>();
  parse->source = source;
  parse->parsed = internal::ParseExpression(source, terms, faults);
  return Expression(parse);
}

Expression Expression::Deferred(std::string_view source, std::shared_ptr<const Terms> terms) {
  const auto parse = std::make_shared<Parse>();
  parse->source = source;
  parse->terms = std::move(terms);
  return Expression(parse);
}

const internal::ParsedExpression& Expression::parsed() const {
  if (parse_->terms != nullptr) {
    std::call_once(parse_->done,
                   [this] { parse_->parsed = internal::ParseExpression(parse_->source, *parse_->terms, nullptr); });
  }
  return parse_->parsed;
}

Value Expression::Evaluate(const Scope& scope, const std::size_t* row) const {
  if (parsed().nodes.empty()) return Unknown{};
  Recorder* const recorder = row == nullptr || *row == 0 ? scope.recorder() : nullptr;
  return internal::Evaluator(parsed(), scope, row, source(), recorder).RunRoot();
}

const std::string& Expression::source() const { return parse_->source; }

std::vector<NameUse> Expression::name_uses() const {
  std::vector<NameUse> uses;
  std::size_t rows_end = 0;  // of the function over rows that contains the node
  for (std::size_t i = 0; i < parsed().nodes.size(); ++i) {
    const internal::ExpressionNode& node = parsed().nodes[i];
    const bool in_rows = i < rows_end;
    if (IsOverRows(node.operation)) rows_end = node.next;
    if (node.operation == internal::Operation::kName) uses.push_back({parsed().NameOf(node), node.begin, in_rows, ""});
    if (node.operation != internal::Operation::kTerm) continue;
    for (const NameUse& use : parsed().terms[node.index].name_uses())
      uses.push_back({use.name, node.begin, in_rows || use.in_rows, parsed().NameOf(node)});
  }
  return uses;
}

std::size_t Expression::size() const { return parsed().size; }

bool Expression::is_over_rows() const { return parsed().over_rows; }

int Expression::term_levels() const { return parsed().term_levels; }

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
