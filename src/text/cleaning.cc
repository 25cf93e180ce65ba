#include "text/cleaning.h"

#include <algorithm>
#include <array>
#include <bitset>
#include <cctype>
#include <charconv>
#include <cstdint>
#include <optional>
#include <utility>

#include "text/byte_class.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Control characters that no logger, terminal or progress bar writes.
bool IsUnprintable(char c) {
  constexpr std::string_view kUsual = "\t\n\r\a\b\f\v\x1b";
  return static_cast<unsigned char>(c) < 0x20 && c != '\0' && kUsual.find(c) == std::string_view::npos;
}

// Whether every other byte is zero, as in UTF-16 text appended to a UTF-8 log.
bool IsWide(std::string_view bytes, std::size_t zeros) {
  if (zeros * 3 < bytes.size()) return false;
  std::size_t adjacent = 0;
  for (std::size_t at = 1; at < bytes.size(); ++at) {
    if (bytes[at] == '\0' && bytes[at - 1] == '\0') ++adjacent;
  }
  return adjacent * 20 < zeros;
}

// Whether unprintable characters of several kinds make up a larger share than in any text. One kind alone does not
// count, because it can separate the fields of records.
bool HasCode(std::string_view bytes) {
  constexpr std::size_t kLeast = 4;
  constexpr std::size_t kKinds = 3;
  constexpr std::size_t kShare = 32;
  std::bitset<32> kinds;
  std::size_t count = 0;
  for (const char c : bytes) {
    if (!IsUnprintable(c)) continue;
    kinds.set(static_cast<unsigned char>(c));
    ++count;
  }
  return count >= kLeast && kinds.count() >= kKinds && count * kShare >= bytes.size();
}

}  // namespace

bool IsBinary(std::string_view bytes) {
  const std::size_t begin = bytes.find_first_not_of('\0');
  if (begin == std::string_view::npos) return false;
  bytes = bytes.substr(begin, bytes.find_last_not_of('\0') + 1 - begin);
  std::size_t runs = 0;
  std::size_t zeros = 0;
  for (std::size_t at = bytes.find('\0'); at != std::string_view::npos; at = bytes.find('\0', at)) {
    const std::size_t end = bytes.find_first_not_of('\0', at);  // found, because trailing zeros were cut off
    ++runs;
    zeros += end - at;
    at = end;
  }
  if (runs > 1 && !IsWide(bytes, zeros)) return true;
  return HasCode(bytes);
}

namespace {

// Characters that never start a sequence to remove: almost all of a log.
bool IsPlain(char c) {
  static constexpr auto kPlain = [] {
    std::array<bool, 256> plain{};
    for (std::size_t byte = 0x20; byte < 0x7F; ++byte) plain[byte] = true;
    for (const char special : {'[', '^', '#', '\\'}) plain[static_cast<unsigned char>(special)] = false;
    plain['\t'] = true;
    return plain;
  }();
  return kPlain[static_cast<unsigned char>(c)];
}

// Offset after the parameters and the final byte of a control sequence whose introducer ends at `at`.
std::size_t PastCsi(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= 0x20 && text[at] <= 0x3F) ++at;
  return at < text.size() && text[at] >= 0x40 && text[at] <= 0x7E ? at + 1 : at;
}

// Offset after a colour code "[36m" at `at` whose escape character was lost; `at` if there is none. "[2m 30s]" is a
// duration.
std::size_t PastOrphanColour(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  int code = 0;
  bool usual = true;
  for (; end < text.size() && end < at + 20 && (IsDigit(text[end]) || text[end] == ';'); ++end) {
    if (text[end] == ';') continue;
    code = IsDigit(text[end - 1]) ? code * 10 + (text[end] - '0') : text[end] - '0';
    usual = usual && code <= 255;
    if (!usual) code = 0;  // not a colour; a longer number must not overflow
  }
  if (end == at + 1 || end >= text.size() || text[end] != 'm' || !usual) return at;
  ++end;
  const std::string_view rest = text.substr(end, 2);
  const bool duration =
      !rest.empty() && (IsDigit(rest[0]) || rest[0] == ']' || (rest.size() == 2 && rest[0] == ' ' && IsDigit(rest[1])));
  return duration ? at : end;
}

// Finds the sequences to remove from a text, from left to right.
class SequenceFinder {
 public:
  explicit SequenceFinder(std::string_view text) : text_(text) {}

