#include "rules/pattern_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "input/prefilter.h"
#include "rules/builtin.h"
#include "text/byte_class.h"

namespace whyoom {
namespace {

// Shorter words occur everywhere.
constexpr std::size_t kMinWords = 3;

// A blank in a pattern matches any white space, so texts and words are compared with single blanks.
std::string WithSingleBlanks(std::string_view text) {
  static constexpr ByteClass kWhite(" \t\n\f\r");
  std::string collapsed;
  collapsed.reserve(text.size());
  AppendWithSingleBlanks(text, kWhite, &collapsed);
  return collapsed;
}

// The part of a literal that does not depend on the white space in and after it.
std::string WordsOf(const std::string& literal) {
  std::string words = WithSingleBlanks(literal);
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace

std::vector<std::string> LiteralsInSets(const Pattern& pattern) {
  std::optional<std::vector<std::string>> known = BuiltInPatternLiterals(pattern.source());
  return known ? std::move(*known) : pattern.Literals(kSetLiteral);
}

// Searches for the literals first, because few of them occur in any text. A single automaton for all patterns would
// exceed its memory on texts full of their prefixes, and be rebuilt at each character.
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

  // Indices of the patterns that can match in `text`, ascending. `text` has single blanks.
  std::vector<std::size_t> Candidates(std::string_view text) const {
    std::vector<bool> is_there(with_words.size());
    std::vector<std::size_t> seen;
    filter->Mark(text, &is_there, &seen);
    std::vector<std::size_t> found = always;
    if (seen.empty()) return found;
    for (const std::size_t place : seen) found.insert(found.end(), with_words[place].begin(), with_words[place].end());
    std::sort(found.begin(), found.end());
    found.erase(std::unique(found.begin(), found.end()), found.end());
    return found;
  }

  void Add(std::size_t pattern, const std::vector<std::string>& literals, std::map<std::string, std::size_t>* places) {
    std::vector<std::string> all;
    for (const std::string& literal : literals) all.push_back(WordsOf(literal));
    const bool short_one =
        std::any_of(all.begin(), all.end(), [](const std::string& words) { return words.size() < kMinWords; });
    if (short_one || literals.empty()) return always.push_back(pattern);
    for (std::string& words : all) {
      const std::size_t place = places->emplace(std::move(words), places->size()).first->second;
      with_words.resize(places->size());
      with_words[place].push_back(pattern);
    }
  }

  std::vector<std::vector<std::size_t>> with_words;  // by index of a word: the patterns with that word
  std::vector<std::size_t> always;                   // patterns without usable literals, ascending
  std::unique_ptr<Prefilter> filter;
};

PatternSet::PatternSet(std::vector<const Pattern*> patterns) : patterns_(std::move(patterns)) {}

PatternSet::~PatternSet() = default;

void PatternSet::Prepare() const {
  std::call_once(made_, [this] { words_ = std::make_unique<Words>(patterns_); });
}

std::vector<std::size_t> PatternSet::FindCandidates(std::string_view text, Blanks blanks) const {
  Prepare();
  return words_->Candidates(blanks == Blanks::kSingle ? text : std::string_view(WithSingleBlanks(text)));
}

std::vector<std::size_t> PatternSet::In(std::string_view text, Blanks blanks) const {
  std::vector<std::size_t> found = FindCandidates(text, blanks);
  std::erase_if(found, [&](std::size_t place) { return !patterns_[place]->IsIn(text); });
  return found;
}

}  // namespace whyoom
