#include "rules/pattern_reach.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "rules/pattern_tree.h"

namespace whyoom {
namespace {

// So many characters in a row are no chance.
constexpr std::size_t kSaysSomething = 6;
// Counted repetitions up to here are a few marks between words, no stretch of text.
constexpr int kFewTimes = 16;

enum class PieceKind { kLetter, kBlank, kClass, kGap, kGroup, kAssertion };

struct Piece {
  PieceKind kind = PieceKind::kLetter;
  std::string_view source;  // with its quantifier
  std::string_view open;    // of a group: "(?:", "(?P<name>"
  std::string_view inner;   // and what is in it
  bool quantified = false;
};

std::size_t EscapeLength(std::string_view rest) {
  if (rest.starts_with("\\Q")) {
    const std::size_t end = rest.find("\\E");
    return end == rest.npos ? rest.size() : end + 2;
  }
  if (rest.starts_with("\\x") || rest.starts_with("\\p") || rest.starts_with("\\P")) {
    if (rest.size() > 2 && rest[2] == '{') return std::min(rest.find('}'), rest.size() - 1) + 1;
    return std::min<std::size_t>(rest[1] == 'x' ? 4 : 3, rest.size());
  }
  return std::min<std::size_t>(2, rest.size());
}

std::size_t GroupLength(std::string_view rest) {
  int depth = 0;
  for (std::size_t i = 0; i < rest.size();) {
    if (rest[i] == '\\') {
      i += EscapeLength(rest.substr(i));
      continue;
    }
    if (rest[i] == '[') {
      i += ClassLength(rest.substr(i));
      continue;
    }
    depth += rest[i] == '(' ? 1 : rest[i] == ')' ? -1 : 0;
    ++i;
    if (depth == 0) return i;
  }
  return rest.size();
}

// "(?:", "(?P<name>", "(?i:" or "(" at the start of `group`; all of "(?i)".
std::size_t OpeningLength(std::string_view group) {
  if (!group.starts_with("(?")) return 1;
  const std::size_t end = group.find_first_of(":>)");
  return end == group.npos ? group.size() : end + 1;
}

std::size_t QuantifierLength(std::string_view rest) {
  std::size_t length = 0;
  if (!rest.empty() && std::string_view("*+?").find(rest[0]) != rest.npos) {
    length = 1;
  } else if (rest.size() > 1 && rest[0] == '{' && rest[1] >= '0' && rest[1] <= '9') {
    length = rest.find('}') == rest.npos ? 0 : rest.find('}') + 1;
  }
  if (length > 0 && rest.size() > length && rest[length] == '?') ++length;
  return length;
}

// Whether it lets its piece stand for a stretch of text.
bool IsMany(std::string_view quantifier) {
  if (quantifier.empty() || quantifier[0] == '?') return false;
  if (quantifier[0] != '{') return true;
  const std::size_t comma = quantifier.find(',');
  if (comma == quantifier.npos) return false;
  int most = 0;
  for (std::size_t i = comma + 1; i < quantifier.size() && quantifier[i] >= '0' && quantifier[i] <= '9'; ++i)
    most = std::min(1000, most * 10 + (quantifier[i] - '0'));
  return most == 0 || most > kFewTimes;
}

PieceKind KindOf(std::string_view piece) {
  if (piece.starts_with("%{")) return PieceKind::kClass;
  switch (piece[0]) {
    case ' ':
      return PieceKind::kBlank;
    case '[':
    case '.':
      return PieceKind::kClass;
    case '(':
      return PieceKind::kGroup;
    case '^':
    case '$':
      return PieceKind::kAssertion;
    case '\\':
      if (piece.size() > 1 && std::string_view("bBAz").find(piece[1]) != piece.npos) return PieceKind::kAssertion;
      if (piece.size() > 1 && std::string_view("dDsSwWpP").find(piece[1]) != piece.npos) return PieceKind::kClass;
      return PieceKind::kLetter;
    default:
      return PieceKind::kLetter;
  }
}

Piece FirstPiece(std::string_view rest) {
  Piece piece;
  std::size_t length = 1;
  if (rest[0] == '\\') {
    length = EscapeLength(rest);
  } else if (rest[0] == '[') {
    length = ClassLength(rest);
  } else if (rest[0] == '(') {
    length = GroupLength(rest);
  } else if (rest[0] == ' ') {
    length = std::min(rest.find_first_not_of(' '), rest.size());
  } else if (rest.starts_with("%{")) {
    length = std::min(rest.find('}'), rest.size() - 1) + 1;
  } else {
    // A character of several bytes is one.
    while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80) ++length;
  }
  const std::string_view bare = rest.substr(0, length);
  const std::string_view quantifier = rest.substr(length, QuantifierLength(rest.substr(length)));
  piece.kind = KindOf(bare);
  piece.source = rest.substr(0, length + quantifier.size());
  piece.quantified = !quantifier.empty();
  if (piece.kind == PieceKind::kGroup) {
    piece.open = bare.substr(0, OpeningLength(bare));
    if (piece.open.ends_with(')')) {
      piece.kind = PieceKind::kAssertion;  // "(?i)": flags
    } else {
      piece.inner = bare.substr(piece.open.size(), bare.size() - piece.open.size() - (bare.ends_with(')') ? 1 : 0));
    }
  }
  const bool is_wide = bare == "." || bare.starts_with("[^") || bare == "\\S" || bare == "\\D" || bare == "\\W";
  if ((is_wide && IsMany(quantifier)) || bare.starts_with("%{text:") || bare.starts_with("%{word:"))
    piece.kind = PieceKind::kGap;
  return piece;
}

// The alternatives that stand in `source` outside of its groups, each in pieces.
std::vector<std::vector<Piece>> Alternatives(std::string_view source) {
  std::vector<std::vector<Piece>> all(1);
  while (!source.empty()) {
    if (source[0] == '|') {
      all.emplace_back();
      source.remove_prefix(1);
      continue;
    }
    all.back().push_back(FirstPiece(source));
    source.remove_prefix(all.back().back().source.size());
  }
  return all;
}

std::string Joined(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
  std::string source;
  for (std::size_t i = begin; i < end; ++i) source += pieces[i].source;
  return source;
}

// The least number of characters that the pieces give one by one.
std::size_t LettersIn(const std::vector<Piece>& pieces, std::size_t begin, std::size_t end) {
  std::size_t letters = 0;
  for (std::size_t i = begin; i < end; ++i) {
    const Piece& piece = pieces[i];
    if (piece.quantified) continue;
    if (piece.kind == PieceKind::kLetter) letters += piece.source.starts_with("\\Q") ? piece.source.size() - 4 : 1;
    if (piece.kind == PieceKind::kBlank) ++letters;
    if (piece.kind != PieceKind::kGroup) continue;
    std::size_t least = std::string_view::npos;
    for (const std::vector<Piece>& inner : Alternatives(piece.inner))
      least = std::min(least, LettersIn(inner, 0, inner.size()));
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
  ReachSearch(std::string_view text, std::size_t before) : text_(text), before_(before) {}

  // Looks for beginnings of `source`, which stands behind `head` in groups that `tail` closes.
  void Run(const std::string& head, std::string_view source, const std::string& tail, std::size_t letters) {
    const std::vector<std::vector<Piece>> alternatives = Alternatives(source);
    std::string flags;  // hold for all alternatives
    if (alternatives.size() > 1 && !alternatives[0].empty() && alternatives[0][0].open.starts_with("(?") &&
        alternatives[0][0].kind == PieceKind::kAssertion)
      flags = alternatives[0][0].source;
    for (std::size_t i = 0; i < alternatives.size(); ++i)
      RunOne(head + (i > 0 ? flags : ""), alternatives[i], tail, letters);
  }

  std::optional<PatternReach> Take() { return std::move(best_); }

 private:
  void RunOne(const std::string& head, const std::vector<Piece>& pieces, const std::string& tail, std::size_t letters) {
    // A beginning that is not in the text makes all longer ones none.
    PatternMatch match;
    std::size_t fits = 0;
    std::size_t fails = pieces.size() + 1;
    while (fits + 1 < fails) {
      const std::size_t middle = (fits + fails) / 2;
      const bool found = FindSource(head + Joined(pieces, 0, middle) + tail, text_, 0, before_, &match);
      (found ? fits : fails) = middle;
    }
    letters += LettersIn(pieces, 0, fits);
    if (fits < pieces.size() && pieces[fits].kind == PieceKind::kGroup && !pieces[fits].quantified)
      Run(head + Joined(pieces, 0, fits) + std::string(pieces[fits].open), pieces[fits].inner, ")" + tail, letters);
    if (letters == 0) return;
    Offer(head, pieces, fits, tail, letters);
  }

  void Offer(const std::string& head, const std::vector<Piece>& pieces, std::size_t fits, const std::string& tail,
             std::size_t letters) {
    std::size_t kept = fits;
    const bool complete = fits == pieces.size();
    while (!complete && kept > 0 && pieces[kept - 1].kind == PieceKind::kGap) --kept;
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
    FindAgain(pieces, fits);
  }

  // The longest end of the pieces behind the one that stopped it that is behind that place.
  void FindAgain(const std::vector<Piece>& pieces, std::size_t stopped) {
    std::size_t misses = stopped;
    std::size_t fits = pieces.size();
    PatternMatch match;
    if (FindSource(Joined(pieces, stopped, pieces.size()), text_, best_->end, text_.npos, &match)) fits = stopped;
    while (misses + 1 < fits) {
      const std::size_t middle = (misses + fits) / 2;
      const bool found = FindSource(Joined(pieces, middle, pieces.size()), text_, best_->end, text_.npos, &match);
      (found ? fits : misses) = middle;
    }
    if (LettersIn(pieces, fits, pieces.size()) < kSaysSomething) return;
    const std::string rest = Joined(pieces, fits, pieces.size());
    if (!FindSource(rest, text_, best_->end, text_.npos, &match)) return;
    best_->again_at = match.begin;
    best_->again = rest;
  }

  std::string_view text_;
  std::size_t before_;
  std::optional<PatternReach> best_;
};

}  // namespace

std::optional<PatternReach> FindReach(const Pattern& pattern, std::string_view text, std::size_t before) {
  if (!pattern.ok()) return std::nullopt;
  ReachSearch search(text, before);
  search.Run("", pattern.source(), "", 0);
  return search.Take();
}

}  // namespace whyoom
