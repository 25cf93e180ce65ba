// `whyoom rules trace` as a user runs it.
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "catch.h"
#include "json_schema.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

const std::string kMissed =
    "step 1\nRESOURCE_EXHAUSTED: Ran out of memory in memory spase hbm. Used 20.00G of 15.75G hbm. Exceeded hbm "
    "capacity by 4.25G.\n";

std::string CaseLog(const std::string& name) {
  return std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name + "/log";
}

JsonSchema Schema() { return JsonSchema(json::parse(ReadText(WHYOOM_SOURCE_DIR "/docs/trace.schema.json"))); }

TEST_CASE("the trace of a line with one wrong character ends at that character", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kMissed);
  const ProcessResult text = RunWhyoom({"rules", "trace", log + ":2"});
  CHECK(text.exit_status == 0);
  CHECK(text.out.find("train.log:2") != std::string::npos);
  CHECK(text.out.find("memory in memory spa\"") != std::string::npos);
  CHECK(text.out.find("se hbm. Used 20.00G") != std::string::npos);
  CHECK(RunWhyoom({"rules", "trace"}, kMissed).exit_status == 0);
  CHECK(RunWhyoom({"rules", "trace", "--", "-:2"}, kMissed).out.find(":2\n") != std::string::npos);
}

TEST_CASE("rules trace returns the documented exit statuses", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kMissed);
  CHECK(RunWhyoom({"rules", "trace", log + ":7"}).exit_status == 2);
  CHECK(RunWhyoom({"rules", "trace", log + ":0"}).exit_status == 2);
  CHECK(RunWhyoom({"rules", "trace", "--rule", "E100O", log}).err.find("'E1000'") != std::string::npos);
  CHECK(RunWhyoom({"rules", "trace", scratch.path() + "/none.log"}).exit_status == 3);
  CHECK(RunWhyoom({"rules", "trace", scratch.path() + "/none.log:3"}).exit_status == 3);
  CHECK(RunWhyoom({"rules", "trace", "--output", log, log + ":2"}).exit_status == 2);
  CHECK(RunWhyoom({"rules", "trace", scratch.Write("good.log:12", "all is well\n")}).exit_status == 0);
}

TEST_CASE("the trace of an unknown error suggests the command that makes a rule", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("my train.log", "x.PoolError: RESOURCE_EXHAUSTED: no room for 1.5GiB\n");
  CHECK(RunWhyoom({"rules", "trace", log}).out.find("rules new CODE --from '" + log + "':1") != std::string::npos);
}

TEST_CASE("a trace names the line and context of a fact that is only read near failures", "[cli]") {
  const std::string log =
      "jax 0.8.0\nstep 1\nRESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm. "
      "Exceeded hbm capacity by 4.25G.\n";
  const std::string traced = RunWhyoom({"rules", "trace"}, log).out;
  const std::size_t fact = traced.find("jax_version");
  REQUIRE(fact != std::string::npos);
  const std::string text = traced.substr(fact, 120);
  CHECK(text.find("line 1 ") != std::string::npos);
  CHECK(text.find("releases_nearby") != std::string::npos);
}

TEST_CASE("--untried reports only the added rules", "[cli]") {
  const ScratchFolder scratch;
  const std::string made = RunWhyoom({"rules", "new", "my.pool", "the pool is full: wanted 12.50G"}).out;
  const auto untried = [&](const std::string& file) {
    const std::string path = scratch.Write("ours.json", file);
    return json::parse(RunWhyoom({"rules", "test", "--untried", "--format", "json", path}).out)["untried"];
  };
  CHECK(untried(made).empty());
  json without = json::parse(made);
  without["failures"][0]["examples"].erase("no_match");
  const json listed = untried(without.dump());
  REQUIRE_FALSE(listed.empty());
  for (const json& one : listed) CHECK(one.get<std::string>().starts_with("failure my.pool"));
}

TEST_CASE("a trace in JSON is valid by its schema and agrees with the report", "[cli]") {
  const JsonSchema schema = Schema();
  for (const char* name : {"compile-padded-points", "buffer-fragmented", "silent-source-line"}) {
    INFO(name);
    const json trace = json::parse(RunWhyoom({"rules", "trace", "--format", "json", CaseLog(name)}).out);
    for (const std::string& fault : schema.Faults(trace)) FAIL_CHECK(fault);
    const json report = json::parse(RunWhyoom({"--format", "json", CaseLog(name)}).out);
    REQUIRE(trace["findings"].size() == report["diagnoses"].size());
    for (std::size_t i = 0; i < trace["findings"].size(); ++i) {
      const json& finding = trace["findings"][i];
      const json& diagnosis = report["diagnoses"][i];
      CHECK(finding["id"] == diagnosis["id"]);
      std::set<std::string> offered;
      std::string scenario;
      for (const json& entry : finding["recorded"]) {
        const std::string what = entry["what"];
        if (entry.value("result", "") == "offered") offered.insert(what.substr(what.find(' ') + 1));
        if (entry.value("result", "") == "true" && what.starts_with("scenario ")) scenario = what;
      }
      std::set<std::string> reported;
      for (const json& remedy : diagnosis["remedies"]) reported.insert(remedy["id"]);
      CHECK(offered == reported);
      if (diagnosis.contains("scenario"))
        CHECK(scenario == "scenario " + diagnosis["scenario"]["id"].get<std::string>());
    }
  }
}

TEST_CASE("a trace in text contains no terminal commands", "[cli]") {
  const std::string out = RunWhyoom({"rules", "trace", CaseLog("compile-padded-points")}).out;
  CHECK(out.find("largest.size_bytes") != std::string::npos);
  CHECK(out.find("Order of the remedies") != std::string::npos);
  const std::string hostile =
      RunWhyoom({"rules", "trace"}, "\x1b[2JRan out of memory in memory space \x1b]0;x\x07hbn\n").out;
  CHECK(hostile.find('\x1b') == std::string::npos);
}

}  // namespace TEST_FILE