  // Number of bytes to remove at `at`; 0 for none. Sets `blank` if a blank must replace them.
  std::size_t Drop(std::size_t at, bool* blank) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    if (byte == 0x1B) return Escape(at);
    if (byte == '[') return PastOrphanColour(text_, at) - at;
    if (byte == '^' || byte == '#' || byte == '\\') return SpeltOutEscape(at);
    if (byte < 0x20) return byte == '\t' ? 0 : 1;
    if (byte < 0x7F) return 0;
    if (byte == 0x7F) return 1;
    if (byte != 0xC2 && byte != 0xE2 && byte != 0xEF) return 0;
    const CodePoint point = DecodeUtf8(text_, at);
    if (point.code == 0x9B) return PastCsi(text_, at + point.length) - at;
    if (point.code < 0xA0 || point.code == 0x200B || point.code == 0xFEFF) return point.length;
    *blank = point.code == 0xA0;
    return *blank ? point.length : 0;
  }

 private:
  std::size_t Escape(std::size_t at) {
    if (at + 1 >= text_.size()) return 1;
    const char kind = text_[at + 1];
    if (kind == '[') return PastCsi(text_, at + 2) - at;
    if (std::string_view("]PX^_").find(kind) != std::string_view::npos) return String(at);
    std::size_t end = at + 1;
    while (end < text_.size() && text_[end] >= 0x20 && text_[end] <= 0x2F) ++end;
    const bool complete = end < text_.size() && text_[end] >= 0x30 && text_[end] <= 0x7E;
    return complete ? end + 1 - at : 1;
  }

  // A command string terminated by BEL or ST, such as a link. If it never ends, only its introducer is removed, so that
  // the line stays visible.
  std::size_t String(std::size_t at) {
    // Search again only after passing the last result, so that many commands take linear time.
    if (bell_ != std::string_view::npos && bell_ < at + 2) bell_ = text_.find('\a', at + 2);
    if (terminator_ != std::string_view::npos && terminator_ < at + 2) terminator_ = text_.find("\x1b\\", at + 2);
    if (bell_ == terminator_) return 2;  // neither was found
    return bell_ < terminator_ ? bell_ + 1 - at : terminator_ + 2 - at;
  }

  // A colour code whose escape character is spelt out, as by viewers and collectors and in escaped strings.
  std::size_t SpeltOutEscape(std::size_t at) const {
    static constexpr std::array<std::string_view, 8> kSpellings = {"^[",    "#033",    "\\033",   "\\x1b",
                                                                   "\\x1B", "\\u001b", "\\u001B", "\\e"};
    for (const std::string_view spelling : kSpellings) {
      const std::size_t bracket = at + spelling.size();
      if (bracket >= text_.size() || text_[bracket] != '[' || text_.substr(at, spelling.size()) != spelling) continue;
      const std::size_t end = PastOrphanColour(text_, bracket);
      return end == bracket ? 0 : end - at;
    }
    return 0;
  }

  const std::string_view text_;
  std::size_t bell_ = 0;        // the first BEL at or after the last search position
  std::size_t terminator_ = 0;  // the first ST, likewise
};

}  // namespace

bool StripControls(MappedText* line) {
  const std::string_view text = line->text;
  SequenceFinder dropper(text);
  Rewriter rewriter(*line);
  for (std::size_t at = 0; at < text.size();) {
    bool blank = false;
    const std::size_t drop = IsPlain(text[at]) ? 0 : dropper.Drop(at, &blank);
    if (drop > 0) rewriter.Replace(at, at + drop, blank ? " " : "");
    at += std::max<std::size_t>(drop, 1);
  }
  return rewriter.Finish(line);
}

namespace {

// Length of the line break of Unicode at `at`: U+0085, U+2028 or U+2029; 0 if there is none.
std::size_t UnicodeBreak(std::string_view text, std::size_t at) {
  if (text.substr(at, 2) == "\xC2\x85") return 2;
  return text.substr(at, 3) == "\xE2\x80\xA8" || text.substr(at, 3) == "\xE2\x80\xA9" ? 3 : 0;
}

// Offset of the next line break; the text's size if there is none.
std::size_t FindBreak(std::string_view text, std::size_t from) {
  static constexpr ByteClass kBreaks("\r\n\xC2\xE2");
  std::size_t at = kBreaks.FindIn(text, from);
  while (at < text.size() && text[at] != '\r' && text[at] != '\n' && UnicodeBreak(text, at) == 0)
    at = kBreaks.FindIn(text, at + 1);
  return at;
}

}  // namespace

