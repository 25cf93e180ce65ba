// whyoom run --exit-retry: a different exit status if a retry would fail the same way.
#include <csignal>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

const char* const kRules = R"({"format": "whyoom.rules/1", "failures": [
  {"code": "my.never", "title": "never", "category": "c", "phase": "run", "heads": ["our pool is far too small"],
   "retry": {"answer": "never", "why": "The pool is fixed."},
   "examples": [{"text": "our pool is far too small"}]},
  {"code": "my.maybe", "title": "maybe", "category": "c", "phase": "run", "heads": ["our pool is used by others"],
   "retry": {"answer": "maybe", "why": "They may be gone."},
   "examples": [{"text": "our pool is used by others"}]},
  {"code": "my.unknown", "title": "unknown", "category": "c", "phase": "run", "heads": ["our pool is gone for now"],
   "examples": [{"text": "our pool is gone for now"}]}]})";

// Runs `script` in whyoom run with these rules and options.
class Runner {
 public:
  ProcessResult Run(const std::string& script, const std::vector<std::string>& options = {"--exit-retry", "42"}) const {
    std::vector<std::string> words = {"run", "--no-dump", "--rules", rules_};
    words.insert(words.end(), options.begin(), options.end());
    words.insert(words.end(), {"--", "/bin/sh", "-c", script});
    return RunWhyoom(words);
  }
  int Status(const std::string& script, const std::vector<std::string>& options = {"--exit-retry", "42"}) const {
    return Run(script, options).exit_status;
  }
  const std::string& rules() const { return rules_; }

 private:
  ScratchFolder scratch_;
  std::string rules_ = scratch_.Write("rules.json", kRules);
};

const std::string kNever = "echo our pool is far too small >&2; ";
const std::string kMaybe = "echo our pool is used by others; ";
const std::string kUnknown = "echo our pool is gone for now; ";

TEST_CASE("run --exit-retry returns 42 if a retry would fail again", "[cli]") {
  const Runner runner;
  const ProcessResult never = runner.Run(kNever + "exit 3");
  CHECK(never.exit_status == 42);
  CHECK(never.err.find("exiting with 42 instead of the job's exit status 3\n") != std::string::npos);
  CHECK(runner.Status(kNever + "exit 3", {"--exit-retry=99"}) == 99);
  CHECK(runner.Status(kNever + "exit 3", {"--exit-retry", "99"}) == 99);
  const ProcessResult without = runner.Run(kNever + "exit 3", {});
  CHECK(without.exit_status == 3);
  CHECK(without.err.find("exit status") == std::string::npos);
}

TEST_CASE("run --exit-retry returns the job's exit status if a retry may succeed, or in doubt", "[cli]") {
  const Runner runner;
  CHECK(runner.Status(kMaybe + "exit 3") == 3);
  CHECK(runner.Status(kUnknown + "exit 3") == 3);
  CHECK(runner.Status(kNever + kMaybe + "exit 3") == 3);
  CHECK(runner.Status(kNever + kUnknown + "exit 3") == 3);
  CHECK(runner.Status("echo something else; exit 3") == 3);
  CHECK(runner.Status(kNever + "exit 0") == 0);
  CHECK(runner.Status(kNever + "kill -TERM $$") == 128 + SIGTERM);
  CHECK(runner.Status(kNever + "kill -KILL $$") == 128 + SIGKILL);
  CHECK(runner.Status(kNever + "ulimit -c 0; kill -ABRT $$") == 42);
  // In one stream, so that the order is kept.
  const std::string steps = "i=0; while [ $i -lt 600 ]; do echo step $i; i=$((i+1)); done; ";
  CHECK(runner.Status("exec 2>&1; " + kNever + steps + "exit 3") == 3);
  CHECK(runner.Status("exec 2>&1; " + steps + kNever + "exit 3") == 42);
  CHECK(RunWhyoom({"run", "--exit-retry", "42", "--", "/no/such/program"}).exit_status == 127);
}

TEST_CASE("run --exit-retry forbids no retry of a job that survived the failure", "[cli]") {
  const Runner runner;
  const std::string dies = "echo 'XlaRuntimeError: UNAVAILABLE: Socket closed'; exit 3";
  const std::string steps = "for i in 1 2 3 4 5; do echo step $i loss 2.$i; done; exit 3";
  // Each prints the failure; what ended the job is something else, or may be.
  for (const std::string& script : std::vector<std::string>{
           kNever + "echo skipping this candidate; " + dies,
           kNever + "echo tile 256 ok; exit 3",
           kNever + steps,
           "echo last error of the previous attempt: our pool is far too small >&2; " + steps,
           kNever + "for i in 1 2 3 4 5; do echo epoch $i; done; exit 3",
           kNever + "echo '= 2 passed in 3.1s ='; exit 3",
           // The lines may be of the same process or not.
           "echo '[rank3] our pool is far too small'; echo tile 256 ok; exit 3",
           kNever + dies,
       }) {
    INFO(script);
    CHECK(runner.Status("exec 2>&1; " + script) == 3);
  }
  for (const std::string& script : std::vector<std::string>{
           kNever + "echo saving checkpoint of step 5; echo shutting down; exit 3",
           kNever + "echo skipping this candidate; " + kNever + "exit 3",
           "echo '[rank3] our pool is far too small'; echo '[rank0] XlaRuntimeError: UNAVAILABLE: Socket closed'; exit "
           "3",
           "echo step 1 loss 2; echo step 2 loss 2; " + kNever + "echo step 3 loss 2; exit 3",
       }) {
    INFO(script);
    CHECK(runner.Status("exec 2>&1; " + script) == 42);
  }
}

TEST_CASE("run --exit-retry accepts a status and does not mistake the command for one", "[cli]") {
  for (const char* status : {"0", "256", "99999999999999999999", "-1", "never"}) {
    INFO(status);
    const ProcessResult result = RunWhyoom({"run", std::string("--exit-retry=") + status, "--", "true"});
    CHECK(result.exit_status == 2);
    CHECK(result.err.find("not in range 1 to 255") != std::string::npos);
  }
  CHECK(RunWhyoom({"run", "--exit-retry", "43", "echo", "x"}).out == "x\n");
  CHECK(RunWhyoom({"run", "--exit-retry", "43", "--", "echo", "--exit-retry"}).out == "--exit-retry\n");
  CHECK(RunWhyoom({"run", "--exit-retry=43", "--no-dump", "--", "echo", "x"}).out == "x\n");
}

TEST_CASE("reports, merged reports and resumed batches contain the retry verdict", "[cli]") {
  const Runner runner;
  const ScratchFolder scratch;
  const std::string log = scratch.Write("log", "our pool is far too small\n");
  const auto retry_of = [](const ProcessResult& result) {
    return json::parse(result.out).at("diagnoses").at(0).at("retry").get<std::string>();
  };
  CHECK(retry_of(RunWhyoom({"--rules", runner.rules(), "--format", "json", log})) == "never");
  const std::string records =
      scratch.Write("part.ndjson", RunWhyoom({"--rules", runner.rules(), "--format", "ndjson", log}).out);
  CHECK(retry_of(RunWhyoom({"merge", "--rules", runner.rules(), "--format", "json", records})) == "never");
  for (int i = 0; i < 2; ++i)
    CHECK(retry_of(RunWhyoom(
              {"--rules", runner.rules(), "--resume", scratch.path() + "/state", "--format", "json", log})) == "never");
}

}  // namespace TEST_FILE
