// Generated archives, nested and compressed: their contents do not depend on the chunking of the input. Headers are
// well formed but may contain wrong values, so the fuzzer gets past magic numbers and checksums.
#include <fmt/format.h>
#include <zlib.h>

#include <array>
#include <limits>

#include "fuzz/choices.h"
#include "fuzz/packed_bytes.h"
#include "fuzz/unpacked.h"

using namespace whyoom;

namespace {

constexpr std::size_t kDeepest = 4;
constexpr std::size_t kLongest = std::size_t{1} << 17U;  // larger archives are not nested

std::string Content(Choices& choices, std::size_t depth);

std::string Name(Choices& choices) {
  constexpr std::array kNames = {"job.log", "a/b/c.log", "../up",       "/root", "x\xff\xfe",
                                 "",        "./",        "caf\xc3\xa9", "n\nl"};
  switch (choices.Below(4)) {
    case 0:
      return std::string(choices.Bytes(120));
    case 1:
      return std::string(choices.Below(70000), 'n');
    default:
      return choices.Of(kNames);
  }
}

// Returns the actual size, or sometimes any other number.
std::uint64_t Size(Choices& choices, std::size_t size) { return choices.OneIn(6) ? choices.Number() : size; }

std::string Zeros(std::size_t count) { return std::string(count, '\0'); }

std::string PaddedTo(std::string bytes, std::size_t block) {
  return bytes.append((block - bytes.size() % block) % block, '\0');
}

void Set(std::string* header, std::size_t at, std::size_t width, std::string_view text) {
  header->replace(at, std::min(width, text.size()), text.substr(0, width));
}

// In octal digits, or in binary if the number does not fit.
std::string TarNumber(std::uint64_t number, std::size_t width) {
  std::string digits = fmt::format("{:0{}o}", number, width - 1);
  if (digits.size() < width) return digits + '\0';
  digits.assign(width, '\0');
  for (std::size_t i = 0; i < width && i < sizeof(number); ++i)
    digits[width - 1 - i] = static_cast<char>(number >> (8 * i));
  digits[0] = '\x80';
  return digits;
}

std::string TarHeader(std::string_view name, char type, std::uint64_t size, bool gnu) {
  std::string header = Zeros(512);
  Set(&header, 0, 100, name);
  Set(&header, 100, 8, TarNumber(0644, 8));
  Set(&header, 108, 8, TarNumber(0, 8));
  Set(&header, 116, 8, TarNumber(0, 8));
  Set(&header, 124, 12, TarNumber(size, 12));
  Set(&header, 136, 12, TarNumber(0, 12));
  header[156] = type;
  Set(&header, 257, 8, gnu ? std::string_view("ustar  \0", 8) : std::string_view("ustar\00000", 8));
  return header;
}

std::string WithChecksum(std::string header) {
  Set(&header, 148, 8, "        ");
  unsigned sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  Set(&header, 148, 8, fmt::format("{:06o}", sum) + '\0' + ' ');
  return header;
}

// "24 path=some/long/name\n"; the length includes its own digits.
std::string PaxRecord(const std::string& text, Choices& choices) {
  std::size_t length = text.size() + 3;
  while (fmt::format("{} {}\n", length, text).size() > length) ++length;
  return fmt::format("{} {}\n", Size(choices, length), text);
}

std::string PaxRecords(Choices& choices) {
  constexpr std::array kKeys = {"path",
                                "size",
                                "GNU.sparse.major",
                                "GNU.sparse.minor",
                                "GNU.sparse.name",
                                "GNU.sparse.realsize",
                                "GNU.sparse.size",
                                "GNU.sparse.map",
                                "GNU.sparse.numblocks",
                                "GNU.sparse.offset",
                                "GNU.sparse.numbytes",
                                "linkpath",
                                "hdrcharset",
                                "SCHILY.realsize",
                                "SCHILY.xattr.user.x",
                                "mtime"};
  std::string records;
  for (std::size_t count = choices.Below(6); count > 0; --count) {
    const std::string key = choices.Of(kKeys);
    const std::string value =
        choices.OneIn(3) ? std::string(choices.Bytes(40)) : std::to_string(choices.Below(3) + choices.Number() / 2);
    records += PaxRecord(key + "=" + value, choices);
  }
  return records;
}

std::string Tar(Choices& choices, std::size_t depth) {
  constexpr std::array kTypes = {'0', '\0', '5', '1', '2', '7', 'L', 'K', 'x', 'g', 'S', 'V', 'M', 'D', 'N'};
  std::string tar;
  for (std::size_t members = choices.Below(5); members > 0; --members) {
    const char type = choices.OneIn(3) ? choices.Of(kTypes) : '0';
    const std::string name = Name(choices);
    const bool words = type == 'L' || type == 'K';
    const bool records = type == 'x' || type == 'g';
    const std::string content = words ? name + '\0' : records ? PaxRecords(choices) : Content(choices, depth);
    std::string header = TarHeader(name, type, Size(choices, content.size()), type == 'S' || words);
    if (type == 'S') {
      for (std::size_t part = 0; part < 4; ++part) {
        Set(&header, 386 + part * 24, 12, TarNumber(choices.Number() / 2, 12));
        Set(&header, 398 + part * 24, 12, TarNumber(Size(choices, content.size() / 4), 12));
      }
      header[482] = choices.OneIn(8) ? '\1' : '\0';
      Set(&header, 483, 12, TarNumber(choices.Number() / 2, 12));
    }
    tar += WithChecksum(header) + PaddedTo(content, 512);
  }
  return tar + Zeros(512 * choices.Below(4));
}

std::string Ar(Choices& choices, std::size_t depth) {
  std::string ar = "!<arch>\n";
  const auto add = [&](const std::string& name, const std::string& content) {
    ar += fmt::format("{:<16}{:<12}{:<6}{:<6}{:<8}{:<10}`\n", name.substr(0, 16), 0, 0, 0, "100644",
                      std::min<std::uint64_t>(Size(choices, content.size()), 9999999999));
    ar += PaddedTo(content, 2);
  };
  constexpr std::array kNames = {"a.log/", "/", "//", "/0", "/99999999999999", "#1/20", "#1/0", "/SYM64/", "x"};
  for (std::size_t members = choices.Below(5); members > 0; --members) {
    const std::string name = choices.OneIn(5) ? Name(choices) : choices.Of(kNames);
    add(name, Content(choices, depth));
  }
  return ar;
}

std::string Little(std::uint64_t number, std::size_t bytes) {
  std::string text;
  for (std::size_t i = 0; i < bytes; ++i) text += static_cast<char>(number >> (8 * i));
  return text;
}

struct ZipMember {
  std::string name;
  std::string packed;
  std::string extra;
  std::uint64_t method = 0;
  std::uint64_t flags = 0;
  std::uint64_t sum = 0;
  std::uint64_t packed_size = 0;
  std::uint64_t size = 0;

