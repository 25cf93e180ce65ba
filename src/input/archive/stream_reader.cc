// Decompresses gzip, zstd, xz, bzip2 and lz4.
//
// libarchive also supports these formats, but drops up to 64 KiB before damage or a cut, which is where the log of a
// crashed job ends.
#include <bzlib.h>
#include <fmt/format.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>
#include <zstd_errors.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>
#include <map>
#include <new>
#include <type_traits>
#include <utility>

#include "input/archive/unpacker.h"

namespace whyoom {
namespace {

enum class Outcome { kMore, kStreamEnd, kDamaged, kNoMemory };

// The input and output of a decoder's call. The decoder removes what it has read from `packed`, which is empty only at
// the very end, and advances `out`.
struct Step {
  std::string_view packed;
  char* out;
  std::size_t room;  // bytes at `out`

  void Advance(std::size_t read, std::size_t wrote) {
    packed.remove_prefix(read);
    out += wrote;
    room -= wrote;
  }
};

class Decoder {
 public:
  virtual ~Decoder() = default;
  // Called at the start of each of several concatenated streams.
  virtual void Begin() = 0;
  // Must not lose bytes that were decompressed before damage.
  virtual Outcome Run(Step* step) = 0;
};

// zlib, bzip2 or xz, whose functions have the same interface. They return 0 if all is well.
template <class Stream>
struct Library {
  std::function<int(Stream*)> begin;
  std::function<int(Stream*)> run;
  std::function<void(Stream*)> end;  // does nothing if none is open
  std::map<int, Outcome> outcomes;   // of `run`; any other result means damage
};

template <class Stream>
class LibraryDecoder : public Decoder {
 public:
  explicit LibraryDecoder(Library<Stream> library) : library_(std::move(library)) {}
  ~LibraryDecoder() override { library_.end(&stream_); }
  void Begin() override {
    library_.end(&stream_);
    stream_ = {};
    if (library_.begin(&stream_) != 0) throw std::bad_alloc();
  }
  Outcome Run(Step* step) override {
    constexpr std::size_t kMost = std::numeric_limits<int>::max();  // bytes are counted in 32 bits
    const std::size_t packed = std::min(step->packed.size(), kMost);
    const std::size_t room = std::min(step->room, kMost);
    using Byte = std::remove_pointer_t<decltype(stream_.next_out)>;
    stream_.next_in = const_cast<Byte*>(reinterpret_cast<const Byte*>(step->packed.data()));
    stream_.avail_in = static_cast<unsigned>(packed);
    stream_.next_out = reinterpret_cast<Byte*>(step->out);
    stream_.avail_out = static_cast<unsigned>(room);
    const auto outcome = library_.outcomes.find(library_.run(&stream_));
    step->Advance(packed - stream_.avail_in, room - stream_.avail_out);
    return outcome == library_.outcomes.end() ? Outcome::kDamaged : outcome->second;
  }

 private:
  const Library<Stream> library_;
  Stream stream_ = {};
};

// A call of zstd or lz4 that finds damage loses what it decompressed before the damage. So each call gets input up to
// the end of one block, by the decoder's hint for the size of its next input, which includes the next block's header.
class BlockDecoder : public Decoder {
 public:
  // Sizes in bytes: of the shortest header of a stream, and of a block's header.
  BlockDecoder(std::size_t header, std::size_t block_header) : header_(header), block_header_(block_header) {}
  void Begin() override { next_ = header_; }

 protected:
  // A call that filled its output may return more without new input.
  std::size_t InputOf(const Step& step) const { return full_ ? 0 : std::min(step.packed.size(), next_); }

  Outcome After(std::size_t hint, std::size_t read, std::size_t wrote, Step* step) {
    step->Advance(read, wrote);
    full_ = step->room == 0;
    next_ = hint > block_header_ ? hint - block_header_ : std::max<std::size_t>(hint, 1);
    return hint == 0 ? Outcome::kStreamEnd : Outcome::kMore;
  }