std::vector<MappedText> SplitLines(const MappedText& text, std::size_t most) {
  std::vector<MappedText> lines;
  Rewriter rewriter(text);
  std::size_t begin = 0;
  while (lines.size() + 1 < most) {
    const std::size_t end = FindBreak(text.text, begin);
    if (end == text.text.size()) break;
    if (const std::size_t length = UnicodeBreak(text.text, end); length > 0) {
      rewriter.Keep(begin, end);
      lines.push_back(rewriter.Take());
      begin = end + length;
      continue;
    }
    std::size_t next =
        text.text.find_first_not_of('\r', end);  // carriage returns before a line feed are part of the break
    if (next == std::string::npos) next = text.text.size();
    const bool feed = next < text.text.size() && text.text[next] == '\n';
    // A lone carriage return restarts the line; if it comes first, nothing was overwritten.
    if (feed || end > begin) {
      rewriter.Keep(begin, end);
      lines.push_back(rewriter.Take());
    }
    begin = feed ? next + 1 : next;
  }
  if (begin < text.text.size() || lines.empty()) {
    rewriter.Keep(begin, text.text.size());
    lines.push_back(rewriter.Take());
  }
  return lines;
}

namespace {

bool IsQuote(char c) { return c == '\'' || c == '"'; }

// The value of the `count` digits at `at`; nullopt if there are fewer digits.
std::optional<char32_t> NumberAt(std::string_view text, std::size_t at, std::size_t count, int base) {
  const std::string_view digits = text.substr(std::min(at, text.size()), count);
  std::uint32_t number = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number, base);
  if (digits.size() < count || error != std::errc() || end != digits.data() + count) return std::nullopt;
  return number;
}

// "\u00e9", or a surrogate pair of two such escapes.
std::size_t UnescapeUnit(std::string_view text, std::size_t at, std::string* out) {
  const std::optional<char32_t> high = NumberAt(text, at + 2, 4, 16);
  if (!high) return 0;
  const bool may_pair =
      *high >= 0xD800 && *high < 0xDC00 && CharAt(text, at + 6) == '\\' && CharAt(text, at + 7) == 'u';
  const std::optional<char32_t> low = may_pair ? NumberAt(text, at + 8, 4, 16) : std::nullopt;
  const bool pair = low && *low >= 0xDC00 && *low < 0xE000;
  AppendUtf8(pair ? 0x10000 + ((*high - 0xD800) << 10) + (*low - 0xDC00) : *high, out);
  return pair ? 12 : 6;
}

// A part of the line in quotes, including the quotes.
struct Quoted {
  std::size_t begin;
  std::size_t end;
  bool closed;
  bool cut;  // contains line breaks to split at; if not, the text is copied unchanged
};

// Finds the quoted texts of a line and the escaped line breaks inside and outside them.
class Scan {
 public:
  explicit Scan(std::string_view text) : text_(text) {
    for (std::size_t at = 0; at < text_.size();) {
      if (text_[at] == '\\') {
        break_outside_ = break_outside_ || IsBreak(at);
        at += 2;
      } else if (IsQuote(text_[at]) && Opens(at)) {
        at = Quote(at);
      } else {
        ++at;
      }
    }
  }

  const std::vector<Quoted>& quoted() const { return quoted_; }
  bool break_outside() const { return break_outside_; }
  bool cuts() const {
    return break_outside_ || std::any_of(quoted_.begin(), quoted_.end(), [](const Quoted& q) { return q.cut; });
  }

 private:
  bool IsBreak(std::size_t at) const { return CharAt(text_, at + 1) == 'n'; }

  // Whether the quote starts a text: it is neither an apostrophe nor a closing quote. b'…', r'…', f'…' and u'…' are
  // Python's.
  bool Opens(std::size_t at) const {
    if (at == 0) return true;
    const char before = text_[at - 1];
    if (before == ')' || before == ']' || before == '}') return false;
    if (!IsWordChar(before)) return true;
    return std::string_view("brfu").find(before) != std::string_view::npos && (at == 1 || !IsWordChar(text_[at - 2]));
  }

