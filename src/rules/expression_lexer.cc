#include "rules/expression_lexer.h"

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <utility>

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

// Spellings from other languages, and what they are called here.
const char* HintFor(std::string_view rest) {
  if (rest.starts_with("&&")) return "write 'and'";
  if (rest.starts_with("||")) return "write 'or'";
  if (rest.starts_with("=")) return "write '=='";
  if (rest.starts_with("!")) return "write 'not' or '!='";
  if (rest.starts_with("\"")) return "texts stand in single quotes";
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
        c > 0x20 && c < 0x7F ? std::string(1, source_[at_]) : "a character that no expression has";
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
    return Fail(begin, "the text that begins here has no end", "close it with a single quote");
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

}  // namespace whyoom::internal
