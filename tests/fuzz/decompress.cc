// Any bytes in each stream compression: the output depends neither on the chunking of the
// input nor on the previous contents of the buffer. The first byte selects the format, and whether the rest is
// compressed data or a text that is compressed here and then damaged.
#include <array>
#include <cstring>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "fuzz/packed_bytes.h"
#include "input/archive/unpacker.h"

using namespace whyoom;

namespace {

constexpr std::size_t kMemory = std::size_t{16} << 20U;
constexpr std::size_t kEnough = std::size_t{1} << 20U;
constexpr std::size_t kBufferBytes = std::size_t{1} << 14U;

struct Unpacked {
  std::string bytes;  // at most kEnough
  std::string problem;
};

Unpacked Unpack(std::string_view packed, Packing packing, std::size_t chunk, std::size_t capacity, int filling) {
  const std::unique_ptr<ByteSource> bytes = OpenMemory(packed, chunk);
  const std::unique_ptr<Unpacker> source = OpenStream(*bytes, packing, kMemory);
  std::string name;
  Require(source->Next(&name), "a stream is one member");
  // A heap buffer of the exact size, so sanitizers detect writes past its end.
  const auto buffer = std::make_unique<char[]>(capacity);
  Unpacked unpacked;
  while (unpacked.bytes.size() < kEnough) {
    std::memset(buffer.get(), filling, capacity);
    const std::size_t got = source->Read(buffer.get(), capacity);
    if (got == 0) {
      Require(source->Read(buffer.get(), capacity) == 0, "a read at the end returns nothing");
      unpacked.problem = source->problem();
      break;
    }
    Require(got <= capacity, "a read returns at most the requested bytes");
    unpacked.bytes.append(buffer.get(), got);
  }
  unpacked.bytes.resize(std::min(unpacked.bytes.size(), kEnough));
  return unpacked;
}

// Compares two results. At damage, their lengths may differ. The xz decoder detects some damage only after it has
// decompressed the bytes of the same call. The bzip2 decoder drops the damaged block that it was decompressing. In
// other formats, the last bytes before the damage may depend on bits that are not read.
void CheckSame(const Unpacked& one, const Unpacked& other, Packing packing, const char* what) {
  // The messages may differ: a truncated header may be reported as damaged.
  Require(one.problem.empty() == other.problem.empty(), "both have a problem or none");
  const std::size_t both = std::min(one.bytes.size(), other.bytes.size());
  Require(one.bytes.compare(0, both, other.bytes, 0, both) == 0, what);
  constexpr std::size_t kLastBytes = 4;
  const bool damaged = !one.problem.empty();
  const std::size_t differ = std::max(one.bytes.size(), other.bytes.size()) - both;
  if (damaged && (packing == Packing::kXz || packing == Packing::kBzip2)) return;
  Require(differ <= (damaged ? kLastBytes : 0), what);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  constexpr std::array kPackings = {Packing::kGzip, Packing::kZstd, Packing::kXz, Packing::kBzip2, Packing::kLz4};
  Choices choices(Bytes(data, size));
  const std::size_t kind = choices.Below(2 * kPackings.size());
  const Packing packing = kPackings[kind % kPackings.size()];
  const std::size_t chunk = 1 + choices.Byte();
  std::string packed;
  if (kind < kPackings.size()) {
    packed = choices.Rest();
  } else {
    for (std::size_t streams = 1 + choices.Below(3); streams > 0; --streams) {
      std::string text;
      for (std::size_t parts = choices.Below(4); parts > 0; --parts) {
        const std::string_view part = choices.Bytes(200);
        for (std::size_t times = 1 + choices.Byte(); times > 0; --times) text += part;
      }
      packed += Pack(packing, text);
    }
    Damage(choices, &packed);
    packed += choices.Bytes(100);
  }
  const Unpacked whole = Unpack(packed, packing, std::string_view::npos, kBufferBytes, 0x00);
  const Unpacked again = Unpack(packed, packing, std::string_view::npos, kBufferBytes, 0xAA);
  Require(whole.bytes == again.bytes && whole.problem == again.problem, "the output contains only decompressed bytes");
  CheckSame(whole, Unpack(packed, packing, chunk, kBufferBytes, 0xAA), packing, "the result depends only on the bytes");
  CheckSame(whole, Unpack(packed, packing, chunk, 1 + chunk * 5, 0x00), packing,
            "the size of the buffer does not matter");
  return 0;
}
