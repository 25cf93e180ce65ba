// Checking whether files of a dump are from one compile.
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"
#include "program/dump_files.h"

using namespace whyoom;

namespace TEST_FILE {

// Files of a module. All its arrays are f32[128,128], of 64 KiB, unless a test says otherwise.
struct Texts {
  std::string values;  // of the only allocation
  std::string ranges;
  std::string body;
  std::string before;
  std::string head;
  std::string allocation = "allocation 0: size 65536, preallocated-temp:\n";
};

std::string Module(const std::string& body, const std::string& head) {
  return "HloModule m" + head + "\n\nENTRY %main {\n" + body + "}\n";
}

DumpFiles Read(const Texts& texts) {
  const ScratchFolder scratch;
  DumpPaths paths;
  paths.assignment = scratch.Write("assignment.txt", texts.allocation + texts.values + "\nTotal bytes used: 65536\n");
  if (!texts.ranges.empty())
    paths.live_range = scratch.Write(
        "ranges.txt", "HloLiveRange (max 9):\n  BufferLiveRange:\n" + texts.ranges + "  Live ranges at 0 (peak):\n");
  paths.optimized = scratch.Write("optimized.txt", Module(texts.body, texts.head));
  if (!texts.before.empty()) paths.before = scratch.Write("before.txt", Module(texts.before, ""));
  return ReadDumpFiles(paths, 0, true, Stop());
}

const std::string kBody =
    "  %p = f32[128,128]{1,0} parameter(0)\n"
    "  %t = (f32[128,128]{1,0}, (s32[], f32[4]{0})) custom-call(%p)\n"
    "  ROOT %a = f32[128,128]{1,0} add(%p, %p)\n";

std::string Value(const std::string& place, const std::string& shape = "f32[128,128]{1,0}") {
  return " value: <1 " + place + " @0> (size=65536,offset=0): " + shape + "\n";
}

std::string Repeated(const std::string& text, int count) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

// If the values do not match the module, its text is not used.
bool Agrees(const std::string& values) { return !Read({.values = values, .body = kBody}).text.instructions.empty(); }
bool Agrees(const std::string& place, const std::string& shape) { return Agrees(Value(place, shape)); }

TEST_CASE("every value must be an instruction of the module with the same shape", "[program]") {
  CHECK(Agrees("a", "f32[128,128]{1,0:T(8,128)}"));
  CHECK(Agrees("a", "f32[128,128]"));
  CHECK_FALSE(Agrees("b", "f32[128,128]"));
  CHECK_FALSE(Agrees("a", "f32[128,1281]"));
  CHECK_FALSE(Agrees("a", "bf16[128,128]"));
  CHECK_FALSE(Agrees("a{0}", "f32[128,128]"));
  CHECK(Agrees("t", "(f32[128,128], (s32[], f32[4]))"));
  CHECK_FALSE(Agrees("t", "f32[128,128]"));
  CHECK(Agrees("t{0}", "f32[128,128]{1,0}"));
  CHECK(Agrees("t{1,1}", "f32[4]{0}"));
  CHECK_FALSE(Agrees("t{1,1}", "s32[]"));
  CHECK_FALSE(Agrees("t{2}", "f32[4]{0}"));
  // One of a hundred values may be wrong.
  CHECK(Agrees(Value("z") + Repeated(Value("a"), 99)));
  CHECK_FALSE(Agrees(Value("z") + Repeated(Value("a"), 98)));
}

TEST_CASE("every temporary must have a live range, and every live range an instruction", "[program]") {
  const auto is_used = [](const std::string& values, const std::string& ranges) {
    return Read({.values = values, .ranges = ranges, .body = kBody}).memory.schedule_length > 0;
  };
  const std::string range = "    a{}:0-1\n";
  CHECK(is_used(Repeated(Value("a"), 99) + Value("p"), range + "    p{}:0-1\n"));
  CHECK(is_used(Repeated(Value("a"), 99) + Value("p"), range));
  CHECK_FALSE(is_used(Repeated(Value("a"), 98) + Value("p"), range));
  // Small values, such as t{1,1}, are not all in the assignment.
  CHECK(is_used(Value("a"), range + "    t{1,1}:0-1\n"));
  CHECK_FALSE(is_used(Value("a"), range + "    z{}:0-1\n"));
  // Arguments occupy their memory throughout, with or without a live range.
  const std::string argument = "allocation 0: size 65536, parameter 0, shape |f32[128,128]| at ShapeIndex {}:\n";
  const Texts of_argument = {.values = Value("p"), .ranges = "    t{1,1}:0-1\n", .body = kBody, .allocation = argument};
  CHECK(Read(of_argument).memory.schedule_length > 0);
}

TEST_CASE("an assignment that lacks arrays with a live range is truncated", "[program]") {
  const auto is_usable = [](const std::string& without_value, const std::string& body = kBody) {
    return Read({.values = Value("p"), .ranges = "    p{}:0-1\n    " + without_value + ":0-1\n", .body = body}).usable;
  };
  CHECK_FALSE(is_usable("a{}"));
  CHECK(is_usable("t{1,1}"));  // less than 32 KiB
  // Tuples and arrays in other memory are not in the HBM assignment.
  CHECK(is_usable("t{}"));
  CHECK(is_usable("a{}", "  %p = f32[128,128]{1,0} parameter(0)\n  ROOT %a = f32[128,128]{1,0:S(5)} copy(%p)\n"));
  // A few missing values with a small share of the memory are accepted.
  const auto is_usable_beside = [](const std::string& bytes) {
    return Read({.values = " value: <1 p @0> (size=" + bytes + ",offset=0): f32[128,128]{1,0}\n",
                 .ranges = "    p{}:0-1\n    a{}:0-1\n",
                 .body = kBody,
                 .allocation = "allocation 0: size " + bytes + ", preallocated-temp:\n"})
        .usable;
  };
  CHECK(is_usable_beside("6553600"));  // a hundred times as much
  CHECK_FALSE(is_usable_beside("6553599"));
}

TEST_CASE("the parameters before and after optimization must be equal, or shards", "[program]") {
  const auto agree = [](const std::string& before, const std::string& compiled, const std::string& head = "") {
    const std::string body = "  ROOT %p = " + compiled + " parameter(0)\n";
    return !Read({.values = Value("p", compiled),
                  .ranges = "    p{}:0-1\n",
                  .body = body,
                  .before =
                      before.empty() ? "  ROOT %a = f32[] constant(1)\n" : "  ROOT %p = " + before + " parameter(0)\n",
                  .head = head})
                .before_rejected;
  };
  const std::string split = ", num_partitions=4";
  const std::string before = "f32[64,16]{1,0}";
  CHECK(agree(before, "f32[64,16]{0,1:T(8,128)}"));
  CHECK_FALSE(agree(before, "f32[16,16]{1,0}"));
  CHECK(agree(before, "f32[16,16]{1,0}", split));
  CHECK_FALSE(agree(before, "f32[128,16]{1,0}", split));
  CHECK_FALSE(agree(before, "bf16[64,16]{1,0}"));
  CHECK_FALSE(agree(before, "f32[64]{0}"));
  CHECK_FALSE(agree("", "f32[64,16]{1,0}"));
  CHECK(agree("s64[64]{0}", "u32[64]{0}"));
  CHECK(agree("(f32[64]{0}, f32[])", "f32[64]{0}"));
}

}  // namespace TEST_FILE
