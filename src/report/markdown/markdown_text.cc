#include "report/markdown/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "report/phrases.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::size_t LongestRun(std::string_view text, char wanted) {
  std::size_t longest = 0;
  std::size_t run = 0;
  for (const char c : text) {
    run = c == wanted ? run + 1 : 0;
    longest = std::max(longest, run);
  }
  return longest;
}

// Whatever is no letter, digit or blank as a character reference, which is never markup.
std::string Referenced(std::string_view printable) {
  std::string text;
  for (const char c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '@') {
      text += "<!-- -->&#64;";  // else GitHub's parser makes links of mail addresses, references or not
    } else if (byte < 0x80 && std::isalnum(byte) == 0 && c != ' ' && c != '.' && c != ',') {
      text += fmt::format("&#{};", static_cast<unsigned>(byte));
    } else {
      text += c;
    }
  }
  return text;
}

template <typename Name>
std::string Sentence(std::string_view sentence, Name name) {
  std::string text;
  for (const Phrase& phrase : PhrasesOf(sentence)) text += phrase.is_name ? name(phrase.text) : phrase.text;
  return text;
}

}  // namespace

std::string MarkdownSentence(std::string_view sentence) { return Sentence(sentence, MarkdownCode); }

std::string MarkdownCode(std::string_view name) {
  const std::string text = Printable(name);
  if (text.empty()) return {};
  if (text.find('|') != std::string::npos) return HtmlCode(text);
  if (text.find_first_not_of(' ') == std::string::npos) return HtmlCode(text);
  const std::string fence(LongestRun(text, '`') + 1, '`');
  // A blank on both sides is taken away again by the parser.
  const bool edge = text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
  const std::string blank = edge ? " " : "";
  return fence + blank + text + blank + fence;
}

std::string HtmlCode(std::string_view name) {
  const std::string text = Printable(name);
  return text.empty() ? "" : "<code>" + Referenced(text) + "</code>";
}

std::string HtmlSentence(std::string_view sentence) { return Sentence(sentence, HtmlCode); }

std::string MarkdownBlock(std::string_view text) {
  const std::string printable = Printable(text);
  const std::string fence(std::max<std::size_t>(3, LongestRun(printable, '`') + 1), '`');
  return fence + "text\n" + printable + "\n" + fence + "\n";
}

}  // namespace whyoom
