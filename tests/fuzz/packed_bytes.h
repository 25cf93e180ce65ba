// Compresses bytes in each stream format that whyoom reads.
#pragma once

#include <bzlib.h>
#include <lz4frame.h>
#include <lzma.h>
#include <zlib.h>
#include <zstd.h>

#include <string>

#include "fuzz/fuzz.h"
#include "input/packing.h"

namespace whyoom {

inline std::string Gzip(std::string_view bytes) {
  z_stream stream{};
  constexpr int kWithGzipHeader = 16;
  Require(deflateInit2(&stream, 1, Z_DEFLATED, kWithGzipHeader + MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK,
          "zlib starts");
  std::string packed(deflateBound(&stream, bytes.size()), '\0');
  stream.next_in = const_cast<Bytef*>(reinterpret_cast<const Bytef*>(bytes.data()));
  stream.avail_in = static_cast<unsigned>(bytes.size());
  stream.next_out = reinterpret_cast<Bytef*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  Require(deflate(&stream, Z_FINISH) == Z_STREAM_END, "gzip compression succeeds");
  packed.resize(stream.total_out);
  deflateEnd(&stream);
  return packed;
}

inline std::string Pack(Packing packing, std::string_view bytes) {
  if (packing == Packing::kGzip) return Gzip(bytes);
  std::string packed(2 * bytes.size() + 1000, '\0');
  std::size_t size = 0;
  if (packing == Packing::kZstd) {
    size = ZSTD_compress(packed.data(), packed.size(), bytes.data(), bytes.size(), 1);
  } else if (packing == Packing::kXz) {
    lzma_easy_buffer_encode(0, LZMA_CHECK_CRC32, nullptr, reinterpret_cast<const std::uint8_t*>(bytes.data()),
                            bytes.size(), reinterpret_cast<std::uint8_t*>(packed.data()), &size, packed.size());
  } else if (packing == Packing::kBzip2) {
    auto length = static_cast<unsigned>(packed.size());
    BZ2_bzBuffToBuffCompress(packed.data(), &length, const_cast<char*>(bytes.data()),
                             static_cast<unsigned>(bytes.size()), 1, 0, 0);
    size = length;
  } else {
    size = LZ4F_compressFrame(packed.data(), packed.size(), bytes.data(), bytes.size(), nullptr);
  }
  Require(size > 0 && size <= packed.size(), "compression succeeds");
  packed.resize(size);
  return packed;
}

}  // namespace whyoom
