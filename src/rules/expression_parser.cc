// A recursive descent parser with one function per precedence level.
#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <iterator>
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
  if (rest.starts_with("&&")) return "write 'and'";
  if (rest.starts_with("||")) return "write 'or'";
  if (rest.starts_with("=")) return "write '=='";
  if (rest.starts_with("!")) return "write 'not' or '!='";
  if (rest.starts_with("\"")) return "write texts in single quotes";
  if (rest.starts_with("%")) return "write a fraction such as 0.05";
  return "";
}

class Lexer {
 public:
  Lexer(std::string_view source, std::vector<SyntaxFault>* faults) : source_(source), faults_(faults) {}

  std::vector<Token> Run() {
    while (SkipBlanks()) {
      if (!Next()) break;
    }
    Add(TokenKind::kEnd, source_.size(), "");
    return std::move(tokens_);
  }

 private:
  bool SkipBlanks() {
    while (at_ < source_.size() && (source_[at_] == ' ' || source_[at_] == '\t' || source_[at_] == '\n')) ++at_;
    return at_ < source_.size();
  }

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

  bool Add(TokenKind kind, std::size_t at, std::string_view text) {
    Token token;
    token.kind = kind;
    token.at = at;
    token.text = text;
    tokens_.push_back(std::move(token));
    at_ = at + text.size();
    return true;
  }

  bool Fail(std::size_t at, std::string what, std::string hint) {
    faults_->push_back({at, std::move(what), std::move(hint)});
    return false;
  }

  bool Operator() {
    for (std::string_view op : {"==", "!=", "<=", ">=", "<", ">", "+", "-", "*", "/"}) {
      if (source_.substr(at_).starts_with(op)) return Add(TokenKind::kOperator, at_, op);
    }
    const unsigned char c = static_cast<unsigned char>(source_[at_]);
    const std::string shown =
        c > 0x20 && c < 0x7F ? std::string(1, source_[at_]) : "a character that expressions cannot contain";
    return Fail(at_, c > 0x20 && c < 0x7F ? "unexpected '" + shown + "'" : "unexpected " + shown,
                HintFor(source_.substr(at_)));
  }

  bool Name() {
    std::size_t end = at_;
    while (end < source_.size() && IsNameByte(source_[end])) ++end;
    const std::string_view text = source_.substr(at_, end - at_);
    const bool is_word = text == "or" || text == "and" || text == "not";
    return Add(is_word ? TokenKind::kWord : TokenKind::kName, at_, text);
  }

  bool Number() {
    const std::size_t begin = at_;
    std::size_t end = begin;
    while (end < source_.size() && IsDigit(source_[end])) ++end;
    if (end + 1 < source_.size() && source_[end] == '.' && IsDigit(source_[end + 1])) {
      ++end;
      while (end < source_.size() && IsDigit(source_[end])) ++end;
    }
    double number = 0;
    const std::from_chars_result result = std::from_chars(source_.data() + begin, source_.data() + end, number);
    if (result.ec != std::errc()) return Fail(begin, "the number is too large", "");
    const std::size_t unit_at = end;
    while (end < source_.size() && IsNameByte(source_[end])) ++end;
    const std::string_view unit = source_.substr(unit_at, end - unit_at);
    const std::optional<double> factor = UnitFactor(unit);
    if (!factor) {
      return Fail(unit_at, "unknown unit '" + std::string(unit) + "'", "units are B, KiB, MiB, GiB, TiB, PiB, EiB");
    }
    if (!std::isfinite(number * *factor)) return Fail(begin, "the number is too large", "");
    Add(TokenKind::kNumber, begin, source_.substr(begin, end - begin));
    tokens_.back().number = number * *factor;
    return true;
  }

