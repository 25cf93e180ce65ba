#include "read/progress.h"

#include <algorithm>
#include <utility>

#include "rules/value.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgressLine = std::size_t{64} << 10;
constexpr std::size_t kShownOfLine = 160;

std::vector<const Pattern*> ProgressPatterns(const std::vector<ProgressLine>& lines) {
  std::vector<const Pattern*> patterns;
  for (const ProgressLine& line : lines) patterns.push_back(&line.pattern);
  return patterns;
}

}  // namespace

ProgressReader::ProgressReader(const RuleSet& rules)
    : lines_(rules.progress()), patterns_(ProgressPatterns(rules.progress())) {}

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
  for (const std::size_t place : patterns_.In(line_)) {
    PatternMatch match;
    if (!lines_[place].Find(line_, &match)) continue;
    if (lines_[place].compiles) {
      progress_.ran.reset();
      before_.reset();
      break;
    }
    JobProgress::Sign sign;
    sign.line = number_;
    sign.text = CutBytes(Printable(line_), kShownOfLine);
    std::optional<double> step;
    for (const Capture& capture : match.captures) {
      if (capture.name == "step") step = AsNumber(capture.value);
      const std::string* text = AsText(capture.value);
      if (capture.name == "module" && text != nullptr) sign.module = *text;
    }
    sign.reached = step ? *step + 1 : ++uncounted_;
    AddSign(std::move(sign));
    break;
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
