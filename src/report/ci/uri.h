// File names as URIs (RFC 3986), byte for byte: a name need not be text.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// `path` as a relative reference, or as a file: URI where it is absolute. All but unreserved characters and "/" are
// percent-encoded.
std::string PathUri(std::string_view path);

}  // namespace whyoom
