#include "input/feeds.h"

#include <algorithm>
#include <array>
#include <cstdint>

namespace whyoom {
namespace {

constexpr std::size_t kLanes = 64;
constexpr std::size_t kRounds = 255;  // a lane counts no further

}  // namespace

// Counters of one byte, side by side, are what compilers turn into vector instructions; std::count is not.
std::size_t CountFeeds(std::string_view bytes) {
  std::size_t count = 0;
  const char* at = bytes.data();
  const char* const end = at + bytes.size();
  while (static_cast<std::size_t>(end - at) >= kLanes) {
    std::array<std::uint8_t, kLanes> lanes{};
    const std::size_t rounds = std::min(kRounds, static_cast<std::size_t>(end - at) / kLanes);
    for (std::size_t round = 0; round < rounds; ++round, at += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = static_cast<std::uint8_t>(lanes[lane] + (at[lane] == '\n'));
    }
    for (const std::uint8_t lane : lanes) count += lane;
  }
  return count + static_cast<std::size_t>(std::count(at, end, '\n'));
}

}  // namespace whyoom
