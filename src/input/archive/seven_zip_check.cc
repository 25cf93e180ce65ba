#include "input/archive/seven_zip_check.h"

#include <fmt/format.h>
#include <lzma.h>

#include <algorithm>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "input/decompress.h"

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

// Names and layout: DOC/7zFormat.txt of the LZMA SDK. What no packer writes is refused rather than followed.
enum Mark : unsigned char {
  kEnd = 0x00,
  kHeader = 0x01,
  kStreams = 0x04,
  kFiles = 0x05,
  kPackInfo = 0x06,
  kUnpackInfo = 0x07,
  kSubStreams = 0x08,
  kSizes = 0x09,
  kSums = 0x0A,
  kFolders = 0x0B,
  kUnpackSizes = 0x0C,
  kCounts = 0x0D,
  kPackedHeader = 0x17,
};

constexpr std::string_view kCopy = "\x00"sv;
constexpr std::string_view kLzma = "\x03\x01\x01"sv;
constexpr std::string_view kLzma2 = "\x21"sv;
constexpr std::string_view kPpmd = "\x03\x04\x01"sv;
constexpr std::string_view kAes = "\x06\xf1\x07\x01"sv;

constexpr std::uint64_t kSignatureHeader = 32;
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 25;
constexpr std::uint64_t kMostCoders = 32;
constexpr std::uint64_t kRecordBytes = 256;  // about what libarchive keeps of a member or a folder of streams, at most

struct Refused {
  std::string why;
};

[[noreturn]] void Refuse(std::string_view what) {
  throw Refused{fmt::format("its 7z header cannot be read: {}", what)};
}

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

struct Coder {
  std::string_view method;
  std::string_view properties;
};

std::uint64_t DictionaryOf(const Coder& coder) {
  if (coder.method != kLzma && coder.method != kLzma2 && coder.method != kPpmd) return 0;  // some MiB at most
  if (coder.properties.size() < (coder.method == kLzma2 ? 1 : 5)) Refuse("a coder lacks its properties");
  if (coder.method != kLzma2) return LittleEndian(coder.properties.substr(1, 4));
  const unsigned bits = static_cast<unsigned char>(coder.properties[0]) & 0x3FU;
  return std::uint64_t{2 | (bits & 1)} << (bits / 2 + 11);
}

// What is decoded together.
struct Folder {
  std::vector<Coder> coders;
  std::uint64_t outputs = 0;
  std::uint64_t memory = 0;
  bool is_held = false;  // libarchive holds what goes from coder to coder in memory (BCJ2)
  bool has_sum = false;
};

struct Streams {
  std::uint64_t position = 0;  // of what is packed; the sizes are the first's, of which a packed header has no other
  std::uint64_t packed_size = 0;
  std::uint64_t unpacked_size = 0;
  std::vector<Folder> folders;
};

// Walks over a header; throws Refused where it asks for more than `memory`, is not in order, or ends.
class HeaderWalk {
 public:
  HeaderWalk(std::string_view bytes, std::size_t memory) : bytes_(bytes), memory_(memory) {}

  // Whether `mark` comes next; it is passed then.
  bool Is(Mark mark) {
    if (bytes_.empty() || static_cast<unsigned char>(bytes_[0]) != mark) return false;
    Take(1);
    return true;
  }

  void Expect(Mark mark) {
    if (bytes_.empty()) Refuse("it ends too early");
    if (!Is(mark)) Refuse("it is not in order");
  }

  // A header that is not packed, whole but for what it says of each member.
  void PassHeader() {
    Expect(kHeader);
    if (Is(kStreams)) PassStreams();
    if (!Is(kFiles)) return Expect(kEnd);
    CheckCount(Number());
  }

  Streams PassStreams() {
    Streams streams;
    if (Is(kPackInfo)) PassPackInfo(&streams);
    if (Is(kUnpackInfo)) PassUnpackInfo(&streams);
    if (Is(kSubStreams)) PassSubStreams(streams.folders);
    Expect(kEnd);
    return streams;
  }

