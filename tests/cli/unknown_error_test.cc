// Unknown memory errors in every format, command and exit status.

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

const std::string kText = "pool.PoolError: RESOURCE_EXHAUSTED: it's full, no room for 1.5GiB";
const std::string kKnown =
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There "
    "are "
    "6.43M free.; (0x0x1_HBM0)\n";

json Parsed(const ProcessResult& result) { return json::parse(result.out); }

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("an unknown error is shown, but counts as found only with --strict", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "well\n" + kText + "\n");
  const ProcessResult text = RunWhyoom({log});
  CHECK(text.exit_status == 0);
  CHECK(Holds(text.out, "  " + log + ":2\n    " + kText + "\n"));
  CHECK(Holds(text.out, "No known out-of-memory error found"));
  CHECK(Holds(text.out, "whyoom rules --help"));
  CHECK(RunWhyoom({"--strict", log}).exit_status == 1);
  CHECK(RunWhyoom({"--strict", "--exit-zero", log}).exit_status == 0);
  CHECK(RunWhyoom({"--strict", log, scratch.path() + "/none.log"}).exit_status == 3);
  CHECK(RunWhyoom({log, scratch.path() + "/none.log"}).exit_status == 3);
  CHECK(RunWhyoom({"--strict", scratch.Write("well.log", "well\n")}).exit_status == 0);
  CHECK(RunWhyoom({log, scratch.Write("known.log", kKnown)}).exit_status == 1);
}

TEST_CASE("an unknown error in many inputs is shown once", "[cli]") {
  const ScratchFolder scratch;
  const std::string folder = scratch.path() + "/logs";
  for (int i = 0; i < 30; ++i) scratch.Write(fmt::format("logs/{:02}.log", i), kText + "\n" + kText + "\n");
  scratch.Write("logs/99.log", "pool.PoolError: RESOURCE_EXHAUSTED: another line\n");
  for (const std::string format : {"text", "markdown"}) {
    CAPTURE(format);
    const std::string report = RunWhyoom({"--format", format, folder}).out;
    CHECK(Holds(report, "00.log:1 and 29 more inputs"));
    CHECK(Holds(report, "(60 times)"));
    CHECK(Holds(report, "99.log:1"));
    CHECK(!Holds(report, "01.log"));
  }
  for (int megabytes = 9; megabytes < 13; ++megabytes) {
    scratch.Write(
        fmt::format("logs/known-{}.log", megabytes),
        fmt::format("RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate {}.00M. That was "
                    "not possible. There are 6.43M free.\n",
                    megabytes));
  }
  CHECK(Holds(RunWhyoom({folder, folder + "/none"}).out, "32 problems, listed at the end"));
}

TEST_CASE("every format shows an unknown error", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "well\n" + kText + "\n");
  for (const std::string format : {"text", "json", "ndjson", "markdown", "html", "github", "sarif", "junit"}) {
    CAPTURE(format);
    const ProcessResult result = RunWhyoom({"--format", format, log});
    CHECK(result.exit_status == 0);
    CHECK(Holds(result.out, "full, no room for 1.5GiB"));
  }
  const json problem = Parsed(RunWhyoom({"--format", "json", log}))["summary"]["problems"][0];
  CHECK(problem["kind"] == "unknown_error");
  CHECK(problem["path"] == log);
  CHECK(problem["line"] == 2);
  CHECK(problem["text"] == kText);
  CHECK(problem["occurrences"] == 1);
  const std::string junit = RunWhyoom({"--format", "junit", log}).out;
  CHECK(Holds(junit, "failures=\"0\" errors=\"0\""));
  CHECK(Holds(junit, "<skipped type=\"whyoom.unknown_error\""));
  CHECK(Holds(RunWhyoom({"--format", "junit", "--strict", log}).out, "failures=\"1\" errors=\"0\""));
  CHECK(Holds(RunWhyoom({"--format", "github", log}).out, "::warning title=Memory errors that match no rule::"));
  CHECK(
      Holds(RunWhyoom({"--format", "github", "--strict", log}).out, "::error title=Memory errors that match no rule"));
  const json run = Parsed(RunWhyoom({"--format", "sarif", log}))["runs"][0];
  CHECK(run["results"].empty());
  const json invocation = run["invocations"][0];
  CHECK(invocation["executionSuccessful"] == true);
  const json notification = invocation["toolExecutionNotifications"][0];
  CHECK(notification["level"] == "warning");
  CHECK(notification["descriptor"]["id"] == "unknown_error");
  CHECK(notification["locations"][0]["physicalLocation"]["region"]["startLine"] == 2);
}

TEST_CASE("merge and --resume keep unknown errors", "[cli]") {
  const ScratchFolder scratch;
  const std::string a = scratch.Write("a.log", "well\n" + kText + "\n");
  const std::string b = scratch.Write("b.log", kKnown + "\n");
  const std::string c = scratch.Write("c.log", "Error: pool 3 is out of memory\nError: pool 4 is out of memory\n");
  const std::string whole = RunWhyoom({"--format", "ndjson", a, b, c}).out;
  const std::string one = scratch.Write("one.nd", RunWhyoom({"--format", "ndjson", a}).out);
  const std::string rest = scratch.Write("rest.nd", RunWhyoom({"--format", "ndjson", c, b}).out);
  CHECK(RunWhyoom({"merge", "--format", "ndjson", rest, one}).out == whole);
  const ProcessResult merged = RunWhyoom({"merge", one});
  CHECK(merged.exit_status == 0);
  CHECK(Holds(merged.out, kText));
  CHECK(RunWhyoom({"merge", "--strict", one}).exit_status == 1);
  const std::string state = scratch.path() + "/state";
  CHECK(RunWhyoom({"--resume", state, "--format", "ndjson", a, b, c}).out == whole);
  CHECK(RunWhyoom({"--resume", state, "--format", "ndjson", a, b, c}).out == whole);
}

TEST_CASE("run and diff show an unknown error and return their usual status", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "well\n" + kText + "\n");
  const ProcessResult run = RunWhyoom({"run", "--", "/bin/sh", "-c", "cat '" + log + "'; exit 7"});
  CHECK(run.exit_status == 7);
  CHECK(Holds(run.err, kText));
  const ProcessResult well = RunWhyoom({"run", "--", "/bin/sh", "-c", "cat '" + log + "'"});
  CHECK(well.exit_status == 0);
  CHECK(well.err.empty());
  const ProcessResult diff = RunWhyoom({"diff", scratch.Write("known.log", kKnown), log});
  CHECK(diff.exit_status == 4);  // the lack of a known failure is no evidence of success
}

}  // namespace TEST_FILE
