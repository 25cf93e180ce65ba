// Bytes in memory that behave like a file: with a size, and seekable.
#pragma once

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "input/byte_source.h"

namespace whyoom {

class FileInMemory : public ByteSource {
 public:
  // Returns at most `chunk` bytes per read.
  explicit FileInMemory(std::string bytes, std::size_t chunk = std::string::npos)
      : bytes_(std::move(bytes)), chunk_(chunk) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t count = std::min({capacity, chunk_, bytes_.size() - at_});
    std::memcpy(buffer, bytes_.data() + at_, count);
    at_ += count;
    return count;
  }
  bool SeekTo(std::uint64_t offset) override {
    if (offset > bytes_.size()) return false;
    at_ = static_cast<std::size_t>(offset);
    return true;
  }

 private:
  const std::string bytes_;
  const std::size_t chunk_;
  std::size_t at_ = 0;
};

}  // namespace whyoom
