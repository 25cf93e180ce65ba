// Parses expressions by precedence climbing.
#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <optional>
#include <utility>

#include "rules/expression.h"
#include "rules/names.h"
#include "rules/suggest.h"
#include "rules/tiered_regex.h"

namespace whyoom {
namespace {

// Limits for the recursion of parsing and evaluation; far beyond real expressions.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxSource = 64 * 1024;
// Without a limit, a chain of terms that each use the previous one twice would take exponential time.
constexpr std::size_t kMaxSize = 64 * 1024;

struct OperatorInfo {
  std::string_view text;
  int level;  // a higher one binds more tightly
  Operation operation;
  ExpressionNode::OfNumbers of_numbers = nullptr;
};

constexpr int kNotLevel = 3;
constexpr int kComparisonLevel = 4;
constexpr int kUnaryLevel = 7;
constexpr OperatorInfo kOperators[] = {
    {"or", 1, Operation::kOr},
    {"and", 2, Operation::kAnd},
    {"==", kComparisonLevel, Operation::kEqual},
    {"!=", kComparisonLevel, Operation::kNotEqual},
    {"<", kComparisonLevel, Operation::kOrder, [](double a, double b, double) -> Value { return a < b; }},
    {"<=", kComparisonLevel, Operation::kOrder, [](double a, double b, double) -> Value { return a <= b; }},
    {">", kComparisonLevel, Operation::kOrder, [](double a, double b, double) -> Value { return a > b; }},
    {">=", kComparisonLevel, Operation::kOrder, [](double a, double b, double) -> Value { return a >= b; }},
    {"+", 5, Operation::kSum},
    {"-", 5, Operation::kSum},
    {"*", 6, Operation::kProduct},
    {"/", 6, Operation::kProduct},
};

// Compilers print sizes with one decimal of a KiB or two of larger units; they may round or truncate.
Value Rounding(double bytes, double /*b*/, double /*c*/) {
  constexpr double kUnit = 1024;
  const double size = std::abs(bytes);
  double step = size < kUnit ? 1 : kUnit / 10;
  for (double unit = kUnit * kUnit; size >= unit && unit < 1e19; unit *= kUnit) step = unit / 100;
  return std::abs(size - std::round(size / step) * step) <= 1 && size >= kUnit ? step : 0;
}

struct FunctionInfo {
  std::string_view name;
  std::size_t arguments;
  Operation operation;
  ExpressionNode::OfNumbers of_numbers = nullptr;
};

constexpr FunctionInfo kFunctions[] = {
    {"known", 1, Operation::kKnown},
    {"default", 2, Operation::kDefault},
    {"if", 3, Operation::kIf},
    {"min", 2, Operation::kArithmetic, [](double a, double b, double) -> Value { return std::min(a, b); }},
    {"max", 2, Operation::kArithmetic, [](double a, double b, double) -> Value { return std::max(a, b); }},
    {"floor", 1, Operation::kArithmetic, [](double a, double, double) -> Value { return std::floor(a); }},
    {"ceil", 1, Operation::kArithmetic, [](double a, double, double) -> Value { return std::ceil(a); }},
    {"round", 1, Operation::kArithmetic, [](double a, double, double) -> Value { return std::round(a); }},
    {"abs", 1, Operation::kArithmetic, [](double a, double, double) -> Value { return std::abs(a); }},
    {"rounding", 1, Operation::kArithmetic, Rounding},
    {"within", 3, Operation::kArithmetic,
     [](double x, double least, double most) { return least <= x && x <= most ? Value(x) : Value(Unknown{}); }},
    {"matches", 2, Operation::kMatches},
    {"contains", 2, Operation::kContains},
    {"older", 2, Operation::kOlder},
    {"count_of", 1, Operation::kCountOf},
    {"sum_of", 2, Operation::kSumOf},
    {"any_of", 1, Operation::kAnyOf},
    {"first_of", 2, Operation::kFirstOf},
};

const FunctionInfo* FindFunction(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctions, name, &FunctionInfo::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameByte(char c) { return IsNameStart(c) || IsDigit(c) || c == '.'; }

// Hints for operators of other languages.
const char* HintFor(std::string_view rest) {
  constexpr std::pair<std::string_view, const char*> kHints[] = {{"&&", "write 'and'"},
                                                                 {"||", "write 'or'"},
                                                                 {"=", "write '=='"},
                                                                 {"!", "write 'not' or '!='"},
                                                                 {"\"", "write texts in single quotes"},
                                                                 {"%", "write a fraction such as 0.05"}};
  for (const auto& [text, hint] : kHints) {
    if (rest.starts_with(text)) return hint;
  }
  return "";
}

class Parser {
 public:
  // `is_checked`: also compile regular expressions, to check them.
  Parser(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults, bool is_checked)
      : source_(source), terms_(terms), faults_(*faults), is_checked_(is_checked) {}

  ParsedExpression Run() {
    const std::size_t faults_before = faults_.size();
    if (source_.size() > kMaxSource) {
      Report(0, "the expression is longer than " + std::to_string(kMaxSource) + " bytes");
    } else if (Operators(0, &parsed_.root) && !Peek().empty()) {
      Unexpected("an operator or the end");
    }
    if (faults_.size() != faults_before) parsed_.root = {};
    parsed_.of_row = uses_row_ && !uses_others_ && !parsed_.over_rows;
    return std::move(parsed_);
  }

 private:
  // Each function stores what it parses in the node. It returns false after a syntax error, because later errors would
  // be guesses.

  // Operands joined by operators of at least this level.
  bool Operators(int least, ExpressionNode* node) {
    Peek();
    const std::size_t begin = at_;
    if (!Operand(least, node)) return false;
    while (const OperatorInfo* op = NextOperator(least)) {
      const char sign = Take()[0];
      const bool is_comparison = op->level == kComparisonLevel;
      if (is_comparison || node->operation != op->operation) {
        ExpressionNode chain;
        chain.operation = op->operation;
        chain.of_numbers = op->of_numbers;
        chain.operands.push_back(std::move(*node));
        *node = std::move(chain);
        ++parsed_.size;
      }
      ExpressionNode& operand = node->operands.emplace_back();
      if (!Operators(op->level + 1, &operand)) return false;
      operand.sign = sign;
      node->begin = begin;
      node->end = end_;
      if (is_comparison && NextOperator(op->level) != nullptr)
        return Fail(at_, "comparisons cannot be chained", "write a < b and b < c");
    }
    return true;
  }

  const OperatorInfo* NextOperator(int least) {
    const auto* const found = std::ranges::find(kOperators, Peek(), &OperatorInfo::text);
    return found != std::end(kOperators) && found->level >= least ? found : nullptr;
  }

  bool Operand(int least, ExpressionNode* node) {
    const std::string_view token = Peek();
    const std::size_t begin = at_;
    if (token == "(") {
      Take();
      return Nested([&] { return Operators(0, node) && Close("')'"); });
    }
    ++parsed_.size;
    const bool is_word = token == "or" || token == "and" || token == "not";
    bool good = false;
    if (token == "-" || (token == "not" && least <= kNotLevel)) {
      good = Unary(token == "-", node);
    } else if (!token.empty() && IsDigit(token[0])) {
      good = Number(node);
    } else if (token == "'") {
      good = Text(node);
    } else if (!is_word && !token.empty() && IsNameStart(token[0])) {
      Take();
      good = Peek() == "(" ? Call(begin, std::string(token), node) : Name(begin, std::string(token), node);
    } else {
      return Unexpected("a number, a text, a name or '('");
    }
    node->begin = begin;
    node->end = end_;
    return good;
  }

  bool Unary(bool is_minus, ExpressionNode* node) {
    const std::size_t begin = at_;
    Take();
    node->operation = is_minus ? Operation::kArithmetic : Operation::kNot;
    if (is_minus) node->of_numbers = [](double a, double, double) -> Value { return -a; };
    return Nested([&] { return Operators(is_minus ? kUnaryLevel : kNotLevel, &node->operands.emplace_back()); }, begin);
  }

  // A number and its unit.
  bool Number(ExpressionNode* node) {
    const std::size_t begin = at_;
    const std::string_view token = Take();
    double number = 0;
    const auto parsed = std::from_chars(token.data(), token.data() + token.size(), number, std::chars_format::fixed);
    const std::string_view unit = token.substr(static_cast<std::size_t>(parsed.ptr - token.data()));
    const std::size_t power = unit.size() == 3 && unit.ends_with("iB") ? std::string_view("KMGTPE").find(unit[0]) : 6;
    if (power > 5 && !unit.empty() && unit != "B") {
      return Fail(begin + token.size() - unit.size(), "unknown unit '" + std::string(unit) + "'",
                  "units are B, KiB, MiB, GiB, TiB, PiB, EiB");
    }
    if (power < 6) number = std::ldexp(number, 10 * static_cast<int>(power + 1));
    if (parsed.ec != std::errc() || !std::isfinite(number)) return Fail(begin, "the number is too large");
    node->value = number;
    return true;
  }

  bool Text(ExpressionNode* node) {
    std::string content;
    for (std::size_t i = at_ + 1; i < source_.size(); ++i) {
      if (source_[i] == '\'' && !source_.substr(++i).starts_with("'")) {
        node->value = std::move(content);
        at_ = end_ = i;
        return true;
      }
      content += source_[i];
    }
    return Fail(at_, "this text is not closed", "close it with a single quote");
  }

  bool Name(std::size_t begin, std::string name, ExpressionNode* node) {
    if (name == "true" || name == "false") {
      node->value = name == "true";
    } else if (name != "unknown") {
      parsed_.names.push_back({name, begin});
      const auto term = terms_.find(name);
      const bool is_field = std::ranges::find(RowFields(), name) != RowFields().end();
      const bool of_row = term == terms_.end() ? is_field : term->second.parsed().of_row;
      (of_row ? uses_row_ : uses_others_) = true;
      node->operation = Operation::kName;
      node->value = std::move(name);
      if (term != terms_.end()) return Term(begin, term->second, node);
    }
    return true;
  }

  bool Term(std::size_t begin, const Expression& term, ExpressionNode* node) {
    node->operation = Operation::kTerm;
    node->term = &term;
    const ParsedExpression& parsed = term.parsed();
    if (in_rows_ && parsed.over_rows)
      Report(
          begin,
          "the term '" + *AsText(node->value) + "' uses a function over the rows and cannot be used inside another one",
          "compute it as a derived fact first");
    parsed_.over_rows = parsed_.over_rows || parsed.over_rows;
    parsed_.term_levels = std::max(parsed_.term_levels, parsed.term_levels + 1);
    parsed_.size += parsed.size;
    if (parsed_.term_levels > kMaxTermLevels)
      return Fail(begin, "terms are nested more than " + std::to_string(kMaxTermLevels) + " deep");
    return parsed_.size <= kMaxSize ||
           Fail(begin, "including its terms, the expression has more than " + std::to_string(kMaxSize) + " parts");
  }

  bool Call(std::size_t begin, const std::string& name, ExpressionNode* node) {
    const FunctionInfo* info = FindFunction(name);
    if (info == nullptr) {
      std::vector<std::string> names;
      for (const FunctionInfo& one : kFunctions) names.emplace_back(one.name);
      Report(begin, "unknown function '" + name + "'", DidYouMean(name, names, "functions are "));
    } else {
      node->operation = info->operation;
      node->of_numbers = info->of_numbers;
    }
    const bool over_rows = node->operation >= Operation::kCountOf && node->operation <= Operation::kFirstOf;
    if (over_rows && in_rows_)
      Report(begin, "'" + name + "' cannot be used inside another function over the rows",
             "compute it as a derived fact first");
    parsed_.over_rows = parsed_.over_rows || over_rows;
    const bool outer = std::exchange(in_rows_, in_rows_ || over_rows);
    const bool good = Nested([&] { return Arguments(name, node); });
    in_rows_ = outer;
    if (good && info != nullptr) CheckCall(begin, *info, node);
    return good;
  }

  bool Arguments(const std::string& name, ExpressionNode* node) {
    Take();  // the parenthesis
    if (Takes(")")) return true;
    do {
      if (!Operators(0, &node->operands.emplace_back())) return false;
    } while (Takes(","));
    return Close("',' or ')' after an argument of '" + name + "'");
  }

  void CheckCall(std::size_t begin, const FunctionInfo& info, ExpressionNode* node) {
    const std::size_t given = node->operands.size();
    if (given != info.arguments) {
      return Report(begin, "'" + std::string(info.name) + "' takes " + std::to_string(info.arguments) +
                               (info.arguments == 1 ? " argument, not " : " arguments, not ") + std::to_string(given));
    }
    if (info.operation != Operation::kMatches) return;
    const ExpressionNode& second = node->operands[1];
    const std::string* regex = second.operation == Operation::kLiteral ? AsText(second.value) : nullptr;
    if (regex == nullptr)
      return Report(second.begin, "the second argument of 'matches' must be a text", "write matches(name, 'RE2')");
    node->regex =
        std::make_shared<TieredRegex>(*regex, is_checked_ ? TieredRegex::Engines::kRe2 : TieredRegex::Engines::kBoth);
    if (is_checked_ && !node->regex->re2().ok())
      Report(second.begin, "RE2 rejects the pattern of 'matches': " + node->regex->re2().error());
  }

  bool Nested(const auto& parse, std::size_t begin = std::string_view::npos) {
    if (depth_ >= kMaxDepth)
      return Fail(std::min(begin, at_), "nested more than " + std::to_string(kMaxDepth) + " levels deep");
    ++depth_;
    const bool good = parse();
    --depth_;
    return good;
  }

  // The next token, of which at_ is then the begin: a name, or a number with its unit; an operator; another character.
  // Empty at the end.
  std::string_view Peek() {
    if (peeked_ == at_) return token_;
    at_ = std::min(source_.find_first_not_of(" \t\n", at_), source_.size());
    const std::string_view rest = source_.substr(at_);
    std::size_t length = 1;
    if (!rest.empty() && (IsNameStart(rest[0]) || IsDigit(rest[0]))) {
      length = static_cast<std::size_t>(std::ranges::find_if_not(rest, IsNameByte) - rest.begin());
    } else if (rest.size() > 1 && rest[1] == '=' && std::string_view("=!<>").find(rest[0]) != std::string_view::npos) {
      length = 2;
    }
    peeked_ = at_;
    return token_ = rest.substr(0, length);
  }
  std::string_view Take() {
    const std::string_view token = Peek();
    end_ = at_ += token.size();
    return token;
  }
  bool Takes(std::string_view token) {
    if (Peek() != token) return false;
    Take();
    return true;
  }
  bool Close(const std::string& expected) { return Takes(")") || Unexpected(expected); }

  bool Unexpected(const std::string& expected) {
    const std::string_view token = Peek();
    const bool is_printable = !token.empty() && token[0] > ' ' && token[0] < 0x7F;
    return Fail(at_,
                "expected " + expected + ", found " +
                    (token.empty()  ? "the end"
                     : token == "'" ? "a text"
                     : is_printable ? "'" + std::string(token) + "'"
                                    : "a character that expressions cannot contain"),
                HintFor(source_.substr(at_)));
  }
  void Report(std::size_t at, std::string what, std::string hint = "") {
    faults_.push_back({at, std::move(what), std::move(hint)});
  }
  bool Fail(std::size_t at, std::string what, std::string hint = "") {
    Report(at, std::move(what), std::move(hint));
    return false;
  }

  const std::string_view source_;
  const Terms& terms_;
  std::vector<SyntaxFault>& faults_;
  const bool is_checked_;
  ParsedExpression parsed_;
  std::size_t at_ = 0;
  std::size_t end_ = 0;  // of the last token
  std::size_t peeked_ = std::string_view::npos;
  std::string_view token_;  // at peeked_
  int depth_ = 0;
  bool in_rows_ = false;
  bool uses_row_ = false;     // a field of a row
  bool uses_others_ = false;  // any other name
};

}  // namespace

ParsedExpression Expression::Parse(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults) {
  std::vector<SyntaxFault> none;
  return Parser(source, terms, faults == nullptr ? &none : faults, faults != nullptr).Run();
}

}  // namespace whyoom
