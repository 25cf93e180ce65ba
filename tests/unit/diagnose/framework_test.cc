// Advice in the terms of the log's framework: settings by name, with the log's values, without those already enabled.
#include <memory>
#include <string>
#include <vector>

#include "catch.h"
#include "unit/diagnose/diagnose_log.h"

using namespace whyoom;

namespace TEST_FILE {

// Returns the steps of a remedy as one text; "not offered: why" or "not known" if it is not offered.
std::string How(const Failure& failure, const std::string& remedy) {
  for (const RankedRemedy& ranked : failure.remedies) {
    if (ranked.remedy->id != remedy) continue;
    std::string text;
    for (const std::string& step : ranked.how) text += (text.empty() ? "" : "\n") + step;
    return text;
  }
  for (const RuledOut& ruled_out : failure.ruled_out) {
    if (ruled_out.remedy->id == remedy) return "not offered: " + ruled_out.why;
  }
  return "not known";
}

std::string Why(const Failure& failure, const std::string& remedy) {
  std::string text;
  for (const RankedRemedy& ranked : failure.remedies) {
    if (ranked.remedy->id != remedy) continue;
    for (const Reason& reason : ranked.why) text += (text.empty() ? "" : "\n") + reason.text;
  }
  return text;
}

std::string Why(const Failure& failure) {
  std::string text;
  for (const Reason& reason : failure.why) text += reason.text + "\n";
  return text;
}

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const std::string kShort =
    "jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: Ran out of memory on HBM, the total memory required for HLO "
    "temporaries "
    "(41.00G) exceeds available HBM (31.25G). HLO module: jit_train_step.\n";

// A report of activations kept for the backward pass; `source` is where they were made.
std::string TrainingReport(const std::string& source) {
  const auto row = [&](int rank, const std::string& layer) {
    return "  " + std::to_string(rank) +
           ". Size: 4.00G\n     Operator: op_name=\"jit(train_step)/jit(main)/jvp(Model)/" + layer +
           "/mlp/dot_general\"" + source +
           "\n     Shape: f32[32,2048,16384]{2,1,0:T(8,128)}\n     Unpadded size: 4.00G\n     XLA label: fusion." +
           std::to_string(rank) + " = fusion(p.1, p.2), kind=kOutput, calls=fused_computation." + std::to_string(rank) +
           "\n     Allocation type: HLO temp\n     ==========================\n\n";
  };
  return "jaxlib.xla_extension.XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory "
         "in memory space "
         "hbm. Used 38.30G of 31.25G hbm. Exceeded hbm capacity by 7.05G.\n\nTotal hbm usage >= 38.55G:\n    reserved  "
         "      258.00M\n"
         "    program          26.30G\n    arguments        12.00G\n\nOutput size 12.00G; shares 0B with arguments.\n\n"
         "Program hbm requirement 26.30G:\n    HLO temp         26.30G (99.9% utilization: Unpadded (26.28G) Padded "
         "(26.30G), 0.1% "
         "fragmentation (20.00M))\n\n  Largest program allocations in hbm:\n\n" +
         row(1, "block_0") + row(2, "block_1") + row(3, "block_2") + row(4, "block_3") + row(5, "block_4");
}

std::string LoadFailure(const std::string& program) {
  return "RuntimeProgramAllocationFailure: Error loading program '" + program +
         "': Attempting to reserve 2.50G at the bottom of memory. That was not possible. There are 1.75G free, 0B "
         "reserved, and 1.75G "
         "reservable.\n";
}

TEST_CASE("MaxText: settings have the values of the config lines", "[diagnose]") {
  const Failure failure = Diagnose(
      "I0317 09:59:16.242547 125344476638336 pyconfig.py:413] Config param dtype: bfloat16\n"
      "I0317 09:59:16.242560 125344476638336 pyconfig.py:413] Config param gradient_accumulation_steps: 1\n"
      "I0317 09:59:16.242571 125344476638336 pyconfig.py:413] Config param ici_fsdp_parallelism: 16\n"
      "I0317 09:59:16.242580 125344476638336 pyconfig.py:413] Config param max_target_length: 8192\n"
      "I0317 09:59:16.242591 125344476638336 pyconfig.py:413] Config param optimizer_memory_host_offload: True\n"
      "I0317 09:59:16.242602 125344476638336 pyconfig.py:413] Config param parameter_memory_host_offload: False\n"
      "I0317 09:59:16.242613 125344476638336 pyconfig.py:413] Config param per_device_batch_size: 12.0\n"
      "I0317 09:59:16.242624 125344476638336 pyconfig.py:413] Config param remat_policy: full\n"
      "I0317 09:59:16.242635 125344476638336 pyconfig.py:413] Config param weight_dtype: float32\n" +
      kShort);
  CHECK(failure.framework == "maxtext");
  CHECK(Holds(How(failure, "reduce_batch"), "per_device_batch_size: 12 → 6."));
  CHECK_FALSE(Holds(How(failure, "reduce_batch"), "fraction"));
  CHECK(Holds(How(failure, "micro_batch"), "per_device_batch_size: 12 → 3, gradient_accumulation_steps: 1 → 4."));
  CHECK(Holds(How(failure, "shard_tensor"), "ici_fsdp_parallelism is 16. Raise it"));
  CHECK(How(failure, "jax_checkpoint") == "not offered: remat_policy is already full, the strictest policy");
  CHECK(How(failure, "donate_buffers") == "not offered: MaxText already donates the train state");
  CHECK_FALSE(Holds(How(failure, "host_offload"), "optimizer_memory_host_offload"));
  CHECK(Holds(How(failure, "host_offload"), "parameter_memory_host_offload=True"));
  CHECK_FALSE(Holds(How(failure, "bf16"), "dtype is bfloat16"));
  CHECK(Holds(How(failure, "bf16"), "weight_dtype is float32: bfloat16 halves the weights"));
}

TEST_CASE("MaxText is recognized by its command line, or by a traceback without values of settings", "[diagnose]") {
  const Failure commanded = Diagnose(
      "+ python3 -m maxtext.trainers.pre_train.train base.yml per_device_batch_size=1 remat_policy=minimal "
      "max_target_length=4096\n" +
      kShort);
  CHECK(commanded.framework == "maxtext");
  CHECK(Holds(How(commanded, "reduce_batch"), "per_device_batch_size: 1 → 0.5."));
  CHECK(How(commanded, "micro_batch") == "not offered: per_device_batch_size is 1: there is no batch to split");
  CHECK(Holds(How(commanded, "jax_checkpoint"), "remat_policy: minimal → full"));

  const Failure traced = Diagnose("  File \"/app/src/MaxText/train.py\", line 812, in train_loop\n" + kShort);
  CHECK(traced.framework == "maxtext");
  CHECK(Holds(How(traced, "reduce_batch"), "Lower per_device_batch_size."));
  CHECK(Holds(How(traced, "jax_checkpoint"), "remat_policy defaults to full"));
  CHECK(Holds(How(traced, "bf16"), "Set dtype=bfloat16"));
}

TEST_CASE("MaxText: an enabled setting is advised if the report shows that it has no effect", "[diagnose]") {
  const Failure failure = Diagnose(
      "Config param per_device_batch_size: 4\nConfig param dtype: bfloat16\nConfig param weight_dtype: bfloat16\n" +
      TrainingReport(" source_file=\"/app/src/MaxText/layers/models.py\" source_line=77"));
  CHECK(Holds(How(failure, "donate_buffers"), "outputs do not share its memory"));
  CHECK_FALSE(Holds(How(failure, "bf16"), "not offered"));
}

TEST_CASE("a config line counts at any distance before the error and from any stream", "[diagnose]") {
  std::string log = "[rank0]: Config param per_device_batch_size: 6\n";
  for (int i = 0; i < 50000; ++i)
    log += "[rank1]: completed step: " + std::to_string(i) + ", seconds: 2.311, TFLOP/s/device: 180.2\n";
  const Failure failure = Diagnose(log + "[rank1]: " + kShort);
  CHECK(failure.framework == "maxtext");
  CHECK(Holds(How(failure, "reduce_batch"), "per_device_batch_size: 6 → 3."));
}

TEST_CASE("the last of several config lines counts", "[diagnose]") {
  const Failure failure = Diagnose(
      "Config param per_device_batch_size: 6\nConfig param remat_policy: minimal\nConfig param per_device_batch_size: "
      "8\n" +
      kShort);
  CHECK(Holds(How(failure, "reduce_batch"), "per_device_batch_size: 8 → 4."));
  CHECK(Holds(How(failure, "jax_checkpoint"), "remat_policy: minimal"));
}

TEST_CASE("vLLM: engine arguments from another process than the failing one count", "[diagnose]") {
  const Failure failure = Diagnose(
      "(APIServer pid=31) INFO 06-02 08:10:01 [api_server.py:1839] vLLM API server version 0.11.0\n"
      "(APIServer pid=31) INFO 06-02 08:10:01 [utils.py:233] non-default args: {'model': 'org/model-8b', "
      "'max_model_len': 16384, "
      "'gpu_memory_utilization': 0.93, 'max_num_seqs': 128}\n"
      "(APIServer pid=31) INFO 06-02 08:10:04 [scheduler.py:225] Chunked prefill is enabled with "
      "max_num_batched_tokens=4096.\n"
      "(EngineCore_DP0 pid=77) INFO 06-02 08:10:09 [core.py:69] Initializing a V1 LLM engine (v0.11.0) with config: "
      "model='org/model-8b', "
      "dtype=torch.bfloat16, max_seq_len=16384, tensor_parallel_size=2, quantization=None, kv_cache_dtype=auto\n"
      "(EngineCore_DP0 pid=77) ERROR 06-02 08:11:40 [core.py:702]   File "
      "\"/opt/venv/lib/python3.12/site-packages/jax/_src/pjit.py\", line 250, in run\n"
      "(EngineCore_DP0 pid=77) ERROR 06-02 08:11:40 [core.py:702] jax.errors.JaxRuntimeError: " +
      LoadFailure("jit_step_fun"));
  CHECK(failure.framework == "vllm");
  CHECK(failure.rule->code == "0101");
  const std::string batch = How(failure, "reduce_batch");
  CHECK(Holds(batch, "--max-num-batched-tokens: 4096 → 2048."));
  CHECK(Holds(batch, "--max-num-seqs: 128 → 64."));
  CHECK(Holds(batch, "--gpu-memory-utilization: 0.93 → 0.83."));
  CHECK_FALSE(Holds(batch, "Lower"));
  CHECK(Holds(How(failure, "shorten_sequence"), "--max-model-len: 16384 → 8192."));
  CHECK(Holds(How(failure, "shard_tensor"), "--tensor-parallel-size: 2 → 4"));
  CHECK(Holds(How(failure, "fewer_programs"), "--gpu-memory-utilization: 0.93 → 0.83"));
  CHECK(How(failure, "bf16") == "Serve quantized weights (--quantization) to save even more.");
  CHECK(How(failure, "jax_checkpoint") == "not offered: serving has no backward pass");
  CHECK(How(failure, "donate_buffers") == "not offered: vLLM already updates its cache in place");
}

TEST_CASE("vLLM: settings are named even if their values are unknown", "[diagnose]") {
  const Failure failure =
      Diagnose("  File \"/workspace/tpu_inference/runner/tpu_runner.py\", line 300, in execute_model\n" +
               LoadFailure("jit_step_fun"));
  CHECK(failure.framework == "vllm");
  CHECK(Holds(How(failure, "reduce_batch"), "Lower --max-num-seqs."));
  CHECK(Holds(How(failure, "fewer_programs"), "Lower --gpu-memory-utilization"));
  CHECK(Holds(How(failure, "shorten_sequence"), "Set --max-model-len to the longest request"));
  // The share of the cache does not affect a compile.
  const Failure compile = Diagnose("+ vllm serve org/model --max-num-seqs 32 --gpu-memory-utilization 0.9\n" + kShort);
  CHECK(Holds(How(compile, "reduce_batch"), "--max-num-seqs: 32 → 16."));
  CHECK_FALSE(Holds(How(compile, "reduce_batch"), "utilization"));
}

TEST_CASE("Levanter and EasyDeL settings are named", "[diagnose]") {
  const Failure levanter = Diagnose(
      "+ python -m levanter.main.train_lm --config_path c.yaml --trainer.train_batch_size 512 "
      "--trainer.per_device_parallelism 16 "
      "--model.gradient_checkpointing true\n" +
      kShort);
  CHECK(levanter.framework == "levanter");
  CHECK(Holds(How(levanter, "reduce_batch"), "trainer.per_device_parallelism: 16 → 8"));
  CHECK(Holds(How(levanter, "reduce_batch"), "train_batch_size is 512"));
  CHECK(Holds(How(levanter, "micro_batch"), "trainer.per_device_parallelism: 16 → 4"));
  CHECK(How(levanter, "jax_checkpoint") == "not offered: gradient_checkpointing is already true");

  const Failure easydel =
      Diagnose("INFO EasyDeL: TrainingArguments(total_batch_size=32, gradient_accumulation_steps=2)\n" + kShort);
  CHECK(easydel.framework == "easydel");
  CHECK(Holds(How(easydel, "reduce_batch"), "total_batch_size: 32 → 16"));
  CHECK(Holds(How(easydel, "micro_batch"), "gradient_accumulation_steps: 2 → 8."));
  CHECK(Holds(How(easydel, "jax_checkpoint"), "Set gradient_checkpointing"));
}

TEST_CASE("Keras on JAX is recognized as Keras, and model.fit needs no donation", "[diagnose]") {
  const Failure failure = Diagnose(
      "Traceback (most recent call last):\n"
      "  File \"/home/ada/classify.py\", line 58, in <module>\n"
      "    model.fit(images, labels, batch_size=512, epochs=3)\n"
      "  File \"/opt/venv/lib/python3.11/site-packages/keras/src/backend/jax/trainer.py\", line 401, in fit\n"
      "    logs, state = self.train_function(state, iterator)\n"
      "  File \"/opt/venv/lib/python3.11/site-packages/jax/_src/pjit.py\", line 250, in cache_miss\n" +
      kShort);
  CHECK(failure.framework == "keras");
  CHECK(Holds(How(failure, "reduce_batch"), "batch_size of model.fit: 512 → 256."));
  CHECK(Holds(How(failure, "micro_batch"), "→ 128, with gradient_accumulation_steps=4 of the optimizer (Keras 3)."));
  CHECK(How(failure, "donate_buffers") == "not offered: model.fit already updates the weights in place");
  CHECK(Holds(Why(failure), "The compile that failed was started at classify.py:58."));
}

TEST_CASE("PyTorch/XLA: what the last graph reused is evidence for or against donation", "[diagnose]") {
  const std::string head =
      "  File \"/opt/venv/lib/python3.10/site-packages/torch_xla/core/xla_model.py\", line 1055, in mark_step\n"
      "RuntimeError: Bad StatusOr access: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate "
      "512.00M. That was not "
      "possible. There are 100.00M free.; (0x0x0_HBM0)\n";
  const auto analysis = [](const std::string& output, const std::string& aliased) {
    return "python run_clm.py --per_device_train_batch_size 8\nPost Compilation Analysis: Graph input size: 6.000000 "
           "GB\n"
           "Post Compilation Analysis: Graph output size: " +
           output + " GB\nPost Compilation Analysis: Aliased Input size: " + aliased +
           " GB\nPost Compilation Analysis: Intermediate tensor size: 2.000000 GB\n";
  };
  const Failure unshared = Diagnose(analysis("6.000000", "0.500000") + head);
  CHECK(unshared.framework == "pytorch_xla");
  CHECK(Why(unshared, "donate_buffers") ==
        "The last compiled graph produced 6.00 GiB of outputs from 6.00 GiB of inputs. The outputs reuse 512.00 MiB of "
        "the inputs' memory.");
  CHECK(Holds(How(unshared, "donate_buffers"), "torch_xla.sync() then reuses their memory"));
  CHECK(Holds(How(unshared, "reduce_batch"), "per_device_train_batch_size: 8 → 4."));

  const Failure shared = Diagnose(analysis("6.000000", "5.990000") + head);
  CHECK(How(shared, "donate_buffers") ==
        "not offered: the last compiled graph already reuses the memory of its inputs");

  const Failure held = Diagnose(analysis("40.000000", "5.990000") + head);
  CHECK(Holds(Why(held, "free_references"),
              "produced 40.00 GiB of outputs from 6.00 GiB of inputs. Each tensor that Python still references"));
}

TEST_CASE("TensorFlow is recognized without a Python traceback", "[diagnose]") {
  const Failure failure = Diagnose(
      "+ python3 run_pretraining.py --use_tpu=True --train_batch_size=1024\n"
      "ERROR:tensorflow:Error recorded from training_loop: From /job:worker/replica:0/task:0:\n"
      "Compilation failure: Ran out of memory in memory space hbm. Used 11.25G of 8.00G hbm. Exceeded hbm capacity by "
      "3.25G.\n");
  CHECK(failure.framework == "tensorflow");
  CHECK(Holds(How(failure, "reduce_batch"), "train_batch_size: 1024 → 512"));
  CHECK(Holds(How(failure, "jax_checkpoint"), "tf.recompute_grad"));
}

TEST_CASE("C++ file names with TensorFlow's name belong to JAX", "[diagnose]") {
  const Failure failure = Diagnose(
      "2022-03-07 18:41:42.980600: E "
      "external/org_tensorflow/tensorflow/compiler/xla/pjrt/pjrt_stream_executor_client.cc:2141] Execution "
      "of replica 0 failed\n"
      "  File \"/opt/venv/lib/python3.8/site-packages/jax/_src/api.py\", line 430, in cache_miss\n"
      "RuntimeError: Resource exhausted: Ran out of memory in memory space hbm. Used 11.25G of 7.48G hbm. Exceeded hbm "
      "capacity by 3.77G.\n");
  CHECK(failure.framework == "jax");
}

TEST_CASE("the more specific framework wins, whichever is seen first", "[diagnose]") {
  const auto frame = [](const std::string& path) {
    return "  File \"/opt/venv/lib/python3.11/site-packages/" + path + "\", line 81, in run\n";
  };
  CHECK(Diagnose(frame("jax/_src/pjit.py") + frame("flax/linen/module.py") + kShort).framework == "flax");
  CHECK(Diagnose(frame("flax/nnx/transforms.py") + frame("vllm/v1/engine/core.py") + kShort).framework == "vllm");
  CHECK(Diagnose("  File \"/app/src/MaxText/train.py\", line 8, in f\n" + frame("flax/linen/module.py") + kShort)
            .framework == "maxtext");
  CHECK(Diagnose(frame("keras/src/utils/traceback_utils.py") + frame("tensorflow/python/eager/execute.py") + kShort)
            .framework == "keras");
  CHECK(Diagnose(frame("haiku/_src/module.py") + frame("jax/_src/pjit.py") + kShort).framework == "haiku");
  CHECK(Diagnose(frame("equinox/_jit.py") + frame("jax/_src/pjit.py") + kShort).framework == "equinox");
  CHECK(Diagnose(frame("equinox/_jit.py") + frame("levanter/trainer.py") + kShort).framework == "levanter");
  CHECK(Diagnose(frame("transformers/models/t5/modeling_flax_t5.py") + frame("flax/linen/module.py") + kShort)
            .framework == "transformers");
  // A traceback after the message counts too: it may be from another process of the same job.
  CHECK(Diagnose(kShort + "\n\n\n" + frame("flax/linen/module.py") + kShort).framework == "flax");
  // The names of frameworks in other text do not count.
  CHECK(
      Diagnose("restoring from gs://maxtext-models/llama and /data/vllm-cache, run levanter-7\n" + kShort).framework ==
      "jax");
  CHECK(Diagnose("Ran out of memory in memory space hbm. Used 11.25G of 7.48G hbm. Exceeded hbm capacity by 3.77G.\n")
            .framework.empty());
}

TEST_CASE("Flax: the user's line is named, not the library's", "[diagnose]") {
  const std::string library =
      " source_file=\"/opt/venv/lib/python3.11/site-packages/flax/linen/linear.py\" source_line=251";
  const std::string traceback =
      "Traceback (most recent call last):\n"
      "  File \"/home/ada/train/loop.py\", line 41, in main\n"
      "    state = train_step(state, batch)\n"
      "  File \"/opt/venv/lib/python3.11/site-packages/flax/linen/module.py\", line 1058, in _call_wrapped_method\n"
      "    y = run_fun(self, *args)\n";
  const Failure failure = Diagnose(traceback + TrainingReport(library));
  CHECK(failure.framework == "flax");
  CHECK(AsText(failure.facts.Get("user_source")) != nullptr);
  CHECK(*AsText(failure.facts.Get("user_source")) == "loop.py:41");
  CHECK(Holds(Why(failure), "The compile that failed was started at loop.py:41."));
  for (const RankedRemedy& ranked : failure.remedies) {
    for (const std::string& step : ranked.how) CHECK_FALSE(Holds(step, "linear.py"));
  }
  CHECK(Holds(How(failure, "jax_checkpoint"), "nn.remat(Block)"));
}

TEST_CASE("JAX: a row with a line in user code keeps it", "[diagnose]") {
  const Failure failure = Diagnose(TrainingReport(" source_file=\"/home/ada/train/model.py\" source_line=19"));
  CHECK(failure.framework == "jax");
  CHECK(Holds(How(failure, "shard_tensor"), "is created at model.py:19."));
  CHECK_FALSE(Holds(Why(failure), "in your code"));
}

TEST_CASE("JAX: a library's row names the library and the call", "[diagnose]") {
  const std::string library = " source_file=\"/opt/venv/lib/python3.11/site-packages/optax/losses.py\" source_line=12";
  const std::string report = TrainingReport(library);
  const Failure alone = Diagnose("  File \"/home/ada/loop.py\", line 41, in main\n    step(x)\n" + report);
  CHECK(Holds(How(alone, "shard_tensor"),
              "The largest array is created in optax/losses.py:12, called from your code at loop.py:41."));
}

TEST_CASE("for serving, no remedy is marked as one that changes training", "[diagnose]") {
  const auto safety = [](const Failure& failure, const std::string& remedy) {
    for (const RankedRemedy& ranked : failure.remedies) {
      if (ranked.remedy->id == remedy) return ranked.safety;
    }
    return std::string("not offered");
  };
  CHECK(safety(Diagnose(kShort), "reduce_batch") == "changes_training");
  CHECK(safety(Diagnose("  File \"/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py\", line 702, in run\n" +
                        kShort),
               "reduce_batch") == "safe_slower");
}

TEST_CASE("the memory share of a serving engine is advised for serving only", "[diagnose]") {
  CHECK(How(Diagnose(kShort), "serving_memory") == "not known");
  const Failure failure = Diagnose(
      "INFO 05-02 11:19:02 [utils.py:233] non-default args: {'model': 'org/model', 'gpu_memory_utilization': 0.93}\n"
      "  File \"/opt/venv/lib/python3.12/site-packages/vllm/v1/engine/core.py\", line 702, in run\n" +
      kShort);
  CHECK(Holds(How(failure, "serving_memory"), "--gpu-memory-utilization: 0.93 → 0.83."));
}

}  // namespace TEST_FILE
