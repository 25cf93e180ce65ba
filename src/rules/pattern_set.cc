#include "rules/pattern_set.h"

#include <algorithm>
#include <string>
#include <utility>

#include "input/word_lists.h"
#include "rules/builtin.h"
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

PatternSet::PatternSet(std::vector<const Pattern*> patterns) : patterns_(std::move(patterns)) {}

PatternSet::~PatternSet() = default;

// Searches for the literals first, because few of them occur in any text. A single automaton for all patterns would
// exceed its memory on texts full of their prefixes, and be rebuilt at each character.
void PatternSet::Prepare() const {
  std::call_once(made_, [this] {
    auto lists = std::make_unique<WordLists>();
    for (const Pattern* pattern : patterns_) {
      std::vector<std::string> words;
      for (const std::string& literal : LiteralsInSets(*pattern)) words.push_back(WordsOf(literal));
      const bool has_short_one =
          std::any_of(words.begin(), words.end(), [](const std::string& one) { return one.size() < kMinWords; });
      if (has_short_one) words.clear();
      lists->Add(words);
    }
    lists->Prepare();
    words_ = std::move(lists);
  });
}

std::vector<std::size_t> PatternSet::FindCandidates(std::string_view text, Blanks blanks) const {
  Prepare();
  return words_->ListsIn(blanks == Blanks::kSingle ? text : std::string_view(WithSingleBlanks(text)));
}

std::vector<std::size_t> PatternSet::In(std::string_view text, Blanks blanks) const {
  std::vector<std::size_t> found = FindCandidates(text, blanks);
  std::erase_if(found, [&](std::size_t place) { return !patterns_[place]->IsIn(text); });
  return found;
}

}  // namespace whyoom
