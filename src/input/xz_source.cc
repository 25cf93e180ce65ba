#include <lzma.h>

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
    if (lzma_stream_decoder(&stream_, memory, LZMA_CONCATENATED) != LZMA_OK) throw std::bad_alloc();
  }
  ~XzSource() override { lzma_end(&stream_); }
  XzSource(const XzSource&) = delete;
  XzSource& operator=(const XzSource&) = delete;

 private:
  std::size_t Decode(char* buffer, std::size_t capacity) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer);
    stream_.avail_out = capacity;
    while (true) {
      const std::string_view packed = Packed();
      stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
      stream_.avail_in = packed.size();
      const lzma_ret result = lzma_code(&stream_, packed.empty() ? LZMA_FINISH : LZMA_RUN);
      Consume(packed.size() - stream_.avail_in);
      const std::size_t got = capacity - stream_.avail_out;
      if (result != LZMA_OK && result != LZMA_STREAM_END) FailWith(result);
      if (got > 0 || result != LZMA_OK) return got;
    }
  }

  void FailWith(lzma_ret error) {
    switch (error) {
      case LZMA_MEMLIMIT_ERROR:
        FailMemory(static_cast<std::size_t>(lzma_memusage(&stream_)), memory_);
        break;
      case LZMA_MEM_ERROR:
        Fail("there is not enough memory to unpack its xz data");
        break;
      case LZMA_BUF_ERROR:
        FailTruncated();
        break;
      case LZMA_FORMAT_ERROR:
        // Bytes that cannot begin a stream were recognised as one before, so a stream has ended in front of them.
        FailTrailing();
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
};

}  // namespace

std::unique_ptr<ByteSource> UnpackXz(std::unique_ptr<ByteSource> packed, std::size_t memory) {
  return std::make_unique<XzSource>(std::move(packed), memory);
}

}  // namespace whyoom
