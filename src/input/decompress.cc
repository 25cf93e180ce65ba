#include "input/decompress.h"

#include <bzlib.h>
#include <fmt/format.h>
#include <isa-l/igzip_lib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <limits>
#include <mutex>
#include <new>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

#include "input/limits.h"

namespace whyoom {

// libarchive also supports these formats, but drops up to 64 KiB before damage or a cut, which is where the log of a
// crashed job ends. It has no memory limit for xz, and does not report bytes after bzip2 data.

namespace {

constexpr std::size_t kPackedBlock = std::size_t{1} << 16;

class Decoder : public ByteSource {
 public:
  std::size_t Read(char* buffer, std::size_t capacity) final;

  // If the packed source has a problem, that caused any other problem.
  std::string_view problem() const final {
    const std::string_view cause = packed_->problem();
    return cause.empty() ? std::string_view(problem_) : cause;
  }

 protected:
  struct Step {
    std::size_t taken = 0;  // packed bytes consumed
    std::size_t given = 0;
    bool ended = false;  // whether the stream ended
  };

  Decoder(std::unique_ptr<ByteSource> packed, Packing packing) : packed_(std::move(packed)), packing_(packing) {}

  // Called when a stream begins with `packed`. May call Fail.
  virtual void Begin(std::string_view /*packed*/) {}

  // Unpacks some of `packed`, which is empty only at the very end. May call Fail, but must not lose bytes that were
  // unpacked before the failure.
  virtual Step Decode(std::string_view packed, char* buffer, std::size_t capacity) = 0;

  std::uint64_t streams() const { return streams_; }  // read to their end

  // Failures, with the same wording for all formats.
  void Fail(std::string problem) { problem_ = std::move(problem); }
  void FailDamaged(std::string_view how = "") {
    Fail(fmt::format("its {} data is damaged{}{}; the rest was not read", name(), how.empty() ? "" : ": ", how));
  }
  void FailMemory() { Fail(fmt::format("not enough memory to unpack its {} data", name())); }
  void FailUnsupported() { Fail(fmt::format("its {} data uses an unsupported format; not read", name())); }

  // Call if no stream begins here. If a stream ended before, the packed data is complete, and other bytes follow.
  void FailNoStream(std::string_view how = "") {
    if (streams_ == 0) return FailDamaged(how);
    Fail(fmt::format("other bytes follow its {} data and were not read", name()));
  }

  std::string_view name() const { return NameOf(packing_); }

 private:
  std::string_view Packed();

  const std::unique_ptr<ByteSource> packed_;
  const Packing packing_;
  std::unique_ptr<char[]> block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool in_stream_ = false;
  std::uint64_t streams_ = 0;
  bool ended_ = false;
  std::string problem_;
};

std::size_t Decoder::Read(char* buffer, std::size_t capacity) {
  while (!ended_ && problem_.empty() && capacity > 0) {
    const std::string_view packed = Packed();
    if (!in_stream_) {
      ended_ = packed.empty();
      if (ended_) return 0;
      Begin(packed);
      in_stream_ = true;
      if (!problem_.empty()) return 0;
    }
    const Step step = Decode(packed, buffer, capacity);
    begin_ += step.taken;
    if (step.ended) {
      in_stream_ = false;
      ++streams_;
    } else if (step.given == 0 && packed.empty() && problem_.empty()) {
      Fail(fmt::format("its {} data is truncated", name()));
    }
    if (step.given > 0) return step.given;
  }
  return 0;
}

// Returns the buffered packed bytes; empty only at their end. Skips zeros between and after streams of gzip or xz.
std::string_view Decoder::Packed() {
  const bool may_be_padded = packing_ == Packing::kGzip || packing_ == Packing::kXz;
  if (block_ == nullptr) block_ = std::make_unique_for_overwrite<char[]>(kPackedBlock);
  while (true) {
    if (begin_ == end_) {
      begin_ = 0;
      end_ = packed_->Read(block_.get(), kPackedBlock);
    }
    const std::string_view packed(block_.get() + begin_, end_ - begin_);
    if (in_stream_ || !may_be_padded || packed.empty() || packed[0] != '\0') return packed;
    begin_ += std::min(packed.find_first_not_of('\0'), packed.size());
  }
}

class GzipDecoder : public Decoder {
 public:
  explicit GzipDecoder(std::unique_ptr<ByteSource> packed)
      : Decoder(std::move(packed), Packing::kGzip), state_(std::make_unique_for_overwrite<inflate_state>()) {
    isal_inflate_init(state_.get());
  }

