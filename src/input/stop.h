// What ends a long piece of work before it is done: a signal, or that the time which one input may take is over.
#pragma once

#include <chrono>
#include <memory>
#include <optional>
#include <string>

#include "input/byte_source.h"
#include "input/limits.h"

namespace whyoom {

class Stop {
 public:
  Stop() = default;  // nothing ends it
  // The time of `limits` begins now. `control` is borrowed; null: no signal ends it.
  Stop(const ReadControl* control, const Limits& limits) : control_(control), quota_(std::in_place, limits) {}

  // To be asked again and again; once yes, what was made of the files opened here is not to be relied on.
  bool IsAsked() const { return IsSignalled() || (quota_ && quota_->TimeIsUp()); }

  // Whether it was asked for, and the time is over in which what was read by then may still be looked at. A long loop
  // over lines asks this; the source of the lines ends as soon as IsAsked. One thread only.
  bool IsOverdue() const;

  // "stopped after 2 s (--max-time)"; where nothing ended it, as if a signal had.
  std::string Why() const;

  // A file that ends early where the work is to end; this must outlive it. Never null, as OpenFile.
  std::unique_ptr<ByteSource> Open(const std::string& path) const;

 private:
  class Source;
  bool IsSignalled() const { return control_ != nullptr && control_->stopped(); }

  const ReadControl* control_ = nullptr;
  std::optional<Quota> quota_;
  mutable std::optional<std::chrono::steady_clock::time_point> asked_at_;  // when IsOverdue first saw it
};

// Opens `path` ("-": standard input). Where reading it may wait for somebody, since it is no regular file but standard
// input, a pipe, a terminal or another device, `may_wait` is set, and it ends soon after `control`, which is borrowed,
// says to stop, and when limits.seconds are over, which is a problem. A named pipe that nobody writes to yet is waited
// for. Who reads on from here need not look at the control, so that all that came before is still used.
std::unique_ptr<ByteSource> OpenStoppable(const std::string& path, const ReadControl& control, const Limits& limits,
                                          bool* may_wait);

}  // namespace whyoom
