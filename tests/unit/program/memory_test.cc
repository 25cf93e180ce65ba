#include "program/memory.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "program/buffer_assignment.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

const char* const kAssignment = R"(BufferAssignment:
allocation 0: size 8388608, color 1, page 0, preallocated-temp:
 value: <9 in_vmem @1> (size=8388608,offset=0): f32[1024,2048]{1,0:T(8,128)S(1)}
allocation 1: size 512, page 0, thread-local:
 value: <2 add @0> (size=512,offset=0): f32[]{:T(128)}
allocation 2: size 4194304, page 0, parameter 0, shape |f32[1024,1024]| at ShapeIndex {}, maybe-live-out:
 value: <24 state @0> (size=4194304,offset=0): f32[1024,1024]{1,0:T(8,128)}
allocation 3: size 2097152, page 0, parameter 1, shape |(f32[], f32[512,1024], constant)| at ShapeIndex {1,0}:
 value: <25 batch{1,0} @0> (size=2097152,offset=0): f32[512,1024]{1,0:T(8,128)}
allocation 4: size 1048576, page 0, output shape is |f32[256,1024]|, maybe-live-out:
 value: <29 out @0> (size=1048576,offset=0): f32[256,1024]{1,0:T(8,128)}
allocation 5: size 16384, page 0, constant:
 value: <28 table @0> (size=16384,offset=0): f32[4096]{0:T(1024)}
allocation 6: size 20971520, page 0, preallocated-temp:
 value: <30 early @0> (size=12582912,offset=0): f32[3072,1024]{1,0:T(8,128)}
 value: <31 late{} @0> (size=8388608,offset=0): (f32[2048,4]{0,1:T(8,128)}, u32[])
 value: <32 while.5{1} @0> (size=8388608,offset=12582912): f32[2048,1024]{1,0:T(8,128)}
 value: <33 fusion.7 (phi) @0> (size=8388608,offset=12582912): f32[2048,1024]{1,0:T(8,128)}
 value: <34 tiny @0> (size=512,offset=20971008): f32[]{:T(128)}
allocation 7: size 33554432, color 5, page 0, preallocated-temp:
 value: <40 offloaded @5> (size=33554432,offset=0): f32[8192,1024]{1,0:T(8,128)S(5)}

Total bytes used: 36700160 (35.00MiB)
allocation 8: size 7, page 0, preallocated-temp:
)";

const char* const kRanges = R"(HloLiveRange (max 9):
  InstructionSequence:
    0:batch
    1:early{}:7-8
  BufferLiveRange:
    state{}:0-9
    batch{1,0}:0-9
    early{}:1-3
    late{}:4-8
    while.5{1}:5-7
    fusion.7{}:5-6
    in_vmem{}:1-2
    early{}:8-9
  Live ranges at 5 (peak):
    late{}: 8388608 bytes (cumulative: 8388608 bytes)
)";

ModuleMemory Read(std::string_view assignment, std::string_view ranges, const MemoryLimits& limits = {}) {
  const auto first = OpenMemory(assignment, 7);
  const auto second = OpenMemory(ranges, 7);
  return ReadMemory(*first, second.get(), limits);
}

ModuleMemory ReadWithoutRanges(std::string_view assignment, const MemoryLimits& limits = {}) {
  const auto source = OpenMemory(assignment, 7);
  return ReadMemory(*source, nullptr, limits);
}

std::vector<std::string> Names(const MemoryAllocation& allocation) {
  std::vector<std::string> names;
  for (const MemoryValue& value : allocation.values) names.push_back(value.name + value.index);
  return names;
}

using Strings = std::vector<std::string>;

// An allocation of values, each given as offset, size, first, last.
MemoryAllocation Allocation(const std::vector<std::vector<std::int64_t>>& values) {
  MemoryAllocation allocation;
  for (const auto& given : values) {
    MemoryValue value;
    value.offset = given[0];
    value.size = given[1];
    value.first = given[2];
    value.last = given[3];
    allocation.values.push_back(value);
  }
  return allocation;
}

