#include "text/cleaning.h"

#include <re2/re2.h>

#include <algorithm>
#include <array>
#include <bitset>
#include <charconv>
#include <optional>
#include <utility>

#include "text/numbers.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Groups = std::array<re2::StringPiece, 8>;

// Matches `regex` in `text` from `from` on. Returns false if it does not match; sets the groups of the expression.
bool FindNext(const Regex& regex, std::string_view text, std::size_t from, Groups* groups) {
  const int count = 1 + regex.NumberOfCapturingGroups();
  return regex.Match(text, from, text.size(), re2::RE2::UNANCHORED, groups->data(), count);
}

// Replaces each match of `regex` in the line, from `from` on, by what `replacement` returns for its groups; nullopt
// keeps the match. No expression may match the empty text.
template <class Replacement>
void ReplaceEach(std::string_view text, std::size_t from, const Regex& regex, Rewriter* rewriter,
                 Replacement replacement) {
  Groups groups;
  for (std::size_t at = from; at < text.size() && FindNext(regex, text, at, &groups);) {
    const std::size_t begin = OffsetIn(text, groups[0]);
    at = begin + groups[0].size();
    const std::optional<std::string> by = replacement(groups);
    if (by) rewriter->Replace(begin, at, *by);
  }
}

char32_t NumberOf(const re2::StringPiece& digits, int base) {
  std::uint32_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  return number;
}

// Offset of the text after all leading quote, list and heading markers of Markdown.
std::size_t PastMarkers(std::string_view text) {
  static const Regex markers(R"((?: *(?:> ?|• |\*\* |[-*] |#{1,6} )){0,8})");
  re2::StringPiece rest(text);
  re2::RE2::Consume(&rest, markers);
  const std::size_t past = OffsetIn(text, rest);
  if (past == 0 || text.substr(past - 1, 2) != ">=") return past;
  return text.substr(0, past - 1).find_last_not_of(' ') + 1;  // "usage >= 1G" may be wrapped before its operator
}

}  // namespace

bool IsBinary(std::string_view bytes) {
  static const re2::RE2 zeros(R"([^\x00]\x00+[^\x00]+\x00+[^\x00])", re2::RE2::Latin1);
  constexpr std::string_view kUsual{"\0\t\n\r\a\b\f\v\x1b", 9};  // loggers, terminals or progress bars write them
  std::size_t others = 0;
  std::bitset<32> kinds;
  for (const char c : bytes) {
    if (static_cast<unsigned char>(c) >= 0x20 || kUsual.find(c) != std::string_view::npos) continue;
    ++others;
    kinds.set(static_cast<unsigned char>(c));
  }
  // Machine code has unprintable characters of several kinds. One kind alone can separate the fields of records.
  return (others >= 4 && kinds.count() >= 3 && others * 32 >= bytes.size()) || re2::RE2::PartialMatch(bytes, zeros);
}

bool StripControls(MappedText* line) {
  static const Regex control(
      R"((\[\d{1,3}m(?:[\d\]]| \d)))"  // not a colour but a duration: "[2m 30s]"
      R"(|(?:\x1b\[|\x{9b})[ -?]*[@-~]?)"
      // Command strings, such as links. If one never ends, only its introducer is removed.
      R"(|\x1b[\]PX^_](?:[^\x07\x1b]*(?:\x07|\x1b\\))?)"
      R"(|\x1b(?:[ -/]*[0-~])?)"
      // Colours whose escape character was lost, or spelt out by a viewer, a collector or in an escaped string.
      R"(|(?:\^\[|#033|\\(?:033|x1[bB]|u001[bB]|e))?\[(?:[01]?\d?\d|2[0-4]\d|25[0-5])(?:;(?:[01]?\d?\d|2[0-4]\d|25[0-5]))*m)"
      R"(|(\x{a0})|[\x00-\x08\x0a-\x1f\x7f-\x{9f}\x{200b}\x{feff}])");
  Rewriter rewriter(*line);
  ReplaceEach(line->text, 0, control, &rewriter, [](const Groups& groups) -> std::optional<std::string> {
    if (!groups[1].empty()) return std::nullopt;
    return groups[2].empty() ? "" : " ";
  });
  return rewriter.Finish(line);
}

