#include "rules/pattern_needs.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "rules/pattern_tree.h"

namespace whyoom {

const ByteSet& OutsideAscii() {
  static const ByteSet bytes = [] {
    ByteSet made;
    for (std::size_t byte = 0x80; byte < made.size(); ++byte) made.set(byte);
    return made;
  }();
  return bytes;
}

namespace {

constexpr std::string_view kBeyondAscii = "\xC2\x80";

// Ignores case, because flags can make any part case-insensitive. A non-ASCII byte adds all of them.
void Add(unsigned char byte, ByteSet* bytes) {
  if (byte >= 0x80) {
    *bytes |= OutsideAscii();
    return;
  }
  bytes->set(static_cast<std::size_t>(std::tolower(byte)));
  bytes->set(static_cast<std::size_t>(std::toupper(byte)));
}

ByteSet BytesOf(char c) {
  ByteSet bytes;
  Add(static_cast<unsigned char>(c), &bytes);
  return bytes;
}

}  // namespace

ByteSet BytesOfClass(const std::string& source) {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_dot_nl(true);
  const re2::RE2 re(source, options);
  if (!re.ok()) return ByteSet().set();
  ByteSet bytes;
  for (int c = 0; c < 0x80; ++c) {
    const char text = static_cast<char>(c);
    if (re2::RE2::FullMatch(re2::StringPiece(&text, 1), re)) Add(static_cast<unsigned char>(c), &bytes);
  }
  const bool has_outside = std::any_of(source.begin(), source.end(), [](char c) { return (c & 0x80) != 0; });
  // Conservative: a class that matches one non-ASCII character, or that cannot be tested with one, may match many.
  if (has_outside || source.starts_with("[^") || source.find("\\p") != source.npos ||
      re2::RE2::FullMatch("\xC3\xA9", re))
    bytes |= OutsideAscii();
  return bytes.any() ? bytes : ByteSet().set();
}

ByteSet WhiteSpace() {
  ByteSet bytes;
  for (const char c : {' ', '\t', '\n', '\f', '\r'}) bytes.set(static_cast<unsigned char>(c));
  return bytes;
}

std::optional<std::vector<ByteSet>> BytesOfLiteral(std::string_view text) {
  std::vector<ByteSet> all;
  for (std::size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '\\') {
      if (++i >= text.size()) return std::nullopt;
      c = text[i];
      constexpr std::string_view kNames = "ntrfv";
      constexpr std::string_view kMeanings = "\n\t\r\f\v";
      const std::size_t named = kNames.find(c);
      if (named != kNames.npos) {
        c = kMeanings[named];
      } else if (std::isalnum(static_cast<unsigned char>(c)) != 0) {
        return std::nullopt;  // unsupported: \x20, \Q and the like
      }
    }
    all.push_back(BytesOf(c));
  }
  return all;
}

std::string PackBytes(const ByteSet& bytes) {
  std::string packed;
  for (std::size_t byte = 0; byte < 0x80; ++byte) {
    if (bytes.test(byte)) packed += static_cast<char>(byte);
  }
  if ((bytes & OutsideAscii()).any()) packed += kBeyondAscii;
  return packed;
}

ByteSet UnpackBytes(std::string_view packed) {
  ByteSet bytes;
  for (const char c : packed) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < 0x80) bytes.set(byte);
  }
  if (packed.ends_with(kBeyondAscii)) bytes |= OutsideAscii();
  return bytes;
}

namespace {

// The byte sets that a piece requires of the line in which it begins (or ends, when matching backwards).
struct Need {
  std::vector<ByteSet> sets;
  bool in_line = true;  // the piece cannot match a line break, so the following pieces are in the same line
};

class Needs {
 public:
  Needs(std::string_view source, bool backwards) : source_(source), backwards_(backwards) {}

  Need OfPiece(const PatternPiece& piece) const {
    Need need = OfOnce(piece);
    if (piece.least == 0) need.sets.clear();
    return need;
  }

 private:
  void AddCharacter(const ByteSet& bytes, Need* need) const {
    if (!need->in_line) return;
    if (bytes.test('\n')) {
      need->in_line = false;
    } else {
      need->sets.push_back(bytes);
    }
  }

  // The set that is found in the fewest texts; null if there is none.
  static const ByteSet* Rarest(const std::vector<ByteSet>& sets) {
    const auto rarest = std::min_element(
        sets.begin(), sets.end(), [](const ByteSet& one, const ByteSet& other) { return Weight(one) < Weight(other); });
    return rarest == sets.end() ? nullptr : &*rarest;
  }

  // Letters, digits and blanks occur in almost every line.
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
        need.in_line = characters.has_value();
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
        need.in_line = false;
        return need;
      default:
        return need;
    }
  }

  const std::string_view source_;
  const bool backwards_;
};

// The sets that distinguish texts: drops those that almost every line satisfies. Smallest first, distinct.
std::vector<ByteSet> Distinctive(std::vector<ByteSet> sets) {
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

// `assertion`: \A or \z.
std::vector<ByteSet> NeededInLine(std::string_view source, std::string_view assertion, bool at_end) {
  const std::optional<PatternPiece> whole = ParsePattern(source);
  if (!whole || whole->kind != PatternPiece::Kind::kSequence || whole->children.empty()) return {};
  const PatternPiece& end = at_end ? whole->children.back() : whole->children.front();
  const bool is_anchored = end.kind == PatternPiece::Kind::kAssertion && TextOf(source, end) == assertion;
  if (!is_anchored) return {};
  return Distinctive(Needs(source, at_end).OfPiece(*whole).sets);
}

}  // namespace

std::vector<ByteSet> NeededInLastLine(std::string_view pattern) { return NeededInLine(pattern, "\\z", true); }

std::vector<ByteSet> NeededInFirstLine(std::string_view pattern) { return NeededInLine(pattern, "\\A", false); }

}  // namespace whyoom
