#include "rules/pattern_set.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <string>
#include <utility>

#include "input/prefilter.h"
#include "rules/builtin.h"

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

std::vector<std::string> LiteralsOf(const Pattern& pattern) {
  const std::vector<std::string>* known = BuiltInPatternLiterals(pattern.regex());
  return known != nullptr ? *known : pattern.Literals(kSetLiteral);
}

}  // namespace

// One automaton for all patterns would have more states than memory holds where a text is full of their beginnings, and
// be made anew at each character. So it is asked first whose words are there: that are few, whatever the text.
struct PatternSet::Words {
  explicit Words(const std::vector<const Pattern*>& patterns) {
    std::map<std::string, std::size_t> places;
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (patterns[i]->ok()) Add(i, LiteralsOf(*patterns[i]), &places);
    }
    std::vector<std::string> words(places.size());
    for (const auto& [word, place] : places) words[place] = word;
    filter = std::make_unique<Prefilter>(words);
    word_count = words.size();
    pattern_count = patterns.size();
  }

  // The places of the patterns that may be in `text`, ascending.
  std::vector<std::size_t> Candidates(std::string_view text) const {
    std::vector<Prefilter::Hit> hits;
    filter->FindAll(text, 0, &hits);
    std::vector<bool> is_there(word_count);
    for (const Prefilter::Hit& hit : hits) is_there[hit.literal] = true;
    std::vector<std::size_t> found;
    std::size_t last = pattern_count;
    for (const Need& need : needs) {
      if (need.pattern == last) continue;
      if (!std::all_of(need.words.begin(), need.words.end(), [&](std::size_t word) { return is_there[word]; }))
        continue;
      last = need.pattern;
      found.push_back(last);
    }
    return found;
  }

  void Add(std::size_t pattern, const std::vector<std::string>& literals, std::map<std::string, std::size_t>* places) {
    std::vector<Need> added;
    for (const std::string& literal : literals) {
      Need need{pattern, {}};
      for (std::string& word : WordsOf(literal))
        need.words.push_back(places->emplace(std::move(word), places->size()).first->second);
      added.push_back(std::move(need));
    }
    const bool any = std::any_of(added.begin(), added.end(), [](const Need& need) { return need.words.empty(); });
    if (any || added.empty()) added = {{pattern, {}}};
    needs.insert(needs.end(), added.begin(), added.end());
  }

  // All these words stand in a text that holds the pattern by one of its literals; none: they say nothing.
  struct Need {
    std::size_t pattern = 0;
    std::vector<std::size_t> words;
  };
  std::vector<Need> needs;  // ascending by pattern
  std::unique_ptr<Prefilter> filter;
  std::size_t word_count = 0;
  std::size_t pattern_count = 0;
};

PatternSet::PatternSet(std::vector<const Pattern*> patterns) : patterns_(std::move(patterns)) {}

PatternSet::~PatternSet() = default;

void PatternSet::Prepare() const {
  std::call_once(made_, [this] { words_ = std::make_unique<Words>(patterns_); });
}

bool PatternSet::is_stored() const { return words_->word_count == 0 || words_->filter->is_stored(); }

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
