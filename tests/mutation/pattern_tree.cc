#include "mutation/pattern_tree.h"

#include <charconv>
#include <system_error>
#include <utility>

#include "rules/pattern.h"

namespace whyoom {
namespace {

using TreeKind = PatternPiece::Kind;

constexpr int kDeepest = 100;
constexpr std::string_view kClassEscapes = "dDsSwWpPC";
constexpr std::string_view kAssertionEscapes = "bBAz";

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  std::optional<PatternPiece> Parse() {
    PatternPiece whole = Alternation(0);
    if (at_ < source_.size() || failed_) return std::nullopt;
    return whole;
  }

 private:
  bool Has(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  bool AtEnd() const { return at_ >= source_.size(); }

  PatternPiece Alternation(int depth) {
    PatternPiece piece;
    piece.kind = TreeKind::kAlternation;
    piece.begin = at_;
    piece.children.push_back(Sequence(depth));
    while (!failed_ && Has("|")) {
      ++at_;
      piece.children.push_back(Sequence(depth));
    }
    piece.end = piece.whole_end = at_;
    return piece.children.size() == 1 ? std::move(piece.children.front()) : piece;
  }

  PatternPiece Sequence(int depth) {
    PatternPiece sequence;
    sequence.begin = at_;
    while (!failed_ && !AtEnd() && source_[at_] != '|' && source_[at_] != ')') {
      PatternPiece piece = One(depth);
      Quantify(&piece);
      std::vector<PatternPiece>& all = sequence.children;
      const bool continues = !all.empty() && piece.kind == TreeKind::kLiteral &&
                             all.back().kind == TreeKind::kLiteral && all.back().whole_end == piece.begin &&
                             all.back().whole_end == all.back().end && piece.whole_end == piece.end;
      if (continues) {
        all.back().end = all.back().whole_end = piece.end;
      } else {
        all.push_back(std::move(piece));
      }
    }
    sequence.end = sequence.whole_end = at_;
    return sequence;
  }

  PatternPiece Leaf(TreeKind kind, std::size_t length) {
    PatternPiece piece;
    piece.kind = kind;
    piece.begin = at_;
    if (length == 0) failed_ = true;  // the terminator is missing
    at_ += std::min(length, source_.size() - at_);
    piece.end = piece.whole_end = at_;
    return piece;
  }

  PatternPiece One(int depth) {
    const std::string_view rest = source_.substr(at_);
    if (rest[0] == ' ') return Leaf(TreeKind::kBlank, rest.find_first_not_of(' '));
    if (rest[0] == '\\') return Escape(rest);
    if (rest[0] == '[') return Leaf(TreeKind::kClass, ClassLength(rest));
    if (rest[0] == '.') return Leaf(TreeKind::kClass, 1);
    if (rest[0] == '^' || rest[0] == '$') return Leaf(TreeKind::kAssertion, 1);
    if (rest.starts_with("%{")) return Leaf(TreeKind::kCapture, rest.find('}') + 1);
    if (rest[0] == '(') return Group(rest, depth);
    // A quantifier without an operand; RE2 rejects it, too.
    if (std::string_view("*+?").find(rest[0]) != rest.npos) failed_ = true;
    std::size_t length = 1;
    while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80) ++length;
    return Leaf(TreeKind::kLiteral, length);
  }

  PatternPiece Escape(std::string_view rest) {
    if (rest.size() < 2) {
      failed_ = true;
      return Leaf(TreeKind::kLiteral, 1);
    }
    if (rest[1] == 'Q') {
      const std::size_t end = rest.find("\\E");
      return Leaf(TreeKind::kLiteral, end == rest.npos ? rest.size() : end + 2);
    }
    if (kAssertionEscapes.find(rest[1]) != rest.npos) return Leaf(TreeKind::kAssertion, 2);
    if (kClassEscapes.find(rest[1]) != rest.npos)
      return Leaf(TreeKind::kClass, rest.starts_with("\\p{") || rest.starts_with("\\P{") ? rest.find('}') + 1 : 2);
    if (rest.starts_with("\\x{")) return Leaf(TreeKind::kLiteral, rest.find('}') + 1);
    return Leaf(TreeKind::kLiteral, rest[1] == 'x' ? 4 : 2);
  }

  PatternPiece Group(std::string_view rest, int depth) {
    PatternPiece group;
    group.kind = TreeKind::kGroup;
    group.begin = at_;
    std::size_t opening = 1;
    if (rest.starts_with("(?P<") || rest.starts_with("(?<")) {
      opening = rest.find('>') + 1;
    } else if (rest.starts_with("(?")) {
      const std::size_t end = rest.find_first_of(":)");
      if (end == rest.npos || rest[end] == ')') return Leaf(TreeKind::kFlags, end == rest.npos ? rest.size() : end + 1);
      opening = end + 1;
    }
    at_ += opening;
    if (opening == 0 || depth >= kDeepest) {
      failed_ = true;
      return group;
    }
    group.children.push_back(Alternation(depth + 1));
    if (!Has(")")) failed_ = true;
    ++at_;
    group.end = group.whole_end = std::min(at_, source_.size());
    return group;
  }

  // "?", "*", "+", "{2,5}", each optionally with a "?" for non-greedy matching.
  void Quantify(PatternPiece* piece) {
    if (AtEnd() || failed_) return;
    const char c = source_[at_];
    if (c == '?' || c == '*' || c == '+') {
      piece->least = c == '+' ? 1 : 0;
      piece->most = c == '?' ? 1 : -1;
      ++at_;
    } else if (c != '{' || !Counts(piece)) {
      return;
    }
    if (Has("?")) ++at_;
    piece->whole_end = at_;
  }

  bool Counts(PatternPiece* piece) {
    const std::size_t end = source_.find('}', at_);
    if (end == source_.npos) return false;
    const std::string_view counts = source_.substr(at_ + 1, end - at_ - 1);
    const std::size_t comma = std::min(counts.find(','), counts.size());
    int least = 0;
    int most = -1;
    const auto number = [](std::string_view text, int* value) {
      const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
      return error == std::errc() && rest == text.data() + text.size();
    };
    if (!number(counts.substr(0, comma), &least)) return false;
    if (comma == counts.size()) {
      most = least;
    } else if (comma + 1 < counts.size() && !number(counts.substr(comma + 1), &most)) {
      return false;
    }
    piece->least = least;
    piece->most = most;
    at_ = end + 1;
    return true;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

std::optional<PatternPiece> ParsePattern(std::string_view source) { return Parser(source).Parse(); }

}  // namespace whyoom
