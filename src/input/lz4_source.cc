#include <lz4frame.h>

#include <cstdint>
#include <memory>
#include <new>
#include <string_view>
#include <utility>

#include "input/decoder.h"

namespace whyoom {
namespace {

struct FreeContext {
  void operator()(LZ4F_dctx* context) const { LZ4F_freeDecompressionContext(context); }
};

class Lz4Source : public Decoder {
 public:
  explicit Lz4Source(std::unique_ptr<ByteSource> packed) : Decoder(std::move(packed), "lz4") {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) throw std::bad_alloc();
    context_.reset(context);
  }

 private:
  std::size_t Decode(char* buffer, std::size_t capacity) override {
    while (true) {
      const std::string_view packed = Packed();
      if (packed.empty() && !in_frame_) return 0;
      std::size_t given = capacity;
      std::size_t taken = packed.size();
      const std::size_t result = LZ4F_decompress(context_.get(), buffer, &given, packed.data(), &taken, nullptr);
      if (LZ4F_isError(result) != 0) {
        FailWith(LZ4F_getErrorName(result));
        return 0;
      }
      Consume(taken);
      in_frame_ = result != 0;
      if (!in_frame_) ++frames_;
      if (given > 0) return given;
      if (packed.empty() && in_frame_) return FailTruncated();
    }
  }

  void FailWith(std::string_view error) {
    if (error == "ERROR_frameType_unknown" && frames_ > 0) {
      FailTrailing();
    } else if (error == "ERROR_frameType_unknown") {
      Fail("its lz4 data is of a kind that is not supported; it was not read");
    } else {
      FailDamaged(error.ends_with("hecksum_invalid") ? "wrong checksum" : "");
    }
  }

  std::unique_ptr<LZ4F_dctx, FreeContext> context_;
  bool in_frame_ = false;
  std::uint64_t frames_ = 0;  // read to their end
};

}  // namespace

std::unique_ptr<ByteSource> UnpackLz4(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<Lz4Source>(std::move(packed));
}

}  // namespace whyoom