  // Whether the quote opens an attribute of XLA, whose escapes must stay as they are.
  bool IsXlaAttribute(std::size_t quote) const {
    static constexpr std::array<std::string_view, 6> kNames = {
        "op_name=", "op_type=", "source_file=", "backend_config=", "custom_call_target=", "kernel_metadata="};
    return std::any_of(kNames.begin(), kNames.end(),
                       [&](std::string_view name) { return text_.substr(0, quote).ends_with(name); });
  }

  // Handles the text that the quote at `begin` opens; returns the offset after it.
  std::size_t Quote(std::size_t begin) {
    std::size_t at = begin + 1;
    bool breaks = false;   // it contains a line break
    bool more = false;     // text follows a line break
    bool doubled = false;  // "\\n": escaped twice
    bool escapes = false;
    while (at < text_.size() && text_[at] != text_[begin]) {
      const bool escape = text_[at] == '\\';
      const bool is_break = escape && IsBreak(at);
      doubled = doubled || (escape && text_.substr(at, 3) == "\\\\n");
      more = more || (breaks && !is_break);
      breaks = breaks || is_break;
      escapes = escapes || escape;
      at += escape ? 2 : 1;
    }
    const bool closed = at < text_.size();
    const std::size_t end = closed ? at + 1 : text_.size();
    const bool own = IsXlaAttribute(begin);
    const bool cut = !own && ((breaks && more) || doubled || (breaks && IsListItem(begin, end)));
    // An unclosed quote is an apostrophe or an inch mark.
    if (!closed && !cut && !own) return begin + 1;
    if (escapes) quoted_.push_back({begin, end, closed, cut});
    return end;
  }

  // Notebooks store a printed line as `    "text\n",`. Elsewhere, a text whose only break is at its end is source
  // code: print("text\n").
  bool IsListItem(std::size_t begin, std::size_t end) const {
    return IsBlank(text_.substr(0, begin)) && CharAt(text_, end) == ',' && IsBlank(text_.substr(end + 1));
  }

  const std::string_view text_;
  std::vector<Quoted> quoted_;  // those that contain escapes
  bool break_outside_ = false;
};

// Writes the parts of a split line.
class Cutter {
 public:
  Cutter(const MappedText& line, std::size_t most, std::vector<MappedText>* parts)
      : text_(line.text), rewriter_(line), most_(most), parts_(parts) {}

  void Cut(const Scan& scan) {
    std::size_t at = 0;
    for (const Quoted& quoted : scan.quoted()) {
      Outside(at, quoted.begin, scan.break_outside());
      if (quoted.cut) {
        FlushAround(quoted.begin);
        Unescaped(quoted.begin + 1, quoted.closed ? quoted.end - 1 : quoted.end);
        if (!empty_ || !broken_) Flush(quoted.end);
      } else {
        Keep(quoted.begin, quoted.end);
      }
      at = quoted.end;
    }
    Outside(at, text_.size(), scan.break_outside());
    FlushAround(text_.size());
  }

 private:
  void Keep(std::size_t begin, std::size_t end) {
    rewriter_.Keep(begin, end);
    const std::string_view kept = text_.substr(begin, end - begin);
    empty_ = empty_ && kept.empty();
    // Brackets and commas around a quoted text contain no information.
    idle_ = idle_ && kept.find_first_not_of(" \t()[]{},;.") == std::string_view::npos;
  }

  void Outside(std::size_t begin, std::size_t end, bool unescape) {
    if (unescape) {
      Unescaped(begin, end);
    } else {
      Keep(begin, end);
    }
  }

  void Unescaped(std::size_t begin, std::size_t end) {
    const std::string_view text = text_.substr(0, end);
    std::size_t kept = begin;
    broken_ = false;
    for (std::size_t at = text.find('\\', begin); at != std::string_view::npos; at = text.find('\\', at)) {
      std::string unescaped;
      const std::size_t length = Unescape(text, at, &unescaped);
      Keep(kept, at);
      kept = at + length;
      if (unescaped != "\n" && unescaped != "\r") {
        rewriter_.Put(unescaped, at);
        empty_ = idle_ = false;
      } else if (text.substr(at, 4) != "\\r\\n") {
        Flush(kept);
        broken_ = true;
      }
      at = kept;
    }
    Keep(kept, end);
  }

