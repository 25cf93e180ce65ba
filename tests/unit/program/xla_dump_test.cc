#include "program/xla_dump.h"

#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "process.h"
#include "program/buffer_assignment.h"
#include "program/hlo.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

const char* const kAssignment = R"(BufferAssignment:
allocation 0: size 8388608, color 1, page 0, preallocated-temp:
 value: <9 in_vmem @0> (size=8388608,offset=0): f32[1024,2048]{1,0:T(8,128)S(1)}
allocation 1: size 512, page 0, thread-local:
 value: <2 add @0> (size=512,offset=0): f32[]{:T(128)}
allocation 2: size 4194304, page 0, parameter 0, shape |f32[1024,1024]| at ShapeIndex {}, maybe-live-out:
 value: <24 state @0> (size=4194304,offset=0): f32[1024,1024]{1,0:T(8,128)}
allocation 3: size 2097152, page 0, parameter 1, shape |f32[512,1024]| at ShapeIndex {}:
 value: <25 batch @0> (size=2097152,offset=0): f32[512,1024]{1,0:T(8,128)}
allocation 4: size 1048576, page 0, output shape is |f32[256,1024]|, maybe-live-out:
 value: <29 out @0> (size=1048576,offset=0): f32[256,1024]{1,0:T(8,128)}
allocation 5: size 20971520, page 0, preallocated-temp:
 value: <30 early @0> (size=12582912,offset=0): f32[3072,1024]{1,0:T(8,128)}
 value: <31 late @0> (size=8388608,offset=0): f32[2048,4]{0,1:T(8,128)}
 value: <32 while.5{1} @0> (size=8388608,offset=12582912): f32[2048,1024]{1,0:T(8,128)}
 value: <33 fusion.7 (phi) @0> (size=8388608,offset=12582912): f32[2048,1024]{1,0:T(8,128)}
 value: <34 tiny @0> (size=512,offset=20971008): f32[]{:T(128)}

Total bytes used: 36700160 (35.00MiB)
)";

const char* const kRanges = R"(HloLiveRange (max 9):
  InstructionSequence:
    0:batch
  BufferLiveRange:
    state{}:0-9
    early{}:1-3
    late{}:4-8
    while.5{1}:5-7
    fusion.7{}:5-6
  Live ranges at 5 (peak):
    late{}: 8388608 bytes (cumulative: 8388608 bytes)
)";

std::vector<std::string> Names(const std::vector<MemoryValue>& values) {
  std::vector<std::string> names;
  for (const MemoryValue& value : values) names.push_back(value.name + value.index);
  return names;
}

// The names of the values that are listed of the temporaries.
std::vector<std::string> Listed(bool with_ranges) {
  const auto source = OpenMemory(kAssignment, 7);
  const auto ranges = OpenMemory(kRanges);
  const ModuleMemory memory = ReadMemory(*source, with_ranges ? ranges.get() : nullptr, {kMiB, 1000});
  return Names(LiveAt(memory.allocations.at(3), PeakOf(memory).moment));
}

TEST_CASE("if values that are live at the peak share memory, only one of them is listed", "[program]") {
  // early (12 MiB) is live alone. late and the loop-carried value, 8 MiB each, are live together, and fusion.7 shares
  // the memory of the loop-carried value.
  CHECK(Listed(true) == std::vector<std::string>{"late", "while.5{1}"});
  // Without live ranges, lists values that do not share memory with each other.
  CHECK(Listed(false) == std::vector<std::string>{"early", "while.5{1}"});
}

TEST_CASE("instructions yield op names and the user's source line", "[program]") {
  const std::string text = R"(HloModule jit_step, is_scheduled=true

FileNames
1 "/home/user/train.py"
2 "/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py"

FunctionNames
1 "main"

FileLocations
1 {file_name_id=1 function_name_id=1 line=41 end_line=41 column=4 end_column=4}
2 {file_name_id=2 function_name_id=1 line=251 end_line=251 column=4 end_column=4}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2 parent_frame_id=2}

ENTRY %main (p: f32[8]) -> f32[8] {
  %p = f32[8]{0} parameter(0), metadata={op_name="state"}
  %fusion.7 = (f32[8]{0:T(128)}, u32[]) fusion(%p), kind=kLoop, calls=%f, metadata={op_name="jit(step)/jvp(dense)/dot_general" stack_frame_id=2}, backend_config={}
  %old = f32[8]{0} copy(%p), metadata={op_name="a\"b" source_file="t.py" source_line=6}
  %not_wanted = f32[8]{0} negate(%p)
  ROOT %send.1 = (f32[8]{0}, u32[], token[]) send(%p, %t), channel_id=2, is_host_transfer=true, metadata={op_name="jit(step)/debug_callback" stack_frame_id=1}
}
)";
  const auto source = OpenMemory(text, 5);
  const HloModule module = ReadHlo(*source);
  const InstructionId fusion = module.Find("fusion.7");
  REQUIRE(fusion);
  CHECK(UserLine(module, fusion).file == "/home/user/train.py");
  CHECK(UserLine(module, fusion).line == 41);
  CHECK(InstructionLabel(module, fusion) == "fusion.7 = fusion(p), kind=kLoop, calls=f");
  CHECK(InstructionLabel(module, module.Find("p")) == "p = parameter(0)");
  CHECK(UserLine(module, module.Find("p")).file.empty());
  CHECK_FALSE(UserLine(module, module.Find("p")).line);
  CHECK(UserLine(module, module.Find("old")).line == 6);
  const std::vector<InstructionId> transfers = HostTransfers(module);
  REQUIRE(transfers.size() == 1);
  CHECK(UserLine(module, transfers[0]).line == 41);
}

