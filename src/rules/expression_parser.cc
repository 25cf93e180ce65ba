// Parses expressions by precedence climbing.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
#include <limits>
#include <optional>
#include <utility>

#include "rules/expression_node.h"
#include "rules/suggest.h"

namespace whyoom::internal {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsNameStart(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool IsNameByte(char c) { return IsNameStart(c) || IsDigit(c) || c == '.'; }

std::optional<double> UnitFactor(std::string_view unit) {
  constexpr std::array<std::string_view, 6> kUnits = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (unit.empty() || unit == "B") return 1.0;
  double factor = 1.0;
  for (std::string_view known : kUnits) {
    factor *= 1024.0;
    if (unit == known) return factor;
  }
  return std::nullopt;
}

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

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<SyntaxFault>* faults) : source_(source), faults_(faults) {}

  std::vector<Token> Run() {
    do {
      at_ = std::min(source_.find_first_not_of(" \t\n", at_), source_.size());
    } while (at_ < source_.size() && Next());
    Add(TokenKind::kEnd, source_.size(), "");
    return std::move(tokens_);
  }

 private:
  bool Next() {
    const char c = source_[at_];
    if (IsDigit(c)) return Number();
    if (IsNameStart(c)) return Name();
    if (c == '\'') return Text();
    if (c == '(') return Add(TokenKind::kOpen, at_, source_.substr(at_, 1));
    if (c == ')') return Add(TokenKind::kClose, at_, source_.substr(at_, 1));
    if (c == ',') return Add(TokenKind::kComma, at_, source_.substr(at_, 1));
    return Operator();
  }

  bool Add(TokenKind kind, std::size_t at, std::string_view text, double number = 0) {
    tokens_.push_back({kind, at, std::string(text), number});
    at_ = at + text.size();
    return true;
  }

  bool Fail(std::size_t at, std::string what, std::string hint) {
    faults_->push_back({at, std::move(what), std::move(hint)});
    return false;
  }

  std::size_t EndOf(std::size_t at, bool (*is_part)(char)) const {
    while (at < source_.size() && is_part(source_[at])) ++at;
    return at;
  }

  bool Operator() {
    for (std::string_view op : {"==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/"}) {
      if (source_.substr(at_).starts_with(op)) return Add(TokenKind::kOperator, at_, op);
    }
    const char c = source_[at_];
    return Fail(at_,
                c > 0x20 && c < 0x7F ? "unexpected '" + std::string(1, c) + "'"
                                     : "unexpected a character that expressions cannot contain",
                HintFor(source_.substr(at_)));
  }

  bool Name() {
    const std::string_view text = source_.substr(at_, EndOf(at_, IsNameByte) - at_);
    const bool is_word = text == "or" || text == "and" || text == "not";
    return Add(is_word ? TokenKind::kOperator : TokenKind::kName, at_, text);
  }

  bool Number() {
    const std::size_t begin = at_;
    std::size_t end = EndOf(begin, IsDigit);
    if (end + 1 < source_.size() && source_[end] == '.' && IsDigit(source_[end + 1])) end = EndOf(end + 1, IsDigit);
    double number = 0;
    const std::from_chars_result result = std::from_chars(source_.data() + begin, source_.data() + end, number);
    const std::size_t unit_at = end;
    end = EndOf(end, IsNameByte);
    const std::string_view unit = source_.substr(unit_at, end - unit_at);
    const std::optional<double> factor = UnitFactor(unit);
    if (result.ec != std::errc() || (factor && !std::isfinite(number * *factor)))
      return Fail(begin, "the number is too large", "");
    if (!factor) {
      return Fail(unit_at, "unknown unit '" + std::string(unit) + "'", "units are B, KiB, MiB, GiB, TiB, PiB, EiB");
    }
    return Add(TokenKind::kNumber, begin, source_.substr(begin, end - begin), number * *factor);
  }

  bool Text() {
    const std::size_t begin = at_;
    std::string content;
    for (std::size_t i = begin + 1; i < source_.size(); ++i) {
      const bool is_quote = source_[i] == '\'';
      if (is_quote && !source_.substr(i).starts_with("''")) {
        Add(TokenKind::kText, begin, content);
        at_ = i + 1;
        return true;
      }
      content += source_[i];
      i += is_quote ? 1 : 0;
    }
    return Fail(begin, "this text is not closed", "close it with a single quote");
  }

