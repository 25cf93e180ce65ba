// The files of rules/ as they were when the program was built.
#pragma once

#include <string_view>
#include <vector>

namespace whyoom {

struct EmbeddedFile {
  std::string_view name;  // "hbm_compile.json", also "schema.json"
  std::string_view text;
};

const std::vector<EmbeddedFile>& EmbeddedFiles();  // in order of name

}  // namespace whyoom