 private:
  const std::size_t header_;
  const std::size_t block_header_;
  std::size_t next_ = 0;
  bool full_ = false;
};

class ZstdDecoder : public BlockDecoder {
 public:
  explicit ZstdDecoder(std::size_t memory) : BlockDecoder(5, 3), context_(ZSTD_createDCtx(), &ZSTD_freeDCtx) {
    if (context_ == nullptr) throw std::bad_alloc();
    // A decoder's memory is almost entirely its window.
    const ZSTD_bounds bounds = ZSTD_dParam_getBounds(ZSTD_d_windowLogMax);
    const int log = static_cast<int>(std::bit_width(memory)) - 1;
    ZSTD_DCtx_setParameter(context_.get(), ZSTD_d_windowLogMax, std::clamp(log, bounds.lowerBound, bounds.upperBound));
  }
  Outcome Run(Step* step) override {
    ZSTD_outBuffer out = {step->out, step->room, 0};
    ZSTD_inBuffer in = {step->packed.data(), InputOf(*step), 0};
    const std::size_t result = ZSTD_decompressStream(context_.get(), &out, &in);
    if (ZSTD_isError(result) == 0) return After(result, in.pos, out.pos, step);
    const ZSTD_ErrorCode error = ZSTD_getErrorCode(result);
    const bool memory = error == ZSTD_error_frameParameter_windowTooLarge || error == ZSTD_error_memory_allocation;
    return memory ? Outcome::kNoMemory : Outcome::kDamaged;
  }

 private:
  const std::unique_ptr<ZSTD_DCtx, decltype(&ZSTD_freeDCtx)> context_;
};

class Lz4Decoder : public BlockDecoder {
 public:
  Lz4Decoder() : BlockDecoder(7, 4) {
    if (LZ4F_isError(LZ4F_createDecompressionContext(&context_, LZ4F_VERSION)) != 0) throw std::bad_alloc();
  }
  ~Lz4Decoder() override { LZ4F_freeDecompressionContext(context_); }
  Outcome Run(Step* step) override {
    std::size_t wrote = step->room;
    std::size_t read = InputOf(*step);
    const std::size_t result = LZ4F_decompress(context_, step->out, &wrote, step->packed.data(), &read, nullptr);
    if (LZ4F_isError(result) == 0) return After(result, read, wrote, step);
    return std::string_view(LZ4F_getErrorName(result)).ends_with("allocation_failed") ? Outcome::kNoMemory
                                                                                      : Outcome::kDamaged;
  }

 private:
  LZ4F_dctx* context_ = nullptr;
};

std::unique_ptr<Decoder> MakeDecoder(Packing packing, std::size_t memory) {
  using enum Outcome;
  if (packing == Packing::kZstd) return std::make_unique<ZstdDecoder>(memory);
  if (packing == Packing::kLz4) return std::make_unique<Lz4Decoder>();
  if (packing == Packing::kBzip2)
    return std::make_unique<LibraryDecoder<bz_stream>>(
        Library<bz_stream>{.begin = [](bz_stream* stream) { return BZ2_bzDecompressInit(stream, 0, 0); },
                           .run = BZ2_bzDecompress,
                           .end = BZ2_bzDecompressEnd,
                           .outcomes = {{BZ_OK, kMore}, {BZ_STREAM_END, kStreamEnd}, {BZ_MEM_ERROR, kNoMemory}}});
  if (packing == Packing::kXz)
    return std::make_unique<LibraryDecoder<lzma_stream>>(Library<lzma_stream>{
        .begin = [memory](lzma_stream* stream) { return lzma_stream_decoder(stream, memory, 0); },
        .run = [](lzma_stream* stream) { return lzma_code(stream, stream->avail_in == 0 ? LZMA_FINISH : LZMA_RUN); },
        .end = lzma_end,
        .outcomes = {{LZMA_OK, kMore},
                     {LZMA_BUF_ERROR, kMore},
                     {LZMA_STREAM_END, kStreamEnd},
                     {LZMA_MEM_ERROR, kNoMemory},
                     {LZMA_MEMLIMIT_ERROR, kNoMemory}}});
  constexpr int kWithGzipHeader = 16;
  return std::make_unique<LibraryDecoder<z_stream>>(Library<z_stream>{
      .begin = [](z_stream* stream) { return inflateInit2(stream, kWithGzipHeader + MAX_WBITS); },
      .run = [](z_stream* stream) { return inflate(stream, Z_NO_FLUSH); },
      .end = inflateEnd,
      .outcomes = {{Z_OK, kMore}, {Z_BUF_ERROR, kMore}, {Z_STREAM_END, kStreamEnd}, {Z_MEM_ERROR, kNoMemory}}});
}

// Reads concatenated streams as one. Other bytes after the last one are a problem.
class StreamReader : public Unpacker {
 public:
  StreamReader(ByteSource& source, Packing packing, std::size_t memory)
      : source_(source), packing_(packing), memory_(memory), decoder_(MakeDecoder(packing, memory)) {}

