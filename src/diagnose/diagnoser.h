// Reads one artifact's lines into drafts of failures: cleans them, tells the reporters apart, and says which further
// lines it wants to see.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "diagnose/context_facts.h"
#include "diagnose/framework_signs.h"
#include "diagnose/session.h"
#include "diagnose/statements.h"
#include "input/byte_source.h"
#include "input/line_scanner.h"
#include "rules/rule_source.h"
#include "text/normalizer.h"
#include "text/record_joiner.h"

namespace whyoom {

// What rule data has to be turned into before anything can be read; made once, used for all artifacts and threads. All
// but the prefilter is made when it is first used: most logs hold nothing that asks for it.
class Engine {
 public:
  // Both borrow the rules.
  explicit Engine(const RuleSource& rules);
  explicit Engine(const RuleSet& rules);

  const RuleSet& rules() const { return source_.rules(); }
  const Prefilter& prefilter() const { return prefilter_; }
  const Normalizer& normalizer() const { return matchers().normalizer; }
  const FrameworkSigns& signs() const { return matchers().signs; }
  const ContextFinder& contexts() const { return matchers().contexts; }
  const HeadFinder& finder() const { return matchers().finder; }
  // What may stand before a hit and matter with it: tracebacks and signs of frameworks.
  Lead lead() const { return {&matchers().lead, Traceback::Openers().size()}; }

 private:
  struct Matchers {
    Matchers(const RuleSet& rules, const Prefilter& prefilter);
    HeadFinder finder;
    FrameworkSigns signs;
    ContextFinder contexts;
    Normalizer normalizer;
    Prefilter lead;
  };
  const Matchers& matchers() const;

  std::unique_ptr<const RuleSource> owned_;
  const RuleSource& source_;
  Prefilter prefilter_;
  mutable std::once_flag made_;
  mutable std::unique_ptr<const Matchers> matchers_;
};

class Diagnoser {
 public:
  // Borrows the engine.
  explicit Diagnoser(const Engine& engine) : engine_(engine) {}

  void Feed(const RawLine& raw);

  // Whether the lines right after the last one are wanted, whatever is in them.
  bool wants_adjacent() const {
    return (!active_.empty() && lines_since_activity_ <= MostIdleLines()) || records_.open() || !unfinished_.empty();
  }

  // The drafts that became complete since the last call.
  std::vector<Draft> TakeDrafts();

  // What was said so far of programs that were compiled. Call once, after Finish.
  ProgramTable TakePrograms() { return statements_->Take(); }

  // Nothing more is known to come for now: ends what is open, but forgets nothing that was said before.
  void Pause();

  // Ends everything that is open; its drafts are then to be taken. Call once, at the end.
  void Finish();

  // The framework whose signs were seen; empty where none was.
  std::string framework() const;

  // A limit that was met, as a sentence for people; empty while none was.
  const std::string& problem() const { return problem_; }

 private:
  // A session waits for its own next line while others print. Where none that waits is heard for this long, the wait is
  // over: long enough for a few turns of each that takes part, in bursts of some lines, and no longer, since after the
  // last report of a log nobody is heard again.
  static constexpr std::uint64_t kIdleLines = 256;
  static constexpr std::uint64_t kIdleTurns = 4;
  std::uint64_t MostIdleLines() const {
    return kIdleLines + kIdleTurns * std::max<std::uint64_t>(active_.size(), heard_since_activity_);
  }

  struct Reporter {
    Session session;
    std::list<std::string>::iterator place;  // in recent_
    std::uint64_t last_fed = 0;
  };

  void Read(const RawLine& raw);
  bool OnlyRepeats(const RawLine& raw);
  void FeedLines();
  void FeedUnfinished();
  void FlushPending();
  void SeeFramework(const std::string& text);
  Reporter* FindReporter(const std::string& name);
  bool MakeRoom();

  const Engine& engine_;
  RecordJoiner records_;
  Unfinished unfinished_;
  std::unique_ptr<ContextFacts> of_job_ = std::make_unique<ContextFacts>();  // sessions hold on to it
  std::unique_ptr<Statements> statements_ = std::make_unique<Statements>();  // and to this
  std::unordered_map<std::string, Reporter> reporters_;
  std::list<std::string> recent_;          // names, the one that printed longest ago first
  std::unordered_set<Reporter*> active_;   // those that want adjacent lines
  std::unordered_set<Reporter*> pending_;  // those with lines or drafts that a gap must flush
  std::vector<Draft> drafts_;
  std::vector<Line> lines_;                    // of the raw line at hand
  std::size_t framework_ = std::string::npos;  // index into the rule set's; the smallest seen
  std::uint64_t fed_ = 0;
  std::uint64_t lines_since_activity_ = 0;
  std::uint64_t heard_since_activity_ = 0;  // reporters
  std::string problem_;
};

// Takes the drafts of an artifact as they become complete, so that memory does not grow with the log.
using DraftSink = std::function<void(std::vector<Draft> drafts, const std::string& framework)>;

struct ReadResult {
  std::string framework;
  std::string problem;  // a limit that was met; empty where none was
  std::uint64_t bytes = 0;
  ProgramTable programs;  // that it says something of; without the artifact
};

// Reads a whole artifact. A large regular file is searched by as many `threads` beside this one; what comes out is the
// same. `control` may be null.
ReadResult ReadArtifact(const Engine& engine, ByteSource& source, const DraftSink& sink, std::size_t threads = 0,
                        ReadControl* control = nullptr);

// The same, all drafts at once: for small texts.
std::vector<Draft> ReadArtifact(const Engine& engine, ByteSource& source, std::string* framework, std::uint64_t* bytes);

}  // namespace whyoom
