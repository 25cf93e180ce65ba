// Diagnoses of logs with little evidence: a list of part of the need, sizes rounded to the same figure, a framework
// that only the dump names.
#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "process.h"
#include "program/xla_dump.h"
#include "report/failure_view.h"
#include "unit/diagnose/diagnose_log.h"

using namespace whyoom;

namespace TEST_FILE {

// A report of `rows` activations of 4 GiB, of 40 GiB needed.
std::string Report(int rows) {
  std::string text =
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 40.00G of "
      "31.25G hbm. Exceeded hbm capacity by 8.75G.\n\nTotal hbm usage >= 40.25G:\n    reserved         258.00M\n    "
      "program          40.00G\n    arguments            0B\n\nOutput size 0B; shares 0B with arguments.\n\n"
      "Program hbm requirement 40.00G:\n    HLO temp         40.00G (100.0% utilization: Unpadded (40.00G) Padded "
      "(40.00G), 0.0% fragmentation (0B))\n\n  Largest program allocations in hbm:\n\n";
  for (int i = 1; i <= rows; ++i) {
    const std::string number = std::to_string(i);
    text += "  " + number + ". Size: 4.00G\n     Operator: op_name=\"jit(step)/jit(main)/jvp(Model)/block_" + number +
            "/mlp/dot_general\"\n     Shape: f32[32,2048,16384]{2,1,0:T(8,128)}\n     Unpadded size: 4.00G\n     XLA "
            "label: fusion." +
            number + " = fusion(p.1), kind=kOutput, calls=fused_computation." + number +
            "\n     Allocation type: HLO temp\n     ==========================\n\n";
  }
  return text;
}

bool Says(const std::vector<Reason>& reasons, const std::string& part) {
  return std::any_of(reasons.begin(), reasons.end(),
                     [&](const Reason& reason) { return reason.text.find(part) != std::string::npos; });
}

const std::string kRounded =
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 15.75G of 15.75G "
    "hbm. HLO module: jit_step.\n";

XlaDump DumpWith(const ScratchFolder& scratch, const std::string& size, const std::string& file) {
  XlaDump dump;
  dump.AddFile(scratch.Write("module_0000.jit_step.cl_7.after_optimizations-buffer-assignment.txt",
                             "BufferAssignment:\nallocation 0: size " + size +
                                 ", page 0, preallocated-temp:\n value: <9 a @0> (size=" + size +
                                 ",offset=0): f32[1024]{0:T(1024)}\n"));
  dump.AddFile(scratch.Write("module_0000.jit_step.cl_7.oom_intermediate_module.txt",
                             "HloModule jit_step\n\nFileNames\n1 \"" + file +
                                 "\"\n\nFunctionNames\n1 \"f\"\n\nFileLocations\n1 {file_name_id=1 "
                                 "function_name_id=1 line=3 end_line=3 column=1 end_column=2}\n\nStackFrames\n1 "
                                 "{file_location_id=1 parent_frame_id=1}\n\nENTRY %main {\n  ROOT %a = f32[1024]{0} "
                                 "iota(), iota_dimension=0, metadata={op_name=\"jit(step)/a\" stack_frame_id=1}\n}\n"));
  return dump;
}

TEST_CASE("a list of less than half of the need does not show that a remedy is not enough", "[diagnose]") {
  const Failure part = Diagnose(Report(2));
  REQUIRE_FALSE(part.remedies.empty());
  CHECK(std::none_of(part.remedies.begin(), part.remedies.end(),
                     [](const RankedRemedy& ranked) { return ranked.enough == false; }));
  const auto halved = std::find_if(part.remedies.begin(), part.remedies.end(), [](const RankedRemedy& ranked) {
    return ranked.saves_bytes && *ranked.saves_bytes > 0 && !ranked.enough;
  });
  REQUIRE(halved != part.remedies.end());
  CHECK(EffectText(*halved, part).find("saves at least ") == 0);
  CHECK(Says(part.why, "The list covers only 8.00 GiB, 20 % of the 40.00 GiB needed"));

  const Failure most = Diagnose(Report(6));
  CHECK(std::none_of(most.remedies.begin(), most.remedies.end(),
                     [](const RankedRemedy& ranked) { return ranked.at_least; }));
  CHECK_FALSE(Says(most.why, "The list covers only"));
}

TEST_CASE("sizes rounded to the same figure do not mean an excess of zero", "[diagnose]") {
  const Failure rounded = Diagnose(kRounded);
  CHECK_FALSE(rounded.facts.Find("excess_bytes"));
  REQUIRE(NeedOf(rounded));
  CHECK(NeedText(rounded).find(", less than 10.24 MiB over the ") != std::string::npos);
  CHECK(rounded.confidence == Confidence::kHigh);

  const ScratchFolder scratch;
  const Failure exact = Diagnose(kRounded, DumpWith(scratch, "16917620327", "/home/user/train.py"));
  CHECK(exact.facts.Get("excess_bytes") == Value(6186599.0));
  CHECK(NeedText(exact).find(", 5.90 MiB over the ") != std::string::npos);
}

TEST_CASE("the framework is recognized by the dump's file names", "[diagnose]") {
  const std::string packages = "/opt/venv/lib/python3.11/site-packages/";
  const std::vector<std::pair<std::string, std::string>> files = {
      {"maxtext", "/app/src/MaxText/layers/decoders.py"},
      {"levanter", "/opt/levanter/src/levanter/models/llama.py"},
      {"easydel", packages + "easydel/modules/llama/modeling_llama.py"},
      {"vllm", "/workspace/tpu_inference/models/jax/llama3.py"},
      {"sglang", packages + "sgl_jax/srt/models/llama.py"},
      {"transformers", packages + "transformers/models/t5/modeling_flax_t5.py"},
      {"flax", packages + "flax/linen/linear.py"},
      {"nnx", packages + "flax/nnx/nn/linear.py"},
      {"haliax", packages + "haliax/nn/linear.py"},
      {"equinox", packages + "equinox/nn/_linear.py"},
      {"haiku", packages + "haiku/_src/basic.py"},
      {"pytorch_xla", packages + "torch_xla/core/xla_model.py"},
      {"torch_tpu", packages + "torch_tpu/_internal/device.py"},
      {"keras", packages + "keras/src/layers/core/dense.py"},
      {"tensorflow", packages + "tensorflow/python/ops/math_ops.py"},
      {"jax", packages + "jax/_src/lax/lax.py"},
  };
  CHECK(files.size() + 1 == BuiltInRules().frameworks.size());  // PyTorch without XLA has no dumps
  const std::string log = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 16.00G of 15.75G hbm.\n";
  CHECK(Diagnose(log).framework.empty());
  for (const auto& [framework, file] : files) {
    INFO(file);
    const ScratchFolder scratch;
    CHECK(Diagnose(log, DumpWith(scratch, "17179869184", file)).framework == framework);
  }
}

}  // namespace TEST_FILE
