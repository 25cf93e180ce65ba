// Standard input that an interrupt ends: a pipe on which nothing comes would let nobody stop.
#pragma once

#include <memory>

#include "input/byte_source.h"
#include "input/read_control.h"

namespace whyoom {

// As OpenStandardInput; ends soon after `control`, which is borrowed, says to stop. Who reads on from here need not
// look at the control, so that all that came before is still used.
std::unique_ptr<ByteSource> OpenStoppableInput(const ReadControl& control);

}  // namespace whyoom
