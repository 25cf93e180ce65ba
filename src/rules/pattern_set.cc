#include "rules/pattern_set.h"

#include <re2/re2.h>
#include <re2/set.h>

#include <algorithm>
#include <string>
#include <utility>

namespace whyoom {
namespace {

re2::RE2::Options Options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  options.set_max_mem(std::int64_t{32} << 20);
  return options;
}

}  // namespace

struct PatternSet::Set {
  re2::RE2::Set set{Options(), re2::RE2::UNANCHORED};
  std::vector<std::size_t> places;  // by index in the set
  bool usable = false;
};

PatternSet::PatternSet(std::vector<const Pattern*> patterns) : patterns_(std::move(patterns)) {}

PatternSet::~PatternSet() = default;

std::vector<std::size_t> PatternSet::In(std::string_view text) const {
  std::call_once(made_, [this] {
    set_ = std::make_unique<Set>();
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (patterns_[i]->ok() && set_->set.Add(patterns_[i]->regex(), nullptr) >= 0) set_->places.push_back(i);
    }
    set_->usable = set_->set.Compile();
  });
  std::vector<std::size_t> found;
  std::vector<int> indices;
  re2::RE2::Set::ErrorInfo error = {re2::RE2::Set::kNoError};
  const bool any = set_->usable && set_->set.Match(text, &indices, &error);
  if (any) {
    for (const int index : indices) found.push_back(set_->places[static_cast<std::size_t>(index)]);
    std::sort(found.begin(), found.end());
  } else if (!set_->usable || error.kind != re2::RE2::Set::kNoError) {
    // The set took too much memory for this text; one after the other takes less.
    PatternMatch match;
    for (std::size_t i = 0; i < patterns_.size(); ++i) {
      if (patterns_[i]->Find(text, 0, &match)) found.push_back(i);
    }
  }
  return found;
}

}  // namespace whyoom
