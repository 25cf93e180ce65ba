// What the build put into the program.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct EmbeddedFile {
  std::string_view name;  // "hbm_compile.json", also "schema.json"
  std::string_view text;
};

// The files of rules/ and of rules/examples/, in order of name.
const std::vector<EmbeddedFile>& EmbeddedFiles();
const std::vector<EmbeddedFile>& EmbeddedExamples();

// What was worked out of them, so that it need not be at each start.
struct RuleDigest {
  std::vector<std::string> literals;         // as RuleSet::literals
  std::vector<std::string> sign_literals;    // as RuleSet::sign_literals
  std::vector<std::string> nearby_literals;  // as RuleSet::nearby_literals
  std::string fingerprint;                   // as RuleSet::fingerprint
  // The files by name, without their examples: a JSON object, packed so that reading it takes no parser. A value is a
  // letter and what belongs to it: n(ull), t(rue), f(alse), d(ouble) and i(nteger) with 8 bytes, s(tring) with its
  // length and bytes, a(rray) with its size and items, o(bject) with its size and, for each member, ascending, the
  // key's length and bytes and the value. Lengths and sizes have 4 bytes; numbers are as this machine has them.
  std::string_view data;
};
const RuleDigest& BuiltInDigest();

// What the data of the digest has beside the files': of an affix, an object with "bytes", "needed" and "literals", see
// Affix::Signs, and of a quotation, one with "before" and "from_head", each with the members of TextNeeds. Sets of
// bytes are as PackBytes gives them.
inline constexpr const char* kAffixSigns = "signs";
inline constexpr const char* kQuotationNeeds = "needed";
// Of how many bytes at their place the signs of an affix tell: enough to tell dates in different orders, and what
// stands behind them, apart.
inline constexpr std::size_t kSignBytes = 12;

// Of a pattern that is looked for together with others, by its source: Pattern::Literals of kSetLiteral.
// Nothing where it is none of the built-in ones.
constexpr std::size_t kSetLiteral = 4;
std::optional<std::vector<std::string>> BuiltInPatternLiterals(std::string_view source);

// Each text with a NUL behind it; none may hold one.
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
