#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "input/decoder.h"

namespace whyoom {
namespace {

class XzSource : public Decoder {
 public:
  XzSource(std::unique_ptr<ByteSource> packed, std::size_t memory) : Decoder(std::move(packed), "xz"), memory_(memory) {
    BeginStream();
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

 private:
  void BeginStream() {
    if (lzma_stream_decoder(&stream_, memory_, 0) != LZMA_OK) throw std::bad_alloc();
    in_stream_ = true;
  }

  std::size_t Decode(char* buffer, std::size_t capacity) override {
    while (true) {
      const std::string_view packed = Packed();
      if (!in_stream_) {
        // Zeros may stand between streams and behind the last.
        const std::size_t zeros = std::min(packed.find_first_not_of('\0'), packed.size());
        Consume(zeros);
        if (packed.empty()) return 0;
        if (zeros < packed.size()) BeginStream();
        continue;
      }
      stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer);
      stream_.avail_out = capacity;
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
      stream_.avail_in = packed.size();
      const lzma_ret result = lzma_code(&stream_, packed.empty() ? LZMA_FINISH : LZMA_RUN);
      Consume(packed.size() - stream_.avail_in);
      const std::size_t got = capacity - stream_.avail_out;
      if (result == LZMA_STREAM_END) {
        in_stream_ = false;
        ++streams_;
      } else if (result != LZMA_OK) {
        FailWith(result);
        return got;
      }
      if (got > 0) return got;
    }
  }

  void FailWith(lzma_ret error) {
    switch (error) {
      case LZMA_MEMLIMIT_ERROR:
        FailMemory(lzma_memusage(&stream_), memory_);
        break;
      case LZMA_MEM_ERROR:
        Fail("there is not enough memory to unpack its xz data");
        break;
      case LZMA_BUF_ERROR:
        FailTruncated();
        break;
      case LZMA_FORMAT_ERROR:
        if (streams_ > 0) {
          FailTrailing();
        } else {
          FailDamaged("its header is none");
        }
        break;
      case LZMA_OPTIONS_ERROR:
        Fail("its xz data is of a kind that is not supported; it was not read");
        break;
      default:
        FailDamaged("");
    }
  }

  const std::size_t memory_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
  bool in_stream_ = false;
  std::uint64_t streams_ = 0;  // read to their end
};

}  // namespace

std::unique_ptr<ByteSource> UnpackXz(std::unique_ptr<ByteSource> packed, std::size_t memory) {
  return std::make_unique<XzSource>(std::move(packed), memory);
}

}  // namespace whyoom
