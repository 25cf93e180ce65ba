// How much of one input is unpacked before whyoom stops and says so. An archive can hold far more than anyone wants to
// read, by accident or by design.
#pragma once

#include <cstddef>
#include <cstdint>

namespace whyoom {

// Of one input: a path of the command line or a file found below it, with all that is packed in it. Plain bytes are
// never limited but by time.
struct Limits {
  // Bytes that come out of unpacking. Counted for each depth by itself, so that a .tar.gz counts once.
  std::uint64_t bytes = std::uint64_t{1} << 40;

  // Work is counted in bytes that a fast packing gives: a byte of bzip2 counts eight times, and one of a line that is
  // looked at sixteen times more. Input that takes more work than `suspicious_bytes`, a second or a few, and more than
  // `suspicious_ratio` times its packed size is not unpacked further (0: it is). Logs are packed 10:1 to 50:1, those
  // that repeat themselves up to some hundred; zeros are packed 1030:1 by deflate and further by others. What is packed
  // more than twice, as no log is but every archive made to explode, is held to a sixteenth of `suspicious_bytes`.
  std::uint64_t suspicious_bytes = std::uint64_t{1} << 29;
  std::uint64_t suspicious_ratio = 800;

  int depth = 8;                              // packings in packings; a .tar.gz is two
  std::uint64_t members = 1'000'000;          // of all archives, what has no content (folders, links) included
  double seconds = 0;                         // 0: no limit
  std::size_t memory = std::size_t{1} << 27;  // that one decoder may ask for: the xz dictionary, the zstd window

  // Not a limit: archives are read by a process without rights (archive/worker.h), on systems where that is possible.
#if defined(__linux__)
  bool sandbox = true;
#else
  bool sandbox = false;
#endif
};

}  // namespace whyoom
