#include "mutation/source_mutants.h"

#include <fmt/format.h>
#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "mutation/expression_tokens.h"
#include "mutation/pattern_tree.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using TreeKind = PatternPiece::Kind;

constexpr std::size_t kShown = 40;
constexpr std::string_view kNothingLikeIt = "'nothing like it'";

std::string Shown(std::string_view text) {
  std::string shown(text.substr(0, kShown));
  return "'" + Printable(shown) + (text.size() > kShown ? "…'" : "'");
}

class Mutator {
 public:
  explicit Mutator(std::string_view source) : source_(source) {}

  void Replace(std::size_t begin, std::size_t end, std::string_view by, std::string what) {
    std::string changed(source_.substr(0, begin));
    changed += by;
    changed += source_.substr(end);
    if (changed != source_) mutants_.push_back({std::move(changed), begin, std::move(what)});
  }
  std::string_view Text(std::size_t begin, std::size_t end) const { return source_.substr(begin, end - begin); }
  std::vector<SourceMutant> Take() { return std::move(mutants_); }

 private:
  std::string_view source_;
  std::vector<SourceMutant> mutants_;
};

class PatternMutator {
 public:
  explicit PatternMutator(std::string_view source) : source_(source), mutator_(source) {}

  std::vector<SourceMutant> Run() {
    if (const std::optional<PatternPiece> whole = ParsePattern(source_)) Visit(*whole);
    return mutator_.Take();
  }

 private:
  void Visit(const PatternPiece& piece) {
    switch (piece.kind) {
      case TreeKind::kLiteral:
        Literal(piece);
        break;
      case TreeKind::kClass:
        Class(piece);
        break;
      case TreeKind::kAssertion:
        mutator_.Replace(piece.begin, piece.whole_end, "", "without the assertion " + ShownPiece(piece));
        break;
      case TreeKind::kCapture:
        Capture(piece);
        break;
      case TreeKind::kAlternation:
        Alternatives(piece);
        break;
      default:
        break;
    }
    Quantifier(piece);
    for (const PatternPiece& child : piece.children) Visit(child);
  }

  std::string ShownPiece(const PatternPiece& piece) const { return Shown(mutator_.Text(piece.begin, piece.end)); }

  // Changes a letter or digit near the middle, or the first character if there is none.
  void Literal(const PatternPiece& piece) {
    const std::string_view text = mutator_.Text(piece.begin, piece.end);
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i < text.size(); ++i) {
      if (text[i] == '\\') {
        i += i + 1 < text.size() && text[i + 1] == 'x' ? 3 : 1;
        continue;
      }
      const bool is_letter = std::isalnum(static_cast<unsigned char>(text[i])) != 0;
      if (is_letter && (!best || i <= text.size() / 2)) best = i;
    }
    const std::string what = "a character of " + Shown(text) + " another";
    if (!best) return mutator_.Replace(piece.begin, piece.end, "~", what);
    const std::size_t at = piece.begin + *best;
    mutator_.Replace(at, at + 1, text[*best] == 'q' || text[*best] == 'Q' ? "z" : "q", what);
  }

  void Class(const PatternPiece& piece) {
    const std::string_view text = mutator_.Text(piece.begin, piece.end);
    std::string turned = "[^\\s\\S]";  // the inverse of a dot matches nothing
    if (text.starts_with("[^")) {
      turned = "[" + std::string(text.substr(2));
    } else if (text.starts_with("[")) {
      turned = "[^" + std::string(text.substr(1));
    } else if (text.starts_with("\\")) {
      const char c = text[1];
      const bool is_lower = c >= 'a' && c <= 'z';
      turned = "\\" + std::string(1, static_cast<char>(is_lower ? c - 'a' + 'A' : c - 'A' + 'a')) +
               std::string(text.substr(2));
    }
    mutator_.Replace(piece.begin, piece.end, turned, "the class " + Shown(text) + " turned round");
  }

  void Capture(const PatternPiece& piece) {
    const std::string_view text = mutator_.Text(piece.begin, piece.end);
    const std::size_t colon = text.find(':');
    if (colon == text.npos) return;
    mutator_.Replace(piece.begin + colon + 1, piece.end - 1, "nobody_asks",
                     "the capture " + Shown(text) + " by another name");
  }

  void Alternatives(const PatternPiece& piece) {
    for (std::size_t i = 0; i < piece.children.size(); ++i) {
      const PatternPiece& one = piece.children[i];
      const bool is_first = i == 0;
      mutator_.Replace(is_first ? one.begin : one.begin - 1, is_first ? one.whole_end + 1 : one.whole_end, "",
                       "without the alternative " + ShownPiece(one));
    }
  }

  void Quantifier(const PatternPiece& piece) {
    if (piece.end == piece.whole_end || piece.kind == TreeKind::kAssertion) return;
    const std::string what = Shown(mutator_.Text(piece.begin, piece.whole_end));
    if (piece.least == 0 && piece.most == 1) {
      mutator_.Replace(piece.begin, piece.whole_end, "", "without " + what);
      mutator_.Replace(piece.end, piece.whole_end, "", "with what " + what + " leaves open");
    } else if (piece.least == 0) {
      mutator_.Replace(piece.end, piece.whole_end, piece.most < 0 ? "+" : fmt::format("{{1,{}}}", piece.most),
                       what + " at least once");
    }
    if (piece.most < 0 || piece.most > 1)
      mutator_.Replace(piece.end, piece.whole_end, piece.least == 0 ? "?" : fmt::format("{{{}}}", piece.least),
                       what + " as few as may be");
  }

  std::string_view source_;
  Mutator mutator_;
};

