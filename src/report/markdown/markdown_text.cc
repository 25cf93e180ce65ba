#include "report/markdown/markdown_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "report/layout.h"
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

// Writes everything but letters, digits, blanks and commas as character references, which are never markup or links.
std::string Referenced(std::string_view printable) {
  std::string text;
  for (const char c : printable) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '@') {
      text += "<!-- -->&#64;";  // GitHub's parser turns mail addresses into links, even with a reference alone
    } else if (byte < 0x80 && std::isalnum(byte) == 0 && c != ' ' && c != ',') {
      text += fmt::format("&#{};", static_cast<unsigned>(byte));
    } else {
      text += c;
    }
  }
  return text;
}

template <typename Name>
std::string SetSentence(std::string_view sentence, Name name) {
  std::string text;
  for (const Phrase& phrase : PhrasesOf(sentence)) text += phrase.is_name ? name(phrase.text) : phrase.text;
  return text;
}

std::string LeftOut(std::size_t parts, std::size_t sections) {
  std::string what;
  if (parts > 0) what += fmt::format("{} {}", parts, parts == 1 ? "failure" : "failures");
  if (sections > 0)
    what += fmt::format("{}{} {}", what.empty() ? "" : " and ", sections,
                        sections == 1 ? "folded section" : "folded sections");
  return "\n_Left out because of the size limit: " + what +
         ". The same command with `--format text --all` shows everything._\n";
}

}  // namespace

std::string MarkdownSentence(std::string_view sentence) {
  sentence.remove_prefix(std::min(sentence.find_first_not_of(' '), sentence.size()));  // leading blanks would make code
  return SetSentence(sentence, MarkdownCode);
}

std::string MarkdownCode(std::string_view name) {
  const std::string text = Printable(name);
  if (text.empty()) return {};
  if (text.find('|') != std::string::npos) return HtmlCode(text);
  if (text.find_first_not_of(' ') == std::string::npos) return HtmlCode(text);
  const std::string fence(LongestRun(text, '`') + 1, '`');
  // The parser removes one blank on both sides.
  const bool edge = text.front() == '`' || text.back() == '`' || (text.front() == ' ' && text.back() == ' ');
  const std::string blank = edge ? " " : "";
  return fence + blank + text + blank + fence;
}

std::string HtmlCode(std::string_view name) {
  const std::string text = Printable(name);
  return text.empty() ? "" : "<code>" + Referenced(text) + "</code>";
}

std::string HtmlSentence(std::string_view sentence) { return SetSentence(sentence, HtmlCode); }

std::string MarkdownUrl(const std::string& url) {
  constexpr std::size_t kLongest = 160;  // columns
  const bool plain = url.starts_with("https://") && url.find_first_of(" <>\"\\\n\t") == std::string::npos;
  return plain && Printable(url) == url ? "<" + url + ">" : MarkdownCode(Shorten(Printable(url), kLongest));
}

std::string MarkdownBlock(std::string_view text) {
  const std::string printable = Printable(text);
  const std::string fence(std::max<std::size_t>(3, LongestRun(printable, '`') + 1), '`');
  return fence + "text\n" + printable + "\n" + fence + "\n";
}

std::string JoinWithin(const std::vector<MarkdownPart>& parts, const std::string& footer, std::size_t most_bytes) {
  std::size_t all_sections = 0;
  for (const MarkdownPart& part : parts) all_sections += part.folded.size();
  const std::size_t reserved = LeftOut(parts.size(), all_sections).size() + footer.size();
  std::size_t room = most_bytes - std::min(most_bytes, reserved);

  std::size_t shown = 0;
  while (shown < parts.size()) {
    const std::size_t size = parts[shown].text.size() + parts[shown].end.size() + 1;
    if (size > room) break;
    room -= size;
    ++shown;
  }
  if (shown == 0) {
    const std::string all = "This report exceeds the size limit; the same command with `--format html` shows it.\n";
    return all.size() <= most_bytes ? all : "";
  }
  std::string page;
  std::size_t sections = 0;
  bool full = false;
  for (std::size_t i = 0; i < shown; ++i) {
    if (i > 0) page += '\n';
    page += parts[i].text;
    for (const std::string& section : parts[i].folded) {
      full = full || section.size() + 1 > room;
      if (full) break;
      page += '\n' + section;
      room -= section.size() + 1;
      ++sections;
    }
    page += parts[i].end;
  }
  if (shown < parts.size() || sections < all_sections) {
    std::size_t missing = 0;  // of the failures that are shown; the other failures are missing as a whole
    for (std::size_t i = 0; i < shown; ++i) missing += parts[i].folded.size();
    page += LeftOut(parts.size() - shown, missing - sections);
  }
  return page + footer;
}

}  // namespace whyoom
