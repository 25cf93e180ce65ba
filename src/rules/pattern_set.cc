#include "rules/pattern_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "input/prefilter.h"
#include "rules/builtin.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Shorter words are everywhere.
constexpr std::size_t kShortestWord = 3;

// Blanks of a pattern stand for any blanks and line breaks, so it is only the words between them that stand in a text
// as they stand in the literal.
std::string LongestWord(const std::string& literal) {
  std::string longest;
  for (std::size_t begin = 0; begin < literal.size();) {
    const std::size_t end = std::min(literal.find(' ', begin), literal.size());
    if (end - begin > longest.size()) longest = literal.substr(begin, end - begin);
    begin = end + 1;
  }
  return longest;
}

// Where in `text` the words of a literal end that begin at `at`, any white space for each blank between them; npos
// where they do not stand there.
std::size_t EndOfWords(std::string_view text, std::size_t at, std::string_view words) {
  constexpr std::string_view kWhite = " \t\n\f\r";
  while (true) {
    const std::string_view word = words.substr(0, words.find(' '));
    if (text.substr(at, word.size()) != word) return std::string_view::npos;
    at += word.size();
    words.remove_prefix(word.size());
    if (words.empty()) return at;
    const std::size_t behind = text.find_first_not_of(kWhite, at);
    if (behind == at || behind == std::string_view::npos) return std::string_view::npos;
    at = behind;
    words.remove_prefix(words.find_first_not_of(' '));
  }
}

// Whether words of lower case stand one behind the other in a text of lower case.
bool HoldsWords(std::string_view lowered, std::string_view words) {
  const std::string_view first = words.substr(0, words.find(' '));
  for (std::size_t at = lowered.find(first); at != std::string_view::npos; at = lowered.find(first, at + 1)) {
    if (EndOfWords(lowered, at, words) != std::string_view::npos) return true;
  }
  return false;
}

// A literal without the blanks at its ends, where it has several words; else nothing.
std::string SeveralWords(const std::string& literal) {
  const std::size_t first = literal.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  std::string words = literal.substr(first, literal.find_last_not_of(' ') + 1 - first);
  return words.find(' ') == std::string::npos ? std::string() : words;
}

}  // namespace

std::vector<std::string> LiteralsInSets(const Pattern& pattern) {
  std::optional<std::vector<std::string>> known = BuiltInPatternLiterals(pattern.regex());
  return known ? std::move(*known) : pattern.Literals(kSetLiteral);
}

// One automaton for all patterns would have more states than memory holds where a text is full of their beginnings, and
// be made anew at each character. So it is asked first whose longest words are there: that are few, whatever the text.
struct PatternSet::Words {
  explicit Words(const std::vector<const Pattern*>& patterns) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i]->ok()) Add(i, LiteralsInSets(*patterns[i]), &places);
    }
    std::vector<std::string> words(places.size());
    for (const auto& [word, place] : places) words[place] = word;
    filter = std::make_unique<Prefilter>(words);
  }

  // The places of the patterns that may be in `text`, ascending.
  std::vector<std::size_t> Candidates(std::string_view text) const {
    std::vector<bool> is_there(with_word.size());
    std::vector<std::size_t> seen;
    filter->Mark(text, &is_there, &seen);
    std::vector<std::size_t> found = always;
    if (seen.empty()) return found;
    std::string lowered;
    const auto is_met = [&](const Need& need) {
      if (need.several_words.empty()) return true;
      if (lowered.empty()) lowered = LowerAscii(text);
      return HoldsWords(lowered, need.several_words);
    };
    for (const std::size_t word : seen) {
      for (const Need& need : with_word[word]) {
        if (is_met(need)) found.push_back(need.pattern);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void Add(std::size_t pattern, const std::vector<std::string>& literals, std::map<std::string, std::size_t>* places) {
    std::vector<std::string> longest;
    for (const std::string& literal : literals) longest.push_back(LongestWord(literal));
    const bool any = std::any_of(longest.begin(), longest.end(),
                                 [](const std::string& word) { return word.size() < kShortestWord; });
    if (any || literals.empty()) return always.push_back(pattern);
    for (std::size_t i = 0; i < literals.size(); ++i) {
      const std::size_t place = places->emplace(std::move(longest[i]), places->size()).first->second;
      with_word.resize(places->size());
      with_word[place].push_back({pattern, SeveralWords(literals[i])});
    }
  }

  // What of a literal is looked at where its longest word is there.
  struct Need {
    std::size_t pattern = 0;
    std::string several_words;  // that follow one another; empty where it is one
  };
  std::vector<std::vector<Need>> with_word;  // by word: of the literals whose longest it is
  std::vector<std::size_t> always;           // patterns that words say nothing of, ascending
  std::unique_ptr<Prefilter> filter;
};

PatternSet::PatternSet(std::vector<const Pattern*> patterns) : patterns_(std::move(patterns)) {}

PatternSet::~PatternSet() = default;

void PatternSet::Prepare() const {
  std::call_once(made_, [this] { words_ = std::make_unique<Words>(patterns_); });
}

std::vector<std::size_t> PatternSet::MayBeIn(std::string_view text) const {
  Prepare();
  return words_->Candidates(text);
}

std::vector<std::size_t> PatternSet::In(std::string_view text) const {
  std::vector<std::size_t> found = MayBeIn(text);
  std::erase_if(found, [&](std::size_t place) { return !patterns_[place]->IsIn(text); });
  return found;
}

}  // namespace whyoom
