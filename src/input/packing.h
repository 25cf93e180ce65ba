// Detects a packing format by its first bytes. File names are ignored, because logs are often renamed.
#pragma once

#include <cstddef>
#include <string_view>

namespace whyoom {

enum class Packing {
  kNone,
  // Compressed streams.
  kGzip,
  kZstd,
  kXz,
  kBzip2,
  kLz4,
  // Archives.
  kTar,
  kZip,
  kSevenZip,  // not supported
};

// Maximum number of bytes needed for detection.
constexpr std::size_t kPackingBytes = 512;

// Returns the format of bytes that begin like this; kNone for anything else, including text about such formats.
Packing PackingOf(std::string_view beginning);

// Returns "gzip", "tar", …
std::string_view NameOf(Packing packing);

bool IsArchive(Packing packing);

// Whether the bytes begin a program, a library or compiled code: no job printed the messages in it.
bool IsProgram(std::string_view beginning);

}  // namespace whyoom
