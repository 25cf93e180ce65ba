// Decompresses one format: concatenated streams, trailing bytes, damage and cuts.
#include "input/decompress.h"

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
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

Unpacked Undo(const std::string& packed, Packing packing, std::size_t memory = kMemory, std::size_t chunk = 100000,
              std::size_t capacity = 4096) {
  const std::unique_ptr<ByteSource> source = Decompress(OpenMemory(packed, chunk), packing, memory);
  std::string text = ReadAll(*source, capacity);
  return {std::move(text), std::string(source->problem())};
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

// Returns its bytes, then fails.
class Failing : public ByteSource {
 public:
  explicit Failing(std::string bytes) : bytes_(std::move(bytes)) {}
  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t count = std::min(capacity, bytes_.size());
    std::copy_n(bytes_.data(), count, buffer);
    bytes_.erase(0, count);
    failed_ = count == 0;
    return count;
  }
  std::string_view problem() const override { return failed_ ? "the disk failed" : ""; }

 private:
  std::string bytes_;
  bool failed_ = false;
};

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

TEST_CASE("a problem of the packed source is the reported one", "[input]") {
  std::string packed = Compress("gzip", Log());
  packed.resize(packed.size() / 2);
  const std::unique_ptr<ByteSource> source = Decompress(std::make_unique<Failing>(packed), Packing::kGzip, kMemory);
  CHECK_FALSE(ReadAll(*source).empty());
  CHECK(source->problem() == "the disk failed");
}

TEST_CASE("a decoder that needs more memory than allowed is not run", "[input]") {
  const Unpacked read = Undo(Compress("xz", "text\n"), Packing::kXz, 1 << 16);
  CHECK(read.text.empty());
  CHECK(read.problem.starts_with("unpacking its xz data needs "));
  CHECK(read.problem.find(", more than 64 KiB (--max-memory); not read") != std::string::npos);
}

TEST_CASE("reads after the end return nothing", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const std::string packed = Compress(filter, "x");
    const std::unique_ptr<ByteSource> source = Decompress(OpenMemory(packed), packing, kMemory);
    CHECK(ReadAll(*source) == "x");
    char more = 0;
    CHECK(source->Read(&more, 1) == 0);
    CHECK(source->Read(&more, 1) == 0);
    CHECK(source->problem().empty());
  }
}

TEST_CASE("the memory needed is rounded up to whole mebibytes", "[input]") {
  constexpr std::uint64_t kMiB = 1 << 20;
  CHECK(TooMuchMemory("xz", 1537 * kMiB, 128 * kMiB) ==
        "unpacking its xz data needs 1537 MiB, more than 128 MiB (--max-memory); not read");
  CHECK(TooMuchMemory("xz", 1536 * kMiB + 1, 128 * kMiB) == TooMuchMemory("xz", 1537 * kMiB, 128 * kMiB));
  CHECK(TooMuchMemory("xz", 1, 1).find("needs 1 MiB") != std::string::npos);
  CHECK(TooMuchMemory("zstd", 0, 128 * kMiB) ==
        "unpacking its zstd data needs more than 128 MiB (--max-memory); not read");
}

}  // namespace TEST_FILE
