#include "rules/pattern_bytes.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <utility>

#include "rules/pattern_tree.h"

namespace whyoom {
namespace {

constexpr std::string_view kBeyondAscii = "\xC2\x80";

const ByteSet& OutsideAscii() {
  static const ByteSet bytes = [] {
    ByteSet made;
    for (std::size_t byte = 0x80; byte < made.size(); ++byte) made.set(byte);
    return made;
  }();
  return bytes;
}

// Flags may ask for any case anywhere, so that it is of both always. A character outside of ASCII is any of these.
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
  // What matches one such character, or not one alone, may match many.
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

// The characters that a literal stands for, each as the bytes that it may be; nullopt where it has an escape whose
// meaning is not known here.
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
        return std::nullopt;  // \x20, \Q and the like
      }
    }
    all.push_back(BytesOf(c));
  }
  return all;
}

// Follows a pattern from an end of a text on, and notes which bytes may stand at each place.
class Places {
 public:
  Places(std::string_view source, std::size_t count, bool backwards)
      : source_(source), backwards_(backwards), bytes_(count) {}

  std::vector<ByteSet> Of(const PatternPiece& whole) {
    // What follows where the pattern is over is anything.
    const Reached over = After(whole, {0});
    if (!over.empty()) Anything(*std::min_element(over.begin(), over.end()));
    return std::move(bytes_);
  }

 private:
  // Places that the next character may stand at, ascending, each once.
  using Reached = std::vector<std::size_t>;

  static Reached United(const Reached& one, const Reached& other) {
    Reached all;
    std::set_union(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(all));
    return all;
  }

  void Anything(std::size_t from) {
    for (std::size_t place = from; place < bytes_.size(); ++place) bytes_[place].set();
  }

  Reached AfterCharacter(const ByteSet& bytes, const Reached& from) {
    // In UTF-8 a character beyond ASCII has up to four bytes.
    const std::size_t longest = (bytes & OutsideAscii()).any() ? 4 : 1;
    Reached after;
    for (const std::size_t place : from) {
      if (place >= bytes_.size()) continue;
      bytes_[place] |= bytes;
      Reached next;
      for (std::size_t length = 1; length <= longest && place + length <= bytes_.size(); ++length) {
        next.push_back(place + length);
        if (length > 1) bytes_[place + length - 1] |= OutsideAscii();
        if (length > 1 && backwards_) bytes_[place] |= OutsideAscii();
      }
      after = United(after, next);
    }
    std::erase(after, bytes_.size());  // beyond what is noted
    return after;
  }

  Reached AfterOnce(const PatternPiece& piece, const Reached& from) {
    const std::string_view text = source_.substr(piece.begin, piece.end - piece.begin);
    switch (piece.kind) {
      case PatternPiece::Kind::kSequence: {
        Reached reached = from;
        for (std::size_t i = 0; i < piece.children.size(); ++i)
          reached = After(piece.children[backwards_ ? piece.children.size() - 1 - i : i], reached);
        return reached;
      }
      case PatternPiece::Kind::kAlternation: {
        Reached reached;
        for (const PatternPiece& child : piece.children) reached = United(reached, After(child, from));
        return reached;
      }
      case PatternPiece::Kind::kGroup:
        return piece.children.empty() ? from : After(piece.children.front(), from);
      case PatternPiece::Kind::kLiteral: {
        std::optional<std::vector<ByteSet>> characters = BytesOfLiteral(text);
        if (!characters) break;
        if (backwards_) std::reverse(characters->begin(), characters->end());
        Reached reached = from;
        for (const ByteSet& bytes : *characters) reached = AfterCharacter(bytes, reached);
        return reached;
      }
      case PatternPiece::Kind::kBlank:
        return Repeated(from, 1, -1, [&](const Reached& places) { return AfterCharacter(WhiteSpace(), places); });
      case PatternPiece::Kind::kClass:
        return AfterCharacter(BytesOfClass(std::string(text)), from);
      case PatternPiece::Kind::kCapture:
        break;
      default:
        return from;
    }
    if (!from.empty()) Anything(from.front());
    return {};
  }

