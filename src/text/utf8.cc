#include "text/utf8.h"

#include <algorithm>
#include <iterator>

namespace whyoom {
namespace {

struct Range {
  char32_t first;
  char32_t last;
};

// The scripts and symbols that logs are likely to contain.
constexpr Range kCombining[] = {
    {0x300, 0x36F},   {0x591, 0x5BD},   {0x64B, 0x65F},   {0x93C, 0x93C},   {0x941, 0x948},     {0xE31, 0xE31},
    {0xE34, 0xE3A},   {0x1AB0, 0x1AFF}, {0x200B, 0x200F}, {0x202A, 0x202E}, {0x2060, 0x206F},   {0x20D0, 0x20F0},
    {0x3099, 0x309A}, {0xFE00, 0xFE0F}, {0xFE20, 0xFE2F}, {0xFEFF, 0xFEFF}, {0x1F3FB, 0x1F3FF}, {0xE0001, 0xE01EF},
};
constexpr Range kWide[] = {
    {0x1100, 0x115F},   {0x26A1, 0x26A1},   {0x2705, 0x2705},   {0x274C, 0x274E},   {0x2B50, 0x2B50}, {0x2E80, 0x303E},
    {0x3041, 0xA4C6},   {0xAC00, 0xD7A3},   {0xF900, 0xFAD9},   {0xFE30, 0xFE6B},   {0xFF01, 0xFF60}, {0xFFE0, 0xFFE6},
    {0x1F300, 0x1F64F}, {0x1F680, 0x1F6FC}, {0x1F7E0, 0x1FAF6}, {0x20000, 0x3FFFD},
};

template <std::size_t kCount>
bool IsIn(const Range (&ranges)[kCount], char32_t code) {
  const Range* after = std::upper_bound(std::begin(ranges), std::end(ranges), code,
                                        [](char32_t wanted, const Range& range) { return wanted < range.first; });
  return after != std::begin(ranges) && code <= std::prev(after)->last;
}

// Characters that control a terminal or hide text: controls (C0, DEL, C1, bidirectional), and Unicode's
// Default_Ignorable_Code_Point without the joiners (U+034F, U+200C, U+200D) and the sixteen variation selectors, which
// scripts and emoji need.
constexpr Range kHidden[] = {
    {0, 0x1F},        {0x7F, 0x9F},     {0xAD, 0xAD},     {0x61C, 0x61C},     {0x115F, 0x1160},   {0x17B4, 0x17B5},
    {0x180B, 0x180F}, {0x200B, 0x200B}, {0x200E, 0x200F}, {0x202A, 0x202E},   {0x2060, 0x206F},   {0x3164, 0x3164},
    {0xFEFF, 0xFEFF}, {0xFFA0, 0xFFA0}, {0xFFF0, 0xFFF8}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0000, 0xE0FFF},
};

bool IsLineBreak(char32_t code) { return code == '\n' || code == '\r' || code == 0x2028 || code == 0x2029; }

}  // namespace

CodePoint DecodeUtf8(std::string_view bytes, std::size_t at) {
  const auto byte = [&](std::size_t index) { return static_cast<unsigned char>(bytes[index]); };
  const unsigned lead = byte(at);
  if (lead < 0x80) return {lead, 1, true};
  if (lead < 0xC2 || lead > 0xF4) return {};
  const std::size_t length = lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : 4;
  // The range of the second byte excludes overlong forms, surrogates and code points above U+10FFFF.
  unsigned low = lead == 0xE0 ? 0xA0 : lead == 0xF0 ? 0x90 : 0x80;
  unsigned high = lead == 0xED ? 0x9F : lead == 0xF4 ? 0x8F : 0xBF;
  char32_t code = lead & (0x7Fu >> length);
  for (std::size_t i = 1; i < length; ++i) {
    if (at + i >= bytes.size() || byte(at + i) < low || byte(at + i) > high) return {kReplacement, i, false};
    code = code << 6 | (byte(at + i) & 0x3Fu);
    low = 0x80;
    high = 0xBF;
  }
  return {code, length, true};
}

std::string Printable(std::string_view text) {
  std::string printable;
  printable.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const CodePoint point = DecodeUtf8(text, at);
    at += point.length;
    if (IsLineBreak(point.code) || point.code == '\t') {
      if (point.code == '\r' && at < text.size() && text[at] == '\n') ++at;  // CRLF is one line break
      printable.push_back(' ');
    } else {
      AppendUtf8(IsIn(kHidden, point.code) ? kReplacement : point.code, &printable);
    }
  }
  return printable;
}

std::string LowerAscii(std::string_view text) {
  std::string lowered(text);
  for (char& c : lowered) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return lowered;
}

void AppendWithSingleBlanks(std::string_view text, std::string_view blanks, std::string* to) {
  std::size_t end = to->size();
  to->resize(end + text.size());
  for (const char c : text) {
    const bool is_blank = blanks.find(c) != std::string_view::npos;
    if (!is_blank || (end > 0 && (*to)[end - 1] != ' ')) (*to)[end++] = is_blank ? ' ' : c;
  }
  to->resize(end);
}

std::size_t DisplayWidth(std::string_view utf8) {
  std::size_t width = 0;
  for (std::size_t at = 0; at < utf8.size();) {
    const CodePoint point = DecodeUtf8(utf8, at);
    at += point.length;
    width += point.code < 0x80 ? 1 : IsIn(kCombining, point.code) ? 0 : IsIn(kWide, point.code) ? 2 : 1;
  }
  return width;
}

std::string CutBytes(std::string_view utf8, std::size_t longest) {
  constexpr std::string_view kEllipsis = "…";
  if (utf8.size() <= longest) return std::string(utf8);
  std::size_t end = longest - std::min(longest, kEllipsis.size());
  while (end > 0 && (static_cast<unsigned char>(utf8[end]) & 0xC0U) == 0x80U) --end;
  return std::string(utf8.substr(0, end)) + std::string(kEllipsis);
}

}  // namespace whyoom