std::vector<MappedText> SplitLines(const MappedText& text) {
  static const Regex line_break(R"(\r*\n|\r+|\x{85}|\x{2028}|\x{2029})");
  std::vector<MappedText> lines;
  Rewriter rewriter(text);
  std::size_t begin = 0;
  Groups groups;
  while (lines.size() + 1 < kMostParts && FindNext(line_break, text.text, begin, &groups)) {
    const std::size_t end = OffsetIn(text.text, groups[0]);
    // A lone carriage return restarts the line; if it comes first, nothing was overwritten.
    if (end > begin || groups[0][groups[0].size() - 1] != '\r') {
      rewriter.Keep(begin, end);
      lines.push_back(rewriter.Take());
    }
    begin = end + groups[0].size();
  }
  if (begin < text.text.size() || lines.empty()) {
    rewriter.Keep(begin, text.text.size());
    lines.push_back(rewriter.Take());
  }
  return lines;
}

std::size_t Unescape(std::string_view text, std::size_t at, std::string* out) {
  static const Regex escape(R"(\\(?:([nrt\\'"/])|u([dD][89abAB][[:xdigit:]]{2})\\u([dD][c-fC-F][[:xdigit:]]{2}))"
                            R"(|(u[[:xdigit:]]{4}|U[[:xdigit:]]{8}|x[[:xdigit:]]{2})|([01][0-7]{2})))");
  constexpr std::string_view kNames = "nrt\\'\"/";
  constexpr std::string_view kMeanings = "\n\r\t\\'\"/";
  constexpr std::size_t kLongest = 12;
  Groups groups;
  if (!escape.Match(text, at, std::min(text.size(), at + kLongest), re2::RE2::ANCHOR_START, groups.data(), 6)) {
    // Copy only the backslash; the next character may start an escape of its own.
    out->push_back('\\');
    return 1;
  }
  if (!groups[1].empty()) out->push_back(kMeanings[kNames.find(groups[1][0])]);
  if (!groups[2].empty())
    AppendUtf8(0x10000 + ((NumberOf(groups[2], 16) - 0xD800) << 10) + (NumberOf(groups[3], 16) - 0xDC00), out);
  if (!groups[4].empty()) AppendUtf8(NumberOf(groups[4].substr(1), 16), out);
  if (!groups[5].empty()) AppendUtf8(NumberOf(groups[5], 8), out);
  return groups[0].size();
}

