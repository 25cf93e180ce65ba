// `whyoom rules new CODE --from LOG:LINE` prints a rule file that works unchanged.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

using nlohmann::json;

// A log of a team's launcher: timestamps, a traceback, a message of two lines.
const std::string kLog =
    "2026-11-20 12:00:00,123 INFO start of job 7\n"
    "Traceback (most recent call last):\n"
    "  File \"/home/me/train.py\", line 41, in <module>\n"
    "    launch()\n"
    "launcher.PoolError: Staging pool 'weights' is full: wanted 12.50G of 10.00G,\n"
    "    3 pieces are pinned\n"
    "step 8: loss 2.0\n"
    "\n"
    "INTERNAL: E1300: CompileTimeSharedMemOom: Shared memory of the core holds 12.5M, the program needs 14.25M.\n";

bool Holds(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

ProcessResult New(const std::vector<std::string>& arguments, const std::string& input = "") {
  std::vector<std::string> all = {"rules", "new"};
  all.insert(all.end(), arguments.begin(), arguments.end());
  return RunWhyoom(all, input);
}

std::vector<std::string> ExampleOf(const ProcessResult& result) {
  UNSCOPED_INFO(result.err);
  REQUIRE(result.exit_status == 0);
  const json file = json::parse(result.out);
  const json& entry = file.contains("failures") ? file["failures"][0] : file["extensions"][0];
  return entry["examples"]["match"][0]["text"].get<std::vector<std::string>>();
}

TEST_CASE("a rule made from a log line passes check and test unchanged", "[cli][slow]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kLog);
  for (const std::string line : {":5", ":2", ":9", ":5-6"}) {
    CAPTURE(line);
    const ProcessResult made = New({"my.pool", "--from", log + line});
    CHECK(made.exit_status == 0);
    CHECK(Holds(made.err, "TODO"));
    CHECK(Holds(made.err, "the prefilter searches logs for '"));
    const std::string file = scratch.Write("new.json", made.out);
    CHECK(RunWhyoom({"rules", "check", file}).exit_status == 0);
    const ProcessResult tested = RunWhyoom({"rules", "test", file});
    CHECK(tested.exit_status == 0);
    const ProcessResult found = RunWhyoom({"--format", "json", "--rules", file, log});
    CHECK(found.exit_status == 1);
    CHECK(json::parse(found.out)["diagnoses"][0]["code"] == "my.pool");
  }
  const json facts =
      json::parse(New({"my.pool", "--from", log + ":5"}).out)["failures"][0]["examples"]["match"][0]["facts"];
  CHECK(facts["used_bytes"] == 13421772800);
  CHECK(facts["limit_bytes"] == 10737418240);
}

TEST_CASE("a new rule's message does not contain the prefixes of loggers", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kLog);
  const std::vector<std::string> message = {
      "launcher.PoolError: Staging pool 'weights' is full: wanted 12.50G of 10.00G,", "    3 pieces are pinned"};
  CHECK(ExampleOf(New({"my.pool", "--from", log + ":5"})) == message);
  CHECK(ExampleOf(New({"my.pool", "--from", log + ":2"})) == message);
  CHECK(ExampleOf(New({"my.pool", "--from", "-:5"}, kLog)) == message);
  const std::string record =
      R"({"severity":"ERROR","jsonPayload":{"message":"Staging pool is full: wanted 12.50G\n"},"timestamp":"2026-11-20T12:00:00Z"})"
      "\n";
  CHECK(ExampleOf(New({"my.pool", "--from", "-:1"}, record)) ==
        std::vector<std::string>{"Staging pool is full: wanted 12.50G"});
  CHECK(ExampleOf(New({"my.pool", "[rank0]: Staging pool is full: wanted 12.50G"})) ==
        std::vector<std::string>{"Staging pool is full: wanted 12.50G"});
}

TEST_CASE("a compressed log yields the same rule", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("train.log", kLog);
  REQUIRE(RunProcess({"/bin/gzip", "-k", log}).exit_status == 0);
  CHECK(ExampleOf(New({"my.pool", "--from", log + ".gz:5"})) == ExampleOf(New({"my.pool", "--from", log + ":5"})));
  REQUIRE(
      RunProcess({"/bin/tar", "-C", scratch.path(), "-cf", scratch.path() + "/logs.tar", "train.log", "train.log.gz"})
          .exit_status == 0);
  const ProcessResult which = New({"my.pool", "--from", scratch.path() + "/logs.tar:5"});
  CHECK(which.exit_status == 2);
  CHECK(Holds(which.err, "logs.tar › train.log:5"));
  CHECK(New({"my.pool", "--from", scratch.path() + "/logs.tar › train.log:5"}).exit_status == 0);
}

TEST_CASE("for an existing code, the rule adds a pattern", "[cli][slow]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "launcher: program needs 20.00G, the device has 15.75G\n");
  const ProcessResult made = New({"E1000", "--from", log + ":1"});
  REQUIRE(made.exit_status == 0);
  const std::string file = scratch.Write("ours.json", made.out);
  CHECK(RunWhyoom({"rules", "check", file}).exit_status == 0);
  CHECK(RunWhyoom({"rules", "test", file}).exit_status == 0);
  const json report = json::parse(RunWhyoom({"--format", "json", "--rules", file, log}).out);
  CHECK(report["diagnoses"][0]["code"] == "E1000");
  CHECK(report["diagnoses"][0]["facts"]["used_bytes"] == 21474836480);
}

TEST_CASE("a message that is already recognized is reported", "[cli]") {
  const std::string known = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm. Used 20.00G of 15.75G hbm.";
  CHECK(Holds(New({"my.hbm", known}).err, "already recognized as E1000"));
  CHECK(Holds(New({"E1000", known}).err, "E1000 already recognizes this message"));
}

TEST_CASE("an invalid LOG:LINE and an unusable message are errors", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "12345 678\n\n" + std::string(70000, 'x') + " it's full of \\d+ 'q\n" +
                                                     "\xff\xfe bytes \x80 without text 5G in the staging pool\n");
  const auto error = [&](const std::string& from) {
    const ProcessResult result = New({"my.pool", "--from", from});
    CHECK(result.exit_status == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(Holds(error(log + ":1"), "cannot make a rule from this message"));
  CHECK(Holds(error(log + ":2"), "line 2 of"));
  CHECK(Holds(error(log + ":9"), "has only 4 lines, not line 9"));
  CHECK(Holds(error(log), "invalid value '"));
  CHECK(Holds(error(log + ":0"), "invalid value '"));
  CHECK(Holds(error(log + ":3-2"), "invalid value '"));
  CHECK(Holds(error(scratch.path() + "/none.log:1"), "none.log"));
  CHECK(New({"my.pool", "--from", log + ":4"}).exit_status == 0);
  CHECK(New({"a b", "--from", log + ":4"}).exit_status == 2);
}

TEST_CASE("a rule made from a message with invisible characters escapes them", "[cli][slow]") {
  const ProcessResult made = New({"my.pool", "OtherError: out of memory \u202e in pool qz"});
  CHECK(made.exit_status == 0);
  CHECK(made.out.find("\u202e") == std::string::npos);
  CHECK(ExampleOf(made) == std::vector<std::string>{"OtherError: out of memory \u202e in pool qz"});
}

}  // namespace TEST_FILE
