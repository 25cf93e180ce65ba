// One packing undone: streams one after another, what follows them, damage and cuts.
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

// Lines that do not repeat, so that packed they are not short.
std::string Log() {
  std::string text;
  std::uint32_t number = 1;
  for (int i = 0; i < 20000; ++i) {
    number = number * 1664525 + 1013904223;
    text += "step " + std::to_string(i) + " loss " + std::to_string(number) + "\n";
  }
  return text;
}

// Gives its bytes, then fails.
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

TEST_CASE("what was packed comes back, in pieces of any size", "[input]") {
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

TEST_CASE("nothing packed is nothing, and so is no byte at all", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    for (const std::string& packed : {Compress(filter, ""), std::string()}) {
      const Unpacked read = Undo(packed, packing);
      CHECK(read.text.empty());
      CHECK(read.problem.empty());
    }
  }
}

TEST_CASE("many streams one after another are as good as one", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const Unpacked read = Undo(Compress(filter, "one\n") + Compress(filter, "") + Compress(filter, "two\n"), packing);
    CHECK(read.text == "one\ntwo\n");
    CHECK(read.problem.empty());
  }
}

TEST_CASE("what follows the last stream and is none is told", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const Unpacked read = Undo(Compress(filter, "one\n") + "and then a line of text\n", packing);
    CHECK(read.text == "one\n");
    CHECK_FALSE(read.problem.empty());
    CHECK(read.problem.find(filter) != std::string::npos);
  }
}

TEST_CASE("of cut bytes all is given that comes before the cut", "[input]") {
  const std::string log = Log();
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    std::string packed = Compress(filter, log);
    packed.resize(packed.size() - 1);
    const Unpacked read = Undo(packed, packing);
    CHECK(log.starts_with(read.text));
    CHECK_FALSE(read.problem.empty());
    if (packing == Packing::kGzip || packing == Packing::kXz || packing == Packing::kLz4) {
      CHECK(read.text == log);  // what is missing is of the sum behind the text
    }
    const Unpacked half = Undo(packed.substr(0, packed.size() / 2), packing);
    CHECK(log.starts_with(half.text));
    CHECK(half.text.size() < log.size());
    CHECK_FALSE(half.problem.empty());
  }
}

TEST_CASE("bytes that are not packed so are a problem, and give no text", "[input]") {
  for (const auto& [filter, packing] : kKinds) {
    INFO(filter);
    const Unpacked read = Undo("a line of text that is long enough for any header\n", packing);
    CHECK(read.text.empty());
    CHECK(read.problem.find(filter) != std::string::npos);
  }
}

TEST_CASE("where the packed bytes could not be read, that is the problem", "[input]") {
  std::string packed = Compress("gzip", Log());
  packed.resize(packed.size() / 2);
  const std::unique_ptr<ByteSource> source = Decompress(std::make_unique<Failing>(packed), Packing::kGzip, kMemory);
  CHECK_FALSE(ReadAll(*source).empty());
  CHECK(source->problem() == "the disk failed");
}

TEST_CASE("a decoder that asks for more memory than it may have is not run", "[input]") {
  const Unpacked read = Undo(Compress("xz", "text\n"), Packing::kXz, 1 << 16);
  CHECK(read.text.empty());
  CHECK(read.problem.starts_with("unpacking its xz data needs "));
  CHECK(read.problem.find(", more than 64 KiB (--max-memory); not read") != std::string::npos);
}

TEST_CASE("after the end there is nothing, however often it is asked for", "[input]") {
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

TEST_CASE("how much memory would be needed is rounded up to whole mebibytes", "[input]") {
  constexpr std::uint64_t kMiB = 1 << 20;
  CHECK(TooMuchMemory("xz", 1537 * kMiB, 128 * kMiB) ==
        "unpacking its xz data needs 1537 MiB, more than 128 MiB (--max-memory); not read");
  CHECK(TooMuchMemory("xz", 1536 * kMiB + 1, 128 * kMiB) == TooMuchMemory("xz", 1537 * kMiB, 128 * kMiB));
  CHECK(TooMuchMemory("xz", 1, 1).find("needs 1 MiB") != std::string::npos);
  CHECK(TooMuchMemory("zstd", 0, 128 * kMiB) ==
        "unpacking its zstd data needs more than 128 MiB (--max-memory); not read");
}

}  // namespace TEST_FILE
