#include "input/limits.h"

#include <fmt/format.h>

#include <array>

namespace whyoom {

bool Stop::IsOverdue() const {
  // Enough for the lines of a few blocks, and short enough for a run to end within a second.
  constexpr std::chrono::milliseconds kGrace{250};
  if (!IsRequested()) return false;
  if (!asked_at_) asked_at_ = Clock::now();
  return Clock::now() - *asked_at_ >= kGrace;
}

std::string Stop::Why() const {
  return IsInterrupted() ? "interrupted" : fmt::format("stopped after {} s (--max-time)", seconds_);
}

std::string WholeSize(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  for (; bytes >= 1024 && bytes % 1024 == 0; bytes /= 1024) ++unit;
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

}  // namespace whyoom