TEST_CASE("a buffer assignment is read by kind, only for HBM", "[program]") {
  const ModuleMemory memory = Read(kAssignment, kRanges);
  CHECK(memory.assignment_whole);
  CHECK(memory.ranges_whole);
  CHECK_FALSE(memory.over_limit);
  REQUIRE(memory.allocations.size() == 5);
  const auto& [state, batch, out, table, temporaries] =
      std::tie(memory.allocations.at(0), memory.allocations.at(1), memory.allocations.at(2), memory.allocations.at(3),
               memory.allocations.at(4));
  CHECK(state.kind == AllocationKind::kArgument);
  CHECK(state.is_output);
  CHECK(state.parameter == 0);
  CHECK(batch.kind == AllocationKind::kArgument);
  CHECK_FALSE(batch.is_output);
  CHECK(batch.parameter == 1);
  CHECK(out.kind == AllocationKind::kOutput);
  CHECK(out.parameter == -1);
  CHECK(table.kind == AllocationKind::kConstant);
  CHECK(temporaries.kind == AllocationKind::kTemporaries);
  CHECK(temporaries.size == 20 * kMiB);
  CHECK(Names(temporaries) == Strings{"early", "late", "while.5{1}", "fusion.7", "tiny"});
  CHECK(temporaries.values[2].offset == 12 * kMiB);
  CHECK(temporaries.values[2].shape == "f32[2048,1024]{1,0:T(8,128)}");
  CHECK(memory.need_bytes == 27 * kMiB + 16384);
  CHECK(memory.host_bytes == 32 * kMiB);
}

TEST_CASE("values receive their live ranges", "[program]") {
  const ModuleMemory memory = Read(kAssignment, kRanges);
  CHECK(memory.schedule_length == 10);
  const std::vector<MemoryValue>& values = memory.allocations.at(4).values;
  CHECK(std::pair(values[0].first, values[0].last) == std::pair<std::int64_t, std::int64_t>(1, 3));
  CHECK(values[1].first == 4);
  CHECK(values[2].last == 7);
  CHECK(values[4].first == -1);
  CHECK(memory.allocations.at(1).values.at(0).last == 9);
  // early needs 12 MiB alone; late and the loop-carried value need 16 MiB together.
  CHECK(PeakOf(memory).bytes == 16 * kMiB);
  const ModuleMemory without = ReadWithoutRanges(kAssignment);
  CHECK(without.assignment_whole);
  CHECK(without.schedule_length == 0);
  CHECK(without.allocations.at(4).values[0].first == -1);
  CHECK(PeakOf(without).bytes == 0);
}

TEST_CASE("small values are dropped", "[program]") {
  const ModuleMemory large = ReadWithoutRanges(kAssignment, {kMiB, 1000});
  CHECK_FALSE(large.over_limit);
  CHECK(Names(large.allocations.at(4)) == Strings{"early", "late", "while.5{1}", "fusion.7"});
  CHECK(Names(large.allocations.at(3)) == Strings{"table"});  // as large as its allocation
}

TEST_CASE("an empty array is kept, too", "[program]") {
  const ModuleMemory memory = ReadWithoutRanges(
      "BufferAssignment:\nallocation 0: size 0, page 0, parameter 0, shape |f32[0,8]| at ShapeIndex {}:\n"
      " value: <1 none @0> (size=0,offset=0): f32[0,8]{1,0}\n");
  REQUIRE(memory.allocations.size() == 1);
  CHECK(Names(memory.allocations.at(0)) == Strings{"none"});
  CHECK(memory.need_bytes == 0);
}

TEST_CASE("the number of kept values is limited", "[program]") {
  std::string text = "BufferAssignment:\nallocation 0: size 1000000, page 0, preallocated-temp:\n";
  for (int i = 1; i <= 5000; ++i) {
    const std::string number = std::to_string(i);
    text += " value: <" + number + " v" + number + " @0> (size=" + number + ",offset=0): f32[" + number + "]{0}\n";
  }
  const ModuleMemory few = ReadWithoutRanges(text, {0, 100});
  REQUIRE(few.allocations.at(0).values.size() == 100);
  CHECK(few.allocations.at(0).values.back().name == "v100");
  CHECK(few.over_limit);
  CHECK(few.need_bytes == 1000000);  // dropped values still count
  const ModuleMemory little_text = ReadWithoutRanges(text, {0, 5000, 1000});
  CHECK(little_text.over_limit);
  CHECK(little_text.allocations.at(0).values.size() < 100);
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "allocation " + std::to_string(i) + ": size 8, page 0, constant:\n";
  const ModuleMemory allocations = ReadWithoutRanges(many, {0, 100});
  CHECK(allocations.allocations.size() == 100);
  CHECK(allocations.need_bytes == 8000);
  CHECK(allocations.over_limit);
}