TEST_CASE("only a failed module is found by its name", "[program]") {
  const ScratchFolder scratch;
  XlaDump dump;
  const auto add = [&](const std::string& name, const std::string& text) { dump.AddFile(scratch.Write(name, text)); };
  add("module_0000.jit_step.cl_7.after_optimizations-buffer-assignment.txt", kAssignment);
  add("module_0000.jit_step.cl_7.after_optimizations-live-range.txt", kRanges);
  add("unrelated.txt", "nothing");
  Problem problem;
  CHECK_FALSE(dump.Read("jit_step", BuiltInRules().role_words, std::nullopt, 0, &problem));  // this compile fitted
  add("module_0000.jit_step.cl_7.oom_intermediate_module.txt",
      "HloModule jit_step\n\nENTRY %main {\n  %late = f32[2048,4]{0,1} iota(), "
      "metadata={op_name=\"jit(step)/late\"}\n}\n");
  CHECK_FALSE(dump.Read("jit_other", BuiltInRules().role_words, std::nullopt, 0, &problem));
  CHECK(problem.what.find("no failed compile") != std::string::npos);
  const std::optional<DumpReading> reading =
      dump.Read("jit_step", BuiltInRules().role_words, std::nullopt, 0, &problem);
  REQUIRE(reading);
  const Evidence& facts = reading->facts;
  const std::vector<Allocation>& rows = reading->rows;
  CHECK(facts.Get("arguments_bytes") == Value(6.0 * kMiB));
  CHECK(facts.Get("output_bytes") == Value(5.0 * kMiB));
  CHECK(facts.Get("shared_output_bytes") == Value(4.0 * kMiB));
  CHECK(facts.Get("hlo_temp_bytes") == Value(20.0 * kMiB));
  REQUIRE(rows.size() == 5);
  CHECK(rows[0].op_name == "jit(step)/late");
  CHECK(rows[0].padding_bytes == 8 * kMiB - 2048 * 4 * 4);
  CHECK(rows[0].kind == "HLO temp");
  CHECK(rows[2].kind == "parameter");
  CHECK(rows[4].rank == 5);
  // Without a name, the only failed module is chosen.
  const std::optional<DumpReading> nameless = dump.Read("", BuiltInRules().role_words, std::nullopt, 0, &problem);
  REQUIRE(nameless);
  CHECK(nameless->facts.Text("module") == "jit_step");
}

TEST_CASE("if several modules failed, the one with the log's figure is chosen", "[program]") {
  const ScratchFolder scratch;
  XlaDump dump;
  const auto add = [&](const std::string& module, const std::string& assignment) {
    dump.AddFile(scratch.Write("module_" + module + ".after_optimizations-buffer-assignment.txt", assignment));
    dump.AddFile(
        scratch.Write("module_" + module + ".oom_intermediate_module.txt", "HloModule m\n\nENTRY %main {\n}\n"));
  };
  const auto read = [&](double used, Problem* problem) {
    return dump.Read("", BuiltInRules().role_words, used, 0, problem);
  };
  add("0000.jit_step.cl_7", kAssignment);
  Problem problem;
  const double need =
      dump.Read("", BuiltInRules().role_words, std::nullopt, 0, &problem)->facts.Number("program_need_bytes").value();
  add("0001.jit_other.cl_7",
      "BufferAssignment:\nallocation 0: size 104857600, page 0, preallocated-temp:\n value: <1 a @0> "
      "(size=104857600,offset=0): f32[26214400]{0:T(1024)}\n\nTotal bytes used: 104857600 (100.00MiB)\n");
  REQUIRE(read(need, &problem));
  CHECK(read(need, &problem)->facts.Text("module") == "jit_step");
  CHECK(read(100.0 * kMiB, &problem)->facts.Text("module") == "jit_other");
  CHECK_FALSE(read(200.0 * kMiB, &problem));
  CHECK(problem.what.find("does not name the module that failed") != std::string::npos);
  add("0002.jit_third.cl_7", kAssignment);
  CHECK_FALSE(read(need, &problem));  // several match
}

TEST_CASE("names of dump files are recognized", "[program]") {
  CHECK(XlaDump::IsDumpFile("/d/module_0012.jit_step.cl_1003875606.after_optimizations-buffer-assignment.txt"));
  CHECK(XlaDump::IsDumpFile("module_0012.jit__lambda_.after_optimizations.txt"));
  CHECK(XlaDump::IsDumpFile("module_0012.jit_step.cl_1.before_optimizations.txt"));
  CHECK_FALSE(XlaDump::IsDumpFile("train.log"));
}

}  // namespace TEST_FILE
