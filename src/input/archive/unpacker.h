// Unpacks an archive or a compressed stream, in this process or in a sandbox.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"
#include "input/limits.h"
#include "input/packing.h"

namespace whyoom {

// File systems accept paths of up to 4 KiB.
constexpr std::size_t kLongestMemberName = std::size_t{1} << 15;

// The bytes of the current member. Read returns everything before damage or a cut. A hole in a sparse file is returned
// as one zero, because a short header can declare terabytes of them.
class Unpacker : public ByteSource {
 public:
  // Goes to the next file, in stored order, even if the previous one was not read to its end. A compressed stream is
  // one member without a name. Names are any bytes, at most kLongestMemberName. Returns false at the end of the archive
  // or of its readable part.
  virtual bool Next(std::string* name) = 0;

  // Why the current member ended early or cannot be read, for users; empty if neither.
  std::string_view problem() const override { return member_problem_; }

  // Why the whole archive ended early, or empty. may_differ(): a retry may succeed (the worker died or was too slow).
  std::string_view archive_problem() const { return archive_problem_; }
  bool may_differ() const { return may_differ_; }

 protected:
  bool may_differ_ = false;
  std::string member_problem_;
  std::string archive_problem_;
};

// Unpacks in this process. Borrows `source`, which is at the start of the packed data. `memory` limits what a decoder
// may allocate (xz) or keep as its window (zstd).
std::unique_ptr<Unpacker> OpenUnpacker(ByteSource& source, Packing packing, std::size_t memory);

// OpenUnpacker for compressed streams.
std::unique_ptr<Unpacker> OpenStream(ByteSource& source, Packing packing, std::size_t memory);

// "unpacking its zip data further needs more than 128 MiB; the rest was not read"
std::string NeedsMore(Packing packing, std::size_t memory);

// Sets a locale that can express all names, because libarchive drops names that the thread's locale cannot express.
// OpenUnpacker also calls it, but it has no effect in a process that may not open files.
void UseUtf8Names();

}  // namespace whyoom
