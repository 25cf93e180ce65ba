// A message cut into what stays the same from run to run and what does not: figures, names, devices, paths.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct MessagePiece {
  enum class Kind {
    kWord,     // letters, digits and _ that stay as they are
    kMark,     // any other character that stays as it is
    kBlank,    // any white space
    kVarying,  // differs from run to run, and nobody asks what it was
    kCapture,  // differs, and is a fact
  };
  Kind kind = Kind::kWord;
  std::size_t begin = 0;  // in the message
  std::string text;       // what stands there
  std::string pattern;    // RE2 for it; of a capture without its group
  std::string type;       // of a capture: size, bytes, integer, number, name, device or shape
  std::string name;       // of a capture: the fact, see NameCaptures
  bool optional = false;  // of a capture: no fact is lost where it has no good name

  std::size_t end() const { return begin + text.size(); }
};

// Of one line, valid UTF-8; the pieces stand one behind the other and are all of it. Quotes, apostrophes and
// backslashes, which a log may hold escaped, and what is not ASCII in a European text become `\W{1,3}`. Codes such as
// E1300 stay.
std::vector<MessagePiece> CutMessage(std::string_view message);

// The pattern of the pieces [begin, end). Captures without a name match anything of their type.
std::string PatternOf(const std::vector<MessagePiece>& pieces, std::size_t begin, std::size_t end);

}  // namespace whyoom
