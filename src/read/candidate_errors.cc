#include "read/candidate_errors.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "input/artifact.h"
#include "text/numbers.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Maximum number of bytes to examine: of a line, and of the text around its message.
constexpr std::size_t kLongestCandidate = 4096;
constexpr std::size_t kLongestFrame = 2048;
// Maximum number of bytes to store: enough for a sentence, few enough for one line of a report.
constexpr std::size_t kMaxTextBytes = 400;

// A candidate this near to a known failure belongs to it: a summary, the next exception, a logger's copy. A failure
// becomes known up to kLinesBehind lines late, because a session looks ahead.
constexpr std::uint64_t kNearLines = 40;
constexpr std::uint64_t kLinesBehind = 16;
constexpr std::size_t kMaxBuffered = 16;

constexpr std::size_t kMostEntries = 256;
constexpr std::size_t kMostKnown = 1024;

std::vector<const Pattern*> WordsOf(const RuleSet& rules) {
  std::vector<const Pattern*> words;
  for (const CandidateError& suspect : rules.candidate_errors()) words.push_back(&suspect.pattern);
  return words;
}

std::vector<const Pattern*> LooksOf(const RuleSet& rules) {
  std::vector<const Pattern*> looks;
  for (const ErrorLine& error_line : rules.error_lines()) looks.push_back(&error_line.pattern);
  return looks;
}

// Returns the text around the message in its raw line: the text before it and, in a JSON record, also the text after
// it, which may contain the level.
std::string FrameOf(const Line& line, const RawLine* raw) {
  if (raw == nullptr || line.segments.empty()) return {};
  const std::string_view bytes = raw->bytes;
  const std::string_view before = bytes.substr(0, std::min(bytes.size(), line.segments.front().raw_at));
  std::string frame;
  const std::size_t first = bytes.find_first_not_of(" \t");
  if (first != std::string_view::npos && bytes[first] == '{')
    frame = std::string(bytes.substr(bytes.size() - std::min(bytes.size(), kLongestFrame))) + ' ';
  frame += before.size() <= kLongestFrame ? before : before.substr(before.size() - kLongestFrame);
  std::replace(frame.begin(), frame.end(), '\n', ' ');
  return frame;
}

std::string CutText(std::string_view text) {
  std::string printable = MaskSecrets(Printable(text.substr(0, 4 * kMaxTextBytes)));
  const std::size_t begin = std::min(printable.find_first_not_of(' '), printable.size());
  printable.erase(0, begin);
  printable.erase(printable.find_last_not_of(' ') + 1);
  return CutBytes(printable, kMaxTextBytes);
}

}  // namespace

std::string ErrorKey(std::string_view text) {
  static const Regex classes(R"(^(?:[\w.]+(?:Error|Exception|Exhausted): )+)");
  static const Regex figures(R"((?:0x[0-9a-fA-F]+|\d+(?:[.,]\d+)*))");
  std::string key(text);
  re2::RE2::Replace(&key, classes, "");
  re2::RE2::GlobalReplace(&key, figures, "#");
  return key;
}

CandidateFinder::CandidateFinder(const RuleSet& rules)
    : rules_(rules), words_(WordsOf(rules)), looks_(LooksOf(rules)) {}

bool CandidateFinder::IsHealthy(const Line& line, const RawLine* raw) const {
  if (!line.logged()) return false;
  const std::string frame = FrameOf(line, raw) + '\n';
  const std::vector<std::size_t> looks = looks_.FindCandidates(frame);
  return std::any_of(looks.begin(), looks.end(), [&](std::size_t i) {
    const ErrorLine& error_line = rules_.error_lines()[i];
    return error_line.healthy && error_line.pattern.IsIn(frame);
  });
}

