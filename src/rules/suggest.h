// "Did you mean …?" for an unknown name.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// The candidate most similar to `name`, or empty if none is similar enough.
std::string Nearest(std::string_view name, const std::vector<std::string>& candidates);

// "did you mean 'x'?". If none is similar, all candidates after `otherwise`, or nothing if that is empty.
std::string DidYouMean(std::string_view name, const std::vector<std::string>& candidates,
                       const std::string& otherwise = "");

// "a, b, c".
std::string Listing(const std::vector<std::string>& words);

// The words of a text in which blanks separate them.
std::vector<std::string> WordsOf(std::string_view text);

}  // namespace whyoom