 private:
  std::string_view Take(std::uint64_t count) {
    if (count > bytes_.size()) Refuse("it ends too early");
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  unsigned Byte() { return static_cast<unsigned char>(Take(1)[0]); }

  // As many bytes follow as the first has leading ones; what is left of it is the number's top.
  std::uint64_t Number() {
    const unsigned first = Byte();
    std::uint64_t value = 0;
    unsigned mask = 0x80;
    for (unsigned i = 0; i < 8; ++i, mask >>= 1) {
      if ((first & mask) == 0) return value | std::uint64_t{first & (mask - 1)} << (8 * i);
      value |= std::uint64_t{Byte()} << (8 * i);
    }
    return value;
  }

  void CheckMemory(std::uint64_t needed) const {
    if (needed > memory_) throw Refused{TooMuchMemory("7z", needed, memory_)};
  }

  // Of things that libarchive keeps a record of each.
  void CheckCount(std::uint64_t count) const { CheckMemory(std::min(count, std::uint64_t{1} << 40) * kRecordBytes); }

  // Checksums of `count` things, of which some have none; tells which have.
  std::vector<bool> PassSums(std::uint64_t count) {
    if (count > kMostHeaderBytes) Refuse("its counts are too large");
    std::vector<bool> has_sum(static_cast<std::size_t>(count), true);
    if (Byte() == 0) {
      const std::string_view bits = Take((count + 7) / 8);
      for (std::size_t i = 0; i < has_sum.size(); ++i)
        has_sum[i] = (static_cast<unsigned char>(bits[i / 8]) >> (7 - i % 8) & 1) != 0;
    }
    Take(4 * static_cast<std::uint64_t>(std::count(has_sum.begin(), has_sum.end(), true)));
    return has_sum;
  }

  // Here and below a count that is a lie ends with the bytes.
  void PassPackInfo(Streams* streams) {
    streams->position = Number();
    const std::uint64_t count = Number();
    if (Is(kSizes)) {
      for (std::uint64_t i = 0; i < count; ++i) {
        const std::uint64_t size = Number();
        if (i == 0) streams->packed_size = size;
      }
    }
    if (Is(kSums)) PassSums(count);
    Expect(kEnd);
  }

  void PassUnpackInfo(Streams* streams) {
    std::vector<Folder>& folders = streams->folders;
    Expect(kFolders);
    const std::uint64_t count = Number();
    if (Byte() != 0) Refuse("it is in several pieces");
    for (std::uint64_t i = 0; i < count; ++i) {
      folders.push_back(PassFolder());
      CheckCount(folders.size());
    }
    Expect(kUnpackSizes);
    for (std::size_t i = 0; i < folders.size(); ++i) {
      for (std::uint64_t output = 0; output < folders[i].outputs; ++output) {
        const std::uint64_t size = Number();
        if (i == 0 && output == 0) streams->unpacked_size = size;
        if (folders[i].is_held) AddMemory(size, &folders[i]);
      }
    }
    if (Is(kSums)) {
      const std::vector<bool> has_sum = PassSums(folders.size());
      for (std::size_t i = 0; i < folders.size(); ++i) folders[i].has_sum = has_sum[i];
    }
    Expect(kEnd);
  }

  Folder PassFolder() {
    Folder folder;
    const std::uint64_t coders = Number();
    if (coders == 0 || coders > kMostCoders) Refuse("it names too many coders");
    std::uint64_t inputs = 0;
    for (std::uint64_t i = 0; i < coders; ++i) {
      const unsigned flags = Byte();
      const bool is_complex = (flags & 0x10) != 0;
      Coder coder;
      coder.method = Take(flags & 0x0F);
      inputs += is_complex ? std::min(Number(), kMostCoders) : 1;
      folder.outputs += is_complex ? std::min(Number(), kMostCoders) : 1;
      folder.is_held = folder.is_held || is_complex;
      if ((flags & 0x20) != 0) coder.properties = Take(Number());
      if ((flags & 0x80) != 0) Refuse("it offers coders to choose from");
      AddMemory(DictionaryOf(coder), &folder);
      folder.coders.push_back(coder);
    }
    if (folder.outputs == 0 || inputs + 1 < folder.outputs) Refuse("its coders do not fit together");
    // How the coders are bound together.
    const std::uint64_t packed = inputs + 1 - folder.outputs;
    for (std::uint64_t i = 0; i < 2 * (folder.outputs - 1) + (packed > 1 ? packed : 0); ++i) Number();
    return folder;
  }

  void AddMemory(std::uint64_t size, Folder* folder) {
    CheckMemory(size);
    CheckMemory(folder->memory += size);
  }

  // How many members are in which folder.
  void PassSubStreams(const std::vector<Folder>& folders) {
    std::vector<std::uint64_t> counts(folders.size(), 1);
    std::uint64_t members = folders.size();
    if (Is(kCounts)) {
      members = 0;
      for (std::uint64_t& count : counts) {
        count = Number();
        CheckCount(count);
        CheckCount(members += count);
      }
    }
    if (Is(kSizes)) {
      for (const std::uint64_t count : counts) {
        for (std::uint64_t i = 1; i < count; ++i) Number();
      }
    }
    // That of a member alone in its folder may have stood there already.
    for (std::size_t i = 0; i < folders.size(); ++i) members -= counts[i] == 1 && folders[i].has_sum ? 1 : 0;
    if (Is(kSums)) PassSums(members);
    Expect(kEnd);
  }

  std::string_view bytes_;
  const std::size_t memory_;
};

std::string ReadAt(ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t end = source.Size().value_or(0);
  if (size > kMostHeaderBytes) Refuse("it is too large");
  if (offset > end || size > end - offset || !source.SeekTo(offset)) Refuse("it ends too early");
  std::string bytes = ReadUpTo(source, static_cast<std::size_t>(size));
  if (bytes.size() < size) Refuse("it ends too early");
  return bytes;
}

// What lies behind the first bytes that every 7z has.
std::string ReadBody(ByteSource& source, std::uint64_t position, std::uint64_t size) {
  return ReadAt(source, kSignatureHeader + std::min(position, source.Size().value_or(0)), size);
}

// liblzma's decoder for the coder, with the properties given back to it.
std::string Unpack(const Coder& coder, const std::string& packed, std::uint64_t size) {
  if (coder.method == kAes) Refuse("it is encrypted");
  if (coder.method == kCopy) return packed;
  if (coder.method != kLzma && coder.method != kLzma2) Refuse("it is packed in an unusual way");
  if (size > kMostHeaderBytes) Refuse("it is too large");
  lzma_filter filters[] = {{coder.method == kLzma ? LZMA_FILTER_LZMA1 : LZMA_FILTER_LZMA2, nullptr},
                           {LZMA_VLI_UNKNOWN, nullptr}};
  const auto* properties = reinterpret_cast<const std::uint8_t*>(coder.properties.data());
  if (lzma_properties_decode(&filters[0], nullptr, properties, coder.properties.size()) != LZMA_OK)
    Refuse("its coder's properties are wrong");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t taken = 0;
  std::size_t given = 0;
  // LZMA alone does not mark its end, so that there seems to be more.
  lzma_raw_buffer_decode(filters, nullptr, reinterpret_cast<const std::uint8_t*>(packed.data()), &taken, packed.size(),
                         reinterpret_cast<std::uint8_t*>(bytes.data()), &given, bytes.size());
  lzma_filters_free(filters, nullptr);
  if (given != bytes.size()) Refuse("it cannot be unpacked");
  return bytes;
}

void Check(ByteSource& source, std::size_t memory) {
  const std::string beginning = ReadAt(source, 0, kSignatureHeader);
  const std::uint64_t position = LittleEndian(std::string_view(beginning).substr(12, 8));
  const std::uint64_t size = LittleEndian(std::string_view(beginning).substr(20, 8));
  if (size == 0) return;  // no member
  std::string header = ReadBody(source, position, size);
  HeaderWalk packed(header, memory);
  if (packed.Is(kPackedHeader)) {
    const Streams streams = packed.PassStreams();
    if (streams.folders.size() != 1 || streams.folders[0].coders.size() != 1) Refuse("it is packed in an unusual way");
    header = Unpack(streams.folders[0].coders[0], ReadBody(source, streams.position, streams.packed_size),
                    streams.unpacked_size);
  }
  HeaderWalk(header, memory).PassHeader();
}

}  // namespace

std::string WhyNotReadSevenZip(ByteSource& source, std::size_t memory) {
  std::string why;
  try {
    Check(source, memory);
  } catch (const Refused& refused) {
    why = refused.why;
  }
  if (!source.SeekTo(0) && why.empty()) why = "cannot go back to its beginning";
  return why;
}

}  // namespace whyoom
