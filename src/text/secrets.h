// Passwords, keys and tokens in text that whyoom shows. A log and a command line may contain them; a report is pasted
// into tickets and published by CI, so it must not.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// What a report shows in the place of a secret.
inline constexpr std::string_view kMasked = "***";

// Bytes [begin, end) of a text.
struct TextRange {
  std::size_t begin = 0;
  std::size_t end = 0;
};

// The secrets of `text`, in order; they do not overlap. A secret is the value of a name such as password, API_KEY or
// --hf-token; the credentials of a URL, a signed URL's signature; or a token with a known form, such as "ghp_…". Counts
// ("tokens=4096"), array types, paths, digests and the words None, null and true are no secrets. For short texts: takes
// time linear in the text, but with regular expressions.
std::vector<TextRange> FindSecrets(std::string_view text);

// `text` with each secret replaced by kMasked. Masking again changes nothing.
std::string MaskSecrets(std::string_view text);

// Bytes [begin, end) of `text`, masked as parts of the whole text: a secret that the range cuts stays hidden.
std::string MaskSecretsIn(std::string_view text, std::size_t begin, std::size_t end);

}  // namespace whyoom
