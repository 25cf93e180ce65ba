// Unpacking stops at the limits and names them.
#include <string>

#include "catch.h"
#include "input/limits.h"
#include "read_all.h"

using namespace whyoom;

namespace TEST_FILE {

// Reads `packed` bytes at depth 0, then `unpacked` bytes at `depth`. Returns how many were read, and the problem.
std::string Unpack(const Limits& limits, std::size_t packed, std::size_t unpacked, int depth = 1,
                   std::size_t capacity = 7) {
  Quota quota(limits);
  const std::string disk(packed, 'p');
  const std::string text(unpacked, 'u');
  CHECK(ReadAll(*quota.Limit(OpenMemory(disk), 0)).size() == packed);
  const std::unique_ptr<ByteSource> source = quota.Limit(OpenMemory(text), depth);
  const std::size_t got = ReadAll(*source, capacity).size();
  CHECK(quota.EndsInput(source->problem()) == !source->problem().empty());
  return std::to_string(got) + " " + std::string(source->problem());
}

Limits Bytes(std::uint64_t bytes) {
  Limits limits;
  limits.bytes = bytes;
  return limits;
}

Limits Suspicious(std::uint64_t bytes, std::uint64_t ratio) {
  Limits limits;
  limits.suspicious_bytes = bytes;
  limits.suspicious_ratio = ratio;
  return limits;
}

const std::string kRatio10 =
    " stopped: unpacking and searching it takes more than 10 times the work expected for its packed size "
    "(--max-bytes lifts this limit); the rest was not read";

TEST_CASE("unpacking stops after the byte limit, and an end exactly there is no problem", "[input]") {
  const std::string stopped = " stopped after 20 bytes unpacked (--max-bytes); the rest was not read";
  for (const std::size_t capacity : {1, 7, 20, 4096}) {
    INFO(capacity);
    CHECK(Unpack(Bytes(20), 5, 19, 1, capacity) == "19 ");
    CHECK(Unpack(Bytes(20), 5, 20, 1, capacity) == "20 ");
    CHECK(Unpack(Bytes(20), 5, 21, 1, capacity) == "20" + stopped);
  }
  CHECK(Unpack(Bytes(20), 5, 21, 0) == "21 ");
}

TEST_CASE("each depth is counted separately, over all its sources", "[input]") {
  Quota quota(Bytes(20));
  CHECK(ReadAll(*quota.Limit(OpenMemory(std::string(15, 'x')), 1)).size() == 15);
  CHECK(ReadAll(*quota.Limit(OpenMemory(std::string(15, 'x')), 2)).size() == 15);
  CHECK(ReadAll(*quota.Limit(OpenMemory(std::string(15, 'x')), 1)).size() == 5);
  CHECK_FALSE(quota.EndsInput("it is damaged"));
  CHECK_FALSE(quota.EndsInput(""));
}

TEST_CASE("the ratio is checked at fixed steps", "[input]") {
  // Unpacking 32 bytes is always allowed; after that, at most ten times the packed bytes.
  CHECK(Unpack(Suspicious(32, 10), 4, 49) == "49 ");
  CHECK(Unpack(Suspicious(32, 10), 4, 50) == "50 ");
  CHECK(Unpack(Suspicious(32, 10), 4, 51) == "50" + kRatio10);
  CHECK(Unpack(Suspicious(32, 10), 2, 33) == "32" + kRatio10);
  CHECK(Unpack(Suspicious(32, 10), 6, 65) == "65 ");
  CHECK(Unpack(Suspicious(32, 10), 7, 70) == "70 ");
  CHECK(Unpack(Suspicious(32, 0), 1, 1000) == "1000 ");
  CHECK(Unpack(Suspicious(0, 10), 1, 1000) == "1000 ");
}

TEST_CASE("a byte of a slow format costs more, and so does examining lines", "[input]") {
  const Limits limits = Suspicious(32, 10);
  const std::string unpacked(40, 'u');
  Quota slow(limits);
  CHECK(ReadAll(*slow.Limit(OpenMemory("pp"), 0)).size() == 2);
  // Four bytes that cost 8 each cost 32, which is more than ten times the two packed bytes.
  CHECK(ReadAll(*slow.Limit(OpenMemory(unpacked), 1, 8), 1).size() == 4);

  Quota looked_at(limits);
  CHECK(ReadAll(*looked_at.Limit(OpenMemory("pp"), 0)).size() == 2);
  const std::unique_ptr<ByteSource> source = looked_at.Limit(OpenMemory(unpacked), 1);
  char byte;
  REQUIRE(source->Read(&byte, 1) == 1);
  source->AddWork(31);
  CHECK(source->Read(&byte, 1) == 0);
  CHECK(looked_at.EndsInput(source->problem()));
}

TEST_CASE("a signal ends each source without a problem", "[input]") {
  ReadControl control;
  Quota quota(Limits(), &control);
  const std::unique_ptr<ByteSource> source = quota.Limit(OpenMemory("text"), 1);
  char byte;
  REQUIRE(source->Read(&byte, 1) == 1);
  control.stop = true;
  CHECK(ReadAll(*source).empty());
  CHECK(source->problem().empty());
}

TEST_CASE("data packed more than twice is checked earlier", "[input]") {
  CHECK(Unpack(Suspicious(32, 10), 0, 33, 2) == "32" + kRatio10);
  CHECK(Unpack(Suspicious(320, 10), 1, 33, 3) == "20" + kRatio10);
}

TEST_CASE("time is limited for all bytes", "[input]") {
  Limits limits;
  limits.seconds = 1e-9;
  Quota quota(limits);
  const std::unique_ptr<ByteSource> source = quota.Limit(OpenMemory("text"), 0);
  CHECK(ReadAll(*source).empty());
  CHECK(source->problem() == "stopped after 1e-09 s (--max-time); the rest was not read");
  CHECK(quota.EndsInput(source->problem()));
  limits.seconds = 3600;
  CHECK(Unpack(limits, 5, 30) == "30 ");
}

TEST_CASE("sizes are shown in whole units", "[input]") {
  CHECK(WholeSize(0) == "0 bytes");
  CHECK(WholeSize(1023) == "1023 bytes");
  CHECK(WholeSize(1024) == "1 KiB");
  CHECK(WholeSize(1536) == "1536 bytes");
  CHECK(WholeSize(std::uint64_t{64} << 20) == "64 MiB");
  CHECK(WholeSize(std::uint64_t{1} << 40) == "1 TiB");
  CHECK(WholeSize(std::uint64_t{15} << 60) == "15 EiB");
}

}  // namespace TEST_FILE
