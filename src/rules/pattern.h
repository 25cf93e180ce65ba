// One pattern of the rule data: RE2 with two conveniences, so that a rule reads like the message it meets.
//
//   a single blank              any run of white space, line breaks included (logs wrap anywhere); `\x20` is a real
//   blank
//   %{size:used_bytes}          a named capture of a type, see below
//
// Types: size "22.89G", "15.22GiB", "8 MiB", "0B" (bytes; a figure without a unit, below zero or beyond 64 bits is
// none); bytes "17179869184", with or without thousands commas; integer "-?\d+"; number "0.9", "-4", "1e-5"; name, a
// program's or module's ([\w$<>-]+, with dots inside); device "0x1x0_HBM0"; word (\S+); text (up to 400 of anything but
// a line break, as few as possible).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/value.h"

namespace re2 {
class RE2;
}

namespace whyoom {

// How long a literal of a head is at least: shorter ones hit too often in raw bytes.
inline constexpr std::size_t kHeadLiteral = 6;

struct Capture {
  std::string name;
  Value value;            // sizes, bytes, integers and numbers as numbers, else texts
  std::size_t begin = 0;  // where in the text
  std::size_t end = 0;
};

struct PatternMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Capture> captures;  // only groups that took part
};

class Pattern {
 public:
  Pattern() = default;

  // How much of it is checked now: all; what RE2 is not asked for; or, of one that is known to be right, nothing, so
  // that no more than its source is kept until it is first looked for.
  enum class Check { kNow, kSyntax, kAtUse };

  // Appends what is wrong to `faults` (offsets into `source`); matches nothing then.
  static Pattern Compile(std::string_view source, std::vector<SyntaxFault>* faults, Check check = Check::kNow);

  // The leftmost match that begins at or after `from`; false also where it begins at `before` or later.
  bool Find(std::string_view text, std::size_t from, PatternMatch* match,
            std::size_t before = std::string_view::npos) const;

  // Whether there is one anywhere, which costs less than to say where.
  bool IsIn(std::string_view text) const;

  bool ok() const { return ok_; }  // false: it did not compile, or is no pattern yet
  const std::string& source() const;
  const std::string& regex() const;  // what RE2 is given; empty where not ok()
  // Each once, in the order of the pattern; also those of a pattern that did not compile.
  const std::vector<std::string>& capture_names() const;

  // What the captures of that name hold; kAny where some hold numbers and some texts, or there is none.
  ValueType capture_type(std::string_view name) const;

  // Literals such that each match, with single blanks where the pattern has blanks, holds at least one of
  // them; in lower case, as FilteredRE2 gives them. Empty where RE2 finds none of `min_length` or more: such
  // a pattern cannot be found in raw bytes.
  std::vector<std::string> Literals(std::size_t min_length) const;

 private:
  class Compiled;
  std::shared_ptr<Compiled> compiled_;
  bool ok_ = false;
};

}  // namespace whyoom
