#include "read/progress.h"

#include <algorithm>
#include <utility>

#include "rules/value.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgressLine = std::size_t{64} << 10;
constexpr std::size_t kShownOfLine = 160;

std::vector<const ProgressLine*> LinesOf(const RuleSet& rules, bool survival) {
  std::vector<const ProgressLine*> lines;
  for (const ProgressLine& line : rules.progress()) {
    if (survival || line.shows == ProgressLine::Shows::kStep) lines.push_back(&line);
  }
  // The order of the rules means nothing: a measured step counts more than the number in it.
  std::stable_partition(lines.begin(), lines.end(), [](const ProgressLine* line) {
    return line->shows != ProgressLine::Shows::kNumber && line->shows != ProgressLine::Shows::kHandled;
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

}  // namespace whyoom
