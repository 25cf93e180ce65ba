// `whyoom rules trace` as a user runs it.
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

const std::string kMissed =
    "step 1\nRESOURCE_EXHAUSTED: Ran out of memory in memory spase hbm. Used 20.00G of 15.75G hbm. Exceeded hbm "
    "capacity by 4.25G.\n";

std::string CaseLog(const std::string& name) {
  return std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name + "/log";
}

TEST_CASE("the trace of a line with one wrong character names the pattern that does not match", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kMissed);
  const ProcessResult text = RunWhyoom({"rules", "trace", log + ":2"});
  CHECK(text.exit_status == 0);
  CHECK(text.out.find("train.log:2") != std::string::npos);
  CHECK(text.out.find("does not match") != std::string::npos);
  CHECK(RunWhyoom({"rules", "trace"}, kMissed).exit_status == 0);
  CHECK(RunWhyoom({"rules", "trace", "--", "-:2"}, kMissed).out.find(":2\n") != std::string::npos);
  CHECK(RunWhyoom({"rules", "trace", log + ":1"}).out.find("Line 1 was not examined") != std::string::npos);
}

TEST_CASE("rules trace returns the documented exit statuses", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kMissed);
  CHECK(RunWhyoom({"rules", "trace", log + ":0"}).exit_status == 2);
  CHECK(RunWhyoom({"rules", "trace", scratch.path() + "/none.log"}).exit_status == 3);
  CHECK(RunWhyoom({"rules", "trace", scratch.path() + "/none.log:3"}).exit_status == 3);
  CHECK(RunWhyoom({"rules", "trace", "--output", log, log + ":2"}).exit_status == 2);
  CHECK(RunWhyoom({"rules", "trace", scratch.Write("good.log:12", "all is well\n")}).exit_status == 0);
}

TEST_CASE("a trace names the line and context of a fact that is only read near failures", "[cli]") {
  const std::string log =
      "jax 0.8.0\nstep 1\nRESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm. "
      "Exceeded hbm capacity by 4.25G.\n";
  const std::string traced = RunWhyoom({"rules", "trace"}, log).out;
  CHECK(traced.find("context releases_nearby  matches [jax_version = '0.8.0']") != std::string::npos);
  const std::size_t fact = traced.find("jax_version   ");
  REQUIRE(fact != std::string::npos);
  CHECK(traced.substr(fact, 60).find("(line 1)") != std::string::npos);
}

TEST_CASE("a trace in text contains no terminal commands", "[cli]") {
  const std::string out = RunWhyoom({"rules", "trace", CaseLog("compile-padded-points")}).out;
  CHECK(out.find("largest.size_bytes") != std::string::npos);
  CHECK(out.find("Order") != std::string::npos);
  const std::string hostile =
      RunWhyoom({"rules", "trace"}, "\x1b[2JRan out of memory in memory space \x1b]0;x\x07hbn\n").out;
  CHECK(hostile.find('\x1b') == std::string::npos);
}

}  // namespace TEST_FILE
