#include "rules/pattern_needs.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <utility>

#include "rules/expression.h"
#include "rules/pattern.h"
#include "rules/pattern_bytes.h"
#include "rules/pattern_tree.h"

namespace whyoom {
namespace {

// Enough to tell a comment, a list and a command line from a message.
constexpr std::size_t kLeading = 8;
constexpr std::size_t kShortestWord = 3;

// What a piece needs of the line that it begins in, or ends in, seen from that end.
struct Need {
  std::vector<ByteSet> sets;
  bool in_line = true;  // it matches no line break, so that what is behind it counts, too
};

class Needs {
 public:
  enum class Of { kLine, kMatch };
  Needs(std::string_view source, Of what, bool backwards = false)
      : source_(source), of_line_(what == Of::kLine), backwards_(backwards) {}

  Need OfPiece(const PatternPiece& piece) const {
    Need need = OfOnce(piece);
    if (piece.least == 0) need.sets.clear();
    return need;
  }

 private:
  void AddCharacter(const ByteSet& bytes, Need* need) const {
    if (!need->in_line) return;
    if (of_line_ && bytes.test('\n')) {
      need->in_line = false;
    } else {
      need->sets.push_back(bytes);
    }
  }

  // Of the sets the one that the fewest texts have; null where there is none.
  static const ByteSet* Rarest(const std::vector<ByteSet>& sets) {
    const auto rarest = std::min_element(
        sets.begin(), sets.end(), [](const ByteSet& one, const ByteSet& other) { return Weight(one) < Weight(other); });
    return rarest == sets.end() ? nullptr : &*rarest;
  }

  // Letters, digits and blanks are in nearly each line.
  static std::size_t Weight(const ByteSet& bytes) {
    std::size_t weight = 0;
    for (std::size_t byte = 0; byte < 0x80; ++byte) {
      const bool common = std::isalnum(static_cast<int>(byte)) != 0 || byte == ' ' || byte == '.' || byte == ':';
      if (bytes.test(byte)) weight += common ? 16 : 1;
    }
    return weight + ((bytes & OutsideAscii()).any() ? 1 : 0);
  }

  Need OfSequence(const PatternPiece& piece) const {
    Need need;
    for (std::size_t i = 0; i < piece.children.size() && need.in_line; ++i) {
      const Need next = OfPiece(piece.children[backwards_ ? piece.children.size() - 1 - i : i]);
      need.sets.insert(need.sets.end(), next.sets.begin(), next.sets.end());
      need.in_line = next.in_line;
    }
    return need;
  }

  Need OfAlternation(const PatternPiece& piece) const {
    Need need;
    ByteSet any;
    bool each_needs = true;
    for (const PatternPiece& child : piece.children) {
      const Need one = OfPiece(child);
      need.in_line = need.in_line && one.in_line;
      if (const ByteSet* rarest = Rarest(one.sets)) {
        any |= *rarest;
      } else {
        each_needs = false;
      }
    }
    if (each_needs && !piece.children.empty()) need.sets.push_back(any);
    return need;
  }

  Need OfOnce(const PatternPiece& piece) const {
    const std::string_view text = source_.substr(piece.begin, piece.end - piece.begin);
    Need need;
    switch (piece.kind) {
      case PatternPiece::Kind::kSequence:
        return OfSequence(piece);
      case PatternPiece::Kind::kAlternation:
        return OfAlternation(piece);
      case PatternPiece::Kind::kGroup:
        return piece.children.empty() ? need : OfPiece(piece.children.front());
      case PatternPiece::Kind::kLiteral: {
        std::optional<std::vector<ByteSet>> characters = BytesOfLiteral(text);
        need.in_line = characters.has_value() || !of_line_;
        if (!characters) return need;
        if (backwards_) std::reverse(characters->begin(), characters->end());
        for (const ByteSet& bytes : *characters) AddCharacter(bytes, &need);
        return need;
      }
      case PatternPiece::Kind::kClass:
        AddCharacter(BytesOfClass(std::string(text)), &need);
        return need;
      case PatternPiece::Kind::kBlank:
      case PatternPiece::Kind::kCapture:
        need.in_line = !of_line_;
        return need;
      default:
        return need;
    }
  }

