#include "text/pairs.h"

#include <algorithm>
#include <cctype>
#include <string_view>
#include <utility>

#include "text/cleaning.h"

namespace whyoom {
namespace {

bool IsKey(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.' || c == '@'; }

}  // namespace

std::vector<Pair> ReadPairs(const MappedText& line) {
  const std::string_view text = line.text;
  std::vector<Pair> pairs;
  for (std::size_t at = text.find_first_not_of(' '); at < text.size(); at = text.find_first_not_of(' ', at)) {
    const auto key = static_cast<std::size_t>(
        std::find_if_not(text.begin() + static_cast<std::ptrdiff_t>(at), text.end(), IsKey) - text.begin());
    if (key == at || key >= text.size() || text[key] != '=') return {};
    Pair pair{std::string(text.substr(at, key - at)), {}};
    at = key + 1;
    if (at < text.size() && (text[at] == '"' || text[at] == '\'')) {
      std::size_t end = 0;
      pair.value = ReadQuoted(line, at + 1, text[at], &end);
      if (end >= text.size()) return {};
      at = end + 1;
      if (at < text.size() && text[at] != ' ') return {};
    } else {
      const std::size_t end = std::min(text.find(' ', at), text.size());
      pair.value = Slice(line, at, end);
      at = end;
    }
    pairs.push_back(std::move(pair));
  }
  return pairs;
}

MappedText ReadQuoted(const MappedText& line, std::size_t at, char quote, std::size_t* end) {
  const std::string_view text = line.text;
  const char stops[] = {quote, '\\', '\0'};
  Rewriter rewriter(line);
  std::size_t kept = at;
  while ((at = text.find_first_of(stops, at)) != std::string_view::npos && text[at] != quote) {
    std::string meaning;
    const std::size_t length = Unescape(text, at, &meaning);
    rewriter.Keep(kept, at);
    rewriter.Put(meaning, at);
    at += length;
    kept = at;
  }
  *end = std::min(at, text.size());
  rewriter.Keep(kept, *end);
  return rewriter.Take();
}

}  // namespace whyoom
