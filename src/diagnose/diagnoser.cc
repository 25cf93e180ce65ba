#include "diagnose/diagnoser.h"

#include <sys/stat.h>

#include <algorithm>
#include <iterator>
#include <optional>
#include <tuple>
#include <utility>

#include "input/survey.h"

namespace whyoom {
namespace {

// A log with more reporters than this at once is hostile or not a log; those that printed longest ago are closed.
constexpr std::size_t kMaxReporters = 16384;
// A reporter that has printed within this many lines and is in the middle of a report is not closed for another's sake.
constexpr std::uint64_t kStillPrinting = 1000000;

bool EarlierHead(const Draft& a, const Draft& b) {
  return std::tie(a.head.offset, a.reporter) < std::tie(b.head.offset, b.reporter);
}

// Whether searching in several places at once is worth the threads.
bool IsLarge(const ByteSource& source) {
  constexpr off_t kLarge = off_t{16} << 20;
  const int descriptor = source.RegularFile();
  struct stat status {};
  return descriptor >= 0 && fstat(descriptor, &status) == 0 && status.st_size >= kLarge;
}

std::vector<std::string> LeadLiterals(const RuleSet& rules) {
  std::vector<std::string> literals = Traceback::Openers();
  literals.insert(literals.end(), rules.sign_literals().begin(), rules.sign_literals().end());
  return literals;
}

}  // namespace

Engine::Engine(const RuleSource& rules) : source_(rules), prefilter_(rules.literals()) {}

Engine::Engine(const RuleSet& rules)
    : owned_(std::make_unique<const RuleSource>(rules)), source_(*owned_), prefilter_(rules.literals()) {}

Engine::Matchers::Matchers(const RuleSet& rules, const Prefilter& prefilter)
    : finder(rules, prefilter),
      signs(rules.frameworks()),
      contexts(rules),
      normalizer(rules.affixes(), rules.json_keys()),
      lead(LeadLiterals(rules)) {}

const Engine::Matchers& Engine::matchers() const {
  std::call_once(made_, [this] { matchers_ = std::make_unique<const Matchers>(source_.rules(), prefilter_); });
  return *matchers_;
}

void Diagnoser::SeeFramework(const std::string& text) {
  if (framework_ > 0) framework_ = engine_.signs().Find(text, framework_);
}

void Diagnoser::FlushPending() {
  const std::size_t before = drafts_.size();
  for (Reporter* reporter : pending_) reporter->session.Flush(&drafts_);
  // The set has no order of its own; what comes out must have one.
  std::stable_sort(drafts_.begin() + static_cast<std::ptrdiff_t>(before), drafts_.end(), EarlierHead);
  pending_.clear();
  active_.clear();
}

// What waits for a record or line to go on is taken as it is.
void Diagnoser::FeedUnfinished() {
  records_.Flush([this](const RawLine& whole) { Read(whole); });
  if (unfinished_.empty()) return;
  lines_.clear();
  engine_.normalizer().Finish(&unfinished_, &lines_);
  FeedLines();
}

void Diagnoser::Pause() {
  FeedUnfinished();
  FlushPending();
}

void Diagnoser::Feed(const RawLine& raw) {
  records_.Feed(raw, [this](const RawLine& whole) { Read(whole); });
}

void Diagnoser::Read(const RawLine& raw) {
  if (raw.after_gap) FlushPending();
  if (OnlyRepeats(raw)) return;
  lines_.clear();
  engine_.normalizer().Normalize(raw, &unfinished_, &lines_);
  FeedLines();
}

// Whether all that could matter in a line was said before, in the same words; it is counted then.
bool Diagnoser::OnlyRepeats(const RawLine& raw) {
  if (!unfinished_.empty()) return false;
  const std::string_view line = raw.bytes;
  const auto place = statements_->Again(line);
  if (!place || engine_.finder().MayMatter(line.substr(0, place->first)) ||
      engine_.finder().MayMatter(line.substr(place->second)))
    return false;
  statements_->Count(line.substr(place->first, place->second - place->first));
  return true;
}

void Diagnoser::FeedLines() {
  for (Line& line : lines_) {
    SeeFramework(line.text);
    Reporter* reporter = FindReporter(line.reporter);
    if (reporter == nullptr) continue;
    const bool heard = fed_ - reporter->last_fed < lines_since_activity_;
    reporter->last_fed = ++fed_;
    const bool was_active = reporter->session.active();
    reporter->session.Feed(std::move(line), &drafts_);
    const bool is_active = reporter->session.active();
    pending_.insert(reporter);
    if (is_active) active_.insert(reporter);
    if (!is_active) active_.erase(reporter);
    if (was_active || is_active) {
      lines_since_activity_ = heard_since_activity_ = 0;
    } else {
      ++lines_since_activity_;
      if (!heard) ++heard_since_activity_;
    }
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
  const auto made =
      reporters_
          .try_emplace(name, Reporter{Session(engine_.finder(), engine_.contexts(), *of_job_, *statements_, name),
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
  FeedUnfinished();
  for (auto& [name, reporter] : reporters_) reporter.session.Flush(&drafts_);
  std::stable_sort(drafts_.begin(), drafts_.end(), EarlierHead);
}

std::string Diagnoser::framework() const {
  if (framework_ == std::string::npos) return {};  // without asking for the rules
  const std::vector<Framework>& frameworks = engine_.rules().frameworks();
  return framework_ < frameworks.size() ? frameworks[framework_].id : std::string();
}

ReadResult ReadArtifact(const Engine& engine, ByteSource& source, const DraftSink& sink_drafts, std::size_t threads,
                        ReadControl* control) {
  std::optional<Survey> survey;
  if (threads > 0 && IsLarge(source)) survey.emplace(source.RegularFile(), engine.prefilter(), threads);
  LineScanner scanner(
      source, engine.prefilter(), [&engine] { return engine.lead(); }, LineScanner::Limits(),
      survey ? &*survey : nullptr, control);
  const auto sink = [&](std::vector<Draft> drafts, const std::string& framework) {
    for (Draft& draft : drafts) draft.head.offset = source.RawOffset(draft.head.offset);
    sink_drafts(std::move(drafts), framework);
  };
  Diagnoser diagnoser(engine);
  RawLine line;
  while (scanner.Next(diagnoser.wants_adjacent(), &line)) {
    diagnoser.Feed(line);
    std::vector<Draft> drafts = diagnoser.TakeDrafts();
    if (!drafts.empty()) sink(std::move(drafts), diagnoser.framework());
  }
  diagnoser.Finish();
  sink(diagnoser.TakeDrafts(), diagnoser.framework());
  ReadResult result{diagnoser.framework(), diagnoser.problem(), scanner.bytes_read(), {}};
  ProgramTable said = diagnoser.TakePrograms();
  result.programs.LeaveOut(said.left_out());
  for (CompiledProgram& program : said.Take()) {
    program.where.offset = source.RawOffset(program.where.offset);
    result.programs.Add(std::move(program));
  }
  return result;
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