  // The fields that both headers contain.
  std::string Fields(bool late) const {
    return Little(flags, 2) + Little(method, 2) + Little(0, 4) + Little(late ? 0 : sum, 4) +
           Little(late ? 0 : packed_size, 4) + Little(late ? 0 : size, 4) + Little(name.size(), 2) +
           Little(extra.size(), 2);
  }
};

ZipMember MakeZipMember(Choices& choices, std::size_t depth) {
  constexpr std::array<std::uint64_t, 8> kMethods = {0, 8, 8, 9, 12, 14, 93, 98};
  constexpr std::array<std::uint64_t, 5> kExtras = {0x0001, 0x5455, 0x7875, 0x7075, 0x6c78};
  ZipMember member;
  member.name = Name(choices).substr(0, std::numeric_limits<std::uint16_t>::max());
  std::string content = Content(choices, depth);
  member.size = Size(choices, content.size());
  member.sum = crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<unsigned>(content.size()));
  member.method = choices.Of(kMethods);
  if (member.method == 8) {
    // Strip the header and checksums of gzip.
    const std::string gzip = Gzip(content);
    content = gzip.substr(10, gzip.size() - 18);
  } else if (member.method == 12) {
    content = Pack(Packing::kBzip2, content);
  } else if (member.method == 93) {
    content = Pack(Packing::kZstd, content);
  }
  member.packed = content;
  member.packed_size = Size(choices, content.size());
  if (choices.OneIn(4)) member.flags = choices.Byte();
  for (std::size_t extras = choices.OneIn(3) ? choices.Below(3) : 0; extras > 0; --extras) {
    const std::string id = Little(choices.Of(kExtras), 2);
    const std::string bytes(choices.Bytes(40));
    member.extra += id + Little(Size(choices, bytes.size()), 2) + bytes;
  }
  return member;
}

std::string Zip(Choices& choices, std::size_t depth) {
  std::string zip;
  std::string folder;
  std::size_t listed = 0;
  for (std::size_t members = choices.Below(5); members > 0; --members) {
    const ZipMember member = MakeZipMember(choices, depth);
    const bool late = (member.flags & 8U) != 0;  // the sizes follow the data
    const std::size_t at = zip.size();
    zip += "PK\3\4" + Little(45, 2) + member.Fields(late) + member.name + member.extra + member.packed;
    if (late) zip += "PK\7\x8" + Little(member.sum, 4) + Little(member.packed_size, 4) + Little(member.size, 4);
    if (choices.OneIn(6)) zip += choices.Bytes(30);
    folder += "PK\1\2" + Little(45, 2) + Little(45, 2) + member.Fields(false) + Little(0, 2) + Little(0, 4) +
              Little(0, 4) + Little(Size(choices, at), 4) + member.name + member.extra;
    ++listed;
  }
  if (choices.OneIn(4)) return zip;
  const std::uint64_t at = Size(choices, zip.size());
  return zip + folder + "PK\5\6" + Little(0, 4) + Little(listed, 2) + Little(listed, 2) + Little(folder.size(), 4) +
         Little(at, 4) + Little(0, 2);
}

std::string Utf16(std::string_view bytes) {
  std::string text = "\xff\xfe";
  for (const char c : bytes) text += std::string(1, c) + (static_cast<unsigned char>(c) < 0x80 ? '\0' : '\xd8');
  return text;
}

// The contents of a member: a text, or another archive or compressed stream.
std::string Content(Choices& choices, std::size_t depth) {
  constexpr std::array kStreams = {Packing::kGzip, Packing::kZstd, Packing::kXz, Packing::kBzip2};
  std::string content;
  const std::size_t kind = choices.Below(depth >= kDeepest ? 4 : 11);
  switch (kind) {
    case 0:
    case 1:
      return std::string(choices.Bytes(255));
    case 2:
      return std::string(choices.Below(70000), 'x');
    case 3:
      return Utf16(choices.Bytes(100));
    case 4:
    case 5:
      content = Tar(choices, depth + 1);
      break;
    case 6:
      content = Ar(choices, depth + 1);
      break;
    case 7:
    case 8:
      content = Zip(choices, depth + 1);
      break;
    default:
      content = Pack(choices.Of(kStreams), Content(choices, depth + 1));
  }
  if (choices.OneIn(8)) Damage(choices, &content);
  if (content.size() > kLongest) content.resize(kLongest);
  return content;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  const std::size_t chunk = 1 + 8 * choices.Byte();
  std::string bytes = Content(choices, 0);
  Damage(choices, &bytes);
  bytes += choices.Bytes(100);
  CheckMembers(bytes, chunk);
  return 0;
}
