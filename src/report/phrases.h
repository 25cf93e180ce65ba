// Splits a sentence into words and names (shapes, files, calls, options). Markup formats set names as code. The rule
// data puts backquotes around code that does not look like code ("`free -h` shows"); other code is recognised by its
// characters. Words consist of letters, digits and harmless punctuation only, so they cannot be markup, a mention, a
// reference or a link in any format that we write. Everything else is a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct Phrase {
  std::string text;
  bool is_name = false;
};

// The joined phrases equal the printable sentence without backquotes around code; none is empty. A call with blanks
// inside its brackets is one name.
std::vector<Phrase> PhrasesOf(std::string_view sentence);

}  // namespace whyoom
