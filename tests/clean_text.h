// Properties of every text that whyoom stores or prints.
#pragma once

#include <string>
#include <string_view>

#include "text/utf8.h"

// `bytes` as valid UTF-8: each invalid sequence becomes one U+FFFD.
inline std::string ValidUtf8(std::string_view bytes) {
  std::string text;
  for (std::size_t at = 0; at < bytes.size();) {
    const whyoom::CodePoint point = whyoom::DecodeUtf8(bytes, at);
    whyoom::AppendUtf8(point.code, &text);
    at += point.length;
  }
  return text;
}

// Whether the text is valid UTF-8 without control characters, except tabs and those in `allowed`.
inline bool IsClean(std::string_view text, std::string_view allowed = "") {
  for (std::size_t at = 0; at < text.size();) {
    const whyoom::CodePoint point = whyoom::DecodeUtf8(text, at);
    const bool control = (point.code < 0x20 && point.code != '\t') || (point.code >= 0x7F && point.code < 0xA0);
    if (!point.valid || (control && allowed.find(text[at]) == std::string_view::npos)) return false;
    at += point.length;
  }
  return true;
}
