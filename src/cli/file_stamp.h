// What tells whether a file is still the one that was read.
#pragma once

#include <cstdint>
#include <string>

namespace whyoom {

struct FileStamp {
  bool regular = false;  // false: no file, a pipe, standard input; nothing below is known then
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// "-" is standard input, never a file.
FileStamp StampOf(const std::string& path);

}  // namespace whyoom
