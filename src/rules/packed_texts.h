// Many texts in one, for data that is compiled in: a list of them would be made anew at each start, and takes a
// compiler long.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

// Each text with a NUL behind it; none may hold one.
inline std::string PackTexts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) packed.append(text).push_back('\0');
  return packed;
}

inline std::vector<std::string> UnpackTexts(std::string_view packed) {
  std::vector<std::string> texts;
  for (std::size_t end = packed.find('\0'); end != std::string_view::npos; end = packed.find('\0')) {
    texts.emplace_back(packed.substr(0, end));
    packed.remove_prefix(end + 1);
  }
  return texts;
}

}  // namespace whyoom