  std::string_view source_;
  std::vector<SyntaxFault>* faults_;
  std::vector<Token> tokens_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<Token> Tokenize(std::string_view source, std::vector<SyntaxFault>* faults) {
  return Lexer(source, faults).Run();
}

namespace {

// Limits for the recursion of parsing and evaluation; far beyond real expressions.
constexpr int kMaxDepth = 100;
constexpr std::size_t kMaxSource = 64 * 1024;
// Without a limit, a chain of terms that each use the previous one twice would take exponential time.
constexpr std::size_t kMaxSize = 64 * 1024;
constexpr int kMaxTermLevels = 8;

struct OperatorInfo {
  std::string_view text;
  Operation operation;
  int level;  // a higher one binds more tightly
};

constexpr int kNotLevel = 3;
constexpr int kUnaryLevel = 7;
constexpr OperatorInfo kOperators[] = {
    {"or", Operation::kOr, 1},     {"and", Operation::kAnd, 2},
    {"==", Operation::kEqual, 4},  {"!=", Operation::kNotEqual, 4},
    {"<", Operation::kLess, 4},    {"<=", Operation::kLessOrEqual, 4},
    {">", Operation::kGreater, 4}, {">=", Operation::kGreaterOrEqual, 4},
    {"+", Operation::kSum, 5},     {"-", Operation::kSum, 5},
    {"*", Operation::kProduct, 6}, {"/", Operation::kProduct, 6},
};

struct FunctionInfo {
  std::string_view name;
  Operation operation;
  std::size_t arguments;
};

constexpr FunctionInfo kFunctions[] = {
    {"known", Operation::kKnown, 1},       {"default", Operation::kDefault, 2}, {"if", Operation::kIf, 3},
    {"min", Operation::kMin, 2},           {"max", Operation::kMax, 2},         {"floor", Operation::kFloor, 1},
    {"ceil", Operation::kCeil, 1},         {"round", Operation::kRound, 1},     {"abs", Operation::kAbs, 1},
    {"rounding", Operation::kRounding, 1}, {"within", Operation::kWithin, 3},   {"matches", Operation::kMatches, 2},
    {"contains", Operation::kContains, 2}, {"older", Operation::kOlder, 2},     {"count_of", Operation::kCountOf, 1},
    {"sum_of", Operation::kSumOf, 2},      {"any_of", Operation::kAnyOf, 1},    {"first_of", Operation::kFirstOf, 2},
};

const FunctionInfo* FindFunction(std::string_view name) {
  const auto* const found = std::ranges::find(kFunctions, name, &FunctionInfo::name);
  return found == std::end(kFunctions) ? nullptr : found;
}

std::string FunctionHint(const std::string& name) {
  std::vector<std::string> names;
  for (const FunctionInfo& info : kFunctions) names.emplace_back(info.name);
  const std::string meant = DidYouMean(name, names);
  return meant.empty() ? "functions are " + Listing(names) : meant;
}

class Parser {
 public:
  // `is_checked`: also compile regular expressions, to check them.
  Parser(std::vector<Token> tokens, const Terms& terms, std::vector<SyntaxFault>* faults, bool is_checked)
      : tokens_(std::move(tokens)), terms_(terms), faults_(faults), is_checked_(is_checked) {}

  ParsedExpression Run() {
    if (Operators(0) && Peek().kind != TokenKind::kEnd)
      Fail(Peek().at, "expected an operator or the end, found " + Shown(Peek()));
    parsed_.size += parsed_.nodes.size();
    return std::move(parsed_);
  }

 private:
  // Each function appends the nodes of what it parses. It returns false after a syntax error, because later errors
  // would be guesses.

  // Operands joined by operators of at least this level.
  bool Operators(int least) {
    const std::size_t at = parsed_.nodes.size();
    const std::size_t begin = Peek().at;
    if (!Operand(least)) return false;
    for (const OperatorInfo* op = NextOperator(least); op != nullptr; op = NextOperator(least)) {
      const bool is_comparison = op->operation >= Operation::kEqual && op->operation <= Operation::kGreaterOrEqual;
      const char sign = Take().text[0];
      // A chain is one node. Its operands bind more tightly, so a node of the same kind at `at` is the chain so far,
      // unless it is in parentheses.
      if (!(chain_ == at && parsed_.nodes[at].operation == op->operation)) Insert(at, op->operation, begin);
      const std::size_t operand = parsed_.nodes.size();
      if (!Operators(op->level + 1)) return false;
      const bool is_signed = op->operation == Operation::kSum || op->operation == Operation::kProduct;
      if (is_signed) parsed_.nodes[operand].sign = sign;
      ++parsed_.nodes[at].operands;
      Close(at);
      chain_ = at;
      if (is_comparison && NextOperator(op->level) != nullptr)
        return Fail(Peek().at, "comparisons cannot be chained", "write a < b and b < c");
    }
    chain_ = std::string_view::npos;
    return true;
  }

  const OperatorInfo* NextOperator(int least) const {
    if (Peek().kind != TokenKind::kOperator) return nullptr;
    const auto* const found = std::ranges::find(kOperators, Peek().text, &OperatorInfo::text);
    return found != std::end(kOperators) && found->level >= least ? found : nullptr;
  }

