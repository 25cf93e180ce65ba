#include "diagnose/diagnoser.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

// A log with more reporters than this at once is hostile or not a log; the oldest are closed.
constexpr std::size_t kMaxSessions = 4096;
// A session waits for its own next line while others print. Where none of them moves for this long, the wait is over.
constexpr std::uint64_t kMaxIdleLines = 4096;
// Same failure over and over: what one artifact holds at most before the merger sees it.
constexpr std::size_t kMaxDrafts = 100000;

}  // namespace

Engine::Engine(const RuleSet& rules) : rules_(rules), prefilter_(rules.literals()), finder_(rules, prefilter_) {}

const Normalizer& Engine::normalizer() const {
  std::call_once(normalizer_made_,
                 [this] { normalizer_ = std::make_unique<Normalizer>(rules_.affixes(), rules_.json_keys()); });
  return *normalizer_;
}

void Diagnoser::SeeFramework(const std::string& text) {
  const std::vector<Framework>& frameworks = engine_.rules().frameworks();
  for (std::size_t i = 0; i < std::min(framework_, frameworks.size()); ++i) {
    PatternMatch match;
    for (const Pattern& sign : frameworks[i].signs) {
      if (!sign.Find(text, 0, &match)) continue;
      framework_ = i;
      return;
    }
  }
}

void Diagnoser::Feed(const RawLine& raw) {
  if (raw.after_gap) {
    for (auto& [reporter, session] : sessions_) session.Flush(&drafts_);
  }
  lines_.clear();
  engine_.normalizer().Normalize(raw, &lines_);
  for (Line& line : lines_) {
    SeeFramework(line.text);
    auto session = sessions_.find(line.reporter);
    if (session == sessions_.end()) {
      if (sessions_.size() >= kMaxSessions) {
        for (auto& [reporter, open] : sessions_) open.Flush(&drafts_);
        sessions_.clear();
      }
      session = sessions_.try_emplace(line.reporter, engine_.rules(), engine_.finder(), line.reporter).first;
    }
    const bool was_active = session->second.active();
    session->second.Feed(std::move(line), &drafts_);
    lines_since_activity_ = was_active || session->second.active() ? 0 : lines_since_activity_ + 1;
  }
  if (drafts_.size() > kMaxDrafts) drafts_.resize(kMaxDrafts);
}

bool Diagnoser::wants_adjacent() const {
  if (lines_since_activity_ > kMaxIdleLines) return false;
  return std::any_of(sessions_.begin(), sessions_.end(), [](const auto& session) { return session.second.active(); });
}

std::vector<Draft> Diagnoser::Finish() {
  for (auto& [reporter, session] : sessions_) session.Flush(&drafts_);
  std::stable_sort(drafts_.begin(), drafts_.end(),
                   [](const Draft& a, const Draft& b) { return a.head.offset < b.head.offset; });
  return std::move(drafts_);
}

std::string Diagnoser::framework() const {
  const std::vector<Framework>& frameworks = engine_.rules().frameworks();
  return framework_ < frameworks.size() ? frameworks[framework_].id : std::string();
}

std::vector<Draft> ReadArtifact(const Engine& engine, ByteSource& source, std::string* framework,
                                std::uint64_t* bytes) {
  LineScanner scanner(source, engine.prefilter());
  Diagnoser diagnoser(engine);
  RawLine line;
  while (scanner.Next(diagnoser.wants_adjacent(), &line)) diagnoser.Feed(line);
  *framework = diagnoser.framework();
  *bytes = scanner.bytes_read();
  return diagnoser.Finish();
}

}  // namespace whyoom
