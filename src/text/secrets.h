// Finds passwords, keys and tokens in text. Logs and command lines may contain them, but reports must not: people paste
// reports into tickets, and CI publishes them.
#pragma once

#include <string>
#include <string_view>

namespace whyoom {

// Replaces a secret in reports.
inline constexpr std::string_view kMasked = "***";

// Returns `text` with each secret replaced by kMasked. A secret is the value of a name such as password, API_KEY or
// --hf-token; the credentials of a URL; a signed URL's signature; or a token of a known form, such as "ghp_…". Counts
// ("tokens=4096"), array types, paths, digests and the words None, null and true are not secrets. Idempotent. Takes
// linear time, but uses regular expressions, so pass short texts only.
std::string MaskSecrets(std::string_view text);

}  // namespace whyoom
