// A regular expression that is compiled when it is first searched for.
//
// Compiling takes RE2 as long as searching tens of kilobytes, and most patterns are searched for only in a few lines.
// PCRE2 compiles twenty times faster but searches slower, and backtracks. So PCRE2 serves the first searches, and RE2
// takes over when they add up to kFirstBytes or one of them backtracks too much: the total time stays linear. Both find
// the same matches; a test runs the built-in patterns through both. RE2 alone serves expressions in which they could
// differ: those with \p, \C, \v, octal escapes or "{,".
#pragma once

#include <re2/re2.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "text/regex_options.h"

struct pcre2_real_code_8;

namespace whyoom {

class TieredRegex {
 public:
  // kRe2 is for expressions that nobody has tried with PCRE2: those of a user's rules.
  enum class Engines { kBoth, kRe2 };
  explicit TieredRegex(std::string regex, Engines engines = Engines::kBoth);
  ~TieredRegex();

  // Finds the leftmost match that begins in [from, before). Fills `groups`, of which the first is the whole match;
  // those that did not participate have no data. Thread-safe.
  bool Find(std::string_view text, std::size_t from, std::size_t before, std::vector<re2::StringPiece>* groups);

  bool IsIn(std::string_view text) {
    std::vector<re2::StringPiece> none;
    return Find(text, 0, text.npos, &none);
  }

  const std::string& source() const { return source_; }
  // Whether PCRE2 serves the next search of a short text.
  bool uses_pcre2() const { return pcre2_bytes_ > 0; }
  const re2::RE2& re2() { return re2_.Of(source_); }

  static constexpr std::int64_t kFirstBytes = 32 << 10;

 private:
  enum class Answer { kNo, kYes, kUnknown };
  Answer FindByPcre2(std::string_view text, std::size_t from, std::size_t before,
                     std::vector<re2::StringPiece>* groups);

  const std::string source_;
  std::atomic<std::int64_t> pcre2_bytes_;  // that PCRE2 may still search
  std::once_flag compiled_;
  pcre2_real_code_8* pcre2_ = nullptr;  // null: the expression is not for PCRE2
  LazyRegex re2_;
};

}  // namespace whyoom
