// Attacks by people who write logs, name files, or control the other end of a pipe.
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/options.h"
#include "process.h"

namespace TEST_FILE {

using namespace std::chrono_literals;

std::string Log() { return ReadText(WHYOOM_SOURCE_DIR "/testdata/cases/compile-padded-points/log"); }

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

TEST_CASE("a silent named pipe does not prevent stopping", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("ok.log", Log());
  REQUIRE(mkfifo((scratch.path() + "/silent").c_str(), 0600) == 0);
  for (const bool has_writer : {false, true}) {
    CAPTURE(has_writer);
    const int writer = has_writer ? open((scratch.path() + "/silent").c_str(), O_RDWR) : -1;
    const ProcessResult ended = RunAndSignal({WHYOOM_BINARY, "ok.log", "silent"}, "", scratch.path(), SIGTERM, 300ms);
    CHECK(ended.exit_status == 128 + SIGTERM);
    CHECK(Holds(ended.out, "E1000"));
    const ProcessResult late = RunWhyoom({"--max-time", "0.3", "ok.log", "silent"}, "", scratch.path());
    CHECK(late.exit_status == 3);
    CHECK(Holds(late.out, "E1000"));
    CHECK(Holds(late.out, "warning: silent: stopped after 0.3 s (--max-time)"));
    if (writer >= 0) close(writer);
  }
  const ProcessResult fed = RunProcess(
      {"/bin/sh", "-c", "(sleep 0.2; cat ok.log) > silent & exec '" WHYOOM_BINARY "' silent"}, "", scratch.path());
  CHECK(fed.exit_status == 1);
  CHECK(Holds(fed.out, "E1000"));
}

TEST_CASE("following a compressed input is reported as an error", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("train.log", Log());
  const ProcessResult followed =
      RunProcess({"/bin/sh", "-c", "gzip -c train.log | '" WHYOOM_BINARY "' --follow"}, "", scratch.path());
  CHECK(followed.exit_status == 3);
  CHECK(Holds(followed.out, "packed (gzip) files cannot be followed"));
}

TEST_CASE("a log cannot inject commands for a CI server", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("::error::name", Replace(Replace(Log(), "pts", "::add-mask::a"), "d_points_n2", "##[error]##vso[x]"));
  const ProcessResult result = RunWhyoom({"--all", "::error::name"}, "", scratch.path());
  CHECK(Holds(result.out, "\n\\::error::name:41"));
  CHECK(Holds(result.out, "add-mask::a f32[10889216,4,2] takes 10.38"));
  CHECK(Holds(result.out, "#\\#[error]#\\#vso[x]"));
  CHECK_FALSE(Holds(result.out, "##[error]"));
  CHECK_FALSE(Holds(result.out, "##vso["));
  for (std::size_t begin = 0; begin < result.out.size(); begin = result.out.find('\n', begin) + 1)
    CHECK(result.out.compare(result.out.find_first_not_of(' ', begin), 2, "::") != 0);
}

TEST_CASE("all occurrences are counted, including those that are not kept", "[cli]") {
  std::string log;
  for (int i = 0; i < 500; ++i)
    log += "[rank" + std::to_string(i) +
           "]: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.77G "
           "of 15.75G hbm. Exceeded hbm capacity by 5.02G.\n";
  CHECK(Holds(RunWhyoom({}, log).out, "500 processes"));
  CHECK(Holds(RunWhyoom({"--all"}, log).out, "449 more"));  // 50 other places are listed
}

TEST_CASE("a part that contains a record twice is reported as damaged", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("train.log", Log());
  const std::string part = RunWhyoom({"--format", "ndjson", "train.log"}, "", scratch.path()).out;
  const std::size_t failure = part.find('\n') + 1;
  const std::size_t summary = part.find('\n', failure) + 1;
  const ProcessResult merged = RunWhyoom({"merge", "--format", "json"}, part.substr(0, summary) + part.substr(failure));
  CHECK(merged.exit_status == 3);
  CHECK(Holds(merged.out, "some occur twice"));
}

TEST_CASE("an endless shape does not fill the screen", "[cli]") {
  const std::string log =
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.77G of "
      "15.75G "
      "hbm. Exceeded hbm capacity by 5.02G.\n\n  Largest program allocations in hbm:\n\n  1. Size: 10.38G\n     Shape: "
      "(" +
      std::string(1 << 20, '(') + "\n";
  const ProcessResult result = RunWhyoom({}, log);
  CHECK(Holds(result.out, "E1000"));
  CHECK(result.out.size() < 20000);
}

TEST_CASE("a report never overwrites an input", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = Log();
  std::filesystem::create_directory(scratch.path() + "/logs");
  const auto restore = [&] {
    scratch.Write("logs/t.log", log);
    scratch.Write("s.log", log);
    scratch.Write("list", "logs/t.log\n");
  };
  restore();
  const std::vector<std::vector<std::string>> commands = {{"--output", "s.log", "s.log"},
                                                          {"--format", "json=logs/t.log", "logs"},
                                                          {"--output", "logs/t.log", "--files-from", "list"},
                                                          {"--output", "list", "--files-from", "list"},
                                                          {"--output", "logs/t.log", "--xla-dump", "logs", "s.log"},
                                                          {"--output", "s.log", "--rules", "s.log", "logs"},
                                                          {"merge", "--output", "logs/t.log", "logs"},
                                                          {"diff", "--output", "s.log", "s.log", "logs/t.log"}};
  for (const std::vector<std::string>& command : commands) {
    CAPTURE(command);
    const ProcessResult result = RunWhyoom(command, "", scratch.path());
    CHECK(result.exit_status == 2);
    CHECK(Holds(result.err, "output would overwrite an input"));
    CHECK(ReadText(scratch.path() + "/logs/t.log") == log);
    CHECK(ReadText(scratch.path() + "/s.log") == log);
    CHECK(ReadText(scratch.path() + "/list") == "logs/t.log\n");
    restore();
  }
}

TEST_CASE("no format reports an unreadable input as healthy", "[cli]") {
  for (const auto& format : whyoom::kReportFormats) {
    CAPTURE(format.name);
    const ProcessResult result = RunWhyoom({"--format", format.name, "/nonexistent"});
    CHECK(result.exit_status == 3);
    CHECK(Holds(result.out + result.err, "/nonexistent"));
    CHECK_FALSE(Holds(result.out, "No out-of-memory error found in 0 inputs"));
    CHECK_FALSE(Holds(result.out, "### No out-of-memory"));
  }
}

}  // namespace TEST_FILE
