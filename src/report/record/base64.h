// Base64 (RFC 4648): for bytes that are no text, in JSON.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

std::string ToBase64(std::string_view bytes);

// nullopt for anything that ToBase64 does not write.
std::optional<std::string> FromBase64(std::string_view text);

}  // namespace whyoom