bool CandidateFinder::Finds(const Line& line, const RawLine* raw, Recorder* recorder) const {
  if (line.binary) return false;
  const std::string_view text = std::string_view(line.text).substr(0, kLongestCandidate);
  const auto matches = [&](const Pattern& pattern) { return pattern.IsIn(text); };
  const CandidateError* words = nullptr;
  bool excluded = false;
  for (const std::size_t i : words_.FindCandidates(text)) {
    const CandidateError& candidate = rules_.candidate_errors()[i];
    if (!candidate.pattern.IsIn(text)) continue;
    words = &candidate;
    excluded = std::any_of(candidate.unless.begin(), candidate.unless.end(), matches);
    if (!excluded) break;
  }
  if (words == nullptr || (excluded && recorder == nullptr)) return false;
  bool is_error = false;
  bool is_healthy = false;
  const std::string whole = FrameOf(line, raw) + '\n' + std::string(text);
  for (const std::size_t i : looks_.FindCandidates(whole)) {
    const ErrorLine& error_line = rules_.error_lines()[i];
    bool& found = error_line.healthy ? is_healthy : is_error;
    // Once one is found, the others of its kind need not even be compiled.
    found = found || error_line.pattern.IsIn(whole);
  }
  RecordedStep recorded(recorder, text.substr(0, Recorder::kLongestText));
  recorded.Set("", line.stream_name, line.number);
  RecordedStep(recorder, "candidate error", words->id)
      .Set(excluded     ? "excluded by another pattern (unless)"
           : is_healthy ? "the level of the line means that nothing failed (error_lines)"
           : !is_error  ? "the line does not look like an error (error_lines)"
                        : "an unknown memory error, unless the line belongs to a known failure");
  return !excluded && is_error && !is_healthy;
}

void CandidateTracker::Feed(const Line& line) {
  at_ += line.after_gap ? std::max(line.number, last_line_) - last_line_ : 1;
  last_line_ = line.number;
  while (!held_.empty() && at_ - held_.front().at > kNearLines + kLinesBehind) AddOldest();
  // A message that ends with a colon continues in the next line: "RESOURCE_EXHAUSTED: E0007: ResourceExhausted:".
  const bool may_continue = !line.logged() && !line.healthy && !line.is_candidate_error;
  if (may_continue && !held_.empty() && held_.back().line.line + 1 == line.number &&
      held_.back().line.text.ends_with(':'))
    held_.back().line.text = CutText(held_.back().line.text + ' ' + line.text);
  if (!line.is_candidate_error) return;
  CandidateLine candidate{CutText(line.text), line.number, line.repeats};
  if (known_at_ && at_ - *known_at_ <= kNearLines) return table_.AddKnown(candidate);
  if (held_.size() >= kMaxBuffered) AddOldest();
  held_.push_back({std::move(candidate), at_});
}

void CandidateTracker::AddOldest() {
  table_.Add(held_.front().line);
  held_.pop_front();
}

void CandidateTracker::Drop(std::uint64_t number) {
  std::erase_if(held_, [&](const Held& held) { return held.line.line == number; });
}

void CandidateTracker::FoundKnown() {
  known_at_ = at_;
  for (const Held& held : held_) table_.AddKnown(held.line);
  held_.clear();
}

void CandidateTracker::Finish() {
  while (!held_.empty()) AddOldest();
}

void CandidateTable::AddKnown(const CandidateLine& candidate) {
  if (known_.size() < kMostKnown) known_.insert(ErrorKey(candidate.text));
}

void CandidateTable::Add(const CandidateLine& candidate) {
  const auto repeats = static_cast<std::uint64_t>(std::max(1, candidate.repeats));
  const auto [entry, is_new] = entries_.try_emplace(ErrorKey(candidate.text), Entry{candidate});
  if (candidate.line < entry->second.first.line) entry->second.first = candidate;
  entry->second.occurrences = SaturatingAdd(entry->second.occurrences, repeats);
  if (entries_.size() <= kMostEntries) return;
  left_out_ = SaturatingAdd(left_out_, std::prev(entries_.end())->second.occurrences);
  entries_.erase(std::prev(entries_.end()));
}

std::vector<Problem> CandidateTable::Take() const {
  std::vector<const Entry*> unknown;
  for (const auto& [key, entry] : entries_) {
    if (!known_.contains(key)) unknown.push_back(&entry);
  }
  std::sort(unknown.begin(), unknown.end(), [](const Entry* a, const Entry* b) {
    return std::pair(a->first.line, a->first.text) < std::pair(b->first.line, b->first.text);
  });
  std::vector<Problem> problems;
  std::uint64_t more = left_out_;
  for (const Entry* entry : unknown) {
    if (problems.size() < kMost) {
      problems.push_back(UnknownError(entry->first.line, entry->first.text, entry->occurrences));
    } else {
      more = SaturatingAdd(more, entry->occurrences);
    }
  }
  if (more > 0) problems.push_back(UnknownError(0, "", more));
  return problems;
}

}  // namespace whyoom
