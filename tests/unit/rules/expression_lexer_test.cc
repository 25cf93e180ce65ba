// Tokens of expressions.
#include <fmt/format.h>

#include <string>

#include "catch.h"
#include "rules/expression_node.h"

using namespace whyoom;
using namespace whyoom::internal;

namespace TEST_FILE {

// "name a@0, operator <@2, number 5@4", followed by the faults.
std::string Tokens(const std::string& source) {
  std::vector<SyntaxFault> faults;
  const std::vector<Token> tokens = Tokenize(source, &faults);
  REQUIRE_FALSE(tokens.empty());
  CHECK(tokens.back().kind == TokenKind::kEnd);
  std::string shown;
  for (const Token& token : tokens) {
    if (token.kind == TokenKind::kEnd) break;
    const char* kind = token.kind == TokenKind::kNumber     ? "number"
                       : token.kind == TokenKind::kText     ? "text"
                       : token.kind == TokenKind::kName     ? "name"
                       : token.kind == TokenKind::kOperator ? "operator"
                       : token.kind == TokenKind::kOpen     ? "open"
                       : token.kind == TokenKind::kClose    ? "close"
                                                            : "comma";
    const std::string text = token.kind == TokenKind::kNumber ? fmt::format("{}", token.number) : token.text;
    shown += fmt::format("{}{} {}@{}", shown.empty() ? "" : ", ", kind, text, token.at);
  }
  for (const SyntaxFault& fault : faults) shown += fmt::format("! {}: {} ({})", fault.at, fault.what, fault.hint);
  return shown;
}

TEST_CASE("names, keywords, texts and operators become tokens", "[rules]") {
  CHECK(Tokens("a.b_1 and not or").starts_with("name a.b_1@0, operator and@6, operator not@10, operator or@14"));
  CHECK(Tokens("android nota true") == "name android@0, name nota@8, name true@13");
  CHECK(
      Tokens("==!=<=>=<>+-*/") ==
      "operator ==@0, operator !=@2, operator <=@4, operator >=@6, operator <@8, operator >@9, operator +@10, operator "
      "-@11, operator *@12, operator /@13");
  CHECK(Tokens("f(a, 'b')") == "name f@0, open (@1, name a@2, comma ,@3, text b@5, close )@8");
  CHECK(Tokens("'it''s' '' 'a b'") == "text it's@0, text @8, text a b@11");
  CHECK(Tokens(" \t\n").empty());
}

TEST_CASE("units are multiplied into numbers", "[rules]") {
  CHECK(Tokens("5 0.25 10B") == "number 5@0, number 0.25@2, number 10@7");
  CHECK(Tokens("2KiB 1.5MiB 1GiB") == "number 2048@0, number 1572864@5, number 1073741824@12");
  CHECK(Tokens("1TiB") == "number 1099511627776@0");
  CHECK(Tokens("1PiB") == "number 1125899906842624@0");
  CHECK(Tokens("1EiB") == "number 1.152921504606847e+18@0");
}

TEST_CASE("the first invalid character ends the tokens and yields a hint", "[rules]") {
  CHECK(Tokens("a && b") == "name a@0! 2: unexpected '&' (write 'and')");
  CHECK(Tokens("a || b") == "name a@0! 2: unexpected '|' (write 'or')");
  CHECK(Tokens("a = b") == "name a@0! 2: unexpected '=' (write '==')");
  CHECK(Tokens("!a") == "! 0: unexpected '!' (write 'not' or '!=')");
  CHECK(Tokens("\"a\"") == "! 0: unexpected '\"' (write texts in single quotes)");
  CHECK(Tokens("5 % 2") == "number 5@0! 2: unexpected '%' (write a fraction such as 0.05)");
  CHECK(Tokens("a ^ b") == "name a@0! 2: unexpected '^' ()");
  CHECK(Tokens("\xC3\xA9") == "! 0: unexpected a character that expressions cannot contain ()");
  CHECK(Tokens("\x7F") == "! 0: unexpected a character that expressions cannot contain ()");
  CHECK(Tokens("'open") == "! 0: this text is not closed (close it with a single quote)");
  CHECK(Tokens("5GB") == "! 1: unknown unit 'GB' (units are B, KiB, MiB, GiB, TiB, PiB, EiB)");
  CHECK(Tokens("5.") == "! 1: unknown unit '.' (units are B, KiB, MiB, GiB, TiB, PiB, EiB)");
  CHECK(Tokens("1" + std::string(400, '0')) == "! 0: the number is too large ()");
  CHECK(Tokens("1" + std::string(300, '0') + "EiB") == "! 0: the number is too large ()");
}

}  // namespace TEST_FILE
