// Bytes and texts in the forms that the formats of others want.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

// Base64 (RFC 4648): for bytes that are no text, in JSON.
std::string ToBase64(std::string_view bytes);

// nullopt for anything that ToBase64 does not write.
std::optional<std::string> FromBase64(std::string_view text);

// A file name as a URI (RFC 3986), byte for byte, since a name need not be text: as a relative reference, or as a file:
// URI where it is absolute. All but unreserved characters and "/" are percent-encoded.
std::string PathUri(std::string_view path);

// Plain text as SARIF's messages want it (SARIF 2.1.0, 3.11.5 and 3.11.6), so that it says `text` and nothing else:
// braces, which would be placeholders, are doubled, and what would be a link, "[…](…)", is parted.
std::string SarifText(std::string_view text);

// The same in Markdown; what stands between backticks in `text` is code.
std::string SarifMarkdown(std::string_view text);

}  // namespace whyoom
