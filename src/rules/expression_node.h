// The parsed form of an Expression and its parser. Internal to the expression language.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/tiered_regex.h"
#include "rules/value.h"

namespace whyoom::internal {

enum class Operation : std::uint8_t {
  kLiteral,
  kName,
  kTerm,  // a name that refers to an expression
  kOr,    // any number of operands, so that a chain does not become a deep tree; likewise kAnd, kSum, kProduct
  kAnd,
  kNot,
  kEqual,
  kNotEqual,
  kLess,
  kLessOrEqual,
  kGreater,
  kGreaterOrEqual,
  kSum,
  kProduct,
  kNegate,
  // Functions. Those from kMin to kWithin compute a number, those from kCountOf are over the rows.
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
  kMatches,
  kContains,
  kOlder,
  kCountOf,
  kSumOf,
  kAnyOf,
  kFirstOf,
};

inline bool IsOverRows(Operation operation) { return operation >= Operation::kCountOf; }

// The nodes of an expression are stored in prefix order: a node precedes its operands.
struct ExpressionNode {
  Operation operation = Operation::kLiteral;
  char sign = '+';  // of an operand of a sum or product: + - * /
  std::uint16_t operands = 0;
  std::uint32_t next = 0;   // index of the node after the last descendant
  std::uint32_t index = 0;  // in the values, terms or regexes of the expression
  std::uint32_t begin = 0;  // start of the node in the source
  std::uint32_t end = 0;    // its end, with trailing blanks
};

struct ParsedExpression {
  std::vector<ExpressionNode> nodes;  // empty if the expression has faults
  std::vector<Value> values;          // literals; names as texts
  std::vector<Expression> terms;
  std::vector<std::unique_ptr<TieredRegex>> regexes;  // of matches()
  std::size_t size = 0;                               // as in Expression, like the next two
  bool over_rows = false;
  int term_levels = 0;

  // The name of a node of kName or kTerm.
  const std::string& NameOf(const ExpressionNode& node) const { return *AsText(values[node.index]); }
  // Calls visit(index) for each operand of the node at `at`.
  template <class Visit>
  void EachOperand(std::size_t at, const Visit& visit) const {
    std::size_t operand = at + 1;
    for (int i = 0; i < nodes[at].operands; ++i, operand = nodes[operand].next) visit(operand);
  }
};

// `faults` is null for a source that is known to be valid.
ParsedExpression ParseExpression(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults);

// The name of a function; empty for other operations.
std::string_view FunctionName(Operation operation);

// Whether `name` is an operator, constant or function of the language.
bool IsReserved(std::string_view name);

enum class TokenKind {
  kEnd,
  kNumber,
  kText,
  kName,      // also true and false
  kOperator,  // or and not == != < <= > >= + - * /
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
