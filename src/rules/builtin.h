// The rule data that the build embeds in the program.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "text/embedded.h"

namespace whyoom {

// The files of rules/ and of rules/examples/, sorted by name.
const std::vector<EmbeddedFile>& EmbeddedFiles();
const std::vector<EmbeddedFile>& EmbeddedExamples();

// Results that the build computes from the rule files, to keep startup fast.
struct RuleDigest {
  std::vector<std::string> literals;         // as RuleSet::literals
  std::size_t trigger_count = 0;             // as RuleSet::trigger_count
  std::vector<std::string> sign_literals;    // as RuleSet::sign_literals
  std::vector<std::string> nearby_literals;  // as RuleSet::nearby_literals
  std::string fingerprint;                   // as RuleSet::fingerprint
  // All files by name, without examples: one JSON object, packed so that no parser is needed. Each value is a letter
  // and its content: n(ull), t(rue), f(alse), d(ouble) and i(nteger) with 8 bytes, s(tring) with its length and bytes,
  // a(rray) with the length of its items and the items, o(bject) with the length of its members and the members, each
  // as the key's length and bytes and the value. Lengths have 4 bytes; numbers have the native byte order.
  std::string_view data;
};
const RuleDigest& BuiltInDigest();

// Returns Pattern::Literals(kSetLiteral) of the pattern with this source, which the build computed for PatternSet;
// nullopt if it is not built in.
constexpr std::size_t kSetLiteral = 4;
std::optional<std::vector<std::string>> BuiltInPatternLiterals(std::string_view source);

// Joins the texts, each terminated by a NUL; no text may contain one.
inline std::string PackTexts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) packed.append(text).push_back('\0');
  return packed;
}

inline std::vector<std::string> UnpackTexts(std::string_view packed) {
  std::vector<std::string> texts;
  for (std::size_t end = packed.find('\0'); end != std::string_view::npos; end = packed.find('\0')) {
    texts.emplace_back(packed.substr(0, end));
    packed.remove_prefix(end + 1);
  }
  return texts;
}

}  // namespace whyoom
