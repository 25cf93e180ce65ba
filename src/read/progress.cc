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

using Kind = LineRule::Kind;

std::vector<const LineRule*> LinesOf(const RuleSet& rules, bool survival) {
  if (!survival) return rules.LinesOf({Kind::kCompiles, Kind::kStep});
  // A measured step counts more than the number in it.
  std::vector<const LineRule*> lines =
      rules.LinesOf({Kind::kCompiles, Kind::kStep, Kind::kResult, Kind::kOtherError, Kind::kFailed});
  for (const LineRule* line : rules.LinesOf({Kind::kNumber, Kind::kHandled})) lines.push_back(line);
  return lines;
}

// The line as reports show it.
SurvivalSign Shown(const Line& line) { return {CutBytes(Printable(line.text), kShownOfLine), line.number}; }

}  // namespace

ProgressFinder::ProgressFinder(const RuleSet& rules, bool survival)
    : lines_(LinesOf(rules, survival)), patterns_(PatternsOf(lines_, &LineRule::pattern)) {}

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
  const Kind kind = found->rule->kind;
  std::uint64_t since = 0;
  if (kind == Kind::kCompiles) {
    stream.rising.clear();
    signs.compiles = line.number;
  } else if (kind == Kind::kStep || kind == Kind::kNumber) {
    const double reached = found->step ? *found->step + 1 : ++stream.uncounted;
    if (reached <= stream.reached) stream.rising.clear();
    stream.reached = reached;
    signs.reached = std::max(signs.reached, reached);
    stream.rising.push_back(line.number);
    if (stream.rising.size() > kRisingNumbers) stream.rising.pop_front();
    const std::size_t needed = kind == Kind::kStep ? kRisingSteps : kRisingNumbers;
    if (stream.rising.size() >= needed) since = *(stream.rising.end() - static_cast<std::ptrdiff_t>(needed));
  } else if (kind == Kind::kResult) {
    since = line.number;
  } else if (kind == Kind::kHandled) {
    stream.handled = line.number;
  } else if (kind == Kind::kOtherError) {
    signs.error = line.number;
    since = stream.handled;
  } else {
    signs.failed = line.number;
  }
  if (since == 0) return;
  signs.proof = {
      since,         Shown(line), line.time, kind == Kind::kResult, kind == Kind::kOtherError ? signs.failed : 0,
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
