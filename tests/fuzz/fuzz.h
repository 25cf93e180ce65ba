// Shared by the fuzz targets. Each target is one file with one function, LLVMFuzzerTestOneInput. It accepts any bytes
// and fails if Require fails, a sanitizer reports an error, or an exception escapes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <string_view>

#include "examples/built_in.h"
#include "rules/rule_set.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace whyoom {

inline void Require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "does not hold: %s\n", what);
  std::abort();
}

inline std::string_view Bytes(const std::uint8_t* data, std::size_t size) {
  return {reinterpret_cast<const char*>(data), size};
}

// With all examples.
inline const RuleSet& BuiltInRules() {
  static const RuleSet rules = RulesOf(BuiltInFiles(), ExampleFiles());
  return rules;
}

// Replaces "{rules}" in `text` by the fingerprint of the rule data, so that corpus files stay valid if a rule changes.
inline std::string WithFingerprint(std::string text) {
  constexpr std::string_view kRules = "{rules}";
  for (std::size_t at = 0; (at = text.find(kRules, at)) != std::string::npos;)
    text.replace(at, kRules.size(), BuiltInRules().fingerprint);
  return text;
}

}  // namespace whyoom
