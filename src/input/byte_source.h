// Gives the next bytes of an artifact. Nothing behind this interface knows what a line is.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {

// A file descriptor that is closed with the object; -1: none.
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
  // From now on it is the caller's.
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

  // Fills up to `capacity` bytes and returns how many; 0 is the end, for good. May return fewer than
  // asked for. After a failure returns 0 and problem() says why.
  virtual std::size_t Read(char* buffer, std::size_t capacity) = 0;

  // The open file whose bytes from its begin on are what this source gives, for reading at several places at once; -1
  // where there is none. Stays the source's.
  virtual int RegularFile() const { return -1; }

  // What went wrong, as one sentence for people; empty while nothing has.
  virtual std::string_view problem() const { return {}; }

  // Where the byte at `offset` of what Read gave lies in what this source was made from; the same place unless the
  // source changes the text (its encoding). Exact near the last byte given, for older ones perhaps only near.
  virtual std::uint64_t RawOffset(std::uint64_t offset) const { return offset; }

  // Counts work that was done on what Read gave, in bytes that could have been unpacked in that time; sources that
  // limit work per packed byte use it (quota.h).
  virtual void AddWork(std::uint64_t /*bytes*/) {}

  // How many bytes there are in all; only where SeekTo works.
  virtual std::optional<std::uint64_t> Size() const { return std::nullopt; }

  // Goes on at `offset` of all bytes, also after the end was read; false, and nothing changed, where that is not
  // possible.
  virtual bool SeekTo(std::uint64_t /*offset*/) { return false; }
};

// A file of any kind that can be read from start to end (also a FIFO). Never null; a file that cannot
// be opened gives no bytes and a problem().
std::unique_ptr<ByteSource> OpenFile(const std::string& path);

// Whether `path` leads to a device that gives bytes for ever, as /dev/zero does: no log and no list is in it.
bool IsEndlessDevice(const std::string& path);

// The same for an open descriptor, from where it stands. It is closed with the source.
std::unique_ptr<ByteSource> OpenDescriptor(int descriptor);

// The process's standard input, read with read(2); it is not closed.
std::unique_ptr<ByteSource> OpenStandardInput();

// Bytes in memory, handed out at most `chunk` at a time so that tests can try any chunking.
// Borrows `bytes`, which must outlive the source.
std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes, std::size_t chunk = std::string_view::npos);

// The next bytes of `source`, at most `most` of them; fewer at its end.
std::string ReadUpTo(ByteSource& source, std::size_t most);

// A source whose first bytes can be looked at before they are read.
class PeekedSource : public ByteSource {
 public:
  // Reads until `peeked` bytes are held or the source has ended. One call of read(2) takes a whole small file, and of a
  // large one only this first block is copied.
  PeekedSource(std::unique_ptr<ByteSource> source, std::size_t peeked);

  // The first `peeked` bytes, fewer at the end, however the source is chunked. Before the first Read only.
  std::string_view beginning() const { return {block_.get() + given_, std::min(held_, peeked_) - given_}; }

  // Passes over the first `count` bytes of beginning(); RawOffset still counts them.
  void Skip(std::size_t count);

  std::size_t Read(char* buffer, std::size_t capacity) override;
  std::string_view problem() const override { return source_->problem(); }
  void AddWork(std::uint64_t bytes) override { source_->AddWork(bytes); }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_->RawOffset(offset + skipped_); }
  std::optional<std::uint64_t> Size() const override { return source_->Size(); }
  int RegularFile() const override { return skipped_ == 0 ? source_->RegularFile() : -1; }
  bool SeekTo(std::uint64_t offset) override;

 private:
  std::unique_ptr<ByteSource> source_;
  std::size_t peeked_;
  std::unique_ptr<char[]> block_;
  std::size_t held_ = 0;
  std::size_t given_ = 0;
  std::size_t skipped_ = 0;
};

// The lines of a source one after another, whatever their length: for files of a known format, where each line counts.
class TextLines {
 public:
  // Borrows the source. Of a line longer than `longest` only the beginning is given.
  explicit TextLines(ByteSource& source, std::size_t longest = std::size_t{1} << 20);

  // The next line without its line feed, valid until the next call; false at the end.
  bool Next(std::string_view* line);

 private:
  bool Fill();

  ByteSource& source_;
  std::size_t longest_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool cutting_ = false;  // the rest of a line that is too long is being passed over
  bool at_end_ = false;
};

}  // namespace whyoom
