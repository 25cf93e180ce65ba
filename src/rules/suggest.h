// "Did you mean ...?" for a name that is not known.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// The candidate nearest to `name` if it is near enough to be meant, else empty.
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);

// "did you mean 'x'?", or empty.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates);

// "a, b, c": what is allowed, for a hint.
std::string Listing(const std::vector<std::string>& words);

}  // namespace whyoom
