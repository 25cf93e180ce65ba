// The tree behind an Expression, and what makes one of source text. Internal to the expression language.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/value.h"

namespace re2 {
class RE2;
}

namespace whyoom::internal {

enum class NodeKind {
  kLiteral,
  kName,
  kTerm,  // a name that stands for an expression
  kOr,    // any number of operands: a chain must not become a deep tree
  kAnd,   // the same
  kNot,
  kCompare,  // two operands
  kSum,      // any number of operands, ops[i] in front of the i-th; ops[0] is always +
  kProduct,  // the same with * and /
  kNegate,
  kCall,
};

enum class Comparison { kEqual, kNotEqual, kLess, kLessOrEqual, kGreater, kGreaterOrEqual };

enum class Function {
  kKnown,
  kDefault,
  kIf,
  kMin,
  kMax,
  kFloor,
  kCeil,
  kRound,
  kAbs,
  kRounding,
  kWithin,
  kBetween,
  kMatches,
  kContains,
  kCountOf,
  kSumOf,
  kMaxOf,
  kAnyOf,
  kAllOf,
  kFirstOf,
};

struct FunctionInfo {
  std::string_view name;
  Function function;
  std::size_t arguments;
  bool over_rows;
};

// In the order of the header's comment.
const std::vector<FunctionInfo>& Functions();

struct ExpressionNode {
  NodeKind kind = NodeKind::kLiteral;
  Value literal;
  std::string name;
  std::size_t at = 0;     // of a name, a comparison or an operand of arithmetic, in the source
  std::size_t begin = 0;  // of the part in the source,
  std::size_t end = 0;    // with the blanks behind it
  std::optional<Expression> term;
  Comparison comparison = Comparison::kEqual;
  Function function = Function::kKnown;
  std::string ops;
  std::vector<std::unique_ptr<ExpressionNode>> operands;
  std::unique_ptr<re2::RE2> regex;  // of matches()

  ExpressionNode();
  ~ExpressionNode();
};

struct ParsedExpression {
  std::unique_ptr<ExpressionNode> tree;  // nullptr where anything was added to `faults`
  std::size_t size = 0;                  // these as in Expression
  bool over_rows = false;
  int term_levels = 0;
};

ParsedExpression ParseExpression(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults);

// Whether it is a word, a constant or a function of the language.
bool IsReserved(std::string_view name);

// As Expression::type; `faults` may be null.
ValueType TypeOf(const ExpressionNode& node, const TypeOfName& types, bool in_rows, std::vector<SyntaxFault>* faults);

void CollectNames(const ExpressionNode& node, bool in_rows, std::vector<NameUse>* uses);

enum class TokenKind {
  kEnd,
  kNumber,
  kText,
  kName,      // also true and false
  kWord,      // or, and, not
  kOperator,  // == != < <= > >= + - * /
  kOpen,
  kClose,
  kComma,
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t at = 0;
  std::string text;  // as written; of a text: its content
  double number = 0;
};

// The last token is kEnd. Where `source` is not made of tokens: what is wrong goes to `faults` (the first
// such place only, the rest would be guesswork) and the tokens end there.
std::vector<Token> Tokenize(std::string_view source, std::vector<SyntaxFault>* faults);

}  // namespace whyoom::internal

namespace whyoom {

struct Expression::Node : internal::ParsedExpression {};

}  // namespace whyoom
