// --resume: an interrupted batch continues, reads nothing twice and prints the same bytes.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;
namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace TEST_FILE {

std::string FailureLine(int megabytes) {
  return "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate " + std::to_string(megabytes) +
         ".00M. That was not possible. There are 6.43M free.\n";
}

// The logs and dumps of all test cases.
void WriteCases(const ScratchFolder& scratch) {
  for (const auto& entry : fs::directory_iterator(std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases")) {
    const std::string name = "tree/" + entry.path().filename().string() + " \xc3\xa9.log";
    scratch.Write(name, ReadText((entry.path() / "log").string()));
    if (!fs::is_directory(entry.path() / "dump")) continue;
    fs::create_directories(scratch.path() + "/dump");
    fs::copy(entry.path() / "dump", scratch.path() + "/dump");
  }
}

// How many inputs were read to their end: each adds a file to the folder.
std::size_t RecordedIn(const ScratchFolder& scratch, const std::string& folder = "resume") {
  std::size_t count = 0;
  const fs::path path = scratch.path() + "/" + folder;
  if (!fs::exists(path)) return 0;
  for (const auto& entry : fs::directory_iterator(path)) count += entry.path().extension() == ".whyoom-resume" ? 1 : 0;
  return count;
}

TEST_CASE("a resumed batch prints the same bytes and reads nothing twice", "[cli]") {
  const ScratchFolder scratch;
  WriteCases(scratch);
  scratch.Write("packed.gz", std::string("\x1f\x8b\x08\x00\x00", 5));
  scratch.Write("tree/no text\n\xff.log", FailureLine(10));  // never recorded
  for (const std::string format : {"text", "json", "ndjson"}) {
    for (const bool with_dump : {false, true}) {
      std::vector<std::string> arguments = {"--format", format, "tree", "packed.gz", "gone.log"};
      if (with_dump) arguments.insert(arguments.end(), {"--xla-dump", "dump"});
      const std::string plain = RunWhyoom(arguments, "", scratch.path()).out;
      arguments.insert(arguments.end(), {"--resume", "resume-" + format});
      const std::size_t before = RecordedIn(scratch, "resume-" + format);
      CHECK((RunWhyoom(arguments, "", scratch.path()).out == plain));
      const std::size_t after = RecordedIn(scratch, "resume-" + format);
      const ProcessResult second = RunWhyoom(arguments, "", scratch.path());
      CHECK((second.out == plain));
      CHECK(second.exit_status == 3);
      CHECK(after > 0);
      CHECK(RecordedIn(scratch, "resume-" + format) == after);
      // Dumps are used after all inputs were read, so they may be added later.
      CHECK(before == (with_dump ? after : 0));
    }
  }
}

TEST_CASE("changed inputs are read again", "[cli]") {
  const ScratchFolder scratch;
  const std::string file = scratch.Write("logs/a.log", FailureLine(10));
  scratch.Write("logs/b.log", FailureLine(11));
  scratch.Write("rule.json", R"({"format": "whyoom.rules/1", "chips": []})");
  const std::vector<std::string> arguments = {"--format", "json", "logs", "--resume", "resume"};
  const auto read = [&] {
    const std::size_t before = RecordedIn(scratch);
    CHECK(RunWhyoom(arguments, "", scratch.path()).out ==
          RunWhyoom({"--format", "json", "logs"}, "", scratch.path()).out);
    return static_cast<int>(RecordedIn(scratch) - before);
  };
  CHECK(read() == 2);
  CHECK(read() == 0);
  scratch.Write("logs/a.log", FailureLine(12) + "more\n");
  CHECK(read() == 1);
  // Same size, but another time: a nanosecond is enough.
  const fs::file_time_type time = fs::last_write_time(file);
  scratch.Write("logs/a.log", FailureLine(13) + "more\n");
  fs::last_write_time(file, time + 1ns);
  CHECK(read() == 1);
  CHECK(read() == 0);
  fs::remove(file);
  CHECK(read() == 0);
  scratch.Write("logs/c.log", FailureLine(14));
  CHECK(read() == 1);
  // A relative path means another file in another folder.
  scratch.Write("other/logs/b.log", FailureLine(15));
  fs::last_write_time(scratch.path() + "/other/logs/b.log", fs::last_write_time(scratch.path() + "/logs/b.log"));
  const ProcessResult elsewhere =
      RunWhyoom({"--format", "json", "logs/b.log", "--resume", "../resume"}, "", scratch.path() + "/other");
  CHECK(elsewhere.out.find("\"request_bytes\": 15728640") != std::string::npos);
}

TEST_CASE("findings of other rules are not reused", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", "flux capacitor drained to 1.00G\n");
  const std::string rule = scratch.Write(
      "x1.json",
      R"({"format": "whyoom.rules/1", "failures": [{"code": "X1", "title": "a new failure", "category": "New", "phase": "run",
    "about": ["new"], "links": [{"title": "page", "url": "https://example.org/x1"}], "heads": ["flux capacitor drained to %{size:need_bytes}"],
    "examples": [{"text": ["flux capacitor drained to 3.00G"], "facts": {"need_bytes": 3221225472}}], "counterexamples": []}]})");
  const auto status = [&](std::vector<std::string> more) {
    more.insert(more.end(), {"a.log", "--resume", "resume"});
    return RunWhyoom(more, "", scratch.path()).exit_status;
  };
  CHECK(status({}) == 0);
  CHECK(status({"--rules", rule}) == 1);
  CHECK(status({"--rules", rule}) == 1);
  CHECK(status({}) == 0);
}

