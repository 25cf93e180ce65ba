// The tokens of an expression, for mutants. The parser of the program has none.
#pragma once

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

enum class TokenKind { kEnd, kNumber, kText, kName, kOperator, kOpen, kClose, kComma };

struct Token {
  TokenKind kind = TokenKind::kEnd;
  std::size_t at = 0;
  std::string text;  // as written; of kText the content
  double number = 0;
};

// Returns the tokens of an expression, of which the last is kEnd; none if it has an invalid character.
inline std::vector<Token> TokensOf(std::string_view source) {
  std::vector<Token> tokens;
  const auto is_name = [](unsigned char c) { return std::isalnum(c) != 0 || c == '_' || c == '.'; };
  for (std::size_t at = source.find_first_not_of(" \t\n"); at < source.size();) {
    const std::string_view rest = source.substr(at);
    const auto length = static_cast<std::size_t>(std::find_if_not(rest.begin(), rest.end(), is_name) - rest.begin());
    std::size_t used = std::max<std::size_t>(length, 1);
    Token token{TokenKind::kOperator, at, std::string(rest.substr(0, used)), 0};
    if (std::isdigit(static_cast<unsigned char>(rest[0])) != 0) {
      token.kind = TokenKind::kNumber;
      char* unit = nullptr;
      token.number = std::strtod(token.text.c_str(), &unit);
      if (*unit != '\0' && *unit != 'B') token.number *= std::pow(1024, std::string_view("KMGTPE").find(*unit) + 1);
    } else if (length > 0) {
      const bool is_word = token.text == "or" || token.text == "and" || token.text == "not";
      token.kind = is_word ? TokenKind::kOperator : TokenKind::kName;
    } else if (rest[0] == '\'') {
      token.kind = TokenKind::kText;
      token.text.clear();
      while (used < rest.size() && (rest[used] != '\'' || rest.substr(used).starts_with("''"))) {
        used += rest[used] == '\'' ? 1 : 0;
        token.text += rest[used++];
      }
      ++used;
    } else if (rest[0] == '(' || rest[0] == ')' || rest[0] == ',') {
      token.kind = rest[0] == '(' ? TokenKind::kOpen : rest[0] == ')' ? TokenKind::kClose : TokenKind::kComma;
    } else {
      used = rest.size() > 1 && rest[1] == '=' ? 2 : 1;
      token.text = rest.substr(0, used);
      if (std::string_view("<>+-*/=!").find(rest[0]) == std::string_view::npos) return {};
    }
    tokens.push_back(token);
    at = source.find_first_not_of(" \t\n", at + used);
  }
  tokens.push_back({TokenKind::kEnd, source.size(), "", 0});
  return tokens;
}

}  // namespace whyoom
