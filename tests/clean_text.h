// What every text that is kept or printed has to be.
#pragma once

#include <string_view>

#include "text/utf8.h"

// Valid UTF-8 without control characters, tabs and those in `allowed` excepted.
inline bool IsClean(std::string_view text, std::string_view allowed = "") {
  for (std::size_t at = 0; at < text.size();) {
    const whyoom::CodePoint point = whyoom::DecodeUtf8(text, at);
    const bool control = (point.code < 0x20 && point.code != '\t') || (point.code >= 0x7F && point.code < 0xA0);
    if (!point.valid || (control && allowed.find(text[at]) == std::string_view::npos)) return false;
    at += point.length;
  }
  return true;
}