TEST_CASE("truncated or damaged files are detected", "[program]") {
  const std::string_view assignment = kAssignment;
  for (std::size_t length = 0; length <= assignment.size(); ++length) {
    const ModuleMemory memory = ReadWithoutRanges(assignment.substr(0, length));
    CHECK(memory.need_bytes <= 27 * kMiB + 16384);
    CHECK(memory.allocations.size() <= 5);
  }
  CHECK_FALSE(ReadWithoutRanges("").assignment_whole);
  const std::string_view ranges = kRanges;
  for (std::size_t length = 0; length <= ranges.size(); ++length) {
    const ModuleMemory memory = Read(assignment, ranges.substr(0, length));
    CHECK(memory.ranges_whole == (length >= ranges.find("  Live ranges") + 3));
    CHECK(memory.allocations.size() == 5);
  }
  for (const std::string_view text : {assignment, ranges}) {
    std::string damaged(text);
    for (std::size_t at = 0; at < text.size(); ++at) {
      for (const char wrong : {'\0', '-', '}', ' ', '\n', '9'}) {
        damaged[at] = wrong;
        const ModuleMemory memory = text == assignment ? Read(damaged, ranges) : Read(assignment, damaged);
        CHECK(PeakOf(memory).bytes >= 0);
      }
      damaged[at] = text[at];
    }
  }
}

TEST_CASE("numbers out of range saturate", "[program]") {
  const std::string huge = "99999999999999999999999999";
  const ModuleMemory memory =
      Read("allocation 0: size " + huge + ", page 0, parameter " + huge +
               ", shape |f32[]| at ShapeIndex {}:\n value: <1 a @0> (size=" + huge + ",offset=" + huge +
               "): f32[]\nallocation 1: size " + huge + ", page 0, preallocated-temp:\n value: <1 b @0> (size=" + huge +
               ",offset=0): f32[]\n value: <1 c @0> (size=1,offset=" + huge + "): f32[]\n",
           "HloLiveRange (max " + huge + "):\n  BufferLiveRange:\n    a{}:0-" + huge + "\n    b{}:1-" + huge +
               "\n    c{}:" + huge + "-0\n  Live ranges\n");
  REQUIRE(memory.allocations.size() == 2);
  CHECK(memory.need_bytes > 0);
  CHECK(PeakOf(memory).bytes >= 0);
  CHECK(memory.allocations.at(1).values.at(1).first == -1);  // its range would end before it begins
  CHECK_FALSE(memory.ranges_whole);
}

TEST_CASE("the peak counts a value that is updated in place once", "[program]") {
  const auto peak = [](const std::vector<std::vector<std::int64_t>>& values) {
    ModuleMemory memory;
    memory.allocations.push_back(Allocation(values));
    return PeakOf(memory).bytes;
  };
  CHECK(peak({}) == 0);
  CHECK(peak({{0, 8, -1, -1}}) == 0);
  CHECK(peak({{0, 8, 0, 1}, {8, 8, 2, 3}}) == 8);
  CHECK(peak({{0, 8, 0, 2}, {8, 8, 2, 3}}) == 16);  // both ends are inclusive
  CHECK(peak({{0, 8, 0, 2}, {0, 8, 1, 3}}) == 8);
}

TEST_CASE("a timeline contains the peak of each part of the schedule", "[program][memory]") {
  ModuleMemory memory;
  memory.schedule_length = 100;
  memory.need_bytes = 1000 + 64;
  MemoryAllocation fixed;
  fixed.kind = AllocationKind::kArgument;
  fixed.size = 1000;
  MemoryAllocation temporaries;
  temporaries.size = 64;
  const auto add = [&](std::int64_t offset, std::int64_t size, std::int64_t first, std::int64_t last) {
    MemoryValue value;
    value.offset = offset;
    value.size = size;
    value.first = first;
    value.last = last;
    temporaries.values.push_back(value);
  };
  add(0, 16, 0, 99);
  add(16, 32, 41, 43);
  add(16, 32, 42, 42);  // at the same offset
  add(48, 16, 43, 60);
  memory.allocations = {fixed, temporaries};

  const std::vector<MemoryMoment> timeline = TimelineOf(memory, 10);
  REQUIRE(timeline.size() == 10);
  std::vector<std::int64_t> bytes;
  for (const MemoryMoment& moment : timeline) bytes.push_back(moment.bytes);
  CHECK(bytes == std::vector<std::int64_t>{1016, 1016, 1016, 1016, 1064, 1032, 1032, 1016, 1016, 1016});
  CHECK(timeline[4].at == 0.43);  // the exact moment of the peak
  CHECK(timeline[5].at == 0.5);   // a value from before counts at the start of the part
  CHECK(PeakOf(memory).moment == 43);
  CHECK(PeakOf(memory).bytes == 64);

  CHECK(TimelineOf(memory, 1).size() == 1);
  CHECK(TimelineOf(memory, 1)[0].bytes == 1064);
  CHECK(TimelineOf(memory, 1000).size() == 100);
  memory.schedule_length = 0;
  CHECK(TimelineOf(memory).empty());  // without live ranges
}

}  // namespace TEST_FILE
