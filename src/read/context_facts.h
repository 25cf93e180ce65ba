// Facts from lines before an error, found by the contexts of the rule data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/compiled_program.h"
#include "facts/evidence.h"
#include "input/prefilter.h"
#include "read/message.h"
#include "rules/pattern_set.h"
#include "rules/rule_set.h"
#include "text/timestamp.h"

namespace whyoom {

// Finds the signs of all frameworks in a line, in one pass.
class FrameworkSigns {
 public:
  // Borrows `frameworks`, sorted by descending priority.
  explicit FrameworkSigns(const std::vector<Framework>& frameworks);

  // Returns the smaller of `found` and the index of the first framework that has a sign in `text`.
  std::size_t Find(std::string_view text, std::size_t found) const;

  // Appends this object's pattern sets to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&signs_); }

 private:
  std::vector<std::size_t> owners_;  // framework index by position in signs_
  PatternSet signs_;
};

// Returns the framework with signs in a program's source files, or `known` if none of higher priority has one there. A
// log may not name its framework, but the stack frames of its program contain the framework's files.
std::string FrameworkOf(const std::vector<Framework>& frameworks, const std::vector<std::string>& sources,
                        const std::string& known);

// Searches for all patterns of all contexts in one pass.
class ContextFinder {
 public:
  // Borrows both; `lead` finds the literals that matter in lines before a failure.
  ContextFinder(const RuleSet& rules, const Prefilter& lead);

  // Whether `text` may contain a fact that is searched for near failures only.
  bool MayContainNearby(std::string_view text) const { return has_nearby_ && look_behind_.IsIn(text); }

  struct Found {
    const Context* context = nullptr;
    const Pattern* pattern = nullptr;
    PatternMatch match;

    bool ends() const { return pattern == &context->until; }  // the match ends the context's validity and adds no facts
  };
  // Returns each pattern's first match that begins in the first line of `joined`; it may extend into the next lines.
  std::vector<Found> Find(const JoinedLines& joined) const;

  // Appends this object's pattern sets to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&set_); }

 private:
  const Prefilter& look_behind_;
  const bool has_nearby_;
  std::vector<Found> patterns_;  // their match is empty
  PatternSet set_;
};

// Collects context facts and assigns them to failures. A fact applies to the failures after it; facts of one program
// apply only to the next failure, and to no failure after the program is done.
class ContextFacts {
 public:
  // Matches may be added in any order, and before the failures that precede them in the log. `message` is the offset of
  // the message that contains the match: facts of one program that a failure's own message states do not apply to later
  // failures.
  void Add(const ContextFinder::Found& found, const JoinedLines& joined, std::uint64_t message = 0);

  // Records that the header of `failure`, which is borrowed, is at `offset` of the artifact.
  void AddFailure(const FailureRule& rule, std::uint64_t offset);

  // Adds the facts that apply to a failure at `offset` and that `facts` lacks. Only the last match of each pattern
  // before the failure counts; it replaces all captures of the older ones.
  void AddTo(const FailureRule& rule, std::uint64_t offset, Evidence* facts) const;

 private:
  struct Statement {
    std::uint64_t offset = 0;  // of the match in the artifact
    Evidence facts;
  };
  // Maximum number of matches per pattern, and of failures, to remember. Lines are read only a few lines ahead of the
  // failures in them, so older matches belong to runs that are already complete.
  static constexpr std::size_t kMostSaid = 16;
  static constexpr std::size_t kMostFailures = 64;
  using History = std::map<const Pattern*, std::deque<Statement>>;  // by pattern; each ascending by offset

  struct Failed {
    std::uint64_t offset = 0;
    const FailureRule* rule = nullptr;
  };

  std::uint64_t AppliesFrom(const Context& context, std::uint64_t offset) const;

  std::map<const Context*, History> statements_;
  std::map<const Context*, std::deque<std::uint64_t>> ends_;  // offsets where validity ends, ascending
  std::deque<Failed> failures_;                               // ascending by offset
};

// Returns the program that a match reports, or nullopt if a capture is cut off or the size is implausible.
std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined,
                                             const std::optional<Timestamp>& time);

}  // namespace whyoom
