// Cuts the source of an expression into tokens.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"

namespace whyoom::internal {

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
