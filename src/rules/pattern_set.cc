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

// The words of a literal. Blanks of a pattern stand for any blanks and line breaks, so it is only the words between
// them that stand in a text as they stand in the literal.
std::vector<std::string> WordsOf(const std::string& literal) {
  std::vector<std::string> words;
  for (std::size_t begin = 0; begin < literal.size();) {
    const std::size_t end = std::min(literal.find(' ', begin), literal.size());
    if (end - begin >= kShortestWord) words.push_back(literal.substr(begin, end - begin));
    begin = end + 1;
  }
  return words;
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
// be made anew at each character. So it is asked first whose words are there: that are few, whatever the text.
struct PatternSet::Words {
  explicit Words(const std::vector<const Pattern*>& patterns) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i]->ok()) Add(i, LiteralsInSets(*patterns[i]), &places);
    }
    std::vector<std::string> words(places.size());
    for (const auto& [word, place] : places) words[place] = word;
    filter = std::make_unique<Prefilter>(words);
    word_count = words.size();
    with_word.resize(words.size());
    for (std::size_t i = 0; i < needs.size(); ++i) {
      const auto longest =
          std::max_element(needs[i].words.begin(), needs[i].words.end(),
                           [&](std::size_t one, std::size_t other) { return words[one].size() < words[other].size(); });
      if (longest == needs[i].words.end()) {
        always.push_back(needs[i].pattern);
      } else {
        with_word[*longest].push_back(i);
      }
    }
  }

  // The places of the patterns that may be in `text`, ascending.
  std::vector<std::size_t> Candidates(std::string_view text) const {
    std::vector<bool> is_there(word_count);
    std::vector<std::size_t> seen;
    filter->Mark(text, &is_there, &seen);
    std::vector<std::size_t> found = always;
    if (seen.empty()) return found;
    std::string lowered;
    const auto is_met = [&](const Need& need) {
      if (!std::all_of(need.words.begin(), need.words.end(), [&](std::size_t word) { return is_there[word]; }))
        return false;
      if (need.several_words.empty()) return true;
      if (lowered.empty()) lowered = LowerAscii(text);
      return HoldsWords(lowered, need.several_words);
    };
    for (const std::size_t word : seen) {
      for (const std::size_t number : with_word[word]) {
        if (is_met(needs[number])) found.push_back(needs[number].pattern);
      }
    }
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void Add(std::size_t pattern, const std::vector<std::string>& literals, std::map<std::string, std::size_t>* places) {
    std::vector<Need> added;
    for (const std::string& literal : literals) {
      Need need{pattern, {}, SeveralWords(literal)};
      for (std::string& word : WordsOf(literal))
        need.words.push_back(places->emplace(std::move(word), places->size()).first->second);
      added.push_back(std::move(need));
    }
    const bool any = std::any_of(added.begin(), added.end(), [](const Need& need) { return need.words.empty(); });
    if (any || added.empty()) added = {{pattern, {}, {}}};
    needs.insert(needs.end(), added.begin(), added.end());
  }

  // All these words stand in a text that holds the pattern by one of its literals; none: they say nothing.
  struct Need {
    std::size_t pattern = 0;
    std::vector<std::size_t> words;
    std::string several_words;  // in which order they do; empty where it is one
  };
  std::vector<Need> needs;
  std::vector<std::vector<std::size_t>> with_word;  // by word: the needs whose longest word it is
  std::vector<std::size_t> always;                  // patterns that words say nothing of, ascending
  std::unique_ptr<Prefilter> filter;
  std::size_t word_count = 0;
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
