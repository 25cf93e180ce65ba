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

  // Beyond this many bytes, input that grew by more than this ratio is not unpacked further (0: it is). A ratio alone
  // would refuse honest logs: deflate stays below 1032:1, but zstd, xz and bzip2 make ten thousandths of a log that
  // repeats itself, so it counts only where hardly any log is that large. Without it a file of some KB could keep a
  // program busy for `bytes`, which is most of an hour. What is packed more than twice, as no log is but every archive
  // made to explode, is held to a sixteenth of it.
  std::uint64_t suspicious_bytes = std::uint64_t{1} << 34;
  std::uint64_t suspicious_ratio = 2000;

  int depth = 8;                              // packings in packings; a .tar.gz is two
  std::uint64_t members = 1'000'000;          // of all archives, what has no content (folders, links) included
  double seconds = 0;                         // 0: no limit. Looked at between reads
  std::size_t memory = std::size_t{1} << 27;  // that one decoder may ask for: the xz dictionary, the zstd window

  // No limit of its own: archives are read by a process that has nothing else in it (archive/archive_process.h), where
  // there is such a thing.
#if defined(__linux__)
  bool sandbox = true;
#else
  bool sandbox = false;
#endif
};

}  // namespace whyoom