  // Ends a part at offset `at` of the line.
  void Flush(std::size_t at) {
    if (parts_->size() + 1 < most_ || at == text_.size()) {
      parts_->push_back(rewriter_.Take());
    } else {
      rewriter_.Put(" ", at);
    }
    empty_ = idle_ = true;
  }

  // Ends a part that is before, between or after quoted texts. Drops it if it contains no information.
  void FlushAround(std::size_t at) {
    if (!idle_) {
      Flush(at);
    } else {
      rewriter_.Take();
    }
    empty_ = idle_ = true;
  }

  const std::string_view text_;
  Rewriter rewriter_;
  const std::size_t most_;
  std::vector<MappedText>* parts_;
  bool empty_ = true;    // the current part is empty
  bool idle_ = true;     // the current part contains no information
  bool broken_ = false;  // the current part follows a line break
};

}  // namespace

std::size_t Unescape(std::string_view text, std::size_t at, std::string* out) {
  constexpr std::string_view kNames = "nrt\\'\"/";
  constexpr std::string_view kMeanings = "\n\r\t\\'\"/";
  const char name = CharAt(text, at + 1);
  if (const std::size_t simple = kNames.find(name); simple != std::string_view::npos) {
    out->push_back(kMeanings[simple]);
    return 2;
  }
  if (const std::size_t length = name == 'u' ? UnescapeUnit(text, at, out) : 0; length > 0) return length;
  struct Number {
    char name;
    std::size_t begin;  // of the digits
    std::size_t digits;
    int base;
  };
  static constexpr std::array<Number, 4> kNumbers = {
      {{'x', 2, 2, 16}, {'U', 2, 8, 16}, {'0', 1, 3, 8}, {'1', 1, 3, 8}}};
  for (const Number& number : kNumbers) {
    if (number.name != name) continue;
    const std::optional<char32_t> code = NumberAt(text, at + number.begin, number.digits, number.base);
    if (!code) break;
    AppendUtf8(*code, out);
    return number.begin + number.digits;
  }
  // Copy only the backslash; the next character may start an escape of its own.
  out->push_back(text[at]);
  return 1;
}

bool SplitAtEscapedBreaks(const MappedText& line, std::size_t most, std::vector<MappedText>* parts) {
  if (line.text.find("\\n") == std::string::npos) return false;
  const Scan scan(line.text);
  if (!scan.cuts()) return false;
  Cutter(line, most, parts).Cut(scan);
  return true;
}

