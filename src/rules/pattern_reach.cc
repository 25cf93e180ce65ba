#include "rules/pattern_reach.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rules/pattern_tree.h"

namespace whyoom {
namespace {

// A match of this many characters is unlikely to be a coincidence.
constexpr std::size_t kSignificantLength = 6;
// A wide class such as "." that may repeat more often is treated as a stretch of arbitrary text.
constexpr int kSmallRepeat = 16;

// A piece of a pattern after which the pattern can be cut.
struct Piece {
  PatternPiece::Kind kind = PatternPiece::Kind::kLiteral;
  std::string_view source;              // with its quantifier
  std::string_view open;                // of a group: its opening, "(?:" or "(?P<name>"
  const PatternPiece* inner = nullptr;  // of a group: its content
  bool quantified = false;
  bool is_gap = false;  // matches a stretch of arbitrary text
};

// Length of the first character of a literal.
std::size_t CharacterLength(std::string_view literal) {
  if (literal.starts_with("\\x{")) return std::min(literal.find('}'), literal.size() - 1) + 1;
  if (literal.starts_with("\\Q")) return literal.size();
  if (literal[0] == '\\') return std::min<std::size_t>(literal.starts_with("\\x") ? 4 : 2, literal.size());
  std::size_t length = 1;
  while (length < literal.size() && (static_cast<unsigned char>(literal[length]) & 0xC0) == 0x80) ++length;
  return length;
}

Piece PieceOf(std::string_view pattern, const PatternPiece& part) {
  const std::string_view bare = pattern.substr(part.begin, part.end - part.begin);
  Piece piece;
  piece.kind = part.kind;
  piece.source = pattern.substr(part.begin, part.whole_end - part.begin);
  piece.quantified = part.whole_end > part.end;
  if (part.kind == PatternPiece::Kind::kGroup) {
    piece.inner = &part.children.front();
    piece.open = bare.substr(0, piece.inner->begin - part.begin);
  }
  const bool is_wide = bare == "." || bare.starts_with("[^") || bare == "\\S" || bare == "\\D" || bare == "\\W";
  const bool is_many = part.most < 0 || part.most > kSmallRepeat;
  piece.is_gap = (is_wide && is_many) || bare.starts_with("%{text:") || bare.starts_with("%{word:");
  return piece;
}

// The alternatives of a part of the pattern, each as a list of pieces.
std::vector<std::vector<Piece>> Alternatives(std::string_view pattern, const PatternPiece& part) {
  std::vector<std::vector<Piece>> all;
  if (part.kind == PatternPiece::Kind::kAlternation) {
    for (const PatternPiece& child : part.children) all.push_back(Alternatives(pattern, child).front());
    return all;
  }
  std::vector<Piece>& pieces = all.emplace_back();
  for (const PatternPiece& child : part.children) {
    Piece piece = PieceOf(pattern, child);
    while (child.kind == PatternPiece::Kind::kLiteral && !piece.quantified && !piece.source.empty()) {
      const std::size_t length = CharacterLength(piece.source);
      pieces.push_back({.source = piece.source.substr(0, length)});
      piece.source.remove_prefix(length);
    }
    if (!piece.source.empty()) pieces.push_back(piece);
  }
  return all;
}

std::string Joined(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
  std::string source;
  for (std::size_t i = begin; i < end; ++i) source += pieces[i].source;
  return source;
}

// The minimum number of literal characters in the pieces.
std::size_t LettersIn(std::string_view pattern, const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
  std::size_t letters = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Piece& piece = pieces[i];
    if (piece.quantified) continue;
    if (piece.kind == PatternPiece::Kind::kLiteral)
      letters += piece.source.starts_with("\\Q") ? piece.source.size() - 4 : 1;
    if (piece.kind == PatternPiece::Kind::kBlank) ++letters;
    if (piece.inner == nullptr) continue;
    std::size_t least = std::string_view::npos;
    for (const std::vector<Piece>& inner : Alternatives(pattern, *piece.inner))
      least = std::min(least, LettersIn(pattern, inner, 0, inner.size()));
    letters += least;
  }
  return letters;
}

bool FindSource(const std::string& source, std::string_view text, std::size_t from, std::size_t before,
                PatternMatch* match) {
  std::vector<SyntaxFault> faults;
  const Pattern pattern = Pattern::Compile(source, &faults);
  return pattern.Find(text, from, match, before);
}

class ReachSearch {
 public:
  ReachSearch(std::string_view pattern, std::string_view text, std::size_t before)
      : pattern_(pattern), text_(text), before_(before) {}

