#include "input/seven_zip_memory.h"

#include <lzma.h>

#include <algorithm>
#include <cstddef>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

// Names and layout: DOC/7zFormat.txt of the LZMA SDK.
enum Property : unsigned char {
  kEnd = 0x00,
  kHeader = 0x01,
  kArchiveProperties = 0x02,
  kMainStreamsInfo = 0x04,
  kFilesInfo = 0x05,
  kPackInfo = 0x06,
  kUnpackInfo = 0x07,
  kSubStreamsInfo = 0x08,
  kSize = 0x09,
  kCrc = 0x0A,
  kFolder = 0x0B,
  kCodersUnpackSize = 0x0C,
  kNumUnpackStream = 0x0D,
  kEncodedHeader = 0x17,
};

constexpr std::string_view kCopy = "\x00"sv;
constexpr std::string_view kLzma = "\x03\x01\x01"sv;
constexpr std::string_view kLzma2 = "\x21"sv;
constexpr std::string_view kPpmd = "\x03\x04\x01"sv;
constexpr std::string_view kAes = "\x06\xf1\x07\x01"sv;

constexpr std::size_t kSignatureHeader = 32;
constexpr int kMostEncodings = 4;  // of a header that is packed in a header; one is usual
constexpr std::uint64_t kMostCoders = 32;
constexpr std::uint64_t kMostHeaderBytes = std::uint64_t{1} << 25;
constexpr std::uint64_t kEntryBytes = 256;  // about what libarchive keeps of a file or a folder of streams, at most
struct BadHeader : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// Walks over header bytes; throws BadHeader at their end.
class HeaderReader {
 public:
  explicit HeaderReader(std::string_view bytes) : bytes_(bytes) {}

  std::string_view Take(std::uint64_t count) {
    if (count > bytes_.size()) throw BadHeader("it ends too early");
    const std::string_view taken = bytes_.substr(0, static_cast<std::size_t>(count));
    bytes_.remove_prefix(taken.size());
    return taken;
  }

  unsigned char Byte() { return static_cast<unsigned char>(Take(1)[0]); }

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

  void Expect(Property property) {
    if (Byte() != property) throw BadHeader("it is not in order");
  }

  // Checksums of `count` things, of which some have none; tells which have.
  std::vector<bool> Digests(std::uint64_t count) {
    if (count > kMostHeaderBytes) throw BadHeader("its counts are too large");
    std::vector<bool> defined(static_cast<std::size_t>(count), true);
    if (Byte() == 0) {
      const std::string_view bits = Take((count + 7) / 8);
      for (std::size_t i = 0; i < defined.size(); ++i)
        defined[i] = (static_cast<unsigned char>(bits[i / 8]) >> (7 - i % 8) & 1) != 0;
    }
    for (const bool one : defined) Take(one ? 4 : 0);
    return defined;
  }

 private:
  std::string_view bytes_;
};

struct Coder {
  std::string_view method;
  std::string_view properties;
};

// What is decoded together.
struct Folder {
  std::vector<Coder> coders;
  std::uint64_t outputs = 0;
};

struct Streams {
  std::uint64_t position = 0;
  std::uint64_t packed_size = 0;  // of the first
  std::uint64_t packed = 0;       // how many
  std::uint64_t unpacked_size = 0;
  Folder first;
  std::uint64_t folders = 0;
  std::vector<bool> digests;  // of the folders
  std::uint64_t memory = 0;   // of the folder that asks for most
  bool encrypted = false;
};

std::uint64_t LittleEndian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i > 0; --i) value = value << 8 | static_cast<unsigned char>(bytes[i - 1]);
  return value;
}

std::uint64_t MemoryOf(const Coder& coder) {
  if (coder.method == kLzma2) {
    if (coder.properties.empty()) throw BadHeader("a coder lacks its properties");
    const auto bits = static_cast<unsigned char>(coder.properties[0]) & 0x3FU;
    return std::uint64_t{2 | (bits & 1)} << (bits / 2 + 11);
  }
  if (coder.method != kLzma && coder.method != kPpmd) return 0;  // none of the others takes more than some MiB
  if (coder.properties.size() < 5) throw BadHeader("a coder lacks its properties");
  return LittleEndian(coder.properties.substr(1, 4));
}

