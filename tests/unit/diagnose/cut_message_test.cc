// A message keeps its code if a table, a JSON field or a list contains only its first characters.
#include <string>
#include <string_view>
#include <vector>

#include "catch.h"
#include "unit/diagnose/diagnose_log.h"

using namespace whyoom;

namespace TEST_FILE {

struct CutMessage {
  const char* code;
  const char* identifies;  // the shortest beginning that no other failure shares
  const char* rest;
};

const CutMessage kMessages[] = {
    {"E1000", "RESOURCE_EXHAUSTED: E1000",
     ": CompileTimeHbmOom: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 21.90G of "
     "15.48G hbm."},
    {"E1000", "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space h",
     "bm. Used 21.90G of 15.48G hbm."},
    {"E1000", "RESOURCE_EXHAUSTED: Ran out of memory on H",
     "BM, the total memory required for HLO temporaries (45.75G) exceeds available HBM (31.25G)."},
    {"0100", "RESOURCE_EXHAUSTED: E0100",
     ": RuntimeBufferAllocationFailure: Error allocating device buffer: Attempting to allocate 3.50G. That was"},
    {"0100", "RESOURCE_EXHAUSTED: Error allocating d", "evice buffer: Attempting to allocate 3.50G."},
    {"0101", "RESOURCE_EXHAUSTED: E0101",
     ": RuntimeProgramAllocationFailure: Error loading program 'jit_step': Attempting to reserve 3.50G at the"},
    {"0101", "RESOURCE_EXHAUSTED: Error loading p", "rogram 'jit_step': Attempting to reserve 3.50G at the bottom"},
    {"E1001", "RESOURCE_EXHAUSTED: E1001",
     ": CompileTimeScopedVmemOom: Ran out of memory in memory space vmem while allocating on stack for %f."},
    {"tpu.vmem", "RESOURCE_EXHAUSTED: Ran out of memory in memory space v", "mem. Used 130.00M of 128.00M vmem."},
    {"tpu.smem", "RESOURCE_EXHAUSTED: Ran out of memory in memory space sm", "em. Used 1.20M of 1.00M smem."},
};

const char* const kRows[][2] = {
    {"  B= 4 | ctx=   8K ... FAILED: ", "\n  B= 8 | ctx=   8K ... skipped"},
    {"{\"batch\": 4, \"error\": \"", "\"}"},
    {"| 8192 | 256 | ", " | - |\n| 8192 | 512 | ok | 3.1 |"},
    {"- batch 4: `", "`"},
    {"step 4: OOM [", "], next"},
};

TEST_CASE("a message that is cut anywhere in a line keeps its code", "[diagnose]") {
  for (const CutMessage& message : kMessages) {
    const std::string whole = std::string(message.identifies) + message.rest;
    const std::size_t least = std::string_view(message.identifies).size();
    for (std::size_t length = least; length < whole.size(); length += 3) {
      for (const auto& row : kRows) {
        const std::string log = "warm up\n" + std::string(row[0]) + whole.substr(0, length) + row[1] + "\nstep 5\n";
        INFO(log);
        CHECK(Diagnose(log).rule->code == message.code);
      }
    }
  }
}

TEST_CASE("a figure that may have been cut is unknown", "[diagnose]") {
  const Failure failure = Diagnose(
      "  B= 4 FAILED: RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO temporaries "
      "(45.75G) exceeds available HBM (31.2\n");
  CHECK(failure.confidence == Confidence::kLow);
  CHECK(failure.facts.Number("used_bytes") == 45.75 * (1 << 30));
  CHECK(failure.facts.Find("limit_bytes") == nullptr);
}

}  // namespace TEST_FILE
