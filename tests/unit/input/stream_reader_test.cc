// Decompresses one format: concatenated streams, trailing bytes, damage and cuts.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "input/archive/unpacker.h"
#include "packed.h"
#include "read_all.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::size_t kMemory = std::size_t{1} << 27;

struct Kind {
  const char* filter;
  Packing packing;
};
const std::vector<Kind> kKinds = {{"gzip", Packing::kGzip},
                                  {"zstd", Packing::kZstd},
                                  {"xz", Packing::kXz},
                                  {"bzip2", Packing::kBzip2},
                                  {"lz4", Packing::kLz4}};

struct Unpacked {
  std::string text;
  std::string problem;
};

Unpacked Undo(ByteSource& packed, Packing packing, std::size_t memory = kMemory, std::size_t capacity = 4096) {
  const std::unique_ptr<Unpacker> unpacker = OpenUnpacker(packed, packing, memory);
  std::string name;
  REQUIRE(unpacker->Next(&name));
  std::string text;
  std::string buffer(capacity, '\0');
  while (const std::size_t got = unpacker->Read(buffer.data(), capacity)) text.append(buffer, 0, got);
  CHECK(unpacker->Read(buffer.data(), capacity) == 0);
  const std::string problem(unpacker->problem());
  CHECK_FALSE(unpacker->Next(&name));
  return {std::move(text), problem};
}

Unpacked Undo(const std::string& packed, Packing packing, std::size_t memory = kMemory, std::size_t chunk = 100000,
              std::size_t capacity = 4096) {
  return Undo(*OpenMemory(packed, chunk), packing, memory, capacity);
}

// Returns lines that do not repeat, so that they do not compress to almost nothing.
std::string Log() {
  std::string text;
  std::uint32_t number = 1;
  for (int i = 0; i < 20000; ++i) {
    number = number * 1664525 + 1013904223;
    text += "step " + std::to_string(i) + " loss " + std::to_string(number) + "\n";
  }
  return text;
}

TEST_CASE("packed data is restored in pieces of any size", "[input]") {
  const std::string log = Log();
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const std::string packed = Compress(filter, log);
    REQUIRE(packed.size() < log.size());
    for (const std::size_t chunk : {std::size_t{7}, std::size_t{4096}, packed.size()}) {
      const Unpacked read = Undo(packed, packing, kMemory, chunk, 1000);
      CHECK(read.text == log);
      CHECK(read.problem.empty());
    }
    CHECK(Undo(Compress(filter, "x"), packing, kMemory, 1, 1).text == "x");
  }
}

TEST_CASE("a packed empty text and an empty input yield nothing", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    for (const std::string& packed : {Compress(filter, ""), std::string()}) {
      const Unpacked read = Undo(packed, packing);
      CHECK(read.text.empty());
      CHECK(read.problem.empty());
    }
  }
}

TEST_CASE("concatenated streams are read as one", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const Unpacked read = Undo(Compress(filter, "one\n") + Compress(filter, "") + Compress(filter, "two\n"), packing);
    CHECK(read.text == "one\ntwo\n");
    CHECK(read.problem.empty());
  }
}

TEST_CASE("other bytes after the last stream are reported", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const Unpacked read = Undo(Compress(filter, "one\n") + "and then a line of text\n", packing);
    CHECK(read.text == "one\n");
    CHECK_FALSE(read.problem.empty());
    CHECK(read.problem.find(filter) != std::string::npos);
  }
}

TEST_CASE("truncated data yields everything before the cut", "[input]") {
  const std::string log = Log();
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    std::string packed = Compress(filter, log);
    packed.resize(packed.size() - 1);
    const Unpacked read = Undo(packed, packing);
    CHECK(log.starts_with(read.text));
    CHECK_FALSE(read.problem.empty());
    if (packing == Packing::kGzip || packing == Packing::kXz || packing == Packing::kLz4) {
      CHECK(read.text == log);  // only the checksum after the text is missing
    }
    const Unpacked half = Undo(packed.substr(0, packed.size() / 2), packing);
    CHECK(log.starts_with(half.text));
    CHECK(half.text.size() < log.size());
    CHECK_FALSE(half.problem.empty());
  }
}

TEST_CASE("bytes in another format are a problem and yield no text", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const Unpacked read = Undo("a line of text that is long enough for any header\n", packing);
    CHECK(read.text.empty());
    CHECK(read.problem.find(filter) != std::string::npos);
  }
}

TEST_CASE("a decoder that needs more memory than allowed is not run", "[input]") {
  const Unpacked read = Undo(Compress("xz", "text\n"), Packing::kXz, 1 << 16);
  CHECK(read.text.empty());
  CHECK(read.problem == "unpacking its xz data further needs more than 64 KiB; the rest was not read");
}

}  // namespace TEST_FILE