Folder ReadFolder(HeaderReader* header) {
  Folder folder;
  const std::uint64_t coders = header->Number();
  if (coders == 0 || coders > kMostCoders) throw BadHeader("it names too many coders");
  std::uint64_t inputs = 0;
  for (std::uint64_t i = 0; i < coders; ++i) {
    const unsigned flags = header->Byte();
    Coder coder;
    coder.method = header->Take(flags & 0x0F);
    const bool complex = (flags & 0x10) != 0;
    inputs += complex ? std::min(header->Number(), kMostCoders) : 1;
    folder.outputs += complex ? std::min(header->Number(), kMostCoders) : 1;
    if ((flags & 0x20) != 0) coder.properties = header->Take(header->Number());
    if ((flags & 0x80) != 0) throw BadHeader("it offers coders to choose from");
    folder.coders.push_back(coder);
  }
  if (folder.outputs == 0 || inputs + 1 < folder.outputs) throw BadHeader("its coders do not fit together");
  for (std::uint64_t i = 0; i + 1 < folder.outputs; ++i) {
    header->Number();
    header->Number();
  }
  const std::uint64_t packed = inputs + 1 - folder.outputs;
  for (std::uint64_t i = 0; packed > 1 && i < packed; ++i) header->Number();
  return folder;
}

void ReadUnpackInfo(HeaderReader* header, Streams* streams) {
  header->Expect(kFolder);
  streams->folders = header->Number();
  if (header->Byte() != 0) throw BadHeader("it is in several pieces");
  std::uint64_t outputs = 0;
  // A count that is a lie ends with the bytes.
  for (std::uint64_t i = 0; i < streams->folders; ++i) {
    Folder folder = ReadFolder(header);
    std::uint64_t memory = 0;
    for (const Coder& coder : folder.coders) {
      memory += MemoryOf(coder);
      streams->encrypted = streams->encrypted || coder.method == kAes;
    }
    streams->memory = std::max(streams->memory, memory);
    outputs += folder.outputs;
    if (i == 0) streams->first = std::move(folder);
  }
  header->Expect(kCodersUnpackSize);
  for (std::uint64_t i = 0; i < outputs; ++i) {
    const std::uint64_t size = header->Number();
    if (i == 0) streams->unpacked_size = size;
  }
  streams->digests.resize(static_cast<std::size_t>(streams->folders), false);
  unsigned char property = header->Byte();
  if (property == kCrc) {
    streams->digests = header->Digests(streams->folders);
    property = header->Byte();
  }
  if (property != kEnd) throw BadHeader("it is not in order");
}

void ReadPackInfo(HeaderReader* header, Streams* streams) {
  streams->position = header->Number();
  streams->packed = header->Number();
  unsigned char property = header->Byte();
  if (property == kSize) {
    for (std::uint64_t i = 0; i < streams->packed; ++i) {
      const std::uint64_t size = header->Number();
      if (i == 0) streams->packed_size = size;
    }
    property = header->Byte();
  }
  if (property == kCrc) {
    header->Digests(streams->packed);
    property = header->Byte();
  }
  if (property != kEnd) throw BadHeader("it is not in order");
}

// Which files are in which folder: only to get past it.
void ReadSubStreams(HeaderReader* header, const Streams& streams) {
  std::vector<std::uint64_t> counts(static_cast<std::size_t>(streams.folders), 1);
  unsigned char property = header->Byte();
  if (property == kNumUnpackStream) {
    for (std::uint64_t& count : counts) count = header->Number();
    property = header->Byte();
  }
  if (property == kSize) {
    for (const std::uint64_t count : counts) {
      for (std::uint64_t i = 1; i < count; ++i) header->Number();
    }
    property = header->Byte();
  }
  if (property == kCrc) {
    std::uint64_t unknown = 0;
    for (std::size_t i = 0; i < counts.size(); ++i) {
      if (counts[i] > kMostHeaderBytes) throw BadHeader("its counts are too large");
      if (counts[i] != 1 || !streams.digests[i]) unknown += counts[i];
    }
    header->Digests(unknown);
    property = header->Byte();
  }
  if (property != kEnd) throw BadHeader("it is not in order");
}

Streams ReadStreams(HeaderReader* header) {
  Streams streams;
  unsigned char property = header->Byte();
  if (property == kPackInfo) {
    ReadPackInfo(header, &streams);
    property = header->Byte();
  }
  if (property == kUnpackInfo) {
    ReadUnpackInfo(header, &streams);
    property = header->Byte();
  }
  if (property == kSubStreamsInfo) {
    ReadSubStreams(header, streams);
    property = header->Byte();
  }
  if (property != kEnd) throw BadHeader("it is not in order");
  return streams;
}

std::string ReadAt(ByteSource& source, std::uint64_t offset, std::uint64_t size) {
  const std::uint64_t end = source.Size().value_or(0);
  if (size > end || offset > end - size || !source.SeekTo(offset)) throw BadHeader("it ends too early");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  std::size_t held = 0;
  while (held < bytes.size()) {
    const std::size_t got = source.Read(bytes.data() + held, bytes.size() - held);
    if (got == 0) throw BadHeader("it ends too early");
    held += got;
  }
  return bytes;
}

