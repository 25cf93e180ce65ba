#include "rules/name_versions.h"

#include <algorithm>
#include <charconv>
#include <vector>

namespace whyoom {
namespace {

std::vector<unsigned> Numbers(std::string_view version) {
  std::vector<unsigned> numbers;
  const char* at = version.data();
  const char* const end = at + version.size();
  for (unsigned number = 0;;) {
    const auto [behind, fault] = std::from_chars(at, end, number);
    if (fault != std::errc()) return numbers;
    numbers.push_back(number);
    if (behind == end || *behind != '.') return numbers;
    at = behind + 1;
  }
}

bool IsOfName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Where a text holds a word, from `from` on; npos: nowhere.
std::size_t FindWord(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsOfName(text[at - 1])) && (end == text.size() || !IsOfName(text[end]))) return at;
  }
  return text.npos;
}

}  // namespace

std::string NameVersions::VersionFact() const {
  std::string fact = package + "_version";
  std::replace(fact.begin(), fact.end(), '-', '_');
  return fact;
}

std::optional<bool> NameVersions::HoldIn(std::string_view version) const {
  for (const auto& [bound, sign] : {std::pair(std::string_view(since), 1), std::pair(std::string_view(until), -1)}) {
    if (bound.empty()) continue;
    const std::optional<int> order = CompareVersions(version, bound);
    if (!order) return std::nullopt;
    if (*order * sign < 0) return false;
  }
  return true;
}

std::optional<int> CompareVersions(std::string_view one, std::string_view other) {
  std::vector<unsigned> a = Numbers(one);
  std::vector<unsigned> b = Numbers(other);
  if (a.empty() || b.empty()) return std::nullopt;
  const std::size_t parts = std::max(a.size(), b.size());
  a.resize(parts);
  b.resize(parts);
  return a < b ? -1 : a == b ? 0 : 1;
}

bool HoldsName(std::string_view text, std::string_view name) {
  constexpr std::string_view kArgument = "=)";
  const std::size_t bracket = name.find('(');
  if (bracket == name.npos || !name.ends_with(kArgument)) return FindWord(text, name, 0) != text.npos;
  const std::size_t call = FindWord(text, name.substr(0, bracket), 0);
  if (call == text.npos) return false;
  const std::string_view argument = name.substr(bracket + 1, name.size() - bracket - 1 - kArgument.size());
  for (std::size_t at = FindWord(text, argument, call); at != text.npos; at = FindWord(text, argument, at + 1)) {
    if (text.substr(at + argument.size()).starts_with("=")) return true;
  }
  return false;
}

}  // namespace whyoom
