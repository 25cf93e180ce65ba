// What the build put into the program.
#pragma once

#include <cstddef>
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
const std::vector<std::string>& BuiltInLiterals();
const std::string& BuiltInFingerprint();

// Of a pattern that is looked for together with others, by what Pattern::regex gives: Pattern::Literals of kSetLiteral.
// Null where it is none of the built-in ones.
constexpr std::size_t kSetLiteral = 4;
const std::vector<std::string>* BuiltInPatternLiterals(std::string_view regex);

}  // namespace whyoom
