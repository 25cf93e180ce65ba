// Any bytes in each packing that is a stream: what comes out does not depend on how they come in, nor on what stands
// where it is put. The first byte chooses the packing, and whether the rest is packed already or is a text that is
// packed here and damaged afterwards.
#include "input/decompress.h"

#include <array>
#include <cstring>

#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "fuzz/packed_bytes.h"

using namespace whyoom;

namespace {

constexpr std::size_t kMemory = std::size_t{16} << 20U;
constexpr std::size_t kEnough = std::size_t{1} << 20U;
constexpr std::size_t kRoom = std::size_t{1} << 14U;

struct Unpacked {
  std::string bytes;  // kEnough of them at most
  std::string problem;
};

Unpacked Unpack(std::string_view packed, Packing packing, std::size_t chunk, std::size_t capacity, int filling) {
  const auto source = Decompress(OpenMemory(packed, chunk), packing, kMemory);
  // With nothing behind it that could be written to.
  const auto buffer = std::make_unique<char[]>(capacity);
  Unpacked unpacked;
  while (unpacked.bytes.size() < kEnough) {
    std::memset(buffer.get(), filling, capacity);
    const std::size_t got = source->Read(buffer.get(), capacity);
    if (got == 0) {
      Require(source->Read(buffer.get(), capacity) == 0, "the end is the end");
      unpacked.problem = source->problem();
      break;
    }
    Require(got <= capacity, "no more is given than asked for");
    unpacked.bytes.append(buffer.get(), got);
  }
  unpacked.bytes.resize(std::min(unpacked.bytes.size(), kEnough));
  return unpacked;
}

// The decoder of xz sees some damage only behind the bytes that it was given at once, and has unpacked them by then;
// bzip2's drops what it unpacked of a damaged block in the call that meets the damage. Elsewhere the
// last letters before the damage may hang on bits that are not looked at any more.
void CheckSame(const Unpacked& one, const Unpacked& other, Packing packing, const char* what) {
  // A cut header may be called damaged as well.
  Require(one.problem.empty() == other.problem.empty(), "there is a problem or none");
  const std::size_t both = std::min(one.bytes.size(), other.bytes.size());
  Require(one.bytes.compare(0, both, other.bytes, 0, both) == 0, what);
  constexpr std::size_t kLastLetters = 4;
  const bool damaged = !one.problem.empty();
  const std::size_t differ = std::max(one.bytes.size(), other.bytes.size()) - both;
  if (damaged && (packing == Packing::kXz || packing == Packing::kBzip2)) return;
  Require(differ <= (damaged ? kLastLetters : 0), what);
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
  const Unpacked whole = Unpack(packed, packing, std::string_view::npos, kRoom, 0x00);
  const Unpacked again = Unpack(packed, packing, std::string_view::npos, kRoom, 0xAA);
  Require(whole.bytes == again.bytes && whole.problem == again.problem, "only what was unpacked is given");
  CheckSame(whole, Unpack(packed, packing, chunk, kRoom, 0xAA), packing, "chunks do not matter");
  CheckSame(whole, Unpack(packed, packing, chunk, 1 + chunk * 5, 0x00), packing, "the room does not matter");
  return 0;
}