  const std::string_view source_;
  const bool of_line_;
  const bool backwards_;
};

// Those that tell texts apart: what nearly each line has tells nothing. The smallest first, each once.
std::vector<ByteSet> Telling(std::vector<ByteSet> sets) {
  constexpr std::size_t kMany = 60;
  std::erase_if(sets, [](const ByteSet& bytes) { return (bytes & ~OutsideAscii()).count() > kMany; });
  std::sort(sets.begin(), sets.end(), [](const ByteSet& one, const ByteSet& other) {
    return std::pair(one.count(), one.to_string()) < std::pair(other.count(), other.to_string());
  });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

std::string_view TextOf(std::string_view source, const PatternPiece& piece) {
  return source.substr(piece.begin, piece.end - piece.begin);
}

// Where what stands behind the last line feed of a piece begins in the source; npos where it is no literal with one.
std::size_t PastLastFeed(std::string_view source, const PatternPiece& piece) {
  std::size_t past = std::string_view::npos;
  if (piece.kind != PatternPiece::Kind::kLiteral || piece.least != 1 || piece.most != 1) return past;
  const std::string_view literal = TextOf(source, piece);
  for (std::size_t i = 0; i + 1 < literal.size(); ++i) {
    if (literal[i] != '\\') continue;
    ++i;
    if (literal[i] == 'n') past = piece.begin + i + 1;
  }
  return past;
}

// \s* and the like: what of it stands in the last line is some of the same.
bool IsAnyWhiteSpace(std::string_view source, const PatternPiece& piece) {
  return piece.kind == PatternPiece::Kind::kClass && piece.least == 0 && piece.most < 0 &&
         (BytesOfClass(std::string(TextOf(source, piece))) & ~WhiteSpace()).none();
}

std::vector<std::string> WordsOf(std::string_view source) {
  std::vector<SyntaxFault> faults;
  return Pattern::Compile(source, &faults).Literals(kShortestWord);
}

// Null where it is no sequence that has the assertion at that end.
const PatternPiece* TiedBy(std::string_view source, const std::optional<PatternPiece>& whole,
                           std::string_view assertion, bool at_end) {
  if (!whole || whole->kind != PatternPiece::Kind::kSequence || whole->children.empty()) return nullptr;
  const PatternPiece& end = at_end ? whole->children.back() : whole->children.front();
  return end.kind == PatternPiece::Kind::kAssertion && TextOf(source, end) == assertion ? &*whole : nullptr;
}

}  // namespace

std::vector<ByteSet> NeededBytes(std::string_view pattern) {
  const std::optional<PatternPiece> whole = ParsePattern(pattern);
  return whole ? Telling(Needs(pattern, Needs::Of::kMatch).OfPiece(*whole).sets) : std::vector<ByteSet>();
}

TextNeeds NeedsAtEnd(std::string_view pattern) {
  const std::optional<PatternPiece> parsed = ParsePattern(pattern);
  const PatternPiece* whole = TiedBy(pattern, parsed, "\\z", true);
  if (whole == nullptr) return {};
  const Needs needs(pattern, Needs::Of::kLine, true);
  TextNeeds found;
  found.line = Telling(needs.OfPiece(*whole).sets);
  found.text = NeededBytes(pattern);
  const std::vector<PatternPiece>& pieces = whole->children;
  std::size_t first = pieces.size();  // of those that are all in the last line
  while (first > 0 && needs.OfPiece(pieces[first - 1]).in_line) --first;
  found.words = WordsOf(pattern.substr(first < pieces.size() ? pieces[first].begin : pattern.size()));
  const bool blanks_first = first > 0 && IsAnyWhiteSpace(pattern, pieces[first - 1]);
  if (blanks_first) --first;
  if (first == 0) return found;
  const PatternPiece& before = pieces[first - 1];
  const std::size_t past = PastLastFeed(pattern, before);
  // The blanks may have a line feed, too, behind which what comes before them does not stand.
  if (past != std::string_view::npos && (!blanks_first || past == before.end))
    found.leading = LeadingBytes(pattern.substr(past), kLeading);
  return found;
}

TextNeeds NeedsAtBegin(std::string_view pattern) {
  const std::optional<PatternPiece> parsed = ParsePattern(pattern);
  const PatternPiece* whole = TiedBy(pattern, parsed, "\\A", false);
  if (whole == nullptr) return {};
  const Needs needs(pattern, Needs::Of::kLine);
  TextNeeds found;
  found.leading = LeadingBytes(pattern, kLeading);
  found.line = Telling(needs.OfPiece(*whole).sets);
  found.text = NeededBytes(pattern);
  const std::vector<PatternPiece>& pieces = whole->children;
  std::size_t last = 0;  // of those that are all in the first line
  while (last < pieces.size() && needs.OfPiece(pieces[last]).in_line) ++last;
  found.words = WordsOf(pattern.substr(0, last < pieces.size() ? pieces[last].begin : pattern.size()));
  return found;
}

SeenText::SeenText(std::string_view text, std::string_view line)
    : line_(line), of_line_(BytesIn(line)), of_text_(BytesIn(text)) {}

bool SeenText::MayMatch(const TextNeeds& needs) const {
  return FitPlaces(needs.leading, line_.begin(), line_.end()) && HasEach(needs.line, of_line_) &&
         HasEach(needs.text, of_text_);
}

}  // namespace whyoom