  bool Text() {
    const std::size_t begin = at_;
    std::string content;
    for (std::size_t i = begin + 1; i < source_.size(); ++i) {
      if (source_[i] != '\'') {
        content += source_[i];
      } else if (i + 1 < source_.size() && source_[i + 1] == '\'') {
        content += source_[i++];
      } else {
        Add(TokenKind::kText, begin, content);
        at_ = i + 1;
        return true;
      }
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

using NodePtr = std::unique_ptr<ExpressionNode>;

const FunctionInfo* FindFunction(std::string_view name) {
  for (const FunctionInfo& info : Functions()) {
    if (info.name == name) return &info;
  }
  return nullptr;
}

std::vector<std::string> FunctionNames() {
  std::vector<std::string> names;
  for (const FunctionInfo& info : Functions()) names.emplace_back(info.name);
  return names;
}

class Parser {
 public:
  // `is_checked`: also compile regular expressions, to check them.
  Parser(std::vector<Token> tokens, const Terms& terms, std::vector<SyntaxFault>* faults, bool is_checked)
      : tokens_(std::move(tokens)), terms_(terms), faults_(faults), is_checked_(is_checked) {}

  ParsedExpression Run() {
    parsed_.tree = Or();
    if (parsed_.tree != nullptr && Peek().kind != TokenKind::kEnd) {
      Fail(Peek().at, "expected an operator or the end, found " + Shown(Peek()), "");
    }
    return std::move(parsed_);
  }

 private:
  NodePtr Make(NodeKind kind) {
    NodePtr node = std::make_unique<ExpressionNode>();
    node->kind = kind;
    ++parsed_.size;
    return node;
  }

  // Each function returns nullptr after reporting a syntax error, because later errors would be guesses.

  NodePtr Or() { return Chain(NodeKind::kOr, "or", &Parser::And); }
  NodePtr And() { return Chain(NodeKind::kAnd, "and", &Parser::Not); }

  NodePtr Chain(NodeKind kind, std::string_view word, NodePtr (Parser::*operand)()) {
    const std::size_t begin = Peek().at;
    NodePtr first = (this->*operand)();
    if (first == nullptr || !IsWord(word)) return first;
    NodePtr node = Make(kind);
    node->operands.push_back(std::move(first));
    while (IsWord(word)) {
      Take();
      NodePtr next = (this->*operand)();
      if (next == nullptr) return nullptr;
      node->operands.push_back(std::move(next));
    }
    return Spanning(begin, std::move(node));
  }

  NodePtr Not() {
    if (!IsWord("not")) return Compare();
    return Nested([this] {
      const std::size_t begin = Take().at;
      return Spanning(begin, Wrap(NodeKind::kNot, Not()));
    });
  }

  NodePtr Compare() {
    const std::size_t begin = Peek().at;
    NodePtr left = Sum();
    Comparison comparison;
    if (left == nullptr || !IsComparison(&comparison)) return left;
    const std::size_t at = Take().at;
    NodePtr right = Sum();
    if (right == nullptr) return nullptr;
    NodePtr node = Make(NodeKind::kCompare);
    node->at = at;
    node->comparison = comparison;
    node->operands.push_back(std::move(left));
    node->operands.push_back(std::move(right));
    if (IsComparison(&comparison)) {
      return Fail(Peek().at, "comparisons cannot be chained", "write a < b and b < c");
    }
    return Spanning(begin, std::move(node));
  }

  NodePtr Sum() { return Arithmetic(NodeKind::kSum, "+-", &Parser::Product); }
  NodePtr Product() { return Arithmetic(NodeKind::kProduct, "*/", &Parser::Unary); }

  NodePtr Arithmetic(NodeKind kind, std::string_view ops, NodePtr (Parser::*operand)()) {
    const std::size_t begin = Peek().at;
    NodePtr first = (this->*operand)();
    if (first == nullptr || !IsOneOf(ops)) return first;
    NodePtr node = Make(kind);
    node->at = Peek().at;
    node->ops = ops[0];
    node->operands.push_back(std::move(first));
    while (IsOneOf(ops)) {
      node->ops += Take().text[0];
      NodePtr next = (this->*operand)();
      if (next == nullptr) return nullptr;
      node->operands.push_back(std::move(next));
    }
    return Spanning(begin, std::move(node));
  }

  NodePtr Unary() {
    if (!IsOneOf("-")) return Primary();
    return Nested([this] {
      const std::size_t begin = Take().at;
      return Spanning(begin, Wrap(NodeKind::kNegate, Unary()));
    });
  }

  NodePtr Primary() {
    const Token token = Take();
    switch (token.kind) {
      case TokenKind::kNumber:
        return Literal(token.number);
      case TokenKind::kText:
        return Literal(token.text);
      case TokenKind::kName:
        return Spanning(token.at, Peek().kind == TokenKind::kOpen ? Call(token) : Name(token));
      case TokenKind::kOpen:
        return Parenthesis();
      default:
        return Fail(token.at, "expected a number, a text, a name or '(', found " + Shown(token), "");
    }
  }

  NodePtr Literal(Value value) {
    NodePtr node = Make(NodeKind::kLiteral);
    node->literal = std::move(value);
    return node;
  }

  NodePtr Name(const Token& token) {
    if (token.text == "true" || token.text == "false") return Literal(token.text == "true");
    if (token.text == "unknown") return Literal(Unknown{});
    const auto term = terms_.find(token.text);
    NodePtr node = Make(term == terms_.end() ? NodeKind::kName : NodeKind::kTerm);
    node->name = token.text;
    node->at = token.at;
    if (term == terms_.end()) return node;
    node->term = term->second;
    return Term(token, term->second) ? std::move(node) : nullptr;
  }

  bool Term(const Token& token, const Expression& term) {
    if (in_rows_ && term.is_over_rows()) {
      Report(token.at,
             "the term '" + token.text + "' uses a function over the rows and cannot be used inside another one",
             "compute it as a derived fact first");
    }
    parsed_.over_rows = parsed_.over_rows || term.is_over_rows();
    parsed_.term_levels = std::max(parsed_.term_levels, term.term_levels() + 1);
    parsed_.size += term.size();
    if (parsed_.term_levels > kMaxTermLevels) {
      Fail(token.at, "terms are nested more than " + std::to_string(kMaxTermLevels) + " deep", "");
      return false;
    }
    if (parsed_.size > kMaxSize) {
      Fail(token.at, "including its terms, the expression has more than " + std::to_string(kMaxSize) + " parts", "");
      return false;
    }
    return true;
  }

  NodePtr Parenthesis() {
    return Nested([this]() -> NodePtr {
      NodePtr node = Or();
      if (node == nullptr) return node;
      if (Peek().kind != TokenKind::kClose) return Fail(Peek().at, "expected ')', found " + Shown(Peek()), "");
      Take();
      return node;
    });
  }

  NodePtr Call(const Token& name) {
    const FunctionInfo* info = FindFunction(name.text);
    if (info == nullptr) Report(name.at, "unknown function '" + name.text + "'", Suggestion(name.text));
    const bool over_rows = info != nullptr && info->over_rows;
    if (over_rows && in_rows_) {
      Report(name.at, "'" + name.text + "' cannot be used inside another function over the rows",
             "compute it as a derived fact first");
    }
    parsed_.over_rows = parsed_.over_rows || over_rows;
    NodePtr node = Make(NodeKind::kCall);
    const bool outer = std::exchange(in_rows_, in_rows_ || over_rows);
    node = Nested([&] { return Arguments(name, node.get()) ? std::move(node) : NodePtr(); });
    in_rows_ = outer;
    if (node == nullptr) return nullptr;
    if (info != nullptr) CheckCall(name, *info, node.get());
    return node;
  }

  bool Arguments(const Token& name, ExpressionNode* node) {
    Take();  // the parenthesis
    if (Peek().kind == TokenKind::kClose) {
      Take();
      return true;
    }
    while (true) {
      const std::size_t begin = Peek().at;
      NodePtr argument = Or();
      if (argument == nullptr) return false;
      argument_at_ = begin;
      node->operands.push_back(std::move(argument));
      const Token token = Take();
      if (token.kind == TokenKind::kClose) return true;
      if (token.kind != TokenKind::kComma) {
        Fail(token.at, "expected ',' or ')' after an argument of '" + name.text + "', found " + Shown(token), "");
        return false;
      }
    }
  }

  void CheckCall(const Token& name, const FunctionInfo& info, ExpressionNode* node) {
    node->function = info.function;
    if (node->operands.size() != info.arguments) {
      Report(name.at,
             "'" + name.text + "' takes " + std::to_string(info.arguments) +
                 (info.arguments == 1 ? " argument, not " : " arguments, not ") + std::to_string(node->operands.size()),
             "");
      return;
    }
    if (info.function != Function::kMatches) return;
    const std::string* regex = AsText(node->operands[1]->literal);
    if (node->operands[1]->kind != NodeKind::kLiteral || regex == nullptr) {
      Report(argument_at_, "the second argument of 'matches' must be a text", "write matches(name, 'RE2')");
      return;
    }
    if (is_checked_ && !node->regex.Of(*regex).ok())
      Report(argument_at_, "RE2 rejects the pattern of 'matches': " + node->regex.Of(*regex).error(), "");
  }

  std::string Suggestion(const std::string& name) const {
    const std::string meant = DidYouMean(name, FunctionNames());
    return meant.empty() ? "functions are " + Listing(FunctionNames()) : meant;
  }

  template <typename Parse>
  NodePtr Nested(const Parse& parse) {
    if (depth_ >= kMaxDepth) {
      return Fail(Peek().at, "nested more than " + std::to_string(kMaxDepth) + " levels deep", "");
    }
    ++depth_;
    NodePtr node = parse();
    --depth_;
    return node;
  }

  // Sets the node's range in the source; it ends at the next token.
  NodePtr Spanning(std::size_t begin, NodePtr node) const {
    if (node == nullptr) return node;
    node->begin = begin;
    node->end = Peek().at;
    return node;
  }

  NodePtr Wrap(NodeKind kind, NodePtr operand) {
    if (operand == nullptr) return nullptr;
    NodePtr node = Make(kind);
    node->operands.push_back(std::move(operand));
    return node;
  }

  const Token& Peek() const { return tokens_[next_]; }
  const Token& Take() {
    const Token& token = tokens_[next_];
    if (next_ + 1 < tokens_.size()) ++next_;
    return token;
  }
  bool IsWord(std::string_view word) const { return Peek().kind == TokenKind::kWord && Peek().text == word; }
  bool IsOneOf(std::string_view ops) const {
    return Peek().kind == TokenKind::kOperator && Peek().text.size() == 1 &&
           ops.find(Peek().text[0]) != std::string_view::npos;
  }

  bool IsComparison(Comparison* comparison) const {
    constexpr std::pair<std::string_view, Comparison> kAll[] = {
        {"==", Comparison::kEqual},       {"!=", Comparison::kNotEqual}, {"<", Comparison::kLess},
        {"<=", Comparison::kLessOrEqual}, {">", Comparison::kGreater},   {">=", Comparison::kGreaterOrEqual}};
    if (Peek().kind != TokenKind::kOperator) return false;
    for (const auto& [text, kind] : kAll) {
      if (Peek().text != text) continue;
      *comparison = kind;
      return true;
    }
    return false;
  }

  static std::string Shown(const Token& token) {
    if (token.kind == TokenKind::kEnd) return "the end";
    return token.kind == TokenKind::kText ? "a text" : "'" + token.text + "'";
  }

  void Report(std::size_t at, std::string what, std::string hint) {
    faults_->push_back({at, std::move(what), std::move(hint)});
  }
  std::nullptr_t Fail(std::size_t at, std::string what, std::string hint) {
    Report(at, std::move(what), std::move(hint));
    return nullptr;
  }

  std::vector<Token> tokens_;
  const Terms& terms_;
  std::vector<SyntaxFault>* faults_;
  const bool is_checked_;
  ParsedExpression parsed_;
  std::size_t next_ = 0;
  std::size_t argument_at_ = 0;  // offset of the last argument of the current call
  int depth_ = 0;
  bool in_rows_ = false;
};

}  // namespace

ExpressionNode::ExpressionNode() = default;
ExpressionNode::~ExpressionNode() = default;

const std::vector<FunctionInfo>& Functions() {
  static const std::vector<FunctionInfo> functions = {
      {"known", Function::kKnown, 1, false},     {"default", Function::kDefault, 2, false},
      {"if", Function::kIf, 3, false},           {"min", Function::kMin, 2, false},
      {"max", Function::kMax, 2, false},         {"floor", Function::kFloor, 1, false},
      {"ceil", Function::kCeil, 1, false},       {"round", Function::kRound, 1, false},
      {"abs", Function::kAbs, 1, false},         {"rounding", Function::kRounding, 1, false},
      {"within", Function::kWithin, 3, false},   {"between", Function::kBetween, 3, false},
      {"matches", Function::kMatches, 2, false}, {"contains", Function::kContains, 2, false},
      {"older", Function::kOlder, 2, false},     {"count_of", Function::kCountOf, 1, true},
      {"sum_of", Function::kSumOf, 2, true},     {"max_of", Function::kMaxOf, 2, true},
      {"any_of", Function::kAnyOf, 1, true},     {"all_of", Function::kAllOf, 1, true},
      {"first_of", Function::kFirstOf, 2, true},
  };
  return functions;
}

bool IsReserved(std::string_view name) {
  constexpr std::string_view kWords[] = {"or", "and", "not", "true", "false", "unknown"};
  return FindFunction(name) != nullptr || std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
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
