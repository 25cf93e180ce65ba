// Reads one artifact's lines into drafts of failures: cleans them, tells the reporters apart, and says which further
// lines it wants to see.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "diagnose/session.h"
#include "input/byte_source.h"
#include "input/line_scanner.h"
#include "rules/rule_set.h"
#include "text/normalizer.h"

namespace whyoom {

// What rule data has to be turned into before anything can be read; made once, used for all artifacts.
class Engine {
 public:
  explicit Engine(const RuleSet& rules);

  const RuleSet& rules() const { return rules_; }
  const Normalizer& normalizer() const;
  const HeadFinder& finder() const { return finder_; }
  const Prefilter& prefilter() const { return prefilter_; }

 private:
  const RuleSet& rules_;
  Prefilter prefilter_;
  HeadFinder finder_;
  // Most logs hold nothing that has to be cleaned, and its patterns take a while to make.
  mutable std::once_flag normalizer_made_;
  mutable std::unique_ptr<Normalizer> normalizer_;
};

class Diagnoser {
 public:
  // Borrows the engine.
  explicit Diagnoser(const Engine& engine) : engine_(engine) {}

  void Feed(const RawLine& raw);

  // Whether the lines right after the last one are wanted, whatever is in them.
  bool wants_adjacent() const;

  // All drafts, in the order of their heads. Call once, at the end.
  std::vector<Draft> Finish();

  // The framework whose signs were seen; empty where none was.
  std::string framework() const;

 private:
  void SeeFramework(const std::string& text);

  const Engine& engine_;
  std::map<std::string, Session> sessions_;  // by reporter
  std::vector<Draft> drafts_;
  std::vector<Line> lines_;                    // of the raw line at hand
  std::size_t framework_ = std::string::npos;  // index into the rule set's; the smallest seen
  std::uint64_t lines_since_activity_ = 0;
};

// Reads a whole artifact. Returns the drafts; `framework` and `bytes` say what was seen and how much was read.
std::vector<Draft> ReadArtifact(const Engine& engine, ByteSource& source, std::string* framework, std::uint64_t* bytes);

}  // namespace whyoom