namespace {

constexpr int kMaxNested = 8;

// Length of the Markdown marker (quote, list, heading) at `at`, including its blank; 0 if there is none.
std::size_t MarkerLength(std::string_view text, std::size_t at) {
  const char first = CharAt(text, at);
  if (first == '>') {
    const char next = CharAt(text, at + 1);
    if (next == '=') return 0;  // "usage >= 1G" wrapped before its operator
    return next == ' ' ? 2 : 1;
  }
  if (text.substr(at, 4) == "\xE2\x80\xA2 ") return 4;  // a bullet
  if (text.substr(at, 3) == "** ") return 3;            // emphasis closed on another line
  if (first == '-' || first == '*') return CharAt(text, at + 1) == ' ' ? 2 : 0;
  std::size_t end = at;
  while (end < at + 6 && CharAt(text, end) == '#') ++end;
  return end > at && CharAt(text, end) == ' ' ? end + 1 - at : 0;
}

// Offset of the text after all leading markers; 0 if there are none.
std::size_t PastMarkers(std::string_view text) {
  std::size_t past = 0;
  for (int nested = 0; nested < kMaxNested; ++nested) {
    const std::size_t at = text.find_first_not_of(' ', past);
    const std::size_t length = at == std::string_view::npos ? 0 : MarkerLength(text, at);
    if (length == 0) break;
    past = at + length;
  }
  return past;
}

// "f(**kw)", "2**10" and "a ** b" are Python. Other pairs of stars are emphasis, also inside a word.
bool IsPythonStars(std::string_view text, std::size_t at) {
  const char before = at == 0 ? ' ' : text[at - 1];
  const char after = CharAt(text, at + 2);
  if (IsDigit(after) && (IsDigit(before) || before == ')')) return true;
  if (before == ' ' && after == ' ') return true;
  const std::size_t previous = at == 0 ? std::string_view::npos : text.find_last_not_of(' ', at - 1);
  const char opener = previous == std::string_view::npos ? '\0' : text[previous];
  if ((opener != '(' && opener != ',' && opener != '{' && opener != '[') || !IsWordChar(after)) return false;
  // Emphasis closes directly after a word.
  const std::size_t next = text.find("**", at + 2);
  return next == std::string_view::npos || text[next - 1] == ' ' || text[next - 1] == '(';
}

// Number of bytes of Markdown to remove at `at`; 0 for none.
std::size_t MarkLength(std::string_view text, std::size_t at) {
  if (text[at] == '`') return 1;
  if (text[at] == '\\') {
    const char next = CharAt(text, at + 1);
    return next == '_' || next == '[' || next == ']' || next == '*' ? 1 : 0;
  }
  std::size_t stars = 0;
  while (CharAt(text, at + stars) == '*') ++stars;
  if (stars < 2 || stars > 3 || (stars == 2 && IsPythonStars(text, at))) return 0;
  return stars;
}

// Offset of the backslash in "1\. Size" after leading blanks; npos if there is none.
std::size_t EscapedNumbering(std::string_view text, std::size_t from) {
  std::size_t at = text.find_first_not_of(' ', from);
  if (at == std::string_view::npos) return at;
  const std::size_t digits = at;
  while (at < digits + 6 && IsDigit(CharAt(text, at))) ++at;
  const bool escaped =
      at > digits && CharAt(text, at) == '\\' && (CharAt(text, at + 1) == '.' || CharAt(text, at + 1) == ')');
  return escaped ? at : std::string_view::npos;
}

// The character of the HTML reference at `at`, and the reference's length; 0 if there is none.
std::pair<char32_t, std::size_t> Reference(std::string_view text, std::size_t at) {
  using Name = std::pair<std::string_view, char32_t>;
  static constexpr std::array<Name, 6> kNames = {
      {{"&gt;", '>'}, {"&lt;", '<'}, {"&amp;", '&'}, {"&quot;", '"'}, {"&apos;", '\''}, {"&nbsp;", ' '}}};
  for (const auto& [name, code] : kNames) {
    if (text.substr(at, name.size()) == name) return {code, name.size()};
  }
  if (CharAt(text, at + 1) != '#') return {0, 0};
  const bool hex = CharAt(text, at + 2) == 'x' || CharAt(text, at + 2) == 'X';
  const std::size_t digits = at + (hex ? 3 : 2);
  const std::size_t count = text.substr(std::min(digits, text.size()), 7).find(';');
  if (count == std::string_view::npos) return {0, 0};
  const std::optional<char32_t> code = NumberAt(text, digits, count, hex ? 16 : 10);
  if (!code) return {0, 0};
  return {*code < 0x20 ? U' ' : *code, digits + count + 1 - at};
}

}  // namespace

bool StripMarkdown(MappedText* line, MappedText* before) {
  const std::string_view text = line->text;
  Rewriter rewriter(*line);
  std::size_t at = PastMarkers(text);
  if (at > 0) rewriter.Replace(0, at);
  if (const std::size_t backslash = EscapedNumbering(text, at); backslash != std::string_view::npos) {
    at = backslash + 1;
    rewriter.Replace(backslash, at);
  }
  static constexpr ByteClass kMarks("`\\*");
  while ((at = kMarks.FindIn(text, at)) < text.size()) {
    if (const std::size_t drop = MarkLength(text, at); drop > 0) rewriter.Replace(at, at + drop);
    // The character after a backslash is not a mark, and a run of stars is a single mark or none.
    at = std::min(text.size(), at + (text[at] == '\\' ? 2 : 1));
    if (text[at - 1] == '*') at = std::min(text.find_first_not_of('*', at), text.size());
  }
  MappedText stripped;
  if (!rewriter.Finish(&stripped)) return false;
  if (before != nullptr) *before = std::move(*line);
  *line = std::move(stripped);
  return true;
}

