// Tells the words of a sentence from the names in it (shapes, files, calls, options), which formats with markup set as
// code. What is taken for words cannot be markup, a mention, a reference or a link in any markup language that we
// write: letters and digits with harmless punctuation; everything else is a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct Phrase {
  std::string text;
  bool is_name = false;
};

// Phrases that joined are Printable(sentence); never an empty one. A call with blanks inside its brackets is one name.
std::vector<Phrase> PhrasesOf(std::string_view sentence);

}  // namespace whyoom
