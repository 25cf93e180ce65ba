// Facts from lines before an error, found by the contexts of the rule data.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <set>
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

namespace whyoom {

// Finds the signs of all frameworks in a line, in one pass.
class FrameworkSigns {
 public:
  // Borrows `frameworks`, sorted by descending priority.
  explicit FrameworkSigns(const std::vector<Framework>& frameworks);

  // Returns the first framework with a sign in `text`, or `known` if that comes earlier; null: none is known.
  const Framework* Find(std::string_view text, const Framework* known) const;

 private:
  std::vector<std::pair<const Framework*, const Pattern*>> signs_;
  PatternSet patterns_;
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
  bool MayContainNearby(std::string_view text) const { return look_behind_.IsIn(text); }

  struct Found {
    const Context* context = nullptr;
    const Pattern* pattern = nullptr;
    PatternMatch match;

    bool ends() const { return pattern == &context->until; }  // the match ends the context's validity and adds no facts
  };
  // Returns each pattern's first match that begins in the first line of `joined`; it may extend into the next lines.
  std::vector<Found> Find(const JoinedLines& joined) const;

 private:
  const Prefilter& look_behind_;
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
  // Maximum number of matches per pattern, and of failures, to remember. Lines are read only a few lines ahead of the
  // failures in them, so older matches belong to runs that are already complete.
  static constexpr std::size_t kMostMatches = 16;
  static constexpr std::size_t kMostFailures = 64;
  using Matches = std::map<std::uint64_t, Evidence>;  // by their offset in the artifact

  std::uint64_t AppliesFrom(const Context& context, std::uint64_t offset) const;

  std::map<const Context*, std::map<const Pattern*, Matches>> matches_;  // also those of Context::until
  std::set<std::pair<std::uint64_t, const FailureRule*>> failures_;      // by offset
};

// Returns the program that a match reports, or nullopt if a capture is cut off or the size is implausible.
std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined);

}  // namespace whyoom