TEST_CASE("standard input, pipes and unreadable files are always read again", "[cli]") {
  const ScratchFolder scratch;
  const std::vector<std::string> arguments = {"--format", "json", "-", "folder.log", "--resume", "resume"};
  for (const int size : {10, 11}) {
    CHECK(json::parse(RunWhyoom(arguments, FailureLine(size), scratch.path()).out)["diagnoses"].size() == 1);
    CHECK(RecordedIn(scratch) == 0);
  }
  if (geteuid() == 0) return;  // root may read everything
  const std::string locked = scratch.Write("locked.log", FailureLine(12));
  const std::vector<std::string> once = {"--format", "json", "locked.log", "--resume", "resume"};
  chmod(locked.c_str(), 0);
  CHECK(RunWhyoom(once, "", scratch.path()).exit_status == 3);
  chmod(locked.c_str(), 0644);
  CHECK(RunWhyoom(once, "", scratch.path()).exit_status == 1);
}

TEST_CASE("the recorded results are not inputs", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("logs/a.log", FailureLine(10));
  const std::string plain = RunWhyoom({"logs"}, "", scratch.path()).out;
  for (const std::string folder : {"logs/resume", "logs"}) {
    for (int i = 0; i < 2; ++i) CHECK(RunWhyoom({"logs", "--resume", folder}, "", scratch.path()).out == plain);
    fs::remove_all(scratch.path() + "/logs/resume");
  }
}

TEST_CASE("a batch that is killed repeatedly prints the same bytes", "[cli]") {
  const ScratchFolder scratch;
  WriteCases(scratch);
  // Enough work for about a second, so that it is not done before it is killed.
  for (int i = 0; i < 150; ++i) {
    std::string log;
    for (int line = 0; line < 200; ++line)
      log += "[rank" + std::to_string(line % 40) + "]: " + FailureLine(10 + (i + line) % 10) + "step\n";
    scratch.Write("tree/heavy-" + std::to_string(i) + ".log", log);
  }
  const std::vector<std::string> plain = {WHYOOM_BINARY, "--format", "json", "--xla-dump", "dump", "tree"};
  RunProcess(plain, "", scratch.path());  // warms up the caches
  const auto start = std::chrono::steady_clock::now();
  const ProcessResult expected = RunProcess(plain, "", scratch.path());
  const auto whole = std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  std::vector<std::string> arguments = plain;
  arguments.insert(arguments.end(), {"--resume", "resume"});
  std::mt19937 random(20261121);
  int killed = 0;
  std::size_t recorded = 0;  // before the run that was not killed
  ProcessResult result;
  do {
    recorded = RecordedIn(scratch);
    // Every other time, a signal that lets whyoom save its work.
    const int signal = killed % 2 == 0 ? SIGKILL : SIGTERM;
    const auto after = whole * static_cast<int>(30 + random() % 50) / 100;
    result = killed < 10 ? RunAndSignal(arguments, "", scratch.path(), signal, after)
                         : RunProcess(arguments, "", scratch.path());
    if (result.exit_status >= 128) ++killed;
  } while (result.exit_status >= 128);
  INFO(result.err);
  CHECK(result.exit_status == expected.exit_status);
  CHECK((result.out == expected.out));
  CHECK(killed > 0);
  if (killed > 1) CHECK(recorded > 0);
  const std::size_t whole_batch = RecordedIn(scratch);
  const ProcessResult again = RunProcess(arguments, "", scratch.path());
  CHECK((again.out == expected.out));
  CHECK(RecordedIn(scratch) == whole_batch);
}