// liblzma's decoder for the coder, with the properties given back to it.
std::string Decode(const Coder& coder, const std::string& packed, std::uint64_t size) {
  if (coder.method == kCopy) return packed;
  if (coder.method != kLzma && coder.method != kLzma2) throw BadHeader("it is packed in an unusual way");
  lzma_filter filters[] = {{coder.method == kLzma ? LZMA_FILTER_LZMA1 : LZMA_FILTER_LZMA2, nullptr},
                           {LZMA_VLI_UNKNOWN, nullptr}};
  const auto* properties = reinterpret_cast<const std::uint8_t*>(coder.properties.data());
  if (lzma_properties_decode(&filters[0], nullptr, properties, coder.properties.size()) != LZMA_OK)
    throw BadHeader("its coder's properties are wrong");
  std::string bytes(static_cast<std::size_t>(size), '\0');
  lzma_stream stream = LZMA_STREAM_INIT;
  lzma_ret result = lzma_raw_decoder(&stream, filters);
  lzma_filters_free(filters, nullptr);
  if (result == LZMA_OK) {
    stream.next_in = reinterpret_cast<const std::uint8_t*>(packed.data());
    stream.avail_in = packed.size();
    stream.next_out = reinterpret_cast<std::uint8_t*>(bytes.data());
    stream.avail_out = bytes.size();
    result = lzma_code(&stream, LZMA_FINISH);
  }
  const bool whole = stream.avail_out == 0;
  lzma_end(&stream);
  // LZMA alone does not mark its end.
  if (!whole || (result != LZMA_OK && result != LZMA_STREAM_END)) throw BadHeader("it cannot be unpacked");
  return bytes;
}

// Behind what begins a header that is not packed.
std::uint64_t MemoryOfMembers(HeaderReader* header) {
  unsigned char property = header->Byte();
  if (property == kArchiveProperties) throw BadHeader("it has properties that are not known");  // nothing writes them
  std::uint64_t memory = 0;
  std::uint64_t entries = 0;
  if (property == kMainStreamsInfo) {
    const Streams streams = ReadStreams(header);
    memory = streams.memory;
    entries = streams.folders;
    property = header->Byte();
  }
  if (property == kFilesInfo) entries += std::min(header->Number(), std::uint64_t{1} << 40);
  return std::max(memory, entries * kEntryBytes);
}

std::uint64_t MemoryOfHeader(ByteSource& source, std::uint64_t most) {
  const std::string beginning = ReadAt(source, 0, kSignatureHeader);
  const std::uint64_t offset = LittleEndian(std::string_view(beginning).substr(12, 8));
  const std::uint64_t size = LittleEndian(std::string_view(beginning).substr(20, 8));
  if (size == 0) return 0;  // no member
  if (size > kMostHeaderBytes) throw BadHeader("it is too large");
  if (offset > source.Size().value_or(0)) throw BadHeader("it ends too early");
  std::string bytes = ReadAt(source, kSignatureHeader + offset, size);
  for (int i = 0; i < kMostEncodings; ++i) {
    HeaderReader header(bytes);
    const unsigned char property = header.Byte();
    if (property == kHeader) return MemoryOfMembers(&header);
    if (property != kEncodedHeader) throw BadHeader("it is not in order");
    const Streams streams = ReadStreams(&header);
    if (streams.memory > most || streams.encrypted) return streams.memory;
    if (streams.folders != 1 || streams.first.coders.size() != 1 || streams.packed != 1)
      throw BadHeader("it is packed in an unusual way");
    if (std::max(streams.unpacked_size, streams.packed_size) > kMostHeaderBytes) throw BadHeader("it is too large");
    if (streams.position > source.Size().value_or(0)) throw BadHeader("it ends too early");
    bytes = Decode(streams.first.coders[0], ReadAt(source, kSignatureHeader + streams.position, streams.packed_size),
                   streams.unpacked_size);
  }
  throw BadHeader("it is packed too often");
}

}  // namespace

SevenZipMemory MemoryOfSevenZip(ByteSource& source, std::uint64_t most) {
  SevenZipMemory memory;
  try {
    memory.bytes = MemoryOfHeader(source, most);
  } catch (const BadHeader& error) {
    memory.problem = std::string("its 7z header cannot be read: ") + error.what();
  }
  if (!source.SeekTo(0) && memory.problem.empty()) memory.problem = "cannot go back to its beginning";
  return memory;
}

}  // namespace whyoom
