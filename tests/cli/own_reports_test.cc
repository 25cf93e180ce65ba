// Reports of whyoom in a log repeat a failure and are not failures themselves.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

const std::vector<std::string> kFormats = {"text", "markdown", "html", "json", "ndjson", "github", "sarif", "junit"};

std::string Case(const std::string& name) {
  return std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name + "/log";
}

// Each line with the prefix of a CI service, and with `end`.
std::string Lines(const std::string& text, const std::string& before, const std::string& end) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t feed = std::min(text.find('\n', at), text.size());
    lines += before + text.substr(at, feed - at) + end;
    at = feed + 1;
  }
  return lines;
}

json Read(const ScratchFolder& scratch, const std::string& log) {
  scratch.Write("ci.log", log);
  return json::parse(RunWhyoom({"--format", "json", "ci.log"}, "", scratch.path()).out);
}

TEST_CASE("a whyoom report in a log is not a failure, and the log's own failure is found once", "[cli]") {
  const ScratchFolder scratch;
  for (const char* name : {"compile-padded-points", "buffer-eight-hosts"}) {
    const std::string log = ReadText(Case(name));
    const std::string code = json::parse(RunWhyoom({"--format", "json", Case(name)}).out)["diagnoses"][0]["code"];
    for (const std::string& format : kFormats) {
      const std::string report = RunWhyoom({"--format", format, Case(name)}).out;
      for (const std::string before : {"", "2026-11-21T01:03:52.1234567Z "}) {
        for (const std::string end : {"\n", "\r\n"}) {
          CAPTURE(name, format, before, end);
          const std::string printed = Lines("starting\n" + report + "done\n", before, end);
          const json alone = Read(scratch, printed);
          CHECK(alone["diagnoses"].empty());
          CHECK(alone["summary"]["problems"].empty());
          for (const std::string& both : {printed + Lines(log, before, end), Lines(log, before, end) + printed}) {
            const json found = Read(scratch, both);
            REQUIRE(found["diagnoses"].size() == 1);
            CHECK(found["diagnoses"][0]["code"] == code);
          }
        }
      }
    }
  }
}

TEST_CASE("a truncated report does not hide the log after it", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(Case("compile-padded-points"));
  for (const std::string& format : kFormats) {
    const std::string report = RunWhyoom({"--format", format, Case("compile-padded-points")}).out;
    for (const std::size_t part : {4U, 2U}) {
      CAPTURE(format, part);
      const std::size_t end = report.find('\n', report.size() / part);
      CHECK(Read(scratch, report.substr(0, end) + "\n" + log)["diagnoses"].size() == 1);
    }
  }
}

TEST_CASE("a first line like a whyoom report's does not hide the log", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(Case("compile-padded-points"));
  for (const std::string first :
       {"{\"ts\":1,\"schema\":\"whyoom.brief/1\",\"failures\":[]}", "<testsuites name=\"whyoom\" tests=\"0\"/>",
        "<14>Nov 25 09:00:00 ci: <testsuites name=\"whyoom\" tests=\"0\"/>", "::group::whyoom: 1 failure in 1 input",
        "{\"type\":\"header\",\"schema\":\"whyoom.report/1\"}"}) {
    CAPTURE(first);
    CHECK(Read(scratch, first + "\n" + log)["diagnoses"].size() == 1);
  }
}

TEST_CASE("merging is byte-identical with labels of any length", "[cli]") {
  const ScratchFolder scratch;
  std::string log = ReadText(Case("compile-padded-points"));
  const std::size_t label = log.find("XLA label: ");
  REQUIRE(label != std::string::npos);
  log.insert(log.find('\n', label), ", metadata=" + std::string(3000, 'x'));
  scratch.Write("a.log", log);
  RunWhyoom({"--format", "ndjson", "--output", "part", "a.log"}, "", scratch.path());
  for (const std::string format : {"json", "ndjson", "text", "markdown", "html", "sarif"}) {
    CAPTURE(format);
    CHECK(RunWhyoom({"merge", "--format", format, "part"}, "", scratch.path()).out ==
          RunWhyoom({"--format", format, "a.log"}, "", scratch.path()).out);
  }
  RunWhyoom({"--format", "json", "--output", "report.json", "a.log"}, "", scratch.path());
  const ProcessResult refused = RunWhyoom({"merge", "--format", "json", "report.json"}, "", scratch.path());
  CHECK(refused.exit_status == 3);
  CHECK(refused.out.find("only that format can be merged") != std::string::npos);
}

}  // namespace TEST_FILE
