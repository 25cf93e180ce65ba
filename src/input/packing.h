// Tells by its first bytes how something is packed. Names and endings of names say nothing: logs are renamed.
#pragma once

#include <cstddef>
#include <string_view>

namespace whyoom {

enum class Packing {
  kNone,
  // One stream of bytes made smaller.
  kGzip,
  kZstd,
  kXz,
  kBzip2,
  kLz4,
  // Many members in one.
  kTar,
  kZip,
  kCpio,
  kAr,
};

// How many bytes of a beginning are looked at; fewer where there are no more.
constexpr std::size_t kPackingBytes = 512;

// What bytes that begin like this are packed in; kNone for anything else, a text about such bytes included.
Packing PackingOf(std::string_view beginning);

// "gzip", "tar", …
std::string_view NameOf(Packing packing);

bool IsArchive(Packing packing);

// Whether bytes that begin like this are a 7z archive, which is not read.
bool IsSevenZip(std::string_view beginning);

// Whether bytes that begin like this are a program, a library or compiled code, whose messages nobody printed. A text
// behind such first bytes is none.
bool IsProgram(std::string_view beginning);

// Whether the bytes contain nothing but text; false if there are none.
bool IsText(std::string_view bytes);

// Whether a member of a zip archive begins in the bytes, or an archive ends with them.
bool ContainsZip(std::string_view bytes);

// Whether text that begins like this is a report of whyoom, in any format.
bool IsOwnReport(std::string_view beginning);

}  // namespace whyoom