  bool Next(std::string* name) override {
    name->clear();
    return !std::exchange(opened_, true);
  }
  std::size_t Read(char* buffer, std::size_t capacity) override;

 private:
  static constexpr std::size_t kBlock = std::size_t{1} << 16;
  static constexpr std::size_t kMagic = 16;  // bytes that show whether a stream begins

  std::string_view packed() const { return {block_.get() + begin_, end_ - begin_}; }

  // Reads until `least` packed bytes are in the block, fewer at the end of the source.
  void Fill(std::size_t least) {
    while (end_ - begin_ < least) {
      if (begin_ > 0) std::memmove(block_.get(), block_.get() + begin_, end_ - begin_);
      end_ -= std::exchange(begin_, 0);
      const std::size_t got = source_.Read(block_.get() + end_, kBlock - end_);
      if (got == 0) return;
      end_ += got;
    }
  }

  // Returns false at the end, and with a problem if the next bytes are not a stream. Skips zeros before it, with which
  // tapes and xz fill blocks.
  bool BeginStream() {
    for (Fill(1); packed().starts_with('\0'); Fill(1))
      begin_ += std::min(packed().find_first_not_of('\0'), packed().size());
    Fill(kMagic);
    if (packed().empty()) return false;
    if (PackingOf(packed()) != packing_) {
      member_problem_ = fmt::format("other bytes follow its {} data and were not read", NameOf(packing_));
      return false;
    }
    decoder_->Begin();
    return in_stream_ = true;
  }

  std::string Sentence(const char* what) const { return fmt::format("its {} data {}", NameOf(packing_), what); }

  ByteSource& source_;
  const Packing packing_;
  const std::size_t memory_;
  const std::unique_ptr<Decoder> decoder_;
  bool opened_ = false;
  const std::unique_ptr<char[]> block_ = std::make_unique_for_overwrite<char[]>(kBlock);
  std::size_t begin_ = 0;  // of the bytes that are not decompressed yet
  std::size_t end_ = 0;
  bool in_stream_ = false;
};

std::size_t StreamReader::Read(char* buffer, std::size_t capacity) {
  while (member_problem_.empty() && capacity > 0 && (in_stream_ || BeginStream())) {
    Fill(1);
    Step step{packed(), buffer, capacity};
    const bool at_end = step.packed.empty();
    const Outcome outcome = decoder_->Run(&step);
    begin_ = end_ - step.packed.size();
    const std::size_t wrote = capacity - step.room;
    if (outcome == Outcome::kStreamEnd) {
      in_stream_ = false;
    } else if (outcome == Outcome::kNoMemory) {
      member_problem_ = NeedsMore(packing_, memory_);
    } else if (outcome == Outcome::kDamaged) {
      member_problem_ = Sentence("is damaged; the rest was not read");
    } else if (at_end && wrote == 0) {
      member_problem_ = Sentence("is truncated");
    }
    if (wrote > 0) return wrote;
  }
  return 0;
}

}  // namespace

std::unique_ptr<Unpacker> OpenStream(ByteSource& source, Packing packing, std::size_t memory) {
  return std::make_unique<StreamReader>(source, packing, memory);
}

}  // namespace whyoom
