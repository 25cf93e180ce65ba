#include "rules/pattern_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include "text/utf8.h"

namespace whyoom {
namespace {

// Shorter words occur everywhere.
constexpr std::size_t kMinWords = 3;

// A blank in a pattern matches any white space, so texts and words are compared with single blanks.
std::string WithSingleBlanks(std::string_view text) {
  constexpr std::string_view kWhite = " \t\n\f\r";
  std::string collapsed;
  collapsed.reserve(text.size());
  AppendWithSingleBlanks(text, kWhite, &collapsed);
  return collapsed;
}

// The part of a literal that does not depend on the white space in and after it.
std::string Trimmed(const std::string& literal) {
  std::string words = WithSingleBlanks(literal);
  if (words.ends_with(' ')) words.pop_back();
  return words;
}

}  // namespace

PatternSet::PatternSet(std::vector<const Pattern*> patterns) : patterns_(std::move(patterns)) {}

// Searches for the literals first, because few of them occur in any text. A single automaton for all patterns would
// exceed its memory on texts full of their prefixes, and be rebuilt at each character.
void PatternSet::Prepare() const {
  std::call_once(made_, [this] {
    std::vector<std::string> words;
    std::vector<std::size_t> patterns;
    std::vector<std::size_t> always;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      std::vector<std::string> own;
      if (patterns_[i]->ok()) own = patterns_[i]->parts().set_literals;
      std::transform(own.begin(), own.end(), own.begin(), Trimmed);
      if (own.empty() || std::any_of(own.begin(), own.end(), [](const auto& one) { return one.size() < kMinWords; })) {
        always.push_back(i);
        continue;
      }
      words.insert(words.end(), own.begin(), own.end());
      patterns.resize(words.size(), i);
    }
    words_ = std::make_unique<const Words>(Words{Prefilter(words), std::move(patterns), std::move(always)});
  });
}

std::vector<std::size_t> PatternSet::FindCandidates(std::string_view text, Blanks blanks) const {
  Prepare();
  std::vector<Prefilter::Hit> hits;
  words_->search.FindAll(blanks == Blanks::kSingle ? text : std::string_view(WithSingleBlanks(text)), 0, &hits);
  std::vector<std::size_t> found = words_->always;
  for (const Prefilter::Hit& hit : hits) found.push_back(words_->patterns[hit.literal]);
  if (hits.empty()) return found;
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

std::vector<std::size_t> PatternSet::In(std::string_view text, Blanks blanks) const {
  std::vector<std::size_t> found = FindCandidates(text, blanks);
  std::erase_if(found, [&](std::size_t place) { return !patterns_[place]->IsIn(text); });
  return found;
}

}  // namespace whyoom
