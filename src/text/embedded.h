// Files that the build embeds in the program (cmake/EmbedFiles.cmake).
#pragma once

#include <string_view>
#include <vector>

namespace whyoom {

struct EmbeddedFile {
  std::string_view name;  // "hbm_compile.json"
  std::string_view text;
};

// resources/secrets.json.
const std::vector<EmbeddedFile>& EmbeddedSecrets();

// resources/page.html.
const std::vector<EmbeddedFile>& EmbeddedPage();

}  // namespace whyoom
