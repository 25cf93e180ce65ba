// whyoom_mutate: which changes count as detected.
#include <string>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

// A context whose example tests that the pattern matches. `facts` may add the facts that the example must yield.
std::string File(const std::string& facts) {
  return R"({"format": "whyoom.rules/1", "contexts": [{"id": "pool_size", "patterns": ["pool size: (?:about )?(?P<pool>\\d+) chips"],
    "examples": [{"text": "pool size: 4 chips")" +
         facts + R"(}], "counterexamples": [{"text": "pool size: many chips", "why": "no figure"}]}]})";
}

TEST_CASE("a change that neither an example nor a log covers is undetected", "[cli]") {
  const ScratchFolder scratch;
  const std::string testdata = std::string(WHYOOM_SOURCE_DIR) + "/testdata";
  const auto mutate = [&](const std::string& file, const std::string& corpus) {
    return RunProcess({WHYOOM_MUTATE, file, "--only", "pattern", "--corpus", corpus});
  };
  const std::string blind = scratch.Write("blind.json", File(""));
  for (const std::string corpus : {"/diffs", "/advice", "/cases"}) {
    const ProcessResult result = mutate(blind, testdata + corpus);
    INFO(result.out << result.err);
    CHECK(result.exit_status == 1);
    CHECK(result.out.find("pattern") != std::string::npos);
    CHECK(result.out.find(" 0 undetected") == std::string::npos);
  }
}

TEST_CASE("a change of the rules that changes a comparison is detected", "[cli][slow]") {
  const ScratchFolder scratch;
  // The example of the failure does not check the fact; the comparison does.
  const std::string file = scratch.Write("pool.json", R"({"format": "whyoom.rules/1", "failures": [{
    "code": "my.pool", "title": "pool too small", "category": "Run time: HBM", "phase": "run", "about": ["A pool."],
    "heads": [{"pattern": "the pool is full: wanted %{size:request_bytes}"}], "identity": ["request_bytes"],
    "derived": [{"fact": "need_bytes", "from": "request_bytes * 2"}], "why": [{"text": "{need_bytes|size} are needed."}],
    "examples": [{"text": "the pool is full: wanted 12.50G"}], "counterexamples": [{"text": "the pool is full", "why": "no size"}]}]})");
  const auto unnoticed = [&](const std::string& corpus) {
    const ProcessResult result = RunProcess({WHYOOM_MUTATE, file, "--only", "condition", "--corpus", corpus});
    INFO(result.out << result.err);
    const std::size_t at = result.out.find(" undetected", result.out.rfind("\nall"));
    REQUIRE(at != std::string::npos);
    return std::stoi(result.out.substr(result.out.rfind(',', at) + 1));
  };
  scratch.Write("healthy/train.log", "step 1\n");
  scratch.Write("pair/before", "the pool is full: wanted 12.50G\n");
  scratch.Write("pair/after", "the pool is full: wanted 8.00G\n");
  CHECK(unnoticed(scratch.path() + "/healthy") > 0);
  CHECK(unnoticed(scratch.path() + "/pair") < unnoticed(scratch.path() + "/healthy"));
}

}  // namespace TEST_FILE