namespace {

// A part of a line in quotes that contains escapes, including the quotes.
struct Quoted {
  std::size_t begin;
  std::size_t end;
  bool closed;
  bool split;  // contains line breaks to split at; if not, the text is copied unchanged
};

// Whether the quote opens an attribute of XLA, whose escapes must stay as they are.
bool OpensXlaAttribute(std::string_view before) {
  constexpr std::array<std::string_view, 6> kNames = {
      "op_name=", "op_type=", "source_file=", "backend_config=", "custom_call_target=", "kernel_metadata="};
  return std::any_of(kNames.begin(), kNames.end(), [&](std::string_view name) { return before.ends_with(name); });
}

// Whether the text in quotes between the other two is an item of an array in a JSON document.
bool IsItem(std::string_view before, std::string_view behind) {
  constexpr std::string_view kBlanks = " \t\r\n";
  const std::size_t last = before.find_last_not_of(kBlanks);
  const std::size_t next = behind.find_first_not_of(kBlanks);
  return (last == std::string_view::npos || before[last] == '[' || before[last] == ',') &&
         (next == std::string_view::npos || behind[next] == ']' || behind[next] == ',');
}

// Whether the text in quotes between the other two contains line breaks to split at.
bool IsSplit(std::string_view before, std::string_view text, std::string_view behind) {
  if (OpensXlaAttribute(before)) return false;
  if (text.find("\\\\n") != std::string_view::npos) return true;  // escaped twice
  const std::size_t size = text.size();
  while (text.ends_with("\\n")) text.remove_suffix(2);
  // Notebooks store a printed line as `    "text\n",`. Elsewhere, a text whose only break is at its end is source code.
  const bool is_item = IsBlank(before) && behind.starts_with(',') && IsBlank(behind.substr(1));
  return text.find("\\n") != std::string_view::npos || (text.size() < size && is_item);
}

// The texts in quotes of a line. Sets `break_outside` if there are escaped line breaks between them.
std::vector<Quoted> FindQuoted(std::string_view text, bool json, bool* break_outside) {
  // An escape, or a text in quotes: not after a word, like an apostrophe, except that b'…', r'…', f'…' and u'…' are
  // Python's.
  static const Regex token(R"((?s)\\(.)|(?:\B|\b[brfu])("(?:[^"\\]|\\.)*("?)|'(?:[^'\\]|\\.)*('?)))");
  std::vector<Quoted> found;
  Groups groups;
  for (std::size_t at = 0; FindNext(token, text, at, &groups);) {
    at = OffsetIn(text, groups[0]) + groups[0].size();
    if (!groups[1].empty()) {
      *break_outside = *break_outside || groups[1] == "n";
      continue;
    }
    Quoted quoted{OffsetIn(text, groups[2]), at, !groups[3].empty() || !groups[4].empty(), false};
    const std::string_view before = text.substr(0, quoted.begin);
    const std::string_view inside = text.substr(quoted.begin + 1, at - quoted.begin - (quoted.closed ? 2 : 1));
    quoted.split = IsSplit(before, inside, text.substr(at)) || (json && IsItem(before, text.substr(at)));
    // A closing quote, or an apostrophe or an inch mark.
    if (before.ends_with(')') || before.ends_with(']') || before.ends_with('}') ||
        (!quoted.closed && !quoted.split && !OpensXlaAttribute(before))) {
      at = quoted.begin + 1;
    } else if (quoted.split || inside.find('\\') != std::string_view::npos) {
      found.push_back(quoted);
    }
  }
  return found;
}

// Writes the parts of a line that is split at escaped breaks.
class PartWriter {
 public:
  PartWriter(const MappedText& line, std::vector<MappedText>* parts)
      : text_(line.text), rewriter_(line), parts_(parts) {}

  // Copies text to the current part. If `unescape`, removes one level of escaping and splits at the breaks.
  void Copy(std::size_t begin, std::size_t end, bool unescape) {
    const std::string_view text = text_.substr(0, end);
    while (unescape && (end = text.find('\\', begin)) != std::string_view::npos) {
      std::string unescaped;
      rewriter_.Keep(begin, end);
      const bool is_crlf = text.substr(end, 4) == "\\r\\n";
      begin = end + Unescape(text, end, &unescaped);
      if (unescaped != "\n" && unescaped != "\r") {
        rewriter_.Put(unescaped, end);
      } else if (!is_crlf && parts_->size() + 1 < kMostParts) {
        parts_->push_back(rewriter_.Take());
      } else if (!is_crlf) {
        rewriter_.Put(" ", end);
      }
    }
    rewriter_.Keep(begin, text.size());
  }

  // Ends a part, and drops it if it contains only these characters.
  void End(std::string_view dropped) {
    MappedText part = rewriter_.Take();
    if (part.text.find_first_not_of(dropped) != std::string::npos) parts_->push_back(std::move(part));
  }

 private:
  const std::string_view text_;
  Rewriter rewriter_;
  std::vector<MappedText>* parts_;
};

}  // namespace

bool SplitAtEscapedBreaks(const MappedText& line, bool json, std::vector<MappedText>* parts) {
  constexpr std::string_view kBrackets = " \t()[]{},;.";
  if (!json && line.text.find("\\n") == std::string::npos) return false;
  bool break_outside = false;
  const std::vector<Quoted> found = FindQuoted(line.text, json, &break_outside);
  if (!break_outside && std::none_of(found.begin(), found.end(), [](const Quoted& q) { return q.split; })) return false;
  PartWriter writer(line, parts);
  std::size_t at = 0;
  for (const Quoted& quoted : found) {
    writer.Copy(at, quoted.begin, break_outside);
    if (quoted.split) {
      writer.End(kBrackets);
      if (quoted.end == quoted.begin + 2)
        parts->push_back(Slice(line, quoted.end - 1, quoted.end - 1));  // an empty item
      writer.Copy(quoted.begin + 1, quoted.closed ? quoted.end - 1 : quoted.end, true);
      writer.End("");
    } else {
      writer.Copy(quoted.begin, quoted.end, false);
    }
    at = quoted.end;
  }
  writer.Copy(at, line.text.size(), break_outside);
  writer.End(kBrackets);
  return true;
}

bool StripMarkdown(Line* line) {
  // Besides escapes: stars of Python, other numbers of stars, stars that may be Python's ("f(**kw)"), and markup.
  static const Regex mark(R"(\\([_*\[\]])|\\.|[\d)](?:\*\*\d+)+| \*\* |\*{4,}|([(,{\[] *)\*\*(\w)|(`|\*{2,3}))");
  const std::string_view text = line->text;
  Rewriter rewriter(*line);
  const std::size_t at = PastMarkers(text);
  if (at > 0) rewriter.Replace(0, at);
  ReplaceEach(text, at, mark, &rewriter, [&](const Groups& found) -> std::optional<std::string> {
    if (!found[4].empty()) return "";
    if (!found[1].empty()) return std::string(found[1]);
    if (found[2].empty()) return std::nullopt;
    // Emphasis closes directly after a word.
    const std::size_t close = text.find("**", OffsetIn(text, found[0]) + found[0].size());
    if (close == std::string_view::npos || text[close - 1] == ' ' || text[close - 1] == '(') return std::nullopt;
    return std::string(found[2]) + std::string(found[3]);
  });
  MappedText stripped;
  if (!rewriter.Finish(&stripped)) return false;
  if (line->written.text.empty()) line->written = std::move(*line);
  line->SetText(std::move(stripped));
  return true;
}

bool DecodeBreaks(MappedText* line) {
  static const Regex octal("#(0[0-3][0-7]|177)");
  static const Regex percent("%(0A|0D|25)");
  const std::string_view text = line->text;
  const bool is_octal = text.find("#012") != std::string_view::npos;
  if (!is_octal && (text.find("%0A") == std::string_view::npos || text.find("%20") != std::string_view::npos))
    return false;
  Rewriter rewriter(*line);
  ReplaceEach(text, 0, is_octal ? octal : percent, &rewriter, [&](const Groups& groups) {
    return std::string(1, static_cast<char>(NumberOf(groups[1], is_octal ? 8 : 16)));
  });
  return rewriter.Finish(line);
}

bool DecodeHtml(MappedText* line) {
  static const Regex reference(R"(&(?:(gt|lt|amp|quot|apos|nbsp)|#(\d{1,6})|#[xX]([[:xdigit:]]{1,6}));)");
  static constexpr std::string_view kNames = "gt> lt< amp& quot\" apos' nbsp ";  // each followed by its meaning
  Rewriter rewriter(*line);
  ReplaceEach(line->text, 0, reference, &rewriter, [](const Groups& groups) {
    if (const std::string_view name(groups[1].data(), groups[1].size()); !name.empty())
      return std::string(1, kNames[kNames.find(name) + name.size()]);
    const char32_t code = groups[2].empty() ? NumberOf(groups[3], 16) : NumberOf(groups[2], 10);
    std::string character;
    AppendUtf8(code < 0x20 ? U' ' : code, &character);
    return character;
  });
  return rewriter.Finish(line);
}

}  // namespace whyoom
