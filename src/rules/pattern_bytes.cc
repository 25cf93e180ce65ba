#include "rules/pattern_bytes.h"

#include <algorithm>
#include <iterator>
#include <optional>
#include <string>
#include <utility>

#include "rules/pattern_tree.h"

namespace whyoom {
namespace {

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

}  // namespace

std::vector<ByteSet> LeadingBytes(std::string_view pattern, std::size_t count) {
  return BytesAtPlaces(pattern, count, false);
}

std::vector<ByteSet> TrailingBytes(std::string_view pattern, std::size_t count) {
  return BytesAtPlaces(pattern, count, true);
}

}  // namespace whyoom
