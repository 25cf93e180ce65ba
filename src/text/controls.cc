#include <algorithm>
#include <array>

#include "text/byte_class.h"
#include "text/cleaning.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// What no sequence begins with: nearly all of a log.
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

// Past the parameters and the final byte of a control sequence whose introducer ends at `at`.
std::size_t PastCsi(std::string_view text, std::size_t at) {
  while (at < text.size() && text[at] >= 0x20 && text[at] <= 0x3F) ++at;
  return at < text.size() && text[at] >= 0x40 && text[at] <= 0x7E ? at + 1 : at;
}

// Past a colour code "[36m" at `at` whose escape character was lost; `at` if it is none. "[2m 30s]" is a duration.
std::size_t PastOrphanColour(std::string_view text, std::size_t at) {
  std::size_t end = at + 1;
  int code = 0;
  bool usual = true;
  for (; end < text.size() && end < at + 20 && (IsDigit(text[end]) || text[end] == ';'); ++end) {
    if (text[end] == ';') continue;
    code = IsDigit(text[end - 1]) ? code * 10 + (text[end] - '0') : text[end] - '0';
    usual = usual && code <= 255;
    if (!usual) code = 0;  // decided; a longer number must not overflow
  }
  if (end == at + 1 || end >= text.size() || text[end] != 'm' || !usual) return at;
  ++end;
  const std::string_view rest = text.substr(end, 2);
  const bool duration =
      !rest.empty() && (IsDigit(rest[0]) || rest[0] == ']' || (rest.size() == 2 && rest[0] == ' ' && IsDigit(rest[1])));
  return duration ? at : end;
}

// Finds what is to be dropped at a place of one text, from left to right.
class Dropper {
 public:
  explicit Dropper(std::string_view text) : text_(text) {}

  // Bytes to drop at `at`; 0 if it stays. A blank may have to take its place.
  std::size_t Drop(std::size_t at, bool* blank) {
    const auto byte = static_cast<unsigned char>(text_[at]);
    if (byte == 0x1B) return Escape(at);
    if (byte == '[') return PastOrphanColour(text_, at) - at;
    if (byte == '^' || byte == '#' || byte == '\\') return Spelled(at);
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

  // A command that runs up to BEL or ST, such as a link. One that never ends must not hide the line: only
  // its introducer goes.
  std::size_t String(std::size_t at) {
    // Each is looked for again only when it was passed, so that many commands cost no more than one.
    if (bell_ != std::string_view::npos && bell_ < at + 2) bell_ = text_.find('\a', at + 2);
    if (terminator_ != std::string_view::npos && terminator_ < at + 2) terminator_ = text_.find("\x1b\\", at + 2);
    if (bell_ == terminator_) return 2;  // there is none
    return bell_ < terminator_ ? bell_ + 1 - at : terminator_ + 2 - at;
  }

  // A colour code whose escape character is spelled out, as viewers, collectors and escaped strings do.
  std::size_t Spelled(std::size_t at) const {
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
  std::size_t bell_ = 0;        // the first one at or after where it was last looked for
  std::size_t terminator_ = 0;  // as well
};

}  // namespace

bool StripControls(MappedText* line) {
  const std::string_view text = line->text;
  Dropper dropper(text);
  Rewriter rewriter(*line);
  std::size_t kept = 0;
  for (std::size_t at = 0; at < text.size();) {
    if (IsPlain(text[at])) {
      ++at;
      continue;
    }
    bool blank = false;
    const std::size_t drop = dropper.Drop(at, &blank);
    if (drop == 0) {
      ++at;
      continue;
    }
    rewriter.Keep(kept, at);
    if (blank) rewriter.Put(" ", at);
    at += drop;
    kept = at;
  }
  if (kept == 0) return false;
  rewriter.Keep(kept, text.size());
  *line = rewriter.Take();
  return true;
}

std::vector<MappedText> SplitLines(const MappedText& text, std::size_t most) {
  static constexpr ByteClass kBreaks("\r\n");
  std::vector<MappedText> lines;
  Rewriter rewriter(text);
  std::size_t begin = 0;
  while (lines.size() + 1 < most) {
    const std::size_t end = kBreaks.FindIn(text.text, begin);
    if (end == text.text.size()) break;
    std::size_t next = text.text.find_first_not_of('\r', end);  // the carriage returns before a line feed belong to it
    if (next == std::string::npos) next = text.text.size();
    const bool feed = next < text.text.size() && text.text[next] == '\n';
    // A carriage return alone starts the line anew: nothing was on it if it stands first.
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

}  // namespace whyoom
