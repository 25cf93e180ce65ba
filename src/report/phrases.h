// Tells the words of a sentence from the names in it (shapes, files, calls, options), which formats with markup set as
// code. The rule data marks code with backquotes where a reader could not tell it by its look ("`free -h` shows"); the
// rest is told by its look. What is taken for words cannot be markup, a mention, a reference or a link in any markup
// language that we write: letters and digits with harmless punctuation; everything else is a name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct Phrase {
  std::string text;
  bool is_name = false;
};

// Phrases that joined are WithoutMarks(Printable(sentence)); never an empty one. A call with blanks inside its brackets
// is one name.
std::vector<Phrase> PhrasesOf(std::string_view sentence);

// The sentence for formats without markup: what is marked stands there as it is, without its backquotes.
std::string WithoutMarks(std::string_view sentence);

}  // namespace whyoom
