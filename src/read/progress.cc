#include "read/progress.h"

#include <algorithm>
#include <utility>

#include "rules/value.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgressLine = std::size_t{64} << 10;
constexpr std::size_t kShownOfLine = 160;
// How many lines with rising steps, or rising numbers, show that the job went on.
constexpr std::size_t kRisingSteps = 2;
constexpr std::size_t kRisingNumbers = 4;

using Shows = ProgressLine::Shows;

std::vector<const ProgressLine*> LinesOf(const RuleSet& rules, bool survival) {
  std::vector<const ProgressLine*> lines;
  for (const ProgressLine& line : rules.progress()) {
    if (survival || line.shows == Shows::kStep) lines.push_back(&line);
  }
  // The order of the rules means nothing: a measured step counts more than the number in it.
  std::stable_partition(lines.begin(), lines.end(), [](const ProgressLine* line) {
    return line->shows != Shows::kNumber && line->shows != Shows::kHandled;
  });
  return lines;
}

std::vector<const Pattern*> PatternsOf(const std::vector<const ProgressLine*>& lines) {
  std::vector<const Pattern*> patterns;
  for (const ProgressLine* line : lines) patterns.push_back(&line->pattern);
  return patterns;
}

}  // namespace

ProgressFinder::ProgressFinder(const RuleSet& rules, bool survival)
    : lines_(LinesOf(rules, survival)), patterns_(PatternsOf(lines_)) {}

std::optional<ProgressMatch> ProgressFinder::Find(std::string_view line) const {
  for (const std::size_t place : patterns_.FindCandidates(line)) {
    PatternMatch match;
    if (!lines_[place]->Find(line, &match)) continue;
    ProgressMatch found{lines_[place], std::nullopt, ""};
    for (const Capture& capture : match.captures) {
      if (capture.name == "step") found.step = AsNumber(capture.value);
      const std::string* text = AsText(capture.value);
      if (capture.name == "module" && text != nullptr) found.module = *text;
    }
    return found;
  }
  return std::nullopt;
}

std::string ShownProgress(std::string_view line) { return CutBytes(Printable(line), kShownOfLine); }

ProgressReader::ProgressReader(const RuleSet& rules) : finder_(rules, false) {}

// A carriage return also ends a line, because progress bars rewrite theirs.
void ProgressReader::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    line_.append(piece.substr(0, kLongestProgressLine - std::min(kLongestProgressLine, line_.size())));
    if (end == std::string_view::npos) return;
    Look();
    if (bytes[end] == '\n') ++number_;
    bytes.remove_prefix(end + 1);
  }
}

void ProgressReader::Look() {
  if (std::optional<ProgressMatch> found = finder_.Find(line_); found && found->rule->compiles) {
    progress_.ran.reset();
    before_.reset();
  } else if (found) {
    const double reached = found->step ? *found->step + 1 : ++uncounted_;
    AddSign({number_, ShownProgress(line_), reached, std::move(found->module)});
  }
  line_.clear();
}

void ProgressReader::AddSign(JobProgress::Sign sign) {
  if (!sign.module.empty()) {
    if (progress_.compiled.size() < JobProgress::kMostCompiled) progress_.compiled.push_back(std::move(sign));
    return;
  }
  progress_.reached = std::max(progress_.reached, sign.reached);
  const bool continues = before_ && sign.reached > *before_;
  before_ = sign.reached;
  if (continues && (!progress_.ran || sign.reached > progress_.ran->reached)) progress_.ran = std::move(sign);
}

JobProgress ProgressReader::Finish() {
  line_.clear();
  before_.reset();
  number_ = 1;
  uncounted_ = 0;
  return std::exchange(progress_, {});
}

bool StreamSigns::ShowSurvival(const LastReport& report) const {
  if (!proof || proof->since < report.line || proof->sign.line <= report.line) return false;
  // A buffer may be written after later output.
  const bool comparable = proof->time && report.time && proof->time->zone_known == report.time->zone_known;
  if (comparable && proof->time->microseconds < report.time->microseconds) return false;
  return (proof->is_result ? failed : proof->failed_before) <= report.line;
}

void SignCollector::Look(const Line& line, const ProgressFinder& finder) {
  const std::optional<ProgressMatch> found = finder.Find(line.text);
  if (!found || !found->module.empty()) return;
  if (streams_.size() >= kMostStreams && !streams_.contains(line.stream_name)) return;
  Stream& stream = streams_[line.stream_name];
  StreamSigns& signs = stream.signs;
  std::uint64_t since = 0;
  switch (found->rule->shows) {
    case Shows::kStep:
    case Shows::kNumber: {
      if (found->rule->compiles) return stream.rising.clear();
      const double reached = found->step ? *found->step + 1 : ++stream.uncounted;
      if (reached <= stream.reached) stream.rising.clear();
      stream.reached = reached;
      stream.rising.push_back(line.number);
      if (stream.rising.size() > kRisingNumbers) stream.rising.pop_front();
      const std::size_t needed = found->rule->shows == Shows::kStep ? kRisingSteps : kRisingNumbers;
      if (stream.rising.size() >= needed) since = *(stream.rising.end() - static_cast<std::ptrdiff_t>(needed));
      break;
    }
    case Shows::kResult:
      since = line.number;
      break;
    case Shows::kHandled:
      stream.handled = line.number;
      break;
    case Shows::kError:
      signs.error = line.number;
      since = stream.handled;
      break;
    case Shows::kFailed:
      signs.failed = line.number;
      break;
  }
  if (since == 0) return;
  const Shows shows = found->rule->shows;
  signs.proof = {since,
                 {ShownProgress(line.text), line.number},
                 line.time,
                 shows == Shows::kResult,
                 shows == Shows::kError ? signs.failed : 0};
}

Signs SignCollector::Take() {
  Signs signs;
  for (auto& [name, stream] : streams_) signs.emplace(name, std::move(stream.signs));
  streams_.clear();
  return signs;
}

}  // namespace whyoom
