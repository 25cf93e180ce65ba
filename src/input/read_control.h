// How a long reading is watched and stopped from another thread.
#pragma once

#include <atomic>
#include <cstdint>

namespace whyoom {

struct ReadControl {
  std::atomic<std::uint64_t> bytes{0};  // read so far
  std::atomic<bool> stop{false};        // once set, what is being read ends as soon as it can, as if its input did

  bool stopped() const { return stop.load(std::memory_order_relaxed); }
};

}  // namespace whyoom
