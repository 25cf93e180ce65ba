// The peak memory of buffers.
#include "program/occupancy.h"

#include <string>
#include <vector>

#include "catch.h"

using namespace whyoom;

namespace TEST_FILE {

// A buffer with this offset, size and live range.
Buffer At(std::int64_t offset, std::int64_t size, std::int64_t first, std::int64_t last, int allocation = 0) {
  Buffer buffer;
  buffer.offset = offset;
  buffer.size = size;
  buffer.first = first;
  buffer.last = last;
  buffer.allocation = AllocationId(allocation);
  return buffer;
}

// "13: 0 2": the peak, and the indices of the buffers that are live then. If `bytes` is empty, uses the original sizes.
std::string Most(const std::vector<Buffer>& buffers, std::vector<std::int64_t> bytes = {},
                 const std::vector<Buffer>& added = {}) {
  if (bytes.empty()) {
    for (const Buffer& buffer : buffers) bytes.push_back(buffer.size);
  }
  const Occupancy occupancy(buffers);
  CHECK(occupancy.whole());
  const Usage peak = occupancy.FindPeak(bytes, added);
  std::string shown = std::to_string(peak.bytes) + ":";
  if (peak.bytes == 0) return shown;
  for (const int buffer : occupancy.LiveAt(peak.moment)) shown += " " + std::to_string(buffer);
  return shown;
}

TEST_CASE("only buffers that are live at the same time are added", "[program]") {
  CHECK(Most({}) == "0:");
  CHECK(Most({At(0, 10, 1, 5)}) == "10: 0");
  CHECK(Most({At(0, 10, 1, 5), At(10, 4, 5, 9)}) == "14: 0 1");
  CHECK(Most({At(0, 10, 1, 5), At(0, 4, 6, 9)}) == "10: 0");
  CHECK(Most({At(0, 4, 1, 5), At(0, 10, 6, 9)}) == "10: 1");
  CHECK(Most({At(0, 10, 1, 5), At(0, 4, 1, 5, 1)}) == "14: 0 1");
  // The first of equal peaks; buffers are sorted by offset.
  CHECK(Most({At(0, 10, 6, 9), At(0, 10, 1, 5)}) == "10: 1");
  CHECK(Most({At(20, 1, 1, 5), At(0, 2, 1, 5)}) == "3: 1 0");
}

TEST_CASE("overlapping buffers share memory", "[program]") {
  CHECK(Most({At(0, 10, 1, 5), At(2, 4, 1, 5)}) == "10: 0 1");
  CHECK(Most({At(0, 10, 1, 5), At(0, 6, 1, 5), At(3, 7, 1, 5)}) == "13: 0 1 2");
  // Two buffers may overlap through a third one.
  CHECK(Most({At(0, 10, 1, 5), At(8, 4, 1, 5), At(11, 7, 1, 5)}) == "11: 0 1 2");
  // Buffers form a group only while they are live at the same time.
  CHECK(Most({At(0, 10, 1, 3), At(8, 4, 2, 9), At(11, 7, 5, 9)}) == "10: 0");
  CHECK(Most({At(0, 5, 1, 3), At(4, 4, 2, 9), At(8, 7, 5, 9)}) == "11: 1 2");
}

TEST_CASE("the peak is computed for changed sizes", "[program]") {
  const std::vector<Buffer> buffers = {At(0, 10, 1, 5), At(10, 10, 4, 9), At(20, 10, 8, 12)};
  CHECK(Most(buffers) == "20: 0 1");
  CHECK(Most(buffers, {1, 2, 3}) == "5: 1 2");
  CHECK(Most(buffers, {0, 0, 0}) == "0:");
  // The original sizes, not the changed ones, decide which buffer is the largest.
  CHECK(Most({At(0, 10, 1, 5), At(0, 6, 1, 5), At(3, 7, 1, 5)}, {2, 6, 9}) == "15: 0 1 2");
  CHECK(Most({At(0, 10, 1, 5), At(0, 6, 1, 5), At(3, 7, 1, 5)}, {12, 6, 5}) == "12: 0 1 2");
}

TEST_CASE("added buffers share no memory", "[program]") {
  const std::vector<Buffer> buffers = {At(0, 10, 1, 5), At(0, 8, 6, 9)};
  CHECK(Most(buffers, {}, {At(0, 5, 6, 9)}) == "13: 1");
  CHECK(Most(buffers, {}, {At(0, 5, 5, 5)}) == "15: 0");
  CHECK(Most(buffers, {}, {At(0, 5, 7, 7), At(0, 4, 7, 8)}) == "17: 1");
  CHECK(Most(buffers, {}, {At(0, 5, 7, 6)}) == "10: 0");
  CHECK(Most({}, {}, {At(0, 5, 7, 8)}) == "5:");
}

TEST_CASE("groups with too many members are not analyzed", "[program]") {
  const std::vector<Buffer> buffers = {At(0, 10, 1, 5), At(0, 6, 1, 5), At(3, 7, 1, 5)};
  CHECK(Occupancy(buffers, 3).whole());
  const Occupancy occupancy(buffers, 2);
  CHECK_FALSE(occupancy.whole());
  CHECK(occupancy.FindPeak({10, 6, 7}, {}).bytes == 0);
}

}  // namespace TEST_FILE
