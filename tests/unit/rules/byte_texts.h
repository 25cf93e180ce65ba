// Shows sets of bytes as texts, so that tests can compare them.
#pragma once

#include <string>
#include <vector>

#include "rules/pattern_needs.h"

namespace whyoom {

// The printable ASCII characters of a set.
inline std::string AsciiOf(const ByteSet& bytes) {
  std::string text;
  for (char c = ' '; c < 0x7F; ++c) {
    if (bytes.test(static_cast<unsigned char>(c))) text += c;
  }
  return text;
}

using Sets = std::vector<std::string>;

inline Sets AllAscii(const std::vector<ByteSet>& sets) {
  Sets texts;
  for (const ByteSet& set : sets) texts.push_back(AsciiOf(set));
  return texts;
}

}  // namespace whyoom
