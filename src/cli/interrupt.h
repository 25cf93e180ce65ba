// SIGINT, SIGTERM and SIGHUP end a long reading early, so that what is done can still be printed.
#pragma once

#include <atomic>

namespace whyoom {

class Interrupt {
 public:
  // From now on the first of these signals sets `stop`, which is borrowed; the next ends the process at once. A signal
  // that was ignored (nohup) stays so. One object at a time.
  explicit Interrupt(std::atomic<bool>* stop);
  ~Interrupt();  // signals do again what they did before
  Interrupt(const Interrupt&) = delete;
  Interrupt& operator=(const Interrupt&) = delete;

  // The signal that came; 0: none.
  int signal() const;
};

}  // namespace whyoom
