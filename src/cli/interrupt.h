// SIGINT, SIGTERM and SIGHUP stop reading early; the results so far are still printed.
#pragma once

#include <atomic>

namespace whyoom {

class Interrupt {
 public:
  // The first of these signals sets `stop`, which is borrowed. Another one ends the process, unless it follows within
  // 0.3 s. Signals that were ignored (nohup) stay ignored. Only one object may exist at a time.
  explicit Interrupt(std::atomic<bool>* stop);
  ~Interrupt();  // restores the previous handlers
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The signal that arrived; 0: none.
  int signal() const;
};

}  // namespace whyoom
