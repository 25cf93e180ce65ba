#include "input/packing.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

// RFC 1952, RFC 8878, and the formats' own descriptions.
constexpr auto kMagic = std::to_array<std::pair<std::string_view, Packing>>({
    {"\x1f\x8b\x08"sv, Packing::kGzip},
    {"\x28\xb5\x2f\xfd"sv, Packing::kZstd},
    {"\xfd\x37zXZ\0"sv, Packing::kXz},
    {"\x04\x22\x4d\x18"sv, Packing::kLz4},
    {"\x02\x21\x4c\x18"sv, Packing::kLz4},  // the format before frames
    {"PK\x03\x04"sv, Packing::kZip},
    {"PK\x05\x06"sv, Packing::kZip},  // without a member
    {"PK\x06\x06"sv, Packing::kZip},  // the same in zip64
    {"PK\x07\x08PK\x03\x04"sv, Packing::kZip},
    {"PK00PK\x03\x04"sv, Packing::kZip},
    {"7z\xbc\xaf\x27\x1c"sv, Packing::kSevenZip},
    {"!<arch>\n"sv, Packing::kAr},
    // Of "BZh9" only the block's magic after the level tells from text.
    {"\x31\x41\x59\x26\x53\x59"sv, Packing::kBzip2},
    {"\x17\x72\x45\x38\x50\x90"sv, Packing::kBzip2},  // without a block
});

bool IsZstdSkippable(std::string_view bytes) {
  return bytes.size() >= 4 && bytes[0] >= '\x50' && bytes[0] <= '\x5f' && bytes.substr(1, 3) == "\x2a\x4d\x18"sv;
}

std::uint32_t Byte(std::string_view bytes, std::size_t at) { return static_cast<unsigned char>(bytes[at]); }

bool IsDigitsBelow(std::string_view text, char base) {
  return std::all_of(text.begin(), text.end(), [&](char letter) {
    if (base == '8') return letter >= '0' && letter <= '7';
    return (letter >= '0' && letter <= '9') || (letter >= 'a' && letter <= 'f') || (letter >= 'A' && letter <= 'F');
  });
}

// Headers of digits begin like a date ("070701 12:00:00"), so all of one must be there.
bool IsCpioText(std::string_view bytes) {
  constexpr std::size_t kNewHeader = 110;
  constexpr std::size_t kOldHeader = 76;
  if (bytes.starts_with("070701") || bytes.starts_with("070702"))
    return bytes.size() >= kNewHeader && IsDigitsBelow(bytes.substr(0, kNewHeader), 'f');
  return bytes.starts_with("070707") && bytes.size() >= kOldHeader && IsDigitsBelow(bytes.substr(0, kOldHeader), '8');
}

// Two bytes of magic are few, so the name behind the header must be one.
bool IsCpioBinary(std::string_view bytes) {
  constexpr std::size_t kHeader = 26;
  constexpr std::size_t kNameSize = 20;
  constexpr std::uint32_t kLongestName = 4096;
  if (bytes.size() < kHeader) return false;
  const bool little = bytes.starts_with("\xc7\x71"sv);
  if (!little && !bytes.starts_with("\x71\xc7"sv)) return false;
  const std::uint32_t low = Byte(bytes, kNameSize + (little ? 0 : 1));
  const std::uint32_t size = low | Byte(bytes, kNameSize + (little ? 1 : 0)) << 8;
  if (size < 2 || size > kLongestName) return false;
  const std::string_view name = bytes.substr(kHeader, size);
  const std::size_t end = name.find('\0');
  return name.size() == size ? end == size - 1 : end == std::string_view::npos;
}

// The sum of the header's bytes stands in it as octal digits; the field itself counts as blanks. Tars from before
// "ustar" have no other sign.
bool HasTarChecksum(std::string_view bytes) {
  constexpr std::size_t kField = 148;
  constexpr std::size_t kFieldSize = 8;
  std::string_view field = bytes.substr(kField, kFieldSize);
  field.remove_prefix(std::min(field.find_first_not_of(' '), field.size()));
  std::int64_t stated = 0;
  std::size_t digits = 0;
  while (digits < field.size() && field[digits] >= '0' && field[digits] <= '7')
    stated = stated * 8 + field[digits++] - '0';
  if (digits == 0) return false;
  std::int64_t as_unsigned = 0;
  std::int64_t as_signed = 0;  // what some old programs wrote
  for (std::size_t i = 0; i < kPackingBytes; ++i) {
    const char byte = i >= kField && i < kField + kFieldSize ? ' ' : bytes[i];
    as_unsigned += static_cast<unsigned char>(byte);
    as_signed += static_cast<signed char>(byte);
  }
  return stated == as_unsigned || stated == as_signed;
}