 private:
  void Begin(std::string_view packed) override {
    if (packed[0] != '\x1f') FailNoStream();
    in_header_ = true;
    isal_inflate_reset(state_.get());
    state_->crc_flag = ISAL_GZIP_NO_HDR_VER;  // the header is parsed here; isal checks the checksums at the end
    isal_gzip_header_init(&header_);
  }

  Step Decode(std::string_view packed, char* buffer, std::size_t capacity) override {
    state_->next_in = const_cast<std::uint8_t*>(reinterpret_cast<const std::uint8_t*>(packed.data()));
    state_->avail_in = static_cast<std::uint32_t>(packed.size());
    Step step;
    if (in_header_) {
      const int result = packed.empty() ? ISAL_END_INPUT : isal_read_gzip_header(state_.get(), &header_);
      if (result != ISAL_DECOMP_OK && result != ISAL_END_INPUT) FailNoStream("invalid header");
      in_header_ = result != ISAL_DECOMP_OK;
    } else {
      const auto room =
          static_cast<std::uint32_t>(std::min<std::size_t>(capacity, std::numeric_limits<std::int32_t>::max()));
      if (damaged_) {
        step.given = TakeKept(buffer, room);
        if (step.given == 0) FailDamaged();
        return step;
      }
      state_->next_out = reinterpret_cast<std::uint8_t*>(buffer);
      state_->avail_out = room;
      *before_ = *state_;
      int result = isal_inflate(state_.get());
      if (result < 0 && result != ISAL_INCORRECT_CHECKSUM) result = DecodeSlowly();
      damaged_ = result < 0 && result != ISAL_INCORRECT_CHECKSUM;
      if (result == ISAL_INCORRECT_CHECKSUM) FailDamaged("wrong checksum");
      step.given = room - state_->avail_out;
      step.ended = result >= 0 && state_->block_state == ISAL_BLOCK_FINISH;
    }
    step.taken = packed.size() - state_->avail_in;
    return step;
  }

  // If a back-reference points before the data, isal's fast loop counts its bytes as output but writes none. Input of
  // one byte at a time avoids that loop.
  int DecodeSlowly() {
    const std::uint32_t size = before_->avail_in;
    *state_ = *before_;
    int result = ISAL_DECOMP_OK;
    for (std::uint32_t taken = 0; taken < size && result >= 0 && state_->avail_out > 0; ++taken) {
      state_->avail_in = 1;
      result = isal_inflate(state_.get());
      if (state_->avail_in != 0) break;
    }
    state_->avail_in = static_cast<std::uint32_t>(before_->next_in + size - state_->next_in);
    return result;
  }

  // Returns the bytes that were unpacked before the damage and did not fit into the caller's buffer.
  std::size_t TakeKept(char* buffer, std::size_t room) {
    const auto kept = static_cast<std::size_t>(state_->tmp_out_valid - state_->tmp_out_processed);
    const std::size_t count = std::min(kept, room);
    std::memcpy(buffer, state_->tmp_out_buffer + state_->tmp_out_processed, count);
    state_->tmp_out_processed += static_cast<std::int32_t>(count);
    return count;
  }

  std::unique_ptr<inflate_state> state_;  // about 90 KB
  std::unique_ptr<inflate_state> before_ = std::make_unique<inflate_state>();
  bool damaged_ = false;
  isal_gzip_header header_;
  bool in_header_ = true;
};

// How much of a stream to pass to its decoder at once. A call that finds damage loses what it unpacked before the
// damage. So each call ends at the end of a block, according to the decoder's hint for the size of its next input.
class BlockSteps {
 public:
  // `header`: minimum size of a stream's header. `block_header`: size of a block's header, which the hint includes.
  BlockSteps(std::size_t header, std::size_t block_header)
      : header_(header), block_header_(block_header), next_(header) {}

  void Begin() { next_ = header_; }
  std::size_t Of(std::size_t packed) const { return full_ ? 0 : std::min(packed, next_); }

  // `full`: the call filled its output buffer, so the decoder may return more without new input.
  void After(std::size_t hint, bool full) {
    full_ = full;
    next_ = hint > block_header_ ? hint - block_header_ : std::max<std::size_t>(hint, 1);
  }

 private:
  const std::size_t header_;
  const std::size_t block_header_;
  std::size_t next_;
  bool full_ = false;
};

class ZstdDecoder : public Decoder {
 public:
  ZstdDecoder(std::unique_ptr<ByteSource> packed, std::size_t memory)
      : Decoder(std::move(packed), Packing::kZstd), memory_(memory), context_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    if (context_ == nullptr) throw std::bad_alloc();
    // A decoder's memory is almost entirely its window.
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int log = static_cast<int>(std::bit_width(memory)) - 1;
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, std::clamp(log, bounds.lowerBound, bounds.upperBound));
  }

 private:
  void Begin(std::string_view) override { steps_.Begin(); }

