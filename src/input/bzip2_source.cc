#include <bzlib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>
#include <utility>

#include "input/decoder.h"

namespace whyoom {
namespace {

class Bzip2Source : public Decoder {
 public:
  explicit Bzip2Source(std::unique_ptr<ByteSource> packed) : Decoder(std::move(packed), "bzip2") {}
  ~Bzip2Source() override { EndStream(); }
  Bzip2Source(const Bzip2Source&) = delete;
  Bzip2Source& operator=(const Bzip2Source&) = delete;

 private:
  std::size_t Decode(char* buffer, std::size_t capacity) override {
    const auto room = static_cast<unsigned>(std::min<std::size_t>(capacity, std::numeric_limits<int>::max()));
    while (true) {
      const std::string_view packed = Packed();
      if (!in_stream_) {
        if (packed.empty()) return 0;
        BeginStream();
      }
      stream_.next_in = const_cast<char*>(packed.data());
      stream_.avail_in = static_cast<unsigned>(packed.size());
      stream_.next_out = buffer;
      stream_.avail_out = room;
      const int result = BZ2_bzDecompress(&stream_);
      Consume(packed.size() - stream_.avail_in);
      const std::size_t got = room - stream_.avail_out;
      if (result == BZ_STREAM_END) {
        EndStream();
        ++streams_;
      } else if (result != BZ_OK) {
        FailWith(result);
        return got;
      } else if (got == 0 && packed.empty()) {
        return FailTruncated();
      }
      if (got > 0) return got;
    }
  }

  void BeginStream() {
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
    in_stream_ = true;
  }

  void EndStream() {
    if (in_stream_) BZ2_bzDecompressEnd(&stream_);
    in_stream_ = false;
  }

  void FailWith(int error) {
    if (error == BZ_MEM_ERROR) {
      Fail("there is not enough memory to unpack its bzip2 data");
    } else if (error == BZ_DATA_ERROR_MAGIC && streams_ > 0) {
      FailTrailing();
    } else {
      FailDamaged("");
    }
  }

  bz_stream stream_ = {};
  bool in_stream_ = false;
  std::uint64_t streams_ = 0;  // read to their end
};

}  // namespace

std::unique_ptr<ByteSource> UnpackBzip2(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<Bzip2Source>(std::move(packed));
}

}  // namespace whyoom
