// Decompresses one compressed stream.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/packing.h"

namespace whyoom {

// Decompresses `packed`, whose format `packing` is not an archive. Reads concatenated streams as one; other bytes after
// the last one are a problem(). Returns everything before damage or a cut. `memory` limits what a decoder may
// allocate (xz) or keep as its window (zstd).
std::unique_ptr<ByteSource> Decompress(std::unique_ptr<ByteSource> packed, Packing packing, std::size_t memory);

// "unpacking its xz data needs 1537 MiB, more than 128 MiB (--max-memory); not read"; `needed` 0: unknown.
std::string TooMuchMemory(std::string_view name, std::uint64_t needed, std::size_t limit);

// Reads `source` on a thread of its own, so that decompressing and searching run in parallel. Returns the same bytes
// and, at their end, the same problem(). The thread starts only after `after` bytes, because a small source ends before
// a thread could start. It buffers a few blocks. The destructor waits for the read in progress.
std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source, std::size_t after = std::size_t{4} << 20);

}  // namespace whyoom