  bool Operand(int least) {
    const Token token = Take();
    switch (token.kind) {
      case TokenKind::kNumber:
        return Literal(token.at, token.number);
      case TokenKind::kText:
        return Literal(token.at, token.text);
      case TokenKind::kName:
        return Peek().kind == TokenKind::kOpen ? Call(token) : Name(token);
      case TokenKind::kOpen:
        return Nested(Peek().at, [&] { return Operators(0) && Expect(TokenKind::kClose, "')'"); });
      default:
        if (token.text == "not" && least <= kNotLevel) return Unary(Operation::kNot, token.at, kNotLevel);
        if (token.text == "-") return Unary(Operation::kNegate, token.at, kUnaryLevel);
        return Fail(token.at, "expected a number, a text, a name or '(', found " + Shown(token));
    }
  }

  bool Unary(Operation operation, std::size_t begin, int least) {
    const std::size_t at = Append(operation, begin);
    parsed_.nodes[at].operands = 1;
    const bool good = Nested(begin, [&] { return Operators(least); });
    if (good) Close(at);
    return good;
  }

  bool Literal(std::size_t begin, Value value) {
    const std::size_t at = Append(Operation::kLiteral, begin, parsed_.values.size());
    parsed_.values.push_back(std::move(value));
    Close(at);
    return true;
  }

  bool Name(const Token& token) {
    if (token.text == "true" || token.text == "false") return Literal(token.at, token.text == "true");
    if (token.text == "unknown") return Literal(token.at, Unknown{});
    const auto term = terms_.find(token.text);
    Literal(token.at, token.text);
    ExpressionNode& node = parsed_.nodes.back();
    node.operation = term == terms_.end() ? Operation::kName : Operation::kTerm;
    if (term == terms_.end()) return true;
    parsed_.terms.resize(parsed_.values.size());  // so that a term has the index of its name
    parsed_.terms.back() = term->second;
    return CheckTerm(token, term->second);
  }

  bool CheckTerm(const Token& token, const Expression& term) {
    if (in_rows_ && term.is_over_rows()) {
      Report(token.at,
             "the term '" + token.text + "' uses a function over the rows and cannot be used inside another one",
             "compute it as a derived fact first");
    }
    parsed_.over_rows = parsed_.over_rows || term.is_over_rows();
    parsed_.term_levels = std::max(parsed_.term_levels, term.term_levels() + 1);
    parsed_.size += term.size();
    if (parsed_.term_levels > kMaxTermLevels)
      return Fail(token.at, "terms are nested more than " + std::to_string(kMaxTermLevels) + " deep");
    return parsed_.size <= kMaxSize ||
           Fail(token.at, "including its terms, the expression has more than " + std::to_string(kMaxSize) + " parts");
  }

  bool Call(const Token& name) {
    const FunctionInfo* info = FindFunction(name.text);
    if (info == nullptr) Report(name.at, "unknown function '" + name.text + "'", FunctionHint(name.text));
    const bool over_rows = info != nullptr && IsOverRows(info->operation);
    if (over_rows && in_rows_) {
      Report(name.at, "'" + name.text + "' cannot be used inside another function over the rows",
             "compute it as a derived fact first");
    }
    parsed_.over_rows = parsed_.over_rows || over_rows;
    const std::size_t at = Append(info == nullptr ? Operation::kKnown : info->operation, name.at);
    const bool outer = std::exchange(in_rows_, in_rows_ || over_rows);
    std::vector<std::size_t> arguments;  // the offset of each
    const bool good = Nested(Peek().at, [&] { return Arguments(name, &arguments); });
    in_rows_ = outer;
    if (!good) return false;
    parsed_.nodes[at].operands = static_cast<std::uint16_t>(arguments.size());
    Close(at);
    if (info != nullptr) CheckCall(name, *info, arguments, at);
    return true;
  }

  bool Arguments(const Token& name, std::vector<std::size_t>* arguments) {
    Take();  // the parenthesis
    if (Peek().kind == TokenKind::kClose) return Expect(TokenKind::kClose, "");
    while (arguments->size() < std::numeric_limits<std::uint16_t>::max()) {
      arguments->push_back(Peek().at);
      if (!Operators(0)) return false;
      if (Peek().kind != TokenKind::kComma)
        return Expect(TokenKind::kClose, "',' or ')' after an argument of '" + name.text + "'");
      Take();
    }
    return Fail(name.at, "too many arguments");
  }