bool IsTar(std::string_view bytes) {
  constexpr std::size_t kMagicAt = 257;
  if (bytes.size() > kMagicAt && bytes.substr(kMagicAt).starts_with("ustar")) return true;
  return bytes.size() >= kPackingBytes && HasTarChecksum(bytes);
}

}  // namespace

Packing PackingOf(std::string_view beginning) {
  constexpr std::string_view kBzip2 = "BZh";
  std::string_view magic = beginning;
  const bool bzip2 = beginning.starts_with(kBzip2) && beginning.size() > kBzip2.size() &&
                     beginning[kBzip2.size()] >= '1' && beginning[kBzip2.size()] <= '9';
  if (bzip2) magic.remove_prefix(kBzip2.size() + 1);
  for (const auto& [bytes, packing] : kMagic) {
    if (magic.starts_with(bytes) && (packing == Packing::kBzip2) == bzip2) return packing;
  }
  if (IsZstdSkippable(beginning)) return Packing::kZstd;
  if (IsCpioText(beginning) || IsCpioBinary(beginning)) return Packing::kCpio;
  return IsTar(beginning) ? Packing::kTar : Packing::kNone;
}

std::string_view NameOf(Packing packing) {
  constexpr std::array<std::string_view, 11> kNames = {"plain", "gzip", "zstd", "xz",   "bzip2", "lz4",
                                                       "tar",   "zip",  "7z",   "cpio", "ar"};
  return kNames[static_cast<std::size_t>(packing)];
}

bool IsArchive(Packing packing) { return packing >= Packing::kTar; }

bool IsProgram(std::string_view beginning) {
  constexpr auto kPrograms = std::to_array<std::string_view>({
      "\x7f"
      "ELF"sv,
      "\xfe\xed\xfa\xce"sv,  // Mach-O, in both orders and sizes
      "\xfe\xed\xfa\xcf"sv, "\xce\xfa\xed\xfe"sv, "\xcf\xfa\xed\xfe"sv,
      "\xca\xfe\xba\xbe"sv,  // several of them in one; Java classes
      "\0asm"sv,
      "BC\xc0\xde"sv,  // LLVM
  });
  if (std::any_of(kPrograms.begin(), kPrograms.end(), [&](auto magic) { return beginning.starts_with(magic); }))
    return true;
  // A library of machine code begins with a table of its symbols, no other archive does.
  constexpr std::string_view kAr = "!<arch>\n";
  if (beginning.starts_with(kAr)) {
    const std::string_view first = beginning.substr(kAr.size(), 16);
    if (first.starts_with("/ ") || first.starts_with("__.SYMDEF") || first.starts_with("#1/20 ")) return true;
  }
  // The header of Windows programs is 64 bytes with zeros in it.
  constexpr std::size_t kDosHeader = 64;
  if (beginning.starts_with("MZ") && beginning.size() >= kDosHeader)
    return beginning.substr(0, kDosHeader).find('\0') != std::string_view::npos;
  // Python's: a version and a line break, then flags of four bytes, of which the upper three are zero.
  return beginning.size() >= 16 && beginning.substr(2, 2) == "\r\n" && beginning.substr(5, 3) == "\0\0\0"sv;
}

bool IsOwnReport(std::string_view beginning) {
  const auto holds = [&](std::string_view sign) { return beginning.find(sign) != std::string_view::npos; };
  if (beginning.starts_with('<')) return holds(R"(<testsuites name="whyoom")");
  if (!beginning.starts_with('{')) return false;
  // A record of a logger may name whyoom as well, so the name alone does only beside SARIF's schema.
  return holds(R"("schema": "whyoom.)") || holds(R"("schema":"whyoom.)") ||
         (holds("/sarif-schema-") && holds(R"("name": "whyoom")"));
}

}  // namespace whyoom
