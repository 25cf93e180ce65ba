#include "read/candidate_errors.h"

#include <re2/re2.h>

#include <algorithm>
#include <iterator>
#include <tuple>

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
  printable.erase(0, printable.find_first_not_of(' '));
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
    : word_rules_(rules.LinesOf({LineRule::Kind::kCandidate})),
      look_rules_(rules.LinesOf({LineRule::Kind::kError, LineRule::Kind::kHealthy})),
      words_(PatternsOf(word_rules_, &LineRule::pattern)),
      looks_(PatternsOf(look_rules_, &LineRule::pattern)) {}

CandidateFinder::Looks CandidateFinder::LooksOf(const std::string& text) const {
  Looks looks;
  for (const std::size_t i : looks_.FindCandidates(text)) {
    bool& found = look_rules_[i]->kind == LineRule::Kind::kHealthy ? looks.healthy : looks.error;
    // Once one is found, the others of its kind need not even be compiled.
    found = found || look_rules_[i]->pattern.IsIn(text);
  }
  return looks;
}

bool CandidateFinder::IsHealthy(const Line& line, const RawLine& raw) const {
  return line.logged() && LooksOf(FrameOf(line, raw) + '\n').healthy;
}

bool CandidateFinder::Finds(const Line& line, const RawLine& raw, Recorder* recorder) const {
  if (line.binary) return false;
  const std::string_view text = std::string_view(line.text).substr(0, kLongestCandidate);
  const auto matches = [&](const Pattern& pattern) { return pattern.IsIn(text); };
  const LineRule* words = nullptr;
  bool excluded = false;
  for (const std::size_t i : words_.FindCandidates(text)) {
    const LineRule& candidate = *word_rules_[i];
    if (!candidate.pattern.IsIn(text)) continue;
    words = &candidate;
    excluded = std::any_of(candidate.unless.begin(), candidate.unless.end(), matches);
    if (!excluded) break;
  }
  if (words == nullptr || (excluded && recorder == nullptr)) return false;
  const Looks looks = LooksOf(FrameOf(line, raw) + '\n' + std::string(text));
  RecordedStep recorded(recorder, text.substr(0, Recorder::kLongestText));
  recorded.Set("", line.stream_name, line.number);
  RecordedStep(recorder, "candidate error", words->id)
      .Set(excluded        ? "excluded by another pattern (unless)"
           : looks.healthy ? "the level of the line means that nothing failed (lines of kind healthy)"
           : !looks.error  ? "the line does not look like an error (lines of kind error)"
                           : "an unknown memory error, unless the line belongs to a known failure");
  return !excluded && looks.error && !looks.healthy;
}

void CandidateTracker::Feed(const std::deque<Line>& lines, std::uint64_t ordinal, bool is_error, bool is_known) {
  const Line& line = lines.front();
  if (is_known) last_known_ = ordinal;
  if (is_error) {
    std::string text = CutText(line.text);
    // A message that ends with a colon continues in the next line: "RESOURCE_EXHAUSTED: E0007: ResourceExhausted:".
    const Line* next = lines.size() > 1 && text.ends_with(':') ? &lines[1] : nullptr;
    const bool continues = next != nullptr && next->number == line.number + 1 && !next->logged() && !next->healthy &&
                           !next->is_candidate_error;
    if (continues) text = CutText(text + ' ' + next->text);
    recent_.emplace_back(ordinal, table_.Add(text, line));
  }
  while (!recent_.empty() && (ordinal - recent_.front().first > kNearLines || recent_.size() > kMostRecent))
    recent_.pop_front();
  if (!last_known_ || ordinal - *last_known_ > kNearLines) return;
  for (const auto& [at, key] : recent_) table_.AddKnown(key);
  recent_.clear();
}

void CandidateTable::AddKnown(const std::string& key) {
  if (known_.size() < kMostKnown) known_.insert(key);
}

std::string CandidateTable::Add(const std::string& text, const Line& line) {
  const auto repeats = static_cast<std::uint64_t>(std::max(1, line.repeats));
  std::string key = ErrorKey(text);
  const auto [error, is_new] = errors_.try_emplace(key, UnknownError(line.number, text, 0));
  Problem& problem = error->second;
  if (line.number < problem.line) problem = UnknownError(line.number, text, problem.occurrences);
  problem.occurrences = SaturatingAdd(problem.occurrences, repeats);
  if (errors_.size() > kMostErrors) {
    left_out_ = SaturatingAdd(left_out_, std::prev(errors_.end())->second.occurrences);
    errors_.erase(std::prev(errors_.end()));
  }
  return key;
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
