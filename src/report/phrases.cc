#include "report/phrases.h"

#include <re2/re2.h>

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kWordsOfCall = 16;  // a bracket that stays open longer does not start a call

bool IsAlnum(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0; }
bool IsAscii(char c) { return static_cast<unsigned char>(c) < 0x80; }

// Words of letters, digits and harmless punctuation, unless GitHub or an issue tracker would turn them into a link (the
// hash of a commit, "GH-123", "www.…") or they are code: options, and a dot between letters ("jax.jit", "train.py",
// but not "e.g.").
bool IsWord(std::string_view core) {
  static const re2::RE2 name(
      R"(^-|[^A-Za-z0-9.,'\-/%\x80-\xff]|(?:^|[^A-Za-z0-9])[0-9A-Fa-f]{7,}(?:$|[^A-Za-z0-9])|[A-Za-z0-9]-[0-9][^-]*$|)"
      R"(^[Ww]{3}\.|[A-Za-z0-9][A-Za-z]\.[A-Za-z]|[A-Za-z]\.[A-Za-z][A-Za-z0-9])",
      re2::RE2::Latin1);
  const bool any = std::any_of(core.begin(), core.end(), [](char c) { return IsAlnum(c) || !IsAscii(c); });
  return any && !re2::RE2::PartialMatch(core, name);
}

int BracketDepth(std::string_view text) {
  int depth = 0;
  for (const char c : text) {
    if (c == '(' || c == '[' || c == '{') ++depth;
    if (c == ')' || c == ']' || c == '}') --depth;
  }
  return depth;
}

bool IsQuoteOpen(std::string_view text) { return std::count(text.begin(), text.end(), '"') % 2 != 0; }

// Returns where the text at `begin` ends and punctuation begins. The text includes closing brackets and quotes that it
// opens.
std::size_t CoreEnd(std::string_view word, std::size_t begin) {
  std::size_t end = word.size();
  if (word.size() - begin > 2 && word.ends_with("'s")) end -= 2;  // not part of the name
  while (end > begin && std::string_view(".,;:!?)\"'").find(word[end - 1]) != std::string_view::npos) {
    const char last = word[end - 1];
    if (last == ')' && BracketDepth(word.substr(begin, end - begin)) >= 0) break;
    if ((last == '"' || last == '\'') && std::count(word.begin() + begin, word.begin() + end, last) % 2 == 0) break;
    --end;
  }
  return end;
}

// Code marked in the sentence: the positions of its opening and closing backquotes.
struct Mark {
  std::size_t open = std::string_view::npos;
  std::size_t close = std::string_view::npos;
};

// The first mark from `at` on that starts a word and is not blank; npos if there is none.
Mark NextMark(std::string_view text, std::size_t at) {
  for (std::size_t open = text.find('`', at); open != std::string_view::npos; open = text.find('`', open + 1)) {
    const bool begins_word = open == 0 || std::string_view(" (\"'").find(text[open - 1]) != std::string_view::npos;
    const std::size_t close = text.find('`', open + 1);
    if (close == std::string_view::npos) break;
    if (begins_word && text.find_first_not_of(' ', open + 1) < close) return {open, close};
  }
  return {};
}

class Splitter {
 public:
  explicit Splitter(std::string text) : text_(std::move(text)) {}

  std::vector<Phrase> Split() {
    std::size_t at = 0;
    Mark mark = NextMark(text_, 0);
    while (at < text_.size()) {
      if (at == mark.open) {
        Add(mark.open + 1, mark.close, true);
        at = mark.close + 1;
        mark = NextMark(text_, at);
      } else {
        // Names are recognised only up to the next mark.
        limit_ = std::min(mark.open, text_.size());
        const std::size_t begin = std::min(text_.find_first_not_of(' ', at), limit_);
        Add(at, begin, false);
        at = begin < limit_ ? AddWord(begin) : begin;
      }
    }
    return std::move(phrases_);
  }

 private:
  std::size_t WordEnd(std::size_t begin) const { return std::min(text_.find(' ', begin), limit_); }

  // True for "x" of "x = f(y)", if the value after the equals sign is not a plain word.
  bool IsAssigned(std::string_view name, std::size_t end) const {
    constexpr std::string_view kSign = " = ";
    if (text_.compare(end, kSign.size(), kSign) != 0 || end + kSign.size() >= limit_) return false;
    const std::size_t value = end + kSign.size();
    const std::string_view word = std::string_view(text_).substr(0, WordEnd(value));
    return !name.empty() && std::all_of(name.begin(), name.end(), [](char c) { return IsAlnum(c) || c == '_'; }) &&
           IsAscii(text_[value]) && std::isalpha(static_cast<unsigned char>(text_[value])) != 0 &&
           !IsWord(word.substr(value, CoreEnd(word, value) - value));
  }

  // Adds the word at `begin` and returns its end.
  std::size_t AddWord(std::size_t begin) {
    std::size_t end = WordEnd(begin);
    std::size_t core = begin;
    while (core < end && (text_[core] == '(' || text_[core] == '"' || text_[core] == '\'')) ++core;
    const auto word = [&] { return std::string_view(text_).substr(0, end); };
    if (IsAssigned(std::string_view(text_).substr(core, end - core), end)) end = WordEnd(end + 3);
    std::size_t core_end = CoreEnd(word(), core);
    const bool first = text_.find_first_not_of(' ') == begin;
    if (word().substr(core, core_end - core).find_first_not_of("./%-") == std::string_view::npos) {
      Add(begin, end, first);  // only punctuation; at the start it could begin a list
      return end;
    }
    if (IsWord(word().substr(core, core_end - core)) && !(first && IsListMark(word().substr(begin)))) {
      Add(begin, end, false);
      return end;
    }
    // A call may contain blanks, until its brackets and quotes are closed.
    const auto is_open = [&](std::size_t until) {
      const std::string_view so_far = std::string_view(text_).substr(core, until - core);
      return BracketDepth(so_far) > 0 || IsQuoteOpen(so_far);
    };
    std::size_t longer = end;
    for (std::size_t i = 0; i < kWordsOfCall && longer < limit_ && is_open(longer); ++i)
      longer = WordEnd(std::min(text_.find_first_not_of(' ', longer), limit_));
    if (longer > end && !is_open(longer)) {
      end = longer;
      core_end = CoreEnd(word(), core);
    }
    Add(begin, core, false);
    Add(core, core_end, true);
    Add(core_end, end, false);
    return end;
  }

  // "1." and "1)" at the start would begin a list in Markdown.
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
  std::size_t limit_ = 0;
  std::vector<Phrase> phrases_;
};

}  // namespace

std::vector<Phrase> PhrasesOf(std::string_view sentence) { return Splitter(Printable(sentence)).Split(); }

}  // namespace whyoom
