// What a text must have, wherever it stands, for a pattern to match. As rules/pattern_bytes.h: what is said to be
// needed is needed, and where that is not easily told, nothing is said.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/byte_set.h"

namespace whyoom {

// Sets of bytes of which each match has one each.
std::vector<ByteSet> NeededBytes(std::string_view pattern);

// What a pattern asks of a text that it is tied to by \A or \z, and of the text's line at that end.
struct TextNeeds {
  std::vector<ByteSet> leading;    // what the line's first bytes can be; it may end before them
  std::vector<ByteSet> line;       // sets of bytes of which the line has one each
  std::vector<ByteSet> text;       // sets of bytes of which the text has one each
  std::vector<std::string> words;  // in lower case: the line has one of them, in any case; none: nothing is known
};

// Of a pattern that ends with \z: the line is the text's last one.
TextNeeds NeedsAtEnd(std::string_view pattern);
// Of one that begins with \A: the line is the text's first one.
TextNeeds NeedsAtBegin(std::string_view pattern);

// A text as far as TextNeeds ask for it, less words.
class SeenText {
 public:
  // `line` is a part of the text. Borrows it.
  SeenText(std::string_view text, std::string_view line);

  bool MayMatch(const TextNeeds& needs) const;

  std::string_view line() const { return line_; }

 private:
  std::string_view line_;
  ByteSet of_line_;
  ByteSet of_text_;
};

}  // namespace whyoom