  void CheckCall(const Token& name, const FunctionInfo& info, const std::vector<std::size_t>& arguments,
                 std::size_t at) {
    if (arguments.size() != info.arguments) {
      Report(name.at, "'" + name.text + "' takes " + std::to_string(info.arguments) +
                          (info.arguments == 1 ? " argument, not " : " arguments, not ") +
                          std::to_string(arguments.size()));
      return;
    }
    if (info.operation != Operation::kMatches) return;
    const ExpressionNode& second = parsed_.nodes.back();  // if it is a literal
    const std::string* regex = second.operation == Operation::kLiteral && second.begin == arguments[1]
                                   ? AsText(parsed_.values[second.index])
                                   : nullptr;
    if (regex == nullptr)
      return Report(arguments[1], "the second argument of 'matches' must be a text", "write matches(name, 'RE2')");
    parsed_.nodes[at].index = static_cast<std::uint32_t>(parsed_.regexes.size());
    parsed_.regexes.push_back(
        std::make_unique<TieredRegex>(*regex, is_checked_ ? TieredRegex::Engines::kRe2 : TieredRegex::Engines::kBoth));
    const auto& made = parsed_.regexes.back();
    if (is_checked_ && !made->re2().ok())
      Report(arguments[1], "RE2 rejects the pattern of 'matches': " + made->re2().error());
  }

  std::size_t Append(Operation operation, std::size_t begin, std::size_t index = 0) {
    Insert(parsed_.nodes.size(), operation, begin);
    parsed_.nodes.back().index = static_cast<std::uint32_t>(index);
    parsed_.nodes.back().operands = 0;
    return parsed_.nodes.size() - 1;
  }

  // Inserts a node whose first operand begins at index `at`.
  void Insert(std::size_t at, Operation operation, std::size_t begin) {
    ExpressionNode node;
    node.operation = operation;
    node.operands = 1;
    node.begin = static_cast<std::uint32_t>(begin);
    parsed_.nodes.insert(parsed_.nodes.begin() + static_cast<std::ptrdiff_t>(at), node);
    for (std::size_t i = at + 1; i < parsed_.nodes.size(); ++i) ++parsed_.nodes[i].next;
  }

  // Ends the node at `at`; it extends to the next token.
  void Close(std::size_t at) {
    parsed_.nodes[at].next = static_cast<std::uint32_t>(parsed_.nodes.size());
    parsed_.nodes[at].end = static_cast<std::uint32_t>(Peek().at);
  }

  bool Nested(std::size_t at, const auto& parse) {
    if (depth_ >= kMaxDepth) return Fail(at, "nested more than " + std::to_string(kMaxDepth) + " levels deep");
    ++depth_;
    const bool good = parse();
    --depth_;
    chain_ = std::string_view::npos;
    return good;
  }

  const Token& Peek() const { return tokens_[next_]; }
  const Token& Take() { return tokens_[next_ + 1 < tokens_.size() ? next_++ : next_]; }

  bool Expect(TokenKind kind, const std::string& what) {
    if (Peek().kind != kind) return Fail(Peek().at, "expected " + what + ", found " + Shown(Peek()));
    Take();
    return true;
  }

  static std::string Shown(const Token& token) {
    if (token.kind == TokenKind::kEnd) return "the end";
    return token.kind == TokenKind::kText ? "a text" : "'" + token.text + "'";
  }

  void Report(std::size_t at, std::string what, std::string hint = "") {
    faults_->push_back({at, std::move(what), std::move(hint)});
  }
  bool Fail(std::size_t at, std::string what, std::string hint = "") {
    Report(at, std::move(what), std::move(hint));
    return false;
  }

  const std::vector<Token> tokens_;
  const Terms& terms_;
  std::vector<SyntaxFault>* faults_;
  const bool is_checked_;
  ParsedExpression parsed_;
  std::size_t next_ = 0;
  std::size_t chain_ = std::string_view::npos;  // the node that the last operator belongs to
  int depth_ = 0;
  bool in_rows_ = false;
};

}  // namespace

std::string_view FunctionName(Operation operation) {
  const auto* const found = std::ranges::find(kFunctions, operation, &FunctionInfo::operation);
  return found == std::end(kFunctions) ? std::string_view() : found->name;
}

bool IsReserved(std::string_view name) {
  constexpr std::string_view kWords[] = {"or", "and", "not", "true", "false", "unknown"};
  return FindFunction(name) != nullptr || std::ranges::find(kWords, name) != std::end(kWords);
}

ParsedExpression ParseExpression(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults) {
  std::vector<SyntaxFault> none;
  const bool is_checked = faults != nullptr;
  if (!is_checked) faults = &none;
  const std::size_t faults_before = faults->size();
  if (source.size() > kMaxSource) {
    faults->push_back({0, "the expression is longer than " + std::to_string(kMaxSource) + " bytes", ""});
    return {};
  }
  std::vector<Token> tokens = Tokenize(source, faults);
  if (faults->size() != faults_before) return {};
  ParsedExpression parsed = Parser(std::move(tokens), terms, faults, is_checked).Run();
  return faults->size() == faults_before ? std::move(parsed) : ParsedExpression();
}

}  // namespace whyoom::internal
