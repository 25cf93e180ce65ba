// Inputs that an interrupt ends: a pipe on which nothing comes would let nobody stop.
#pragma once

#include <memory>
#include <string>

#include "input/byte_source.h"
#include "input/limits.h"
#include "input/read_control.h"

namespace whyoom {

// Opens `path` ("-": standard input). Where reading it may wait for somebody, since it is no regular file but standard
// input, a pipe, a terminal or another device, `may_wait` is set, and it ends soon after `control`, which is borrowed,
// says to stop, and when limits.seconds are over, which is a problem. A named pipe that nobody writes to yet is waited
// for. Who reads on from here need not look at the control, so that all that came before is still used.
std::unique_ptr<ByteSource> OpenStoppable(const std::string& path, const ReadControl& control, const Limits& limits,
                                          bool* may_wait);

}  // namespace whyoom
