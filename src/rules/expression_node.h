// The syntax tree of an Expression and its parser. Internal to the expression language.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/value.h"
#include "text/regex_options.h"

namespace whyoom::internal {

enum class NodeKind {
  kLiteral,
  kName,
  kTerm,  // a name that refers to an expression
  kOr,    // any number of operands, so that a chain does not become a deep tree
  kAnd,   // the same
  kNot,
  kCompare,  // two operands
  kSum,      // any number of operands; ops[i] precedes operand i; ops[0] is always +
  kProduct,  // likewise, with * and /
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
  kOlder,
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

// All functions; see the comment in expression.h.
const std::vector<FunctionInfo>& Functions();

struct ExpressionNode {
  NodeKind kind = NodeKind::kLiteral;
  Value literal;
  std::string name;
  std::size_t at = 0;     // offset in the source of a name, or of the first operator of a comparison or arithmetic
  std::size_t begin = 0;  // start of the node in the source
  std::size_t end = 0;    // its end, with trailing blanks
  std::optional<Expression> term;
  Comparison comparison = Comparison::kEqual;
  Function function = Function::kKnown;
  std::string ops;
  std::vector<std::unique_ptr<ExpressionNode>> operands;
  mutable LazyRegex regex;  // of matches(); its source is the second operand

  ExpressionNode();
  ~ExpressionNode();
};

struct ParsedExpression {
  std::unique_ptr<ExpressionNode> tree;  // null if faults were added
  std::size_t size = 0;                  // as in Expression, like the next two
  bool over_rows = false;
  int term_levels = 0;
};

// `faults` is null for a source that is known to be valid.
ParsedExpression ParseExpression(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults);

// Whether `name` is an operator, constant or function of the language.
bool IsReserved(std::string_view name);

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
  std::string text;  // as written; for kText the content
  double number = 0;
};

// The last token is kEnd. At the first invalid character, adds one fault and stops, because later ones would be
// guesses.
std::vector<Token> Tokenize(std::string_view source, std::vector<SyntaxFault>* faults);

}  // namespace whyoom::internal

namespace whyoom {

struct Expression::Node : internal::ParsedExpression {};

}  // namespace whyoom
