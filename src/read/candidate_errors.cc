#include "read/candidate_errors.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <tuple>
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

// A candidate this near to a known failure belongs to it: a summary, the next exception, a logger's copy.
constexpr std::uint64_t kNearLines = 48;
constexpr std::size_t kMostRecent = 16;

constexpr std::size_t kMostErrors = 256;
constexpr std::size_t kMostKnown = 1024;

// Returns the text around the message in its raw line: the text before it and, in a JSON record, also the text after
// it, which may contain the level.
std::string FrameOf(const Line& line, const RawLine& raw) {
  if (raw.number != line.number || line.segments.empty()) return {};  // inside a document
  const std::string_view bytes = raw.bytes;
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
    : rules_(rules),
      words_(PatternsOf(rules.candidate_errors(), &CandidateError::pattern)),
      looks_(PatternsOf(rules.error_lines(), &ErrorLine::pattern)) {}

bool CandidateFinder::IsHealthy(const Line& line, const RawLine& raw) const {
  if (!line.logged()) return false;
  const std::string frame = FrameOf(line, raw) + '\n';
  const std::vector<std::size_t> looks = looks_.FindCandidates(frame);
  return std::any_of(looks.begin(), looks.end(), [&](std::size_t i) {
    const ErrorLine& error_line = rules_.error_lines()[i];
    return error_line.healthy && error_line.pattern.IsIn(frame);
  });
}

bool CandidateFinder::Finds(const Line& line, const RawLine& raw, Recorder* recorder) const {
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

void CandidateTracker::Feed(const std::deque<Line>& lines, bool is_error, bool is_known) {
  const Line& line = lines.front();
  at_ += line.after_gap ? std::max(line.number, last_line_) - last_line_ : 1;
  last_line_ = line.number;
  if (is_known) known_at_ = at_;
  if (is_error) {
    std::string text = CutText(line.text);
    // A message that ends with a colon continues in the next line: "RESOURCE_EXHAUSTED: E0007: ResourceExhausted:".
    const Line* next = lines.size() > 1 && text.ends_with(':') ? &lines[1] : nullptr;
    const bool continues = next != nullptr && next->number == line.number + 1 && !next->logged() && !next->healthy &&
                           !next->is_candidate_error;
    if (continues) text = CutText(text + ' ' + next->text);
    table_.Add(text, line);
    recent_.push_back({ErrorKey(text), at_});
  }
  while (!recent_.empty() && (at_ - recent_.front().at > kNearLines || recent_.size() > kMostRecent))
    recent_.pop_front();
  if (!known_at_ || at_ - *known_at_ > kNearLines) return;
  for (const Recent& recent : recent_) table_.AddKnown(recent.key);
  recent_.clear();
}

void CandidateTable::AddKnown(const std::string& key) {
  if (known_.size() < kMostKnown) known_.insert(key);
}

void CandidateTable::Add(const std::string& text, const Line& line) {
  const auto repeats = static_cast<std::uint64_t>(std::max(1, line.repeats));
  const auto [error, is_new] = errors_.try_emplace(ErrorKey(text), UnknownError(line.number, text, 0));
  Problem& problem = error->second;
  if (line.number < problem.line) problem = UnknownError(line.number, text, problem.occurrences);
  problem.occurrences = SaturatingAdd(problem.occurrences, repeats);
  if (errors_.size() <= kMostErrors) return;
  left_out_ = SaturatingAdd(left_out_, std::prev(errors_.end())->second.occurrences);
  errors_.erase(std::prev(errors_.end()));
}

std::vector<Problem> CandidateTable::Take() const {
  std::vector<Problem> problems;
  for (const auto& [key, problem] : errors_) {
    if (!known_.contains(key)) problems.push_back(problem);
  }
  std::sort(problems.begin(), problems.end(),
            [](const Problem& a, const Problem& b) { return std::tie(a.line, a.text) < std::tie(b.line, b.text); });
  std::uint64_t more = left_out_;
  for (; problems.size() > kMost; problems.pop_back()) more = SaturatingAdd(more, problems.back().occurrences);
  if (more > 0) problems.push_back(UnknownError(0, "", more));
  return problems;
}

}  // namespace whyoom
