// What the sources that undo one packing share: they read packed bytes from another source, and where those are
// damaged, they give what came before the damage.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "input/byte_source.h"

namespace whyoom {

class Decoder : public ByteSource {
 public:
  std::size_t Read(char* buffer, std::size_t capacity) final;

  // Where the packed bytes could not be read whole, that is the cause of all that follows from it.
  std::string_view problem() const final;

 protected:
  // `name` is of the packing, for problems.
  Decoder(std::unique_ptr<ByteSource> packed, std::string_view name);

  // Gives unpacked bytes, 0 at the end. After Fail nothing is asked any more.
  virtual std::size_t Decode(char* buffer, std::size_t capacity) = 0;

  // The packed bytes at hand; empty only at their end.
  std::string_view Packed();
  void Consume(std::size_t count) { begin_ += count; }

  // What a failure is called in all packings. Each gives 0, for Decode to return.
  std::size_t Fail(std::string problem);
  std::size_t FailDamaged(std::string_view how);  // "": nothing more is known
  std::size_t FailTruncated();
  std::size_t FailTrailing();  // the packed data ended well, but other bytes follow
  std::size_t FailMemory(std::uint64_t needed, std::size_t limit);  // needed 0: unknown

 private:
  std::unique_ptr<ByteSource> packed_;
  std::string_view name_;
  std::unique_ptr<char[]> block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool ended_ = false;
  std::string problem_;
};

// "unpacking its xz data needs 1537 MiB, more than 128 MiB (--max-memory); it was not read"
std::string TooMuchMemory(std::string_view name, std::uint64_t needed, std::size_t limit);

// Many streams one after another are as good as one; what follows the last and is none is a problem.
std::unique_ptr<ByteSource> UnpackGzip(std::unique_ptr<ByteSource> packed);
std::unique_ptr<ByteSource> UnpackBzip2(std::unique_ptr<ByteSource> packed);
std::unique_ptr<ByteSource> UnpackLz4(std::unique_ptr<ByteSource> packed);
// `memory` limits the window.
std::unique_ptr<ByteSource> UnpackZstd(std::unique_ptr<ByteSource> packed, std::size_t memory);
// `memory` limits what liblzma asks for.
std::unique_ptr<ByteSource> UnpackXz(std::unique_ptr<ByteSource> packed, std::size_t memory);

}  // namespace whyoom
