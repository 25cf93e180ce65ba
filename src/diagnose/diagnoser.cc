#include "diagnose/diagnoser.h"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <utility>

namespace whyoom {
namespace {

// A log with more reporters than this at once is hostile or not a log; the oldest are closed.
// A log with more reporters than this at once is hostile or not a log; those that printed longest ago are closed.
constexpr std::size_t kMaxReporters = 16384;
// A reporter that has printed within this many lines and is in the middle of a report is not closed for another's sake.
constexpr std::uint64_t kStillPrinting = 1000000;

bool EarlierHead(const Draft& a, const Draft& b) {
  return std::tie(a.head.offset, a.reporter) < std::tie(b.head.offset, b.reporter);
}

}  // namespace

Engine::Engine(const RuleSet& rules)
    : rules_(rules),
      prefilter_(rules.literals()),
      finder_(rules, prefilter_),
      signs_(rules.frameworks()),
      contexts_(rules) {}

const Normalizer& Engine::normalizer() const {
  std::call_once(normalizer_made_,
                 [this] { normalizer_ = std::make_unique<Normalizer>(rules_.affixes(), rules_.json_keys()); });
  return *normalizer_;
}

void Diagnoser::SeeFramework(const std::string& text) {
  if (framework_ > 0) framework_ = engine_.signs().Find(text, framework_);
}

void Diagnoser::Feed(const RawLine& raw) {
  records_.Feed(raw, [this](const RawLine& whole) { Read(whole); });
}

void Diagnoser::Read(const RawLine& raw) {
  if (raw.after_gap) {
    const std::size_t before = drafts_.size();
    for (Reporter* reporter : pending_) reporter->session.Flush(&drafts_);
    // The set has no order of its own; what comes out must have one.
    std::stable_sort(drafts_.begin() + static_cast<std::ptrdiff_t>(before), drafts_.end(), EarlierHead);
    pending_.clear();
    active_.clear();
  }
  lines_.clear();
  engine_.normalizer().Normalize(raw, &unfinished_, &lines_);
  FeedLines();
}

void Diagnoser::FeedLines() {
  for (Line& line : lines_) {
    SeeFramework(line.text);
    Reporter* reporter = FindReporter(line.reporter);
    if (reporter == nullptr) continue;
    reporter->last_fed = ++fed_;
    const bool was_active = reporter->session.active();
    reporter->session.Feed(std::move(line), &drafts_);
    const bool is_active = reporter->session.active();
    pending_.insert(reporter);
    if (is_active) active_.insert(reporter);
    if (!is_active) active_.erase(reporter);
    lines_since_activity_ = was_active || is_active ? 0 : lines_since_activity_ + 1;
  }
}

Diagnoser::Reporter* Diagnoser::FindReporter(const std::string& name) {
  const auto known = reporters_.find(name);
  if (known != reporters_.end()) {
    recent_.splice(recent_.end(), recent_, known->second.place);
    return &known->second;
  }
  if (reporters_.size() >= kMaxReporters && !MakeRoom()) return nullptr;
  SeeFramework(name);
  recent_.push_back(name);
  const auto made = reporters_
                        .try_emplace(name, Reporter{Session(engine_.finder(), engine_.contexts(), *of_job_, name),
                                                    std::prev(recent_.end()), 0})
                        .first;
  return &made->second;
}

// Closes the reporter that printed longest ago, unless it is in the middle of a report.
bool Diagnoser::MakeRoom() {
  Reporter& oldest = reporters_.at(recent_.front());
  if (oldest.session.in_report() && fed_ - oldest.last_fed < kStillPrinting) {
    problem_ = "more than " + std::to_string(kMaxReporters) +
               " hosts or processes print at once; lines of some were passed over";
    return false;
  }
  const std::size_t before = drafts_.size();
  oldest.session.Flush(&drafts_);
  const bool cut = std::any_of(drafts_.begin() + static_cast<std::ptrdiff_t>(before), drafts_.end(),
                               [](const Draft& draft) { return !draft.failure->reader.empty() && draft.rows.empty(); });
  if (cut)
    problem_ =
        "more than " + std::to_string(kMaxReporters) + " hosts or processes print at once; reports of some may be cut";
  active_.erase(&oldest);
  pending_.erase(&oldest);
  reporters_.erase(recent_.front());
  recent_.pop_front();
  return true;
}

std::vector<Draft> Diagnoser::TakeDrafts() { return std::exchange(drafts_, {}); }

void Diagnoser::Finish() {
  records_.Flush([this](const RawLine& whole) { Read(whole); });
  if (!unfinished_.empty()) {
    lines_.clear();
    engine_.normalizer().Finish(&unfinished_, &lines_);
    FeedLines();
  }
  for (auto& [name, reporter] : reporters_) reporter.session.Flush(&drafts_);
  std::stable_sort(drafts_.begin(), drafts_.end(), EarlierHead);
}

std::string Diagnoser::framework() const {
  const std::vector<Framework>& frameworks = engine_.rules().frameworks();
  return framework_ < frameworks.size() ? frameworks[framework_].id : std::string();
}

ReadResult ReadArtifact(const Engine& engine, ByteSource& source, const DraftSink& sink) {
  LineScanner scanner(source, engine.prefilter());
  Diagnoser diagnoser(engine);
  RawLine line;
  while (scanner.Next(diagnoser.wants_adjacent(), &line)) {
    diagnoser.Feed(line);
    std::vector<Draft> drafts = diagnoser.TakeDrafts();
    if (!drafts.empty()) sink(std::move(drafts), diagnoser.framework());
  }
  diagnoser.Finish();
  sink(diagnoser.TakeDrafts(), diagnoser.framework());
  return {diagnoser.framework(), diagnoser.problem(), scanner.bytes_read()};
}

std::vector<Draft> ReadArtifact(const Engine& engine, ByteSource& source, std::string* framework,
                                std::uint64_t* bytes) {
  std::vector<Draft> all;
  const ReadResult result =
      ReadArtifact(engine, source, [&](std::vector<Draft> drafts, const std::string& /*framework*/) {
        std::move(drafts.begin(), drafts.end(), std::back_inserter(all));
      });
  *framework = result.framework;
  *bytes = result.bytes;
  std::stable_sort(all.begin(), all.end(), EarlierHead);
  return all;
}

}  // namespace whyoom