  Step Decode(std::string_view packed, char* buffer, std::size_t capacity) override {
    ZSTD_outBuffer out = {buffer, capacity, 0};
    ZSTD_inBuffer in = {packed.data(), steps_.Of(packed.size()), 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result) != 0) FailWith(ZSTD_getErrorCode(result));
    steps_.After(result, out.pos == capacity);
    // On failure, decoders of old formats report the size of the output buffer.
    return {in.pos, ZSTD_isError(result) != 0 ? 0 : out.pos, result == 0};
  }

  void FailWith(ZSTD_ErrorCode error) {
    if (error == ZSTD_error_frameParameter_windowTooLarge) {
      Fail(TooMuchMemory(name(), 0, memory_));
    } else if (error == ZSTD_error_memory_allocation) {
      FailMemory();
    } else if (error == ZSTD_error_prefix_unknown) {
      FailNoStream();
    } else {
      FailDamaged(error == ZSTD_error_checksum_wrong ? "wrong checksum" : "");
    }
  }

  const std::size_t memory_;
  BlockSteps steps_{5, 3};
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
};

class XzDecoder : public Decoder {
 public:
  XzDecoder(std::unique_ptr<ByteSource> packed, std::size_t memory)
      : Decoder(std::move(packed), Packing::kXz), memory_(memory) {}
  ~XzDecoder() override { lzma_end(&stream_); }

 private:
  void Begin(std::string_view) override {
    if (lzma_stream_decoder(&stream_, memory_, 0) != LZMA_OK) throw std::bad_alloc();
  }

  Step Decode(std::string_view packed, char* buffer, std::size_t capacity) override {
    stream_.next_out = reinterpret_cast<std::uint8_t*>(buffer);
    stream_.avail_out = capacity;
    stream_.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream_.avail_in = packed.size();
    const lzma_ret result = lzma_code(&stream_, packed.empty() ? LZMA_FINISH : LZMA_RUN);
    if (result != LZMA_OK && result != LZMA_STREAM_END && result != LZMA_BUF_ERROR) FailWith(result);
    return {packed.size() - stream_.avail_in, capacity - stream_.avail_out, result == LZMA_STREAM_END};
  }

  void FailWith(lzma_ret error) {
    if (error == LZMA_MEMLIMIT_ERROR) {
      Fail(TooMuchMemory(name(), lzma_memusage(&stream_), memory_));
    } else if (error == LZMA_MEM_ERROR) {
      FailMemory();
    } else if (error == LZMA_FORMAT_ERROR) {
      FailNoStream("invalid header");
    } else if (error == LZMA_OPTIONS_ERROR) {
      FailUnsupported();
    } else {
      FailDamaged();
    }
  }

  const std::size_t memory_;
  lzma_stream stream_ = LZMA_STREAM_INIT;
};

class Bzip2Decoder : public Decoder {
 public:
  explicit Bzip2Decoder(std::unique_ptr<ByteSource> packed) : Decoder(std::move(packed), Packing::kBzip2) {}
  ~Bzip2Decoder() override { BZ2_bzDecompressEnd(&stream_); }  // does nothing if none is open

 private:
  void Begin(std::string_view) override {
    BZ2_bzDecompressEnd(&stream_);
    stream_ = {};
    if (BZ2_bzDecompressInit(&stream_, 0, 0) != BZ_OK) throw std::bad_alloc();
  }

  Step Decode(std::string_view packed, char* buffer, std::size_t capacity) override {
    const auto room = static_cast<unsigned>(std::min<std::size_t>(capacity, std::numeric_limits<int>::max()));
    stream_.next_in = const_cast<char*>(packed.data());
    stream_.avail_in = static_cast<unsigned>(packed.size());
    stream_.next_out = buffer;
    stream_.avail_out = room;
    const int result = BZ2_bzDecompress(&stream_);
    if (result == BZ_MEM_ERROR) {
      FailMemory();
    } else if (result == BZ_DATA_ERROR_MAGIC) {
      FailNoStream();
    } else if (result < 0) {
      FailDamaged();
    }
    return {packed.size() - stream_.avail_in, room - stream_.avail_out, result == BZ_STREAM_END};
  }

  bz_stream stream_ = {};
};

