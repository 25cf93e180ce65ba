// Gives the next bytes of an artifact. Nothing behind this interface knows what a line is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace whyoom {

class ByteSource {
 public:
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

}  // namespace whyoom