// Mutates the tokens of an expression.
class ExpressionMutator {
 public:
  // Uses the part [begin, end) of the source.
  ExpressionMutator(std::string_view source, std::size_t begin, std::size_t end, Mutator* mutator)
      : mutator_(*mutator), begin_(begin) {
    tokens_ = TokensOf(source.substr(begin, end - begin));
    for (std::size_t i = 0; i + 1 < tokens_.size(); ++i) {
      std::size_t token_end = tokens_[i + 1].at;
      while (token_end > tokens_[i].at + 1 && source[begin + token_end - 1] == ' ') --token_end;
      ends_.push_back(token_end);
    }
  }

  void Run() {
    for (std::size_t i = 0; i < ends_.size(); ++i) Change(i);
    Operands();
  }

 private:
  void Replace(std::size_t token, std::string_view by) {
    const std::size_t begin = begin_ + tokens_[token].at;
    const std::size_t end = begin_ + ends_[token];
    mutator_.Replace(begin, end, by, fmt::format("{} instead of {}", Shown(by), Shown(mutator_.Text(begin, end))));
  }

  void Change(std::size_t i) {
    static constexpr std::array<std::pair<std::string_view, std::string_view>, 18> kCounterparts = {
        {{"and", "or"},
         {"or", "and"},
         {"not", ""},
         {"==", "!="},
         {"!=", "=="},
         {"<", ">="},
         {">=", "<"},
         {">", "<="},
         {"<=", ">"},
         {"+", "-"},
         {"*", "/"},
         {"/", "*"},
         {"min", "max"},
         {"max", "min"},
         {"any_of", "not any_of"},
         {"sum_of", "first_of"},
         {"first_of", "sum_of"},
         {"known", "not known"}}};
    const Token& token = tokens_[i];
    if (token.kind == TokenKind::kNumber) return Number(i);
    if (token.kind == TokenKind::kText) {
      if (!IsNoMatchEitherWay(i)) Replace(i, kNothingLikeIt);
      return;
    }
    if (token.kind == TokenKind::kOpen || token.kind == TokenKind::kClose || token.kind == TokenKind::kComma) return;
    const bool is_call = i + 1 < tokens_.size() && tokens_[i + 1].kind == TokenKind::kOpen;
    if (token.kind == TokenKind::kName && token.text == "true") return Replace(i, "false");
    if (token.kind == TokenKind::kName && token.text == "false") return Replace(i, "true");
    if (token.kind == TokenKind::kName && !is_call) return;
    // A minus before a value is negation, not subtraction.
    const bool after_value =
        i > 0 && (tokens_[i - 1].kind == TokenKind::kName || tokens_[i - 1].kind == TokenKind::kNumber ||
                  tokens_[i - 1].kind == TokenKind::kClose);
    if (token.text == "-" && after_value) return Replace(i, "+");
    for (const auto& [from, to] : kCounterparts) {
      if (token.text == from) return Replace(i, to);
    }
  }

