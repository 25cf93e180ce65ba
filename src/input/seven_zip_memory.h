// How much memory a 7z asks for. libarchive hands what the header says to its decoders without a limit, and a header of
// some bytes may name a dictionary of 4 GiB.
#pragma once

#include <cstdint>
#include <string>

#include "input/byte_source.h"

namespace whyoom {

struct SevenZipMemory {
  std::uint64_t bytes = 0;  // of the dictionaries that are needed at once, or of the list of members where that is more
  std::string problem;      // why the header does not say; empty where it does
};

// `source` has a Size() and is at its beginning again afterwards. No header of more than `most` bytes, nor one whose
// own dictionary is larger, is read: then `bytes` is that size.
SevenZipMemory MemoryOfSevenZip(ByteSource& source, std::uint64_t most);

}  // namespace whyoom
