#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <memory>
#include <new>
#include <utility>

#include "input/decoder.h"

namespace whyoom {
namespace {

struct FreeContext {
  void operator()(ZSTD_DCtx* context) const { ZSTD_freeDCtx(context); }
};

class ZstdSource : public Decoder {
 public:
  ZstdSource(std::unique_ptr<ByteSource> packed, std::size_t memory)
      : Decoder(std::move(packed), "zstd"), memory_(memory), context_(ZSTD_createDCtx()) {
    if (context_ == nullptr) throw std::bad_alloc();
    // A window is nearly all that a decoder takes.
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int log = static_cast<int>(std::bit_width(memory)) - 1;
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, std::clamp(log, bounds.lowerBound, bounds.upperBound));
  }

 private:
  std::size_t Decode(char* buffer, std::size_t capacity) override {
    ZSTD_outBuffer out = {buffer, capacity, 0};
    while (true) {
      const std::string_view packed = Packed();
      if (packed.empty() && !in_frame_) return 0;
      ZSTD_inBuffer in = {packed.data(), packed.size(), 0};
      const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
      Consume(in.pos);
      if (ZSTD_isError(result) != 0) {
        FailWith(ZSTD_getErrorCode(result));
        return out.pos;
      }
      in_frame_ = result != 0;
      if (!in_frame_) ++frames_;
      if (out.pos > 0) return out.pos;
      if (packed.empty() && in_frame_) return FailTruncated();
    }
  }

  void FailWith(ZSTD_ErrorCode error) {
    if (error == ZSTD_error_frameParameter_windowTooLarge) {
      FailMemory(0, memory_);
    } else if (error == ZSTD_error_memory_allocation) {
      Fail("there is not enough memory to unpack its zstd data");
    } else if (error == ZSTD_error_prefix_unknown && frames_ > 0) {
      FailTrailing();
    } else {
      FailDamaged(error == ZSTD_error_checksum_wrong ? "wrong checksum" : "");
    }
  }

  const std::size_t memory_;
  std::unique_ptr<ZSTD_DCtx, FreeContext> context_;
  bool in_frame_ = false;
  std::uint64_t frames_ = 0;  // read to their end
};

}  // namespace

std::unique_ptr<ByteSource> UnpackZstd(std::unique_ptr<ByteSource> packed, std::size_t memory) {
  return std::make_unique<ZstdSource>(std::move(packed), memory);
}

}  // namespace whyoom