TEST_CASE("after an interrupt, only inputs that were not complete are read again", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", FailureLine(10));
  scratch.Write("b.log", "all is well\n");
  const std::vector<std::string> arguments = {"--format", "json",  "-j",    "1", "--resume",
                                              "resume",   "a.log", "b.log", "-"};
  std::vector<std::string> program = arguments;
  program.insert(program.begin(), WHYOOM_BINARY);
  const ProcessResult cut = RunAndSignal(program, FailureLine(11), scratch.path(), SIGTERM, 50ms);
  CHECK(cut.exit_status == 128 + SIGTERM);
  CHECK(json::parse(cut.out)["diagnoses"].size() == 2);
  CHECK(RecordedIn(scratch) == 2);
  const ProcessResult rest = RunWhyoom(arguments, FailureLine(11), scratch.path());
  CHECK(RecordedIn(scratch) == 2);
  CHECK(json::parse(rest.out)["diagnoses"].size() == 2);
}

TEST_CASE("a file that an interrupt cut short is read again", "[cli]") {
  const ScratchFolder scratch;
  const std::string large = scratch.Write("large.log", "");
  fs::resize_file(large, std::uintmax_t{512} << 20);  // a sparse file
  std::ofstream(large, std::ios::app) << "\n" << FailureLine(10);
  const std::vector<std::string> program = {WHYOOM_BINARY, "--format", "json", "--resume", "resume", "large.log"};
  bool hit = false;
  for (int attempt = 1; attempt <= 20 && !hit; ++attempt) {
    fs::remove_all(scratch.path() + "/resume");
    const ProcessResult cut = RunAndSignal(program, "", scratch.path(), SIGTERM, attempt * 15ms);
    hit = cut.out.find("0 of 1 inputs were read to their end") != std::string::npos;
    CHECK((!hit || cut.exit_status == 128 + SIGTERM));
  }
  if (!hit) WARN("no signal arrived while the file was being read: not tested");
  if (hit) CHECK(RecordedIn(scratch) == 0);
  const ProcessResult rest = RunProcess(program, "", scratch.path());
  CHECK(json::parse(rest.out)["diagnoses"].size() == 1);
}

TEST_CASE("--resume rejects what is not a folder", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", FailureLine(10));
  const auto status = [&](const std::string& folder) {
    return RunWhyoom({"a.log", "--resume", folder}, "", scratch.path()).exit_status;
  };
  CHECK(status("a.log") == 2);
  CHECK(ReadText(scratch.path() + "/a.log") == FailureLine(10));
  CHECK(status("") == 2);
  CHECK(status("-") == 2);
  CHECK(status("no/such/folder/resume") == 2);
  CHECK(status("new") == 1);
  CHECK(RecordedIn(scratch, "new") == 1);
  fs::create_directory_symlink("new", scratch.path() + "/link");
  for (const std::string& link : {"link", "link/", "link//", "./link/"}) CHECK(status(link) == 2);
  CHECK(status("new/") == 1);
}

TEST_CASE("processes may share a folder", "[cli]") {
  const ScratchFolder scratch;
  WriteCases(scratch);
  const std::string run = "'" WHYOOM_BINARY "' --format json --resume resume tree";
  const std::string script = run + " >first & " + run + "; status=$?; wait; exit $status";
  const ProcessResult second = RunProcess({"/bin/sh", "-c", script}, "", scratch.path());
  const ProcessResult plain = RunWhyoom({"--format", "json", "tree"}, "", scratch.path());
  CHECK(second.exit_status == plain.exit_status);
  CHECK((second.out == plain.out));
  CHECK((ReadText(scratch.path() + "/first") == plain.out));
}

}  // namespace TEST_FILE
