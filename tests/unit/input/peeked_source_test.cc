// A source whose first bytes can be inspected.
#include <string>

#include "catch.h"
#include "input/byte_source.h"
#include "process.h"
#include "read_all.h"

using namespace whyoom;

TEST_CASE("inspecting the beginning does not consume it", "[input]") {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{4}, std::string::npos}) {
    INFO(chunk);
    PeekedSource source(OpenMemory("0123456789", chunk), 4);
    CHECK(source.beginning() == "0123");  // whatever the chunking
    CHECK(ReadAll(source, 3) == "0123456789");
    CHECK(source.problem().empty());
  }
  PeekedSource small(OpenMemory("01"), 4);
  CHECK(small.beginning() == "01");
  CHECK(ReadAll(small) == "01");
  PeekedSource empty(OpenMemory(""), 4);
  CHECK(empty.beginning().empty());
  CHECK(ReadAll(empty).empty());
}

TEST_CASE("skipped bytes count in offsets", "[input]") {
  PeekedSource source(OpenMemory("0123456789"), 4);
  CHECK(source.RawOffset(5) == 5);
  source.Skip(3);
  CHECK(source.beginning() == "3");
  CHECK(source.RawOffset(5) == 8);
  CHECK(ReadAll(source, 2) == "3456789");
}

TEST_CASE("reading a file can continue at any offset", "[input]") {
  const ScratchFolder scratch;
  PeekedSource source(OpenFile(scratch.Write("a", "0123456789")), 4);
  CHECK(source.RegularFile() >= 0);
  REQUIRE(source.SeekTo(7));
  CHECK(ReadAll(source) == "789");
  REQUIRE(source.SeekTo(2));
  CHECK(ReadAll(source) == "23456789");
}

TEST_CASE("a failed seek changes nothing", "[input]") {
  class Pipe : public ByteSource {
   public:
    std::size_t Read(char* buffer, std::size_t) override {
      if (next_ > '5') return 0;
      *buffer = next_++;
      return 1;
    }

   private:
    char next_ = '0';
  };
  PeekedSource source(std::make_unique<Pipe>(), 4);
  CHECK_FALSE(source.SeekTo(5));
  CHECK(source.RegularFile() == -1);
  CHECK(ReadAll(source) == "012345");
}
