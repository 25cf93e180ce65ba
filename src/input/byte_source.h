// Supplies the bytes of an artifact. Sources know nothing about lines.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

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
  // permanently. After a failure it returns 0 and problem() is set.
  virtual std::size_t Read(char* buffer, std::size_t capacity) = 0;

  // The open file that contains exactly this source's bytes from its start, for reading at several positions at once,
  // or -1. The source keeps ownership.
  virtual int RegularFile() const { return -1; }

  // The problem that ended reading, as a sentence for users; empty if there was none.
  virtual std::string_view problem() const { return {}; }

  // Converts an offset in this source to the offset in the data it was made from. They differ only if the source
  // changes the text (its encoding). Exact near the last byte read; may be approximate for older ones.
  virtual std::uint64_t RawOffset(std::uint64_t offset) const { return offset; }

  // Counts work done on the bytes read, measured in bytes that could have been unpacked in that time. Sources that
  // limit work use it (limits.h).
  virtual void AddWork(std::uint64_t /*bytes*/) {}

  // Continues at `offset`, even after the end was read. Works if there is a RegularFile; otherwise returns false and
  // changes nothing.
  virtual bool SeekTo(std::uint64_t /*offset*/) { return false; }
};

// Opens a file of any kind that can be read from start to end, including a FIFO. Never null; if the file cannot be
// opened, the source is empty and has a problem().
std::unique_ptr<ByteSource> OpenFile(const std::string& path);

// Whether `path` is a device with endless output, such as /dev/zero.
bool IsEndlessDevice(const std::string& path);

// Reads an open descriptor from its current position, and closes it.
std::unique_ptr<ByteSource> OpenDescriptor(int descriptor);

// The process's standard input, read with read(2) and not closed.
std::unique_ptr<ByteSource> OpenStandardInput();

// Reads borrowed bytes in memory, at most `chunk` per call, so that tests can try any chunking.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes, std::size_t chunk = std::string_view::npos);

// Returns the next bytes of `source`, at most `most`; fewer at its end.
std::string ReadUpTo(ByteSource& source, std::size_t most);

// A source whose first bytes can be inspected before they are read.
class PeekedSource : public ByteSource {
 public:
  // Reads until it has `peeked` bytes or the source ends.
  PeekedSource(std::unique_ptr<ByteSource> source, std::size_t peeked)
      : source_(std::move(source)), beginning_(ReadUpTo(*source_, peeked)) {}

  // The first bytes, fewer than `peeked` if the source is shorter. Valid before the first Read only.
  std::string_view beginning() const { return std::string_view(beginning_).substr(given_); }

  // Skips the first `count` bytes of beginning(); RawOffset still counts them.
  void Skip(std::size_t count) { given_ = skipped_ = count; }

  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return source_->problem(); }
  void AddWork(std::uint64_t bytes) override { source_->AddWork(bytes); }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_->RawOffset(offset + skipped_); }
  int RegularFile() const override { return skipped_ == 0 ? source_->RegularFile() : -1; }
  bool SeekTo(std::uint64_t offset) override;

 private:
  const std::unique_ptr<ByteSource> source_;
  const std::string beginning_;
  std::size_t given_ = 0;  // bytes of it
  std::size_t skipped_ = 0;
};

// Iterates over all lines of a source, for files of a known format.
class TextLines {
 public:
  // Borrows the source. Lines are cut after `longest` bytes.
  explicit TextLines(ByteSource& source, std::size_t longest = std::size_t{1} << 20)
      : source_(source), longest_(longest) {}

  // Returns the next line without its line break, valid until the next call; false at the end.
  bool Next(std::string_view* line);

 private:
  void Fill();

  ByteSource& source_;
  const std::size_t longest_;
  std::string buffer_;
  std::size_t begin_ = 0;
  bool cutting_ = false;  // skipping the rest of a line that is too long
  bool at_end_ = false;
};

}  // namespace whyoom
