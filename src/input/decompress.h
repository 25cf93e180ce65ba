// Undoes one packing that is a stream of bytes made smaller.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/packing.h"

namespace whyoom {

// What `packed` holds in `packing`, which is no archive. Many streams one after another are as good as one; what
// follows the last and is none is a problem(). Of damaged or cut bytes all is given that comes before the damage.
// `memory` limits what a decoder asks for (xz) or keeps of what it gave (zstd).
std::unique_ptr<ByteSource> Decompress(std::unique_ptr<ByteSource> packed, Packing packing, std::size_t memory);

// "unpacking its xz data needs 1537 MiB, more than 128 MiB (--max-memory); it was not read"; `needed` 0: unknown.
std::string TooMuchMemory(std::string_view name, std::uint64_t needed, std::size_t limit);

// Lets a source work on a thread of its own, so that unpacking and searching run at the same time: gives the same bytes
// as `source`, and the same problem() once they have ended. The thread starts only after the first `after` bytes, since
// small sources are done before it would have; it holds a few blocks at most. Destroying the source waits for the read
// that is under way.
std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source, std::size_t after = std::size_t{4} << 20);

}  // namespace whyoom
