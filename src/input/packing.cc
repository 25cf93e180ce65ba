#include "input/packing.h"

#include <algorithm>
#include <array>
#include <utility>

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

// Sources: RFC 1952, RFC 8878, and the formats' own descriptions.
constexpr auto kMagic = std::to_array<std::pair<std::string_view, Packing>>({
    {"\x1f\x8b\x08"sv, Packing::kGzip},
    {"\x28\xb5\x2f\xfd"sv, Packing::kZstd},
    {"\xfd\x37zXZ\0"sv, Packing::kXz},
    {"\x04\x22\x4d\x18"sv, Packing::kLz4},
    {"PK\x03\x04"sv, Packing::kZip},
    {"PK\x05\x06"sv, Packing::kZip},  // without members
    {"PK\x06\x06"sv, Packing::kZip},  // without members, zip64
    {"PK\x07\x08PK\x03\x04"sv, Packing::kZip},
    {"PK00PK\x03\x04"sv, Packing::kZip},
    {"7z\xbc\xaf\x27\x1c"sv, Packing::kSevenZip},
});

bool IsZstdSkippable(std::string_view bytes) {
  return bytes.size() >= 4 && bytes[0] >= '\x50' && bytes[0] <= '\x5f' && bytes.substr(1, 3) == "\x2a\x4d\x18"sv;
}

// "BZh" and the level alone could be text, so the magic of the block after them, or of the end, is checked.
bool IsBzip2(std::string_view bytes) {
  if (bytes.size() < 10 || !bytes.starts_with("BZh") || bytes[3] < '1' || bytes[3] > '9') return false;
  const std::string_view block = bytes.substr(4, 6);
  return block == "\x31\x41\x59\x26\x53\x59"sv || block == "\x17\x72\x45\x38\x50\x90"sv;
}

// Without this magic, as written before 1988, the members are read as one plain text.
bool IsTar(std::string_view bytes) {
  constexpr std::size_t kMagicAt = 257;
  return bytes.size() > kMagicAt && bytes.substr(kMagicAt).starts_with("ustar");
}

}  // namespace

Packing PackingOf(std::string_view beginning) {
  for (const auto& [bytes, packing] : kMagic) {
    if (beginning.starts_with(bytes)) return packing;
  }
  if (IsZstdSkippable(beginning)) return Packing::kZstd;
  if (IsBzip2(beginning)) return Packing::kBzip2;
  return IsTar(beginning) ? Packing::kTar : Packing::kNone;
}

std::string_view NameOf(Packing packing) {
  constexpr std::array<std::string_view, 9> kNames = {"plain", "gzip", "zstd", "xz", "bzip2",
                                                      "lz4",   "tar",  "zip",  "7z"};
  return kNames[static_cast<std::size_t>(packing)];
}

bool IsArchive(Packing packing) { return packing >= Packing::kTar; }

bool IsProgram(std::string_view beginning) {
  constexpr auto kPrograms = std::to_array<std::string_view>({
      "\x7f"
      "ELF"sv,
      "\xfe\xed\xfa\xce"sv,  // Mach-O, 32 and 64 bit, both byte orders
      "\xfe\xed\xfa\xcf"sv, "\xce\xfa\xed\xfe"sv, "\xcf\xfa\xed\xfe"sv,
      "\xca\xfe\xba\xbe"sv,  // Mach-O universal binaries; Java classes
      "\0asm"sv,
      "BC\xc0\xde"sv,  // LLVM
      "MZ"sv,
      "!<arch>\n"sv,  // libraries and Debian packages
  });
  const bool has_magic =
      std::any_of(kPrograms.begin(), kPrograms.end(), [&](auto magic) { return beginning.starts_with(magic); });
  // Python bytecode: a version and a line break, then four bytes of flags, of which the upper three are zero.
  const bool is_python =
      beginning.size() >= 16 && beginning.substr(2, 2) == "\r\n" && beginning.substr(5, 3) == "\0\0\0"sv;
  // Text may follow the magic bytes, but contains no zeros.
  return is_python || (has_magic && beginning.find('\0', 1) != std::string_view::npos);
}

}  // namespace whyoom
