// Whether a 7z can be read in bounded memory. libarchive hands what the header says to its decoders and tables without
// a limit, and a header of some bytes may name a dictionary of 4 GiB or a hundred million members.
#pragma once

#include <cstddef>
#include <string>

#include "input/byte_source.h"

namespace whyoom {

// Why it is not to be read, as a sentence for people; empty where it can be. `source` can seek, and is at its beginning
// again afterwards.
std::string WhyNotReadSevenZip(ByteSource& source, std::size_t memory);

}  // namespace whyoom
