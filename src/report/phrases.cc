#include "report/phrases.h"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kWordsOfCall = 16;  // a bracket that is open for longer is none
constexpr std::size_t kShortestHash = 7;  // GitHub links hexadecimal digits from here on to commits

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// A run of letters and digits that could be the hash of a commit.
bool HoldsHash(std::string_view word) {
  std::size_t digits = 0;
  bool hex = true;
  for (std::size_t i = 0; i <= word.size(); ++i) {
    if (i < word.size() && IsAlnum(word[i])) {
      hex = hex && std::isxdigit(static_cast<unsigned char>(word[i])) != 0;
      ++digits;
      continue;
    }
    if (hex && digits >= kShortestHash) return true;
    digits = 0;
    hex = true;
  }
  return false;
}

// "GH-123", "TICKET-7": what a tracker makes links of.
bool IsTicket(std::string_view word) {
  const std::size_t dash = word.rfind('-');
  return dash != std::string_view::npos && dash > 0 && dash + 1 < word.size() && IsAlnum(word[dash - 1]) &&
         std::isdigit(static_cast<unsigned char>(word[dash + 1])) != 0;
}

bool IsWebHost(std::string_view word) {
  return word.size() >= 4 && std::tolower(static_cast<unsigned char>(word[0])) == 'w' &&
         std::tolower(static_cast<unsigned char>(word[1])) == 'w' &&
         std::tolower(static_cast<unsigned char>(word[2])) == 'w' && word[3] == '.';
}

bool IsWord(std::string_view core) {
  constexpr std::string_view kHarmless = ".,'-/%";
  bool any = false;
  for (const char c : core) {
    any = any || !IsAscii(c) || IsAlnum(c);
    if (IsAscii(c) && !IsAlnum(c) && kHarmless.find(c) == std::string_view::npos) return false;
  }
  return any && core.front() != '-' && !HoldsHash(core) && !IsTicket(core) && !IsWebHost(core);
}

int Depth(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return depth;
}

// Where the punctuation behind what begins at `begin` begins; a bracket that closes one inside is none.
std::size_t CoreEnd(std::string_view word, std::size_t begin) {
  std::size_t end = word.size();
  while (end > begin && std::string_view(".,;:!?)\"'").find(word[end - 1]) != std::string_view::npos) {
    if (word[end - 1] == ')' && Depth(word.substr(begin, end - begin)) >= 0) break;
    --end;
  }
  return end;
}

class Splitter {
 public:
  explicit Splitter(std::string text) : text_(std::move(text)) {}

  std::vector<Phrase> Split() {
    std::size_t at = 0;
    while (at < text_.size()) {
      const std::size_t begin = std::min(text_.find_first_not_of(' ', at), text_.size());
      Add(at, begin, false);
      at = begin < text_.size() ? TakeWord(begin) : begin;
    }
    return std::move(phrases_);
  }

 private:
  std::size_t WordEnd(std::size_t begin) const { return std::min(text_.find(' ', begin), text_.size()); }

  // Adds the word at `begin`, and says where it ends.
  std::size_t TakeWord(std::size_t begin) {
    std::size_t end = WordEnd(begin);
    std::size_t core = begin;
    while (core < end && (text_[core] == '(' || text_[core] == '"' || text_[core] == '\'')) ++core;
    const auto word = [&] { return std::string_view(text_).substr(0, end); };
    std::size_t core_end = CoreEnd(word(), core);
    const bool first = text_.find_first_not_of(' ') == begin;
    if (word().substr(core, core_end - core).find_first_not_of("./%-") == std::string_view::npos) {
      Add(begin, end, first);  // nothing but punctuation; in front it could be a list's
      return end;
    }
    if (IsWord(word().substr(core, core_end - core)) && !(first && IsListMark(word().substr(begin)))) {
      Add(begin, end, false);
      return end;
    }
    // A call goes on behind blanks until its brackets are closed.
    std::size_t longer = end;
    for (std::size_t i = 0; i < kWordsOfCall && longer < text_.size(); ++i) {
      if (Depth(std::string_view(text_).substr(core, longer - core)) <= 0) break;
      longer = WordEnd(std::min(text_.find_first_not_of(' ', longer), text_.size()));
    }
    if (longer > end && Depth(std::string_view(text_).substr(core, longer - core)) <= 0) {
      end = longer;
      core_end = CoreEnd(word(), core);
    }
    Add(begin, core, false);
    Add(core, core_end, true);
    Add(core_end, end, false);
    return end;
  }

  // "1." and "1)" in front are a list in Markdown.
  static bool IsListMark(std::string_view word) {
    return (word.back() == '.' || word.back() == ')') && std::all_of(word.begin(), word.end() - 1, [](char c) {
             return std::isdigit(static_cast<unsigned char>(c)) != 0;
           });
  }

  void Add(std::size_t begin, std::size_t end, bool is_name) {
    if (begin >= end) return;
    const std::string_view piece = std::string_view(text_).substr(begin, end - begin);
    if (!phrases_.empty() && phrases_.back().is_name == is_name) {
      phrases_.back().text += piece;
    } else {
      phrases_.push_back({std::string(piece), is_name});
    }
  }

  std::string text_;
  std::vector<Phrase> phrases_;
};

}  // namespace

std::vector<Phrase> PhrasesOf(std::string_view sentence) { return Splitter(Printable(sentence)).Split(); }

}  // namespace whyoom