class Lz4Decoder : public Decoder {
 public:
  explicit Lz4Decoder(std::unique_ptr<ByteSource> packed) : Decoder(std::move(packed), Packing::kLz4) {
    LZ4F_dctx* context = nullptr;
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context, LZ4F_VERSION)) != 0) throw std::bad_alloc();
    context_.reset(context);
  }

 private:
  void Begin(std::string_view) override { steps_.Begin(); }

  Step Decode(std::string_view packed, char* buffer, std::size_t capacity) override {
    Step step = {steps_.Of(packed.size()), capacity, false};
    const std::size_t result =
        LZ4F_decompress(context_.get(), buffer, &step.given, packed.data(), &step.taken, nullptr);
    if (LZ4F_isError(result) != 0) {
      FailWith(LZ4F_getErrorName(result));
      return {};
    }
    step.ended = result == 0;
    steps_.After(result, step.given == capacity);
    return step;
  }

  void FailWith(std::string_view error) {
    if (error == "ERROR_frameType_unknown" && streams() == 0) {
      FailUnsupported();
    } else if (error == "ERROR_frameType_unknown") {
      FailNoStream();
    } else {
      FailDamaged(error.ends_with("hecksum_invalid") ? "wrong checksum" : "");
    }
  }

  BlockSteps steps_{7, 4};
  std::unique_ptr<LZ4F_dctx, decltype(&LZ4F_freeDecompressionContext)> context_{nullptr,
                                                                                &LZ4F_freeDecompressionContext};
};

}  // namespace

std::unique_ptr<ByteSource> Decompress(std::unique_ptr<ByteSource> packed, Packing packing, std::size_t memory) {
  switch (packing) {
    case Packing::kGzip:
      return std::make_unique<GzipDecoder>(std::move(packed));
    case Packing::kZstd:
      return std::make_unique<ZstdDecoder>(std::move(packed), memory);
    case Packing::kXz:
      return std::make_unique<XzDecoder>(std::move(packed), memory);
    case Packing::kBzip2:
      return std::make_unique<Bzip2Decoder>(std::move(packed));
    default:
      return std::make_unique<Lz4Decoder>(std::move(packed));
  }
}

std::string TooMuchMemory(std::string_view name, std::uint64_t needed, std::size_t limit) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  const std::string amount = needed > 0 ? fmt::format("{} MiB, ", needed / kMiB + (needed % kMiB > 0 ? 1 : 0)) : "";
  return fmt::format("unpacking its {} data needs {}more than {} (--max-memory); not read", name, amount,
                     WholeSize(limit));
}

namespace {

constexpr std::size_t kBlocks = 4;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

class ReadAheadSource : public ByteSource {
 public:
  ReadAheadSource(std::unique_ptr<ByteSource> source, std::size_t after) : source_(std::move(source)), after_(after) {}

  ~ReadAheadSource() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (!thread_.joinable() && passed_ >= after_) Start();
    if (thread_.joinable()) return Take(buffer, capacity);
    const std::size_t got = source_->Read(buffer, capacity);
    passed_ += got;
    return got;
  }

  std::string_view problem() const override {
    if (!thread_.joinable()) return source_->problem();
    return ended_ ? std::string_view(problem_) : std::string_view();
  }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes;
    std::size_t size = 0;
  };

  void Start() {
    try {
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error&) {
      after_ = static_cast<std::size_t>(-1);  // no thread is available, so read on this one
    }
  }

  // Runs on the thread: adds blocks until the end, which is an empty block.
  void Work() {
    for (bool end = false; !end;) {
      Block block{std::make_unique_for_overwrite<char[]>(kReadBytes)};
      try {
        block.size = source_->Read(block.bytes.get(), kReadBytes);
      } catch (...) {
        failure_ = std::current_exception();
      }
      end = block.size == 0;
      if (end) problem_ = source_->problem();
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return blocks_.size() < kBlocks || abandoned_; });
      if (abandoned_) return;
      blocks_.push_back(std::move(block));
      changed_.notify_all();
    }
  }

  std::size_t Take(char* buffer, std::size_t capacity) {
    if (ended_ || capacity == 0) return 0;
    if (taken_ == block_.size) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !blocks_.empty(); });
      block_ = std::move(blocks_.front());
      blocks_.pop_front();
      taken_ = 0;
      changed_.notify_all();
    }
    ended_ = block_.size == 0;
    if (ended_ && failure_) std::rethrow_exception(failure_);
    const std::size_t count = std::min(capacity, block_.size - taken_);
    if (count > 0) std::memcpy(buffer, block_.bytes.get() + taken_, count);
    taken_ += count;
    return count;
  }

  // Used by the thread while it runs; the reader uses them after the last block.
  std::unique_ptr<ByteSource> source_;
  std::string problem_;
  std::exception_ptr failure_;

  std::size_t after_;
  std::size_t passed_ = 0;
  Block block_;            // the current one
  std::size_t taken_ = 0;  // consumed bytes of it
  bool ended_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<Block> blocks_;
  bool abandoned_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source, std::size_t after) {
  return std::make_unique<ReadAheadSource>(std::move(source), after);
}

}  // namespace whyoom
