// Puts a source into a temporary file, for formats that can only be read from their end.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "input/byte_source.h"

namespace whyoom {

// A source with a Size() that gives all bytes of `source`. The file has no name and is gone with the source. Null and a
// `problem` where the bytes are more than `most`, or cannot be kept.
std::unique_ptr<ByteSource> Spool(ByteSource& source, std::uint64_t most, std::string* problem);

}  // namespace whyoom
