#include "report/phrases.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "text/utf8.h"

namespace whyoom {
namespace {

using re2::RE2;

// Words of letters, digits and harmless punctuation, unless GitHub or an issue tracker would turn them into a link (the
// hash of a commit, "GH-123", "www.…") or they are code: options, and a dot between letters ("jax.jit", "train.py",
// but not "e.g.").
bool IsWord(std::string_view core) {
  static const RE2 name(
      R"(^-|[^A-Za-z0-9.,'\-/%\x80-\xff]|(?:^|[^A-Za-z0-9])[0-9A-Fa-f]{7,}(?:$|[^A-Za-z0-9])|[A-Za-z0-9]-[0-9][^-]*$|)"
      R"(^[Ww]{3}\.|[A-Za-z0-9][A-Za-z]\.[A-Za-z]|[A-Za-z]\.[A-Za-z][A-Za-z0-9])",
      RE2::Latin1);
  const auto is_letter = [](unsigned char c) { return c >= 0x80 || std::isalnum(c) != 0; };
  return std::any_of(core.begin(), core.end(), is_letter) && !RE2::PartialMatch(core, name);
}

// Matches text up to a blank: opening punctuation, `core`, closing punctuation.
std::string WordPattern(const std::string& core) {
  return R"re(([("']*)()re" + core + R"re()('s|[.,;:!?)"']*)(?: |$))re";
}

// Matches text whose brackets are closed, nested up to this depth.
std::string Balanced(int depth) {
  const std::string brackets = depth == 0 ? "" : R"(|[(\[{])" + Balanced(depth - 1) + R"([)\]}])";
  return R"((?:[^()\[\]{}])" + brackets + ")*";
}

struct Word {
  re2::StringPiece open;
  re2::StringPiece core;
  re2::StringPiece close;

  Word(std::string_view text, const RE2& pattern) {
    re2::StringPiece whole(text.data(), text.size());
    RE2::Consume(&whole, pattern, &open, &core, &close);
  }
  std::string_view name() const { return {core.data(), core.size()}; }
  bool IsPunctuation() const { return name().find_first_not_of("./%-") == std::string_view::npos; }
  std::size_t size() const { return open.size() + core.size() + close.size(); }
};

// The first word of a text that starts with one. A name may contain blanks inside its brackets and quotes, or be an
// assignment: "x = f(y, z)".
Word FirstWord(std::string_view text) {
  static const std::string closed = R"((?:[^ ()\[\]{}"']|[(\[{])" + Balanced(3) + R"([)\]}]|"[^"]*"|'[^' ]*')*?)";
  static const RE2 plain(WordPattern(R"((?:[^ (),;:!?"'][^ ]*?)?|[^ ]+?)"), RE2::Latin1);
  static const RE2 call(WordPattern(R"((?:[^ ()\[\]{},;:!?"']|[\[{])" + Balanced(3) + R"([\]}]))" + closed),
                        RE2::Latin1);
  static const RE2 assignment(WordPattern("[A-Za-z0-9_]+ = [A-Za-z]" + closed), RE2::Latin1);
  const Word word(text, plain);
  if (text.substr(word.size()).starts_with(" = ")) {
    const Word assigned(text, assignment);
    if (assigned.size() > 0 && !IsWord(assigned.name().substr(assigned.name().find('=') + 2))) return assigned;
  }
  if (word.IsPunctuation() || IsWord(word.name())) return word;
  const Word called(text, call);
  return called.size() > 0 ? called : word;
}

void Add(std::string_view text, bool is_name, std::vector<Phrase>* phrases) {
  if (text.empty()) return;
  if (!phrases->empty() && phrases->back().is_name == is_name) {
    phrases->back().text += text;
  } else {
    phrases->push_back({std::string(text), is_name});
  }
}

// Adds text without marks.
void AddWords(std::string_view text, std::vector<Phrase>* phrases) {
  static const RE2 list_mark("[0-9]*[.)]");
  while (!text.empty()) {
    const std::size_t blanks = std::min(text.find_first_not_of(' '), text.size());
    Add(text.substr(0, blanks), false, phrases);
    text.remove_prefix(blanks);
    if (text.empty()) return;
    // Punctuation at the start could begin a list in Markdown: "-", "1.", "1)".
    const bool is_first =
        phrases->empty() || (phrases->size() == 1 && phrases->front().text.find_first_not_of(' ') == std::string::npos);
    const Word word = FirstWord(text);
    const std::string_view whole = text.substr(0, word.size());
    text.remove_prefix(word.size());
    if (word.IsPunctuation()) {
      Add(whole, is_first, phrases);
    } else if (IsWord(word.name()) && !(is_first && RE2::FullMatch(whole, list_mark))) {
      Add(whole, false, phrases);
    } else {
      Add(whole.substr(0, word.open.size()), false, phrases);
      Add(word.name(), true, phrases);
      Add(whole.substr(word.open.size() + word.name().size()), false, phrases);
    }
  }
}

}  // namespace

std::vector<Phrase> PhrasesOf(std::string_view sentence) {
  static const RE2 mark(R"((?:^|[ ("'])`([^`]*[^ `][^`]*)`)");
  const std::string text = Printable(sentence);
  std::vector<Phrase> phrases;
  std::string_view rest = text;
  for (re2::StringPiece code; RE2::PartialMatch(rest, mark, &code);) {
    const auto begin = static_cast<std::size_t>(code.data() - rest.data());
    AddWords(rest.substr(0, begin - 1), &phrases);
    Add({code.data(), code.size()}, true, &phrases);
    rest.remove_prefix(begin + code.size() + 1);
  }
  AddWords(rest, &phrases);
  return phrases;
}

}  // namespace whyoom
