// Lets a source work on a thread of its own, so that unpacking and searching run at the same time.
#pragma once

#include <cstddef>
#include <memory>

#include "input/byte_source.h"

namespace whyoom {

// The same bytes as `source`, and the same problem() once they have ended. The thread starts only after the first
// `after` bytes, since small sources are done before it would have; it holds a few blocks at most. Destroying the
// source waits for the read that is under way.
std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source, std::size_t after = std::size_t{4} << 20);

}  // namespace whyoom
