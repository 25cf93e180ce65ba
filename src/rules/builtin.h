// What the build put into the program.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct EmbeddedFile {
  std::string_view name;  // "hbm_compile.json", also "schema.json"
  std::string_view text;
};

// The files of rules/, in order of name.
const std::vector<EmbeddedFile>& EmbeddedFiles();

// What was worked out of them, so that it need not be at each start.
const std::vector<std::string>& BuiltInLiterals();
const std::string& BuiltInFingerprint();

}  // namespace whyoom
