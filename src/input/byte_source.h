// Supplies the bytes of an artifact. Sources know nothing about lines.
#pragma once

#include <unistd.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "input/limits.h"

namespace whyoom {

// Owns a file descriptor; -1 if there is none.
class Descriptor {
 public:
  explicit Descriptor(int number = -1) : number_(number) {}
  ~Descriptor() { Close(); }
  Descriptor(Descriptor&& other) noexcept : number_(other.Release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(number_, other.number_);
    return *this;
  }

  int get() const { return number_; }
  bool is_open() const { return number_ >= 0; }
  void Close() {
    if (number_ >= 0) close(number_);
    number_ = -1;
  }
  // Returns the descriptor, which the caller now owns.
  int Release() { return std::exchange(number_, -1); }

 private:
  int number_;
};

class ByteSource {
 public:
  ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;
  virtual ~ByteSource() = default;

  // Fills up to `capacity` bytes and returns how many; may return fewer than requested. Returns 0 at the end,
  // permanently unless may_grow(). After a failure it returns 0 and problem() is set.
  virtual std::size_t Read(char* buffer, std::size_t capacity) = 0;

  // Whether Read may return more bytes after it returned 0, because the source is followed.
  virtual bool may_grow() const { return false; }

  // The problem that ended reading, as a sentence for users; empty if there was none.
  virtual std::string_view problem() const { return {}; }

  // Counts work done on the bytes read, measured in bytes that could have been unpacked in that time. Sources that
  // limit work use it (limits.h).
  virtual void AddWork(std::uint64_t /*bytes*/) {}
};

// Opens a file of any kind that can be read from start to end; "-" is standard input. Never null; if the file cannot be
// opened, the source is empty and has a problem(). Waits for the first writer of a named pipe. If `stop`, which is
// borrowed, requests a stop, the source ends soon, even while it waits.
std::unique_ptr<ByteSource> OpenFile(const std::string& path, const Stop* stop = nullptr);

// Follows a file, or a pipe until it is closed: waits for the file if it does not exist yet and, at its end, for more.
// Read returns 0 once if nothing came for the `quiet` time; the next Read waits. A stop, a failure and packed bytes
// end the source.
std::unique_ptr<ByteSource> FollowFile(const std::string& path, const Stop& stop,
                                       std::chrono::milliseconds quiet = std::chrono::seconds(1));

// Reads an open file from its current position.
std::unique_ptr<ByteSource> OpenDescriptor(Descriptor file);

// Reads borrowed bytes in memory, at most `chunk` per call, so that tests can try any chunking.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes, std::size_t chunk = std::string_view::npos);

// Returns the next bytes of `source`, at most `most`; fewer at its end.
std::string ReadUpTo(ByteSource& source, std::size_t most);

// Returns up to `most` bytes of a file whose real path, after links, is below the folder `root` and has the extension
// of `path`; nothing of others.
std::string ReadBelow(const std::filesystem::path& root, const std::filesystem::path& path, std::size_t most);

// Iterates over all lines of a source, for files of a known format.
class TextLines {
 public:
  // Borrows the source. Lines are cut after `longest` bytes.
  explicit TextLines(ByteSource& source, std::size_t longest = std::size_t{1} << 20)
      : source_(source), longest_(longest) {}

  // Returns the next line without its line break, valid until the next call; false at the end.
  bool Next(std::string_view* line);

 private:
  ByteSource& source_;
  const std::size_t longest_;
  std::string buffer_;
  std::size_t begin_ = 0;  // of the next line
  bool at_end_ = false;
};

}  // namespace whyoom
