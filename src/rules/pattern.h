// A pattern of the rule data: RE2 with two extensions, so that a rule resembles the message it matches.
//
//   a single blank         any run of white space, line breaks included (logs wrap anywhere); `\x20` matches one blank
//   %{size:used_bytes}     a typed, named capture
//
// Types: size "22.89G", "15.22GiB", "8 MiB", "0B" (bytes; requires a unit; the capture is dropped if the size is
// negative or exceeds 64 bits); bytes "17179869184", with or without thousands commas; integer "-?\d+"; number "0.9",
// "-4", "1e-5"; name, of a program or module ([\w$<>-]+, with dots inside); device "0x1x0_HBM0"; word (\S+); text (up
// to 400 characters other than line breaks, as few as possible).
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/value.h"

namespace whyoom {

// Minimum length of a header's literals: shorter ones match too often in raw bytes.
inline constexpr std::size_t kMinHeaderLiteral = 6;

struct Capture {
  std::string name;
  Value value;            // a number for sizes, bytes, integers and numbers, else a text
  std::size_t begin = 0;  // offset in the text
  std::size_t end = 0;
};

struct PatternMatch {
  std::size_t begin = 0;
  std::size_t end = 0;
  std::vector<Capture> captures;  // only of groups that participated in the match and have a valid value
};

// Length of the character class at the start of `rest`, brackets included. A leading "]" is a member, and "[:digit:]"
// nests. An unterminated class extends to the end.
std::size_t ClassLength(std::string_view rest);

class Pattern {
 public:
  Pattern() = default;

  // Appends errors to `faults` (offsets into `source`); the pattern then matches nothing.
  static Pattern Compile(std::string_view source, std::vector<SyntaxFault>* faults);

  // A capture group: its type (see above), "word" for a named group of RE2, empty for one without a name.
  struct Group {
    std::string name;
    std::string type;
  };
  // The results of Compile, for storage.
  struct Parts {
    std::string source;
    std::string regex;                      // for RE2
    std::vector<Group> groups;              // the first is the whole match
    std::vector<std::string> set_literals;  // those of kSetLiteral characters or more
  };
  const Parts& parts() const;
  static Pattern FromStored(Parts parts);

  // Finds the leftmost match that begins in [from, before).
  bool Find(std::string_view text, std::size_t from, PatternMatch* match,
            std::size_t before = std::string_view::npos) const;

  // Whether the pattern matches anywhere; cheaper than Find.
  bool IsIn(std::string_view text) const;

  bool ok() const { return ok_; }  // false if it did not compile or is empty
  const std::string& source() const { return parts().source; }
  // Distinct, in order of appearance; available even if the pattern did not compile.
  std::vector<std::string> capture_names() const;

  // Literals in lower case. Every match contains at least one of them, if runs of white space are reduced to one blank.
  // Empty if none of `min_length` or more can be searched for in raw bytes, ignoring only ASCII case.
  std::vector<std::string> Literals(std::size_t min_length) const;
  static constexpr std::size_t kSetLiteral = 4;

 private:
  class Compiled;
  std::shared_ptr<Compiled> compiled_;
  bool ok_ = false;
};

// Translates a pattern to RE2, except for set_literals. Appends what is wrong to `faults`, with offsets into `source`.
Pattern::Parts Expand(std::string_view source, std::vector<SyntaxFault>* faults);

}  // namespace whyoom
