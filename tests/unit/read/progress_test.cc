// Lines that show that a job's program compiled or ran.
#include "read/progress.h"

#include <string>

#include "built_in_rules.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

StreamSigns ProgressOf(const std::string& log, std::size_t chunk = 1 << 16) {
  ProgressReader reader(BuiltInRules());
  for (std::size_t at = 0; at < log.size(); at += chunk) reader.Add(std::string_view(log).substr(at, chunk));
  return reader.Take();
}

// Whether the log shows that the program that was compiled last ran.
bool Ran(const std::string& log) {
  const StreamSigns signs = ProgressOf(log);
  return signs.proof && signs.proof->since > signs.compiles;
}

TEST_CASE("an increasing step shows that a job ran, whatever the chunking", "[read]") {
  const std::string log = "compiling\nstep 1 loss 10.8\r\nstep 3 loss 9.7\nstep 2 loss 9.9\ndone";
  for (const std::size_t chunk : {1U, 7U, 1000U}) {
    const StreamSigns progress = ProgressOf(log, chunk);
    REQUIRE(progress.proof.has_value());
    CHECK(progress.proof->sign.line == 3);
    CHECK(progress.proof->sign.text == "step 3 loss 9.7");
    CHECK(progress.proof->reached == 4);
    CHECK(progress.reached == 4);
    CHECK(progress.compiles == 0);
  }
}

TEST_CASE("a single step may be an echo of the settings and is only counted", "[read]") {
  for (const char* line : {"step 0 loss 10.8", "+ python train.py --steps=1000 --z_loss=1e-4",
                           "Namespace(epochs=10, aux_loss=0.01)", "best checkpoint: step 5000 eval_loss=2.1"}) {
    INFO(line);
    CHECK_FALSE(Ran(std::string(line) + "\n"));
    CHECK(ProgressOf(std::string(line) + "\n").reached > 0);
  }
  const std::string twice = "resume at step 5000, loss 2.1\nstep 5000 loss 2.1\n";
  CHECK_FALSE(Ran(twice));
}

TEST_CASE("step 0 is a step, and lines without one are counted", "[read]") {
  CHECK(ProgressOf("step 0 loss 10.8\nstep 1 loss 10.7\n").proof->reached == 2);
  const std::string record = "{'loss': 2.31, 'grad_norm': 1.2, 'learning_rate': 4.9e-05, 'epoch': 0.01}\n";
  CHECK(ProgressOf(record + record).proof->reached == 2);
}

TEST_CASE("output before the program compiled shows no progress", "[read]") {
  for (const char* line : {"", "Epoch 1/5", "step 0: compiling train_step", "restored checkpoint of step 500, loss 2.1",
                           "  0%|          | 0/1000 [00:00<?, ?it/s]",
                           "Downloading shards: 100%|####| 4/4 [00:03<00:00]", "the loss of step 3 will be logged"}) {
    INFO(line);
    CHECK(ProgressOf(std::string(line) + "\n").reached == 0);
  }
}

TEST_CASE("steps before the last compile do not show that its program ran", "[read]") {
  const std::string steps = "step 1 loss 10.8\nstep 2 loss 10.7\n";
  for (const char* compile : {"INFO train: compiling eval_step ...", "    return backend_compile(",
                              "Compiling jit(eval_step) with global shapes and types [f32[8]]."}) {
    INFO(compile);
    const std::string log = steps + compile + "\nstep 3 loss 10.6\n";
    CHECK_FALSE(Ran(log));
    CHECK(ProgressOf(log).reached == 4);
    CHECK(Ran(compile + ("\n" + steps)));
  }
}

TEST_CASE("a last line without a line break may be cut inside a figure", "[read]") {
  CHECK_FALSE(Ran("step 1 loss 10.8\nstep 2 loss 1"));
}

TEST_CASE("a progress bar that rewrites its line is read piece by piece", "[read]") {
  const StreamSigns progress = ProgressOf(
      "  0%| | 0/9 [00:00<?, ?it/s]\r 11%| | 1/9 [00:10<01:20, 9.8s/it, loss=2.41]\r"
      " 33%|# | 3/9 [00:30<01:00, 9.8s/it, loss=2.31]\r");
  REQUIRE(progress.proof.has_value());
  CHECK(progress.proof->sign.line == 1);
  CHECK(progress.proof->reached == 4);
}

TEST_CASE("a compile that names its program is listed separately", "[read]") {
  ProgressReader reader(BuiltInRules());
  reader.Add("Finished XLA compilation of jit(train_step) in 21.4 sec\n");
  const std::vector<SignCollector::Compiled> compiled = reader.TakeCompiled();
  REQUIRE(compiled.size() == 1);
  CHECK(compiled[0].module == "train_step");
  CHECK(compiled[0].sign.line == 1);
}

}  // namespace TEST_FILE
}  // namespace whyoom
