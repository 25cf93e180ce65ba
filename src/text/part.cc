#include "text/part.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

// Longer lines come in pieces anyway, see LineScanner.
constexpr std::size_t kLongestJoined = std::size_t{1} << 20;
// So many writers cut their lines at the same time; of more, each piece stands for itself.
constexpr std::size_t kMostBegun = 1024;
// The rest of a line comes soon, or was lost.
constexpr std::uint64_t kMostLinesBetween = 1024;

}  // namespace

Unfinished::Joined Unfinished::Join(Part* part) {
  const auto begun = parts_.find(part->reporter);
  if (begun == parts_.end()) {
    if (!std::exchange(part->goes_on, false) || parts_.size() >= kMostBegun) return Joined::kNot;
    const std::string reporter = part->reporter;
    parts_[reporter] = {std::move(*part), lines_};
    return Joined::kKept;
  }
  Part& whole = begun->second.part;
  const std::size_t length = whole.text.text.size();
  const auto further = static_cast<std::size_t>(part->offset - whole.offset);
  for (const Line::Segment& segment : part->text.segments) {
    whole.text.segments.push_back({length + segment.text_at, further + segment.raw_at});
  }
  whole.text.text += part->text.text;
  whole.repeats = std::max(whole.repeats, part->repeats);
  begun->second.at = lines_;
  if (part->goes_on && whole.text.text.size() < kLongestJoined) return Joined::kKept;
  *part = std::move(whole);
  parts_.erase(begun);
  return Joined::kWhole;
}

std::optional<Part> Unfinished::TakeOverdue(bool all) {
  for (auto begun = parts_.begin(); begun != parts_.end(); ++begun) {
    if (!all && begun->second.at + kMostLinesBetween >= lines_) continue;
    Part part = std::move(begun->second.part);
    parts_.erase(begun);
    return part;
  }
  return std::nullopt;
}

}  // namespace whyoom
