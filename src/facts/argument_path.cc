#include "facts/argument_path.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace whyoom {

std::string ArgumentOf(std::string_view path) { return std::string(path.substr(0, path.find_first_of(".["))); }

std::vector<std::string> PathWords(std::string_view path) {
  std::vector<std::string> words;
  std::string word;
  for (const char c : path) {
    if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_') {
      word += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    } else if (!word.empty()) {
      words.push_back(std::exchange(word, {}));
    }
  }
  if (!word.empty()) words.push_back(word);
  return words;
}

bool NamesOptimizerPart(std::string_view path, const RoleWords& role_words) {
  return std::any_of(role_words.optimizer_parts.begin(), role_words.optimizer_parts.end(),
                     [&](const std::string& part) { return path.find(part) != std::string_view::npos; });
}

bool NamesOptimizerState(std::string_view path, const RoleWords& role_words) {
  const std::vector<std::string> words = PathWords(path);
  return NamesOptimizerPart(path, role_words) || std::any_of(words.begin(), words.end(), [&](const std::string& word) {
           return role_words.optimizer_state.contains(word);
         });
}

}  // namespace whyoom
