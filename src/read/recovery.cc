#include "read/recovery.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

using Shows = ProgressLine::Shows;

constexpr std::size_t kRisingSteps = 2;
constexpr std::size_t kRisingNumbers = 4;

}  // namespace

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
