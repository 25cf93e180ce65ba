#include <algorithm>
#include <array>
#include <cctype>
#include <cstdint>

#include "text/cleaning.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool IsQuote(char c) { return c == '\'' || c == '"'; }
bool IsBlank(std::string_view text) { return text.find_first_not_of(" \t") == std::string_view::npos; }

// The value of `count` hexadecimal digits at `at`; false if they are none.
bool HexDigits(std::string_view text, std::size_t at, std::size_t count, char32_t* value) {
  *value = 0;
  for (std::size_t i = at; i < at + count; ++i) {
    const auto c = static_cast<unsigned char>(CharAt(text, i));
    if (std::isxdigit(c) == 0) return false;
    const int digit = std::isdigit(c) != 0 ? c - '0' : (c | 0x20) - 'a' + 10;
    *value = *value << 4 | static_cast<char32_t>(digit);
  }
  return true;
}

// "\u00e9", and two of them where they are the halves of one code point.
std::size_t UnescapeUnit(std::string_view text, std::size_t at, std::string* out) {
  char32_t high = 0;
  char32_t low = 0;
  if (!HexDigits(text, at + 2, 4, &high)) return 0;
  const bool pair = high >= 0xD800 && high < 0xDC00 && text.substr(std::min(at + 6, text.size()), 2) == "\\u" &&
                    HexDigits(text, at + 8, 4, &low) && low >= 0xDC00 && low < 0xE000;
  AppendUtf8(pair ? 0x10000 + ((high - 0xD800) << 10) + (low - 0xDC00) : high, out);
  return pair ? 12 : 6;
}

// "\033" as shells and C write it.
std::size_t UnescapeOctal(std::string_view text, std::size_t at, std::string* out) {
  char32_t value = 0;
  std::size_t end = at + 1;
  for (; end < at + 4 && CharAt(text, end) >= '0' && CharAt(text, end) <= '7'; ++end) {
    value = value * 8 + static_cast<char32_t>(text[end] - '0');
  }
  if (end != at + 4) return 0;
  AppendUtf8(value, out);
  return 4;
}

// A stretch of the line in quotes, these included.
struct Quoted {
  std::size_t begin;
  std::size_t end;
  bool closed;
  bool cut;  // holds line breaks to cut at; else it is to be copied as it stands
};

// Finds the quoted texts of a line and the escaped line breaks in and outside of them.
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

  // A quote that is no apostrophe and does not close anything. b'…', r'…', f'…' and u'…' are Python's.
  bool Opens(std::size_t at) const {
    if (at == 0) return true;
    const char before = text_[at - 1];
    if (before == ')' || before == ']' || before == '}') return false;
    if (!IsWordChar(before)) return true;
    return std::string_view("brfu").find(before) != std::string_view::npos && (at == 1 || !IsWordChar(text_[at - 2]));
  }

  // Texts that XLA itself prints in quotes, with escapes that belong to them.
  bool IsXlaAttribute(std::size_t quote) const {
    static constexpr std::array<std::string_view, 6> kNames = {
        "op_name=", "op_type=", "source_file=", "backend_config=", "custom_call_target=", "kernel_metadata="};
    return std::any_of(kNames.begin(), kNames.end(),
                       [&](std::string_view name) { return text_.substr(0, quote).ends_with(name); });
  }

  // Handles what the quote at `begin` opens; returns where to go on.
  std::size_t Quote(std::size_t begin) {
    std::size_t at = begin + 1;
    bool breaks = false;   // a line break, and
    bool more = false;     // something behind it
    bool doubled = false;  // "\\n": a level deeper
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
    // A quote that closes nowhere is an apostrophe or an inch.
    if (!closed && !cut && !own) return begin + 1;
    if (escapes) quoted_.push_back({begin, end, closed, cut});
    return end;
  }

  // Notebooks keep a printed line as `    "text\n",`. Elsewhere a break at the end only is source code:
  // print("text\n").
  bool IsListItem(std::size_t begin, std::size_t end) const {
    return IsBlank(text_.substr(0, begin)) && CharAt(text_, end) == ',' && IsBlank(text_.substr(end + 1));
  }

  const std::string_view text_;
  std::vector<Quoted> quoted_;  // those with escapes in them
  bool break_outside_ = false;
};

// Writes the parts.
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
    // The brackets and commas round a quoted text say nothing.
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
      std::string meaning;
      const std::size_t length = Unescape(text, at, &meaning);
      Keep(kept, at);
      kept = at + length;
      if (meaning != "\n" && meaning != "\r") {
        rewriter_.Put(meaning, at);
        empty_ = idle_ = false;
      } else if (text.substr(at, 4) != "\\r\\n") {
        Flush(kept);
        broken_ = true;
      }
      at = kept;
    }
    Keep(kept, end);
  }

  // Ends a part at the place `at` of the line.
  void Flush(std::size_t at) {
    if (parts_->size() + 1 < most_ || at == text_.size()) {
      parts_->push_back(rewriter_.Take());
    } else {
      rewriter_.Put(" ", at);
    }
    empty_ = idle_ = true;
  }

  // Ends the part that stands before, between or after quoted texts.
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
  bool empty_ = true;    // the part being written is
  bool idle_ = true;     // the part being written holds nothing that anyone would miss
  bool broken_ = false;  // the part being written follows a line break
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
  std::size_t length = 0;
  char32_t code = 0;
  if (name == 'u') length = UnescapeUnit(text, at, out);
  if (name == '0' || name == '1') length = UnescapeOctal(text, at, out);
  if (name == 'x' && HexDigits(text, at + 2, 2, &code)) length = 4;
  if (name == 'U' && HexDigits(text, at + 2, 8, &code)) length = 10;
  if (length == 0) {
    // Only the backslash: what follows it may mean something of its own.
    out->push_back(text[at]);
    return 1;
  }
  if (name == 'x' || name == 'U') AppendUtf8(code, out);
  return length;
}

bool CutEscapedBreaks(const MappedText& line, std::size_t most, std::vector<MappedText>* parts) {
  if (line.text.find("\\n") == std::string::npos) return false;
  const Scan scan(line.text);
  if (!scan.cuts()) return false;
  Cutter(line, most, parts).Cut(scan);
  return true;
}

}  // namespace whyoom
