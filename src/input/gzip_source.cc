#include <isa-l/igzip_lib.h>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <utility>

#include "input/decoder.h"

namespace whyoom {
namespace {

class GzipSource : public Decoder {
 public:
  explicit GzipSource(std::unique_ptr<ByteSource> packed)
      : Decoder(std::move(packed), "gzip"), state_(std::make_unique_for_overwrite<inflate_state>()) {
    isal_inflate_init(state_.get());
    BeginMember();
  }

 private:
  enum class Part { kHeader, kBody, kBetween };

  std::size_t Decode(char* buffer, std::size_t capacity) override {
    while (true) {
      const std::string_view packed = Packed();
      if (part_ == Part::kBody) {
        bool failed = false;
        const std::size_t got = Inflate(packed, buffer, capacity, &failed);
        if (got > 0 || failed) return got;
      } else if (packed.empty()) {
        return part_ == Part::kBetween ? 0 : FailTruncated();
      } else if (part_ == Part::kBetween) {
        const std::size_t zeros = std::min(packed.find_first_not_of('\0'), packed.size());
        Consume(zeros);
        if (zeros == packed.size()) continue;
        if (packed[zeros] != '\x1f') return FailTrailing();
        BeginMember();
      } else if (!ReadHeader(packed)) {
        return members_ > 0 ? FailTrailing() : FailDamaged("its header is none");
      }
    }
  }

  void BeginMember() {
    part_ = Part::kHeader;
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;  // the header is read here, the sums at the end there
    isal_gzip_header_init(&header_);
  }

  void Give(std::string_view packed) {
    state_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packed.data()));
    state_->avail_in = static_cast<std::uint32_t>(packed.size());
  }

  // False where these bytes are no header.
  bool ReadHeader(std::string_view packed) {
    Give(packed);
    const int result = isal_read_gzip_header(state_.get(), &header_);
    Consume(packed.size() - state_->avail_in);
    if (result == ISAL_DECOMP_OK) part_ = Part::kBody;
    return result == ISAL_DECOMP_OK || result == ISAL_END_INPUT;
  }

  std::size_t Inflate(std::string_view packed, char* buffer, std::size_t capacity, bool* failed) {
    Give(packed);
    const auto room =
        static_cast<std::uint32_t>(std::min<std::size_t>(capacity, std::numeric_limits<std::int32_t>::max()));
    state_->next_out = reinterpret_cast<std::uint8_t*>(buffer);
    state_->avail_out = room;
    const int result = isal_inflate(state_.get());
    const std::size_t got = room - state_->avail_out;
    Consume(packed.size() - state_->avail_in);
    *failed = result < 0;
    if (result == ISAL_INCORRECT_CHECKSUM) {
      FailDamaged("wrong checksum");
    } else if (result < 0) {
      FailDamaged("");
    } else if (state_->block_state == ISAL_BLOCK_FINISH) {
      part_ = Part::kBetween;
      ++members_;
    } else if (got == 0 && packed.empty()) {
      *failed = true;
      FailTruncated();
    }
    return got;
  }

  std::unique_ptr<inflate_state> state_;  // some 90 KB
  isal_gzip_header header_;
  Part part_ = Part::kHeader;
  std::uint64_t members_ = 0;  // read to their end
};

}  // namespace

std::unique_ptr<ByteSource> UnpackGzip(std::unique_ptr<ByteSource> packed) {
  return std::make_unique<GzipSource>(std::move(packed));
}

}  // namespace whyoom
