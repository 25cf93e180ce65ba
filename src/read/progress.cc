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

// The line as reports show it.
SurvivalSign Shown(const Line& line) { return {CutBytes(Printable(line.text), kShownOfLine), line.number}; }

}  // namespace

ProgressFinder::ProgressFinder(const RuleSet& rules, bool survival)
    : lines_(LinesOf(rules, survival)), patterns_(PatternsOf(lines_, &ProgressLine::pattern)) {}

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

bool StreamSigns::ShowSurvival(const LastReport& report) const {
  if (!proof || proof->since < report.line || proof->sign.line <= report.line) return false;
  // A buffer may be written after later output.
  const bool comparable = proof->time && report.time && proof->time->zone_known == report.time->zone_known;
  if (comparable && proof->time->microseconds < report.time->microseconds) return false;
  return (proof->is_result ? failed : proof->failed_before) <= report.line;
}

void SignCollector::Look(const Line& line, const ProgressFinder& finder) {
  const std::optional<ProgressMatch> found = finder.Find(line.text);
  if (!found) return;
  if (!found->module.empty()) {
    if (compiled_.size() < kMostCompiled) compiled_.push_back({Shown(line), found->module});
    return;
  }
  if (streams_.size() >= kMostStreams && !streams_.contains(line.stream_name)) return;
  Stream& stream = streams_[line.stream_name];
  StreamSigns& signs = stream.signs;
  const Shows shows = found->rule->shows;
  std::uint64_t since = 0;
  if (found->rule->compiles) {
    stream.rising.clear();
    signs.compiles = line.number;
  } else if (shows == Shows::kStep || shows == Shows::kNumber) {
    const double reached = found->step ? *found->step + 1 : ++stream.uncounted;
    if (reached <= stream.reached) stream.rising.clear();
    stream.reached = reached;
    signs.reached = std::max(signs.reached, reached);
    stream.rising.push_back(line.number);
    if (stream.rising.size() > kRisingNumbers) stream.rising.pop_front();
    const std::size_t needed = shows == Shows::kStep ? kRisingSteps : kRisingNumbers;
    if (stream.rising.size() >= needed) since = *(stream.rising.end() - static_cast<std::ptrdiff_t>(needed));
  } else if (shows == Shows::kResult) {
    since = line.number;
  } else if (shows == Shows::kHandled) {
    stream.handled = line.number;
  } else if (shows == Shows::kError) {
    signs.error = line.number;
    since = stream.handled;
  } else {
    signs.failed = line.number;
  }
  if (since == 0) return;
  signs.proof = {
      since,         Shown(line), line.time, shows == Shows::kResult, shows == Shows::kError ? signs.failed : 0,
      stream.reached};
}

Signs SignCollector::Take() {
  Signs signs;
  for (auto& [name, stream] : streams_) signs.emplace(name, std::move(stream.signs));
  streams_.clear();
  return signs;
}

// A carriage return also ends a line, because progress bars rewrite theirs.
void ProgressReader::Add(std::string_view bytes) {
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    const std::string_view piece = bytes.substr(0, end);
    line_.text.append(piece.substr(0, kLongestProgressLine - std::min(kLongestProgressLine, line_.text.size())));
    if (end == std::string_view::npos) return;
    signs_.Look(line_, finder_);
    line_.text.clear();
    if (bytes[end] == '\n') ++line_.number;
    bytes.remove_prefix(end + 1);
  }
}

}  // namespace whyoom
