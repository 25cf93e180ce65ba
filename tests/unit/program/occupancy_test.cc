// The peak memory of buffers.
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "program/buffer_assignment.h"

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

// "13: 0 2": the peak, and the indices of the extents that are live then.
std::string Most(const std::vector<Buffer>& buffers) {
  const Usage peak = PeakOf(std::vector<Extent>(buffers.begin(), buffers.end()));
  std::string shown = std::to_string(peak.bytes) + ":";
  for (std::size_t i = 0; i < buffers.size() && peak.bytes > 0; ++i) {
    if (buffers[i].first <= peak.moment && peak.moment <= buffers[i].last) shown += " " + std::to_string(i);
  }
  return shown;
}

TEST_CASE("only buffers that are live at the same time are added", "[program]") {
  CHECK(Most({}) == "0:");
  CHECK(Most({At(0, 10, 1, 5)}) == "10: 0");
  CHECK(Most({At(0, 10, 1, 5), At(10, 4, 5, 9)}) == "14: 0 1");
  CHECK(Most({At(0, 10, 1, 5), At(0, 4, 6, 9)}) == "10: 0");
  CHECK(Most({At(0, 4, 1, 5), At(0, 10, 6, 9)}) == "10: 1");
  CHECK(Most({At(0, 10, 1, 5), At(0, 4, 1, 5, 1)}) == "14: 0 1");
  // The first of equal peaks.
  CHECK(Most({At(0, 10, 6, 9), At(0, 10, 1, 5)}) == "10: 1");
  CHECK(Most({At(20, 1, 1, 5), At(0, 2, 1, 5)}) == "3: 0 1");
}

// "0-9: 2" for each joined buffer: its live range and its number of values.
std::vector<std::string> Joined(std::vector<Buffer> buffers) {
  for (Buffer& buffer : buffers) buffer.values = {ValueId(0)};
  std::vector<std::string> shown;
  for (const Buffer& buffer : JoinInPlace(std::move(buffers))) {
    shown.push_back(std::to_string(buffer.first) + "-" + std::to_string(buffer.last) + ": " +
                    std::to_string(buffer.values.size()));
  }
  return shown;
}

TEST_CASE("buffers of one place and size that follow each other without a gap are joined", "[program]") {
  using Texts = std::vector<std::string>;
  CHECK(Joined({At(0, 10, 1, 5), At(0, 10, 5, 9)}) == Texts{"1-9: 2"});
  CHECK(Joined({At(0, 10, 3, 4), At(0, 10, 1, 5), At(0, 10, 5, 9)}) == Texts{"1-9: 3"});
  CHECK(Joined({At(0, 10, 1, 5), At(0, 10, 6, 9)}) == Texts{"1-5: 1", "6-9: 1"});
  CHECK(Joined({At(0, 10, 1, 5), At(1, 10, 5, 9)}) == Texts{"1-5: 1", "5-9: 1"});
  CHECK(Joined({At(0, 10, 1, 5), At(0, 11, 5, 9)}) == Texts{"1-5: 1", "5-9: 1"});
  CHECK(Joined({At(0, 10, 1, 5), At(0, 10, 5, 9, 1)}) == Texts{"1-5: 1", "5-9: 1"});
  Buffer output = At(0, 10, 5, 9);
  output.is_output = true;
  CHECK(Joined({At(0, 10, 1, 5), output}) == Texts{"1-5: 1", "5-9: 1"});
}

TEST_CASE("extents without size or duration do not count", "[program]") {
  CHECK(Most({At(0, 0, 1, 5), At(0, 8, 6, 9)}) == "8: 1");
  CHECK(Most({At(0, 10, 1, 5), At(0, 5, 7, 6)}) == "10: 0");
  CHECK(Most({At(0, 0, 1, 5)}) == "0:");
}

}  // namespace TEST_FILE
