// What lines before an error said, as the rule data's contexts read it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

// Finds signs of frameworks in lines, all signs in one pass.
class FrameworkSigns {
 public:
  // Borrows `frameworks`, the highest priority first.
  explicit FrameworkSigns(const std::vector<Framework>& frameworks);

  // The smaller of `found` and the index of the first framework that `text` shows a sign of.
  std::size_t Find(std::string_view text, std::size_t found) const;

  // The index of the first framework that a line with the literal, one of RuleSet::sign_literals, may show a sign of;
  // npos where there is none.
  std::size_t MayShow(const std::string& literal) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&signs_); }

 private:
  std::vector<std::size_t> owners_;  // framework by place in the set
  std::unordered_map<std::string, std::size_t> of_literals_;
  PatternSet signs_;
};

// The framework that a program's source files show, or `known` where they show none of higher priority. A log may name
// the framework by nothing at all, while its files stand in the program's stack frames.
std::string FrameworkOf(const std::vector<Framework>& frameworks, const std::vector<std::string>& sources,
                        const std::string& known);

// All patterns of all contexts, looked for in one pass.
class ContextFinder {
 public:
  // Borrows both; `lead` is that of what may stand before a failure and matter with it.
  ContextFinder(const RuleSet& rules, const Prefilter& lead);

  // Whether a line near a failure may say something that is looked for there only.
  bool MayHoldNearby(std::string_view text) const { return has_nearby_ && lead_.FindEnd(text, 0) != std::string::npos; }

  struct Found {
    const Context* context = nullptr;
    const Pattern* pattern = nullptr;
    PatternMatch match;

    bool ends() const { return pattern == &context->until; }  // no word of the context, but their end
  };
  // What the first line of `joined` says, which may go on in the next ones.
  std::vector<Found> Find(const JoinedLines& joined) const;

  // Adds those that it looks for to `sets`.
  void AddSets(std::vector<const PatternSet*>* sets) const { sets->push_back(&set_); }

 private:
  const Prefilter& lead_;
  const bool has_nearby_;
  std::vector<Found> patterns_;  // without match
  PatternSet set_;
};

// What is said of a job holds from where it is printed, for what fails after it. A job that failed and says again what
// its settings are was started again: of a context that speaks behind a failure, what was said before it is another
// run's. A context that speaks of one program is the next failure's alone, and nobody's once that program is done.
class ContextFacts {
 public:
  // Matches may come in any order, and before the failures that stand in front of them. `message` is the offset of the
  // message they stand in: what a failure's own message says of its program is of no later one.
  void Add(const ContextFinder::Found& found, const JoinedLines& joined, std::uint64_t message = 0);

  // The head of `failure`, which is borrowed, stands at `offset` of the artifact.
  void AddFailure(const Failure& failure, std::uint64_t offset);

  // The report of `failure`, where it is the last one, reaches to `offset`: what its lines say is of no later one.
  void ExtendFailure(const Failure& failure, std::uint64_t offset);

  // Adds what matters to a failure that begins at `offset` and `facts` do not know yet. Of each pattern the last match
  // before it counts, whole: what an older one said beside it is forgotten.
  void AddTo(const Failure& failure, std::uint64_t offset, Evidence* facts) const;

 private:
  struct Said {
    std::uint64_t offset = 0;  // of the match in the artifact
    Evidence facts;
  };
  // How many matches of a pattern, and failures, are remembered. Lines are read a few ahead of the failures in them;
  // what was said before so many later words is of no run that still fails.
  static constexpr std::size_t kMostSaid = 16;
  static constexpr std::size_t kMostFailures = 64;
  using History = std::map<const Pattern*, std::deque<Said>>;  // by pattern, ascending by offset

  struct Failed {
    std::uint64_t offset = 0;
    const Failure* failure = nullptr;
  };

  std::uint64_t HoldsFrom(const Context& context, const History& said, std::uint64_t offset) const;

  std::map<const Context*, History> said_;
  std::map<const Context*, std::deque<std::uint64_t>> ends_;  // where their words end, ascending
  std::deque<Failed> failures_;                               // ascending
};

// What the match says; nothing where it does not say what the program needs.
std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined,
                                             const std::optional<Timestamp>& time);

// What an artifact states of its programs. Jobs that print it print it for each step, in the same words: a line that
// says again what was said before is counted, and costs no more than finding it.
class Statements {
 public:
  // Adds what is stated, in the words `text`; empty where these stand on several lines.
  void Add(CompiledProgram program, std::string text);

  // Where `line` states again what was said before: its place in the line, begin and end; it is counted then.
  std::optional<std::pair<std::size_t, std::size_t>> Again(std::string_view line) const;
  void Count(std::string_view text);

  ProgramTable Take();

 private:
  static constexpr std::size_t kRemembered = 16;
  struct Said {
    std::string text;
    CompiledProgram program;  // as it was stated first
    std::uint64_t again = 0;
  };
  void Settle(Said* said);

  ProgramTable programs_;
  std::vector<Said> said_;  // at most kRemembered, the oldest makes room
  std::size_t oldest_ = 0;
};

}  // namespace whyoom
