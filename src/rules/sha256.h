// SHA-256 (FIPS 180-4), for the fingerprint of the rule data and the ids of failures.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Returns lower-case hex.
std::string Sha256Hex(std::string_view data);

}  // namespace whyoom