bool DecodeBreaks(MappedText* line) {
  const std::string_view text = line->text;
  const bool octal = text.find("#012") != std::string_view::npos;
  const bool percent = text.find("%0A") != std::string_view::npos && text.find("%20") == std::string_view::npos;
  if (!octal && !percent) return false;
  static constexpr ByteClass kSigns("#%");
  Rewriter rewriter(*line);
  for (std::size_t at = kSigns.FindIn(text, 0); at < text.size(); at = kSigns.FindIn(text, at + 1)) {
    const bool hash = text[at] == '#';
    if (hash ? !octal : !percent) continue;
    const std::size_t length = hash ? 4 : 3;
    const std::optional<char32_t> code = NumberAt(text, at + 1, length - 1, hash ? 8 : 16);
    const bool escaped =
        code && (hash ? *code < 0x20 || *code == 0x7F : *code == '\n' || *code == '\r' || *code == '%');
    if (escaped) rewriter.Replace(at, at + length, std::string(1, static_cast<char>(*code)));
    if (escaped) at += length - 1;
  }
  return rewriter.Finish(line);
}

namespace {

// Length of the HTML tag at `at`, and what replaces it: nothing, a blank, or a line break; length 0 if there is none.
// Unknown names, such as "<module>" in a traceback, are no tags.
std::pair<std::size_t, std::string_view> Tag(std::string_view text, std::size_t at) {
  constexpr std::size_t kLongestTag = 1024;
  static constexpr std::array<std::string_view, 21> kBlocks = {
      "p",    "div",  "tr",   "li", "ul",    "ol",    "pre",   "h1",      "h2",      "h3",        "h4",
      "html", "body", "head", "hr", "table", "tbody", "thead", "article", "section", "blockquote"};
  static constexpr std::array<std::string_view, 11> kInline = {"span", "b",    "i",     "em",  "strong", "code",
                                                               "tt",   "font", "small", "kbd", "samp"};
  const bool closes = CharAt(text, at + 1) == '/';
  const std::size_t begin = at + (closes ? 2 : 1);
  std::size_t name_end = begin;
  while (std::isalnum(static_cast<unsigned char>(CharAt(text, name_end))) != 0) ++name_end;
  const char next = CharAt(text, name_end);
  if (next != '>' && next != ' ' && next != '/') return {0, {}};
  const std::size_t end = text.substr(0, std::min(text.size(), at + kLongestTag)).find_first_of("<>", name_end);
  if (end == std::string_view::npos || text[end] == '<') return {0, {}};
  const std::string_view name = text.substr(begin, name_end - begin);
  const auto is_one_of = [&](const auto& names) { return std::find(names.begin(), names.end(), name) != names.end(); };
  const std::size_t length = end + 1 - at;
  if (name == "br" || is_one_of(kBlocks)) return {length, "\n"};
  if (name == "a" || name == "td" || name == "th") return {length, closes ? " " : ""};
  return {is_one_of(kInline) ? length : 0, ""};
}

}  // namespace

bool StripTags(const MappedText& line, MappedText* plain) {
  const std::string_view text = line.text;
  if (text.find("</") == std::string_view::npos && text.find("<br") == std::string_view::npos) return false;
  Rewriter rewriter(line);
  std::size_t kept = 0;
  bool empty = true;  // nothing follows the last line break
  for (std::size_t at = text.find('<'); at != std::string_view::npos; at = text.find('<', std::max(at + 1, kept))) {
    auto [length, break_or_blank] = Tag(text, at);
    if (length == 0) continue;
    const bool begins = empty;
    empty = empty && IsBlank(text.substr(kept, at - kept));
    // Elements around a line are no lines of their own.
    if (break_or_blank == "\n" && empty && text.substr(at, 3) != "<br") break_or_blank = {};
    // The number of a line, in its own cell or link.
    const std::string_view cell = text.substr(kept, at - kept);
    const bool numbers = break_or_blank == " " && kept > 0 && !cell.empty() && begins &&
                         cell.find_first_not_of("0123456789") == std::string_view::npos;
    rewriter.Replace(numbers ? kept : at, at + length, numbers ? std::string_view() : break_or_blank);
    empty = empty || numbers || break_or_blank == "\n";
    kept = at + length;
  }
  return rewriter.Finish(plain);
}

bool DecodeHtml(MappedText* line) {
  const std::string_view text = line->text;
  Rewriter rewriter(*line);
  for (std::size_t at = text.find('&'); at != std::string_view::npos; at = text.find('&', at)) {
    const auto [code, length] = Reference(text, at);
    std::string character;
    AppendUtf8(code, &character);
    if (length > 0) rewriter.Replace(at, at + length, character);
    at += std::max<std::size_t>(length, 1);
  }
  return rewriter.Finish(line);
}

}  // namespace whyoom
