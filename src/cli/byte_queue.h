// Hands bytes from one thread to another, which reads them as an artifact. Holds a few MiB at most.
#pragma once

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <mutex>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

class ByteQueue : public ByteSource {
 public:
  // Waits while the queue is full and somebody still reads.
  void Push(std::string_view bytes) {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return bytes_.size() < kFull || !has_reader_; });
    if (!has_reader_) return;
    bytes_.append(bytes);
    changed_.notify_all();
  }

  // No more bytes will come.
  void Close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    changed_.notify_all();
  }

  // Nobody will read any more; what is pushed from now on is dropped.
  void Abandon() {
    const std::lock_guard lock(mutex_);
    has_reader_ = false;
    changed_.notify_all();
  }

  // Waits for bytes or the end.
  std::size_t Read(char* buffer, std::size_t capacity) override {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return at_ < bytes_.size() || closed_; });
    const std::size_t count = std::min(capacity, bytes_.size() - at_);
    std::memcpy(buffer, bytes_.data() + at_, count);
    at_ += count;
    if (at_ == bytes_.size()) {
      bytes_.clear();
      at_ = 0;
      changed_.notify_all();
    }
    return count;
  }

 private:
  static constexpr std::size_t kFull = std::size_t{4} << 20;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::string bytes_;
  std::size_t at_ = 0;  // of the next byte to read
  bool closed_ = false;
  bool has_reader_ = true;
};

}  // namespace whyoom