  // Searches for prefixes of `part`. `head` is the pattern before it, and `tail` closes the open groups.
  void Run(const std::string& head, const PatternPiece& part, const std::string& tail, std::size_t letters) {
    const std::vector<std::vector<Piece>> alternatives = Alternatives(pattern_, part);
    const std::vector<Piece>& first = alternatives.front();
    const bool has_flags = !first.empty() && first[0].kind == PatternPiece::Kind::kFlags;
    const std::string flags(has_flags ? first[0].source : "");  // apply to all alternatives
    for (std::size_t i = 0; i < alternatives.size(); ++i)
      RunOne(head + (i > 0 ? flags : ""), alternatives[i], tail, letters);
  }

  std::optional<PartialPatternMatch> Take() { return std::move(best_); }

 private:
  void RunOne(const std::string& head, const std::vector<Piece>& pieces, const std::string& tail, std::size_t letters) {
    // Binary search: if a prefix does not match, longer ones do not match either.
    PatternMatch match;
    std::size_t fits = 0;
    std::size_t fails = pieces.size() + 1;
    while (fits + 1 < fails) {
      const std::size_t middle = (fits + fails) / 2;
      const bool found = FindSource(head + Joined(pieces, 0, middle) + tail, text_, 0, before_, &match);
      (found ? fits : fails) = middle;
    }
    letters += LettersIn(pattern_, pieces, 0, fits);
    if (fits < pieces.size() && pieces[fits].inner != nullptr && !pieces[fits].quantified)
      Run(head + Joined(pieces, 0, fits) + std::string(pieces[fits].open), *pieces[fits].inner, ")" + tail, letters);
    if (letters == 0) return;
    Offer(head, pieces, fits, tail, letters);
  }

  void Offer(const std::string& head, const std::vector<Piece>& pieces, std::size_t fits, const std::string& tail,
             std::size_t letters) {
    std::size_t kept = fits;
    const bool complete = fits == pieces.size();
    while (!complete && kept > 0 && pieces[kept - 1].is_gap) --kept;
    PatternMatch match;
    if (!FindSource(head + Joined(pieces, 0, kept) + tail, text_, 0, before_, &match)) return;
    if (best_ && std::pair(best_->letters, best_->end) >= std::pair(letters, match.end)) return;
    best_.emplace();
    best_->begin = match.begin;
    best_->end = match.end;
    best_->matched = head + Joined(pieces, 0, kept);
    best_->wanted = Joined(pieces, kept, pieces.size());
    best_->anywhere = kept < fits;
    best_->letters = letters;
    FindSuffix(pieces, fits);
  }

  // Finds the longest suffix, beginning at the failing piece or later, that matches after best_->end.
  void FindSuffix(const std::vector<Piece>& pieces, std::size_t stopped) {
    std::size_t misses = stopped;
    std::size_t fits = pieces.size();
    PatternMatch match;
    if (FindSource(Joined(pieces, stopped, pieces.size()), text_, best_->end, text_.npos, &match)) fits = stopped;
    while (misses + 1 < fits) {
      const std::size_t middle = (misses + fits) / 2;
      const bool found = FindSource(Joined(pieces, middle, pieces.size()), text_, best_->end, text_.npos, &match);
      (found ? fits : misses) = middle;
    }
    if (LettersIn(pattern_, pieces, fits, pieces.size()) < kSignificantLength) return;
    const std::string rest = Joined(pieces, fits, pieces.size());
    if (!FindSource(rest, text_, best_->end, text_.npos, &match)) return;
    best_->suffix_at = match.begin;
    best_->again = rest;
  }

  std::string_view pattern_;
  std::string_view text_;
  std::size_t before_;
  std::optional<PartialPatternMatch> best_;
};

}  // namespace

std::optional<PartialPatternMatch> FindPartialMatch(const Pattern& pattern, std::string_view text, std::size_t before) {
  const std::optional<PatternPiece> whole = pattern.ok() ? ParsePattern(pattern.source()) : std::nullopt;
  if (!whole) return std::nullopt;
  ReachSearch search(pattern.source(), text, before);
  search.Run("", *whole, "", 0);
  return search.Take();
}

}  // namespace whyoom
