// Text as SARIF's messages want it (SARIF 2.1.0, 3.11.5 and 3.11.6).
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Plain text that says `text` and nothing else: braces, which would be placeholders, are doubled, and what would be a
// link, "[…](…)", is parted.
std::string SarifText(std::string_view text);

// The same in Markdown; what stands between backticks in `text` is code.
std::string SarifMarkdown(std::string_view text);

}  // namespace whyoom