  template <class Once>
  Reached Repeated(const Reached& from, int least, int most, const Once& once) {
    Reached now = from;
    for (int i = 0; i < least && !now.empty(); ++i) now = once(now);
    Reached all = now;
    for (int i = least; (most < 0 || i < most) && !now.empty(); ++i) {
      now = once(now);
      const Reached more = United(all, now);
      if (more == all) break;
      all = more;
    }
    return all;
  }

  Reached After(const PatternPiece& piece, const Reached& from) {
    return Repeated(from, piece.least, piece.most, [&](const Reached& places) { return AfterOnce(piece, places); });
  }

  const std::string_view source_;
  const bool backwards_;
  std::vector<ByteSet> bytes_;
};

std::vector<ByteSet> BytesAtPlaces(std::string_view pattern, std::size_t count, bool backwards) {
  const std::optional<PatternPiece> whole = ParsePattern(pattern);
  if (!whole) return std::vector<ByteSet>(count, ByteSet().set());
  return Places(pattern, count, backwards).Of(*whole);
}

// What a piece needs of the line that it begins in, or ends in, seen from that end.
struct Need {
  std::vector<ByteSet> sets;
  bool in_line = true;  // it matches no line break, so that what is behind it counts, too
};

class Needs {
 public:
  Needs(std::string_view source, bool backwards) : source_(source), backwards_(backwards) {}

  Need Of(const PatternPiece& piece) const {
    Need need = OfOnce(piece);
    if (piece.least == 0) need.sets.clear();
    return need;
  }

 private:
  static void AddCharacter(const ByteSet& bytes, Need* need) {
    if (!need->in_line) return;
    if (bytes.test('\n')) {
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
      const Need next = Of(piece.children[backwards_ ? piece.children.size() - 1 - i : i]);
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
      const Need one = Of(child);
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
        return piece.children.empty() ? need : Of(piece.children.front());
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

// Of a sequence with `anchor` at the end of the text that is meant.
std::vector<ByteSet> NeededInLine(std::string_view pattern, std::string_view anchor, bool backwards) {
  const std::optional<PatternPiece> whole = ParsePattern(pattern);
  if (!whole || whole->kind != PatternPiece::Kind::kSequence || whole->children.empty()) return {};
  const PatternPiece& end = backwards ? whole->children.back() : whole->children.front();
  if (end.kind != PatternPiece::Kind::kAssertion || pattern.substr(end.begin, end.end - end.begin) != anchor) return {};
  std::vector<ByteSet> sets = Needs(pattern, backwards).Of(*whole).sets;
  // What nearly each line has tells nothing.
  constexpr std::size_t kMany = 60;
  std::erase_if(sets, [](const ByteSet& bytes) { return (bytes & ~OutsideAscii()).count() > kMany; });
  std::sort(sets.begin(), sets.end(), [](const ByteSet& one, const ByteSet& other) {
    return std::pair(one.count(), one.to_string()) < std::pair(other.count(), other.to_string());
  });
  sets.erase(std::unique(sets.begin(), sets.end()), sets.end());
  return sets;
}

}  // namespace

std::vector<ByteSet> LeadingBytes(std::string_view pattern, std::size_t count) {
  return BytesAtPlaces(pattern, count, false);
}

std::vector<ByteSet> TrailingBytes(std::string_view pattern, std::size_t count) {
  return BytesAtPlaces(pattern, count, true);
}

std::vector<ByteSet> NeededInLastLine(std::string_view pattern) { return NeededInLine(pattern, "\\z", true); }

std::vector<ByteSet> NeededInFirstLine(std::string_view pattern) { return NeededInLine(pattern, "\\A", false); }

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

}  // namespace whyoom