  // Whether token i is '' in `default(x, '') == 'text'`, or in such a default inside `contains(…, 'text')` or
  // `matches(…, 'text')`. Replacing it changes nothing, because neither '' nor the replacement matches.
  bool IsNoMatchEitherWay(std::size_t i) const {
    const auto is = [&](std::size_t at, TokenKind kind) { return at < tokens_.size() && tokens_[at].kind == kind; };
    const bool is_default = tokens_[i].text.empty() && i >= 4 && is(i - 1, TokenKind::kComma) &&
                            is(i - 2, TokenKind::kName) && is(i - 3, TokenKind::kOpen) &&
                            tokens_[i - 4].text == "default" && is(i + 1, TokenKind::kClose) &&
                            is(i + 3, TokenKind::kText);
    if (!is_default) return false;
    const std::string& text = tokens_[i + 3].text;
    const std::string_view instead = kNothingLikeIt.substr(1, kNothingLikeIt.size() - 2);
    if (tokens_[i + 2].text == "==" || tokens_[i + 2].text == "!=") return !text.empty() && text != instead;
    if (i < 6 || !is(i + 2, TokenKind::kComma) || !is(i - 5, TokenKind::kOpen)) return false;
    const std::string& call = tokens_[i - 6].text;
    if (call == "contains") return !text.empty() && instead.find(text) == instead.npos;
    if (call != "matches") return false;
    const re2::RE2 pattern(text, re2::RE2::Quiet);
    return pattern.ok() && !re2::RE2::PartialMatch("", pattern) && !re2::RE2::PartialMatch(instead, pattern);
  }

  void Number(std::size_t i) {
    constexpr double kSmall = 20;
    const double number = tokens_[i].number;
    if (number == 0) return Replace(i, "1000000");
    const bool counts = number <= kSmall && number == std::floor(number);
    Replace(i, counts ? fmt::format("{}", number + 1) : fmt::format("{:.15g}", number * 1.1));
    Replace(i, counts ? fmt::format("{}", number - 1) : fmt::format("{:.15g}", number * 0.9));
  }

  // Removes operands of `and` and `or`, within each level of parentheses and commas.
  void Operands() {
    struct Level {
      std::size_t begin = 0;            // index of a token
      std::vector<std::size_t> joints;  // indices of tokens
    };
    std::vector<Level> levels(1);
    for (std::size_t i = 0; i < tokens_.size(); ++i) {
      const Token& token = tokens_[i];
      if (token.kind == TokenKind::kOperator && (token.text == "or" || token.text == "and"))
        levels.back().joints.push_back(i);
      const bool ends =
          token.kind == TokenKind::kClose || token.kind == TokenKind::kComma || token.kind == TokenKind::kEnd;
      if (ends && !levels.empty()) {
        DropEach(levels.back().begin, i, levels.back().joints);
        levels.pop_back();
      }
      if (token.kind == TokenKind::kOpen || token.kind == TokenKind::kComma) levels.push_back({i + 1, {}});
      if (levels.empty()) return;
    }
  }

  void DropEach(std::size_t begin, std::size_t end, const std::vector<std::size_t>& joints) {
    if (joints.empty()) return;
    for (std::size_t i = 0; i <= joints.size(); ++i) {
      const std::size_t first = i == 0 ? begin : joints[i - 1] + 1;
      const std::size_t last = i == joints.size() ? end : joints[i];
      const std::string_view text = mutator_.Text(begin_ + tokens_[first].at, begin_ + ends_[last - 1]);
      // Includes the operator before it; for the first operand, the one after it.
      const std::size_t from = i == 0 ? tokens_[first].at : ends_[first - 2];
      const std::size_t to = i == 0 ? tokens_[last + 1].at : ends_[last - 1];
      mutator_.Replace(begin_ + from, begin_ + to, "", "without " + Shown(text));
    }
  }

  Mutator& mutator_;
  std::size_t begin_;
  std::vector<Token> tokens_;
  std::vector<std::size_t> ends_;
};

}  // namespace

std::vector<SourceMutant> MutatePattern(std::string_view source) { return PatternMutator(source).Run(); }

std::vector<SourceMutant> MutateExpression(std::string_view source) {
  Mutator mutator(source);
  ExpressionMutator(source, 0, source.size(), &mutator).Run();
  return mutator.Take();
}

std::vector<SourceMutant> MutateTemplate(std::string_view source) {
  Mutator mutator(source);
  mutator.Replace(0, source.size(), "Other words.", "other words");
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (source[i] == '}') ++i;  // "}}"
    if (i >= source.size() || source[i] != '{') continue;
    if (source.substr(i).starts_with("{{")) {
      ++i;
      continue;
    }
    // Quoted texts may contain braces and bars.
    std::size_t end = i + 1;
    std::size_t bar = source.npos;
    for (bool quoted = false; end < source.size() && (quoted || source[end] != '}'); ++end) {
      if (source[end] == '\'') quoted = !quoted;
      if (!quoted && source[end] == '|') bar = end;
    }
    ExpressionMutator(source, i + 1, std::min(bar, end), &mutator).Run();
    if (bar != source.npos) {
      const std::string_view format = mutator.Text(bar + 1, end);
      mutator.Replace(bar + 1, end, format == "size" || format == "percent" ? "times" : "size",
                      "another format than " + Shown(format));
    }
    i = end;
  }
  return mutator.Take();
}

}  // namespace whyoom
