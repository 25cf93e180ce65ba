// Many inputs: from lists, in parts, with many threads, interrupted. The output must always be the same bytes.
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace TEST_FILE {

std::string FailureRule(int megabytes) {
  return "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate " + std::to_string(megabytes) +
         ".00M. That was not possible. There are 6.43M free.\n";
}

// Small logs in folders; one in 33 has a failure, and some failures are equal.
void WriteTree(const ScratchFolder& scratch, int files) {
  for (int i = 0; i < files; ++i) {
    std::string log;
    for (int step = 0; step < 20; ++step) log += "step " + std::to_string(step) + " loss 0." + std::to_string(i) + "\n";
    if (i % 33 == 0) log += "[rank" + std::to_string(i % 7) + "]: " + FailureRule(10 + i % 20);
    scratch.Write("tree/job" + std::to_string(i % 40) + "/" + std::to_string(i) + ".log", log);
  }
}

// Names that a file system allows.
const std::vector<std::string> kNames = {
    "a b.log", "a\nb.log", "a\tb.log",  "a\\b.log", "a\"b'.log", "-.log",     "caf\xe9",
    "file:x",  "%41.log",  " lead",     "trail ",   "a\rb",      "[x]*?.log", "\xe6\xbc\xa2\xe5\xad\x97",
    "-j",      "#",        "a\x1b[31m", "-"};

std::vector<std::string> WriteStrangeNames(const ScratchFolder& scratch) {
  int size = 10;
  for (const std::string& name : kNames) scratch.Write(name, FailureRule(size++));
  return kNames;
}

std::string Json(const ScratchFolder& scratch, std::vector<std::string> arguments, const std::string& input = "") {
  arguments.insert(arguments.begin(), {"--format", "json"});
  const ProcessResult result = RunWhyoom(arguments, input, scratch.path());
  CHECK(result.err.empty());
  return result.out;
}

bool HasScript() {
  if (access("/usr/bin/script", X_OK) == 0) return true;
  WARN("script(1) is missing: terminals are not tested");
  return false;
}

TEST_CASE("a batch prints the same bytes with any -j, however its inputs are named", "[cli]") {
  const ScratchFolder scratch;
  WriteTree(scratch, 2000);
  for (const std::string format : {"text", "json", "ndjson"}) {
    const auto run = [&](std::vector<std::string> arguments, const std::string& input = "") {
      arguments.insert(arguments.begin(), {"--format", format});
      const ProcessResult result = RunWhyoom(arguments, input, scratch.path());
      CHECK(result.exit_status == 1);
      CHECK(result.err.empty());
      return result.out;
    };
    const std::string alone = run({"-j", "1", "tree"});
    CHECK((run({"-j", "8", "tree"}) == alone));
    CHECK((run({"tree"}) == alone));
    CHECK((run({"--files-from", "-", "-j", "3"}, "tree\n") == alone));
  }
  std::string list;
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path() + "/tree")) {
    if (entry.is_regular_file()) list += entry.path().lexically_relative(scratch.path()).string() + "\n";
  }
  CHECK((Json(scratch, {"--files-from", scratch.Write("list", list)}) == Json(scratch, {"tree"})));
}

TEST_CASE("names in a list may contain any bytes", "[cli]") {
  const ScratchFolder scratch;
  const std::vector<std::string> names = WriteStrangeNames(scratch);
  std::vector<std::string> arguments = {"--"};
  std::string nulls;
  for (const std::string& name : names) {
    arguments.push_back("./" + name);
    nulls += "./" + name + std::string(1, '\0');
  }
  const json whole = json::parse(Json(scratch, arguments));
  CHECK(whole["diagnoses"].size() == names.size());
  CHECK(whole["summary"]["problems"].empty());
  CHECK(Json(scratch, {"--files-from", "-", "-0"}, nulls) == Json(scratch, arguments));
  // A dash in a list means the file of that name.
  const json dash = json::parse(Json(scratch, {"--files-from", "-"}, "-\n"));
  CHECK(dash["diagnoses"][0]["where"]["path"] == "./-");
}

TEST_CASE("a list may be empty or contain invalid entries", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", FailureRule(10));
  scratch.Write("b/c.log", FailureRule(11));
  const ProcessResult empty = RunWhyoom({"--files-from", "-"}, "", scratch.path());
  CHECK(empty.exit_status == 0);
  CHECK(empty.out.find("0 inputs") != std::string::npos);
  const ProcessResult wrong = RunWhyoom({"--format", "json", "--files-from", "-"},
                                        "gone.log\r\n\r\na.log\r\n" + std::string("x\0y\nb\n", 6), scratch.path());
  CHECK(wrong.exit_status == 3);
  const json report = json::parse(wrong.out);
  CHECK(report["diagnoses"].size() == 2);
  REQUIRE(report["summary"]["problems"].size() == 2);
  CHECK(report["summary"]["problems"][0]["path"] == "-");
  CHECK(report["summary"]["problems"][1]["path"] == "gone.log");
  CHECK(json::parse(Json(scratch, {"a.log", "--files-from", "-"}, "b\n"))["diagnoses"].size() == 2);

  const auto refuse = [&](const std::vector<std::string>& arguments, const std::string& why) {
    const ProcessResult result = RunWhyoom(arguments, "a.log\n", scratch.path());
    CHECK(result.exit_status == 2);
    CHECK(result.out.empty());
    CHECK(result.err.find(why) != std::string::npos);
  };
  refuse({"--files-from", "-", "-"}, "cannot be both");
  refuse({"--files-from", "nowhere"}, "nowhere: cannot open");
  refuse({"--files-from", "b"}, "b: cannot read");
  refuse({"-0", "a.log"}, "--files-from");
}

TEST_CASE("the parts of a batch merge to the report of the whole batch", "[cli]") {
  const ScratchFolder scratch;
  WriteTree(scratch, 400);
  std::vector<std::string> names = {"gone-1", "gone-2"};
  for (const auto& entry : fs::recursive_directory_iterator(scratch.path() + "/tree"))
    if (entry.is_regular_file()) names.push_back(fs::relative(entry.path(), scratch.path()).string());
  const auto read = [&](std::size_t part, std::size_t count) {
    std::string list;
    for (std::size_t i = part; i < names.size(); i += count) list += names[i] + '\0';
    return RunWhyoom({"--files-from", "-", "-0", "--format", "ndjson"}, list, scratch.path()).out;
  };
  const std::string expected = read(0, 1);
  for (const std::size_t count : {2, 7}) {
    std::string parts;
    for (std::size_t part = 0; part < count; ++part) parts += read(part, count);
    CHECK((RunWhyoom({"merge", "--format", "ndjson"}, parts).out == expected));
  }
}

TEST_CASE("an interrupted run prints its results so far", "[cli]") {
  using namespace std::chrono_literals;
  const ScratchFolder scratch;
  scratch.Write("a.log", FailureRule(10));
  scratch.Write("z.log", FailureRule(11));
  for (const auto& [signal, name] :
       {std::pair(SIGINT, "SIGINT"), std::pair(SIGTERM, "SIGTERM"), std::pair(SIGHUP, "SIGHUP")}) {
    for (const char* jobs : {"1", "4"}) {
      // Standard input yields a few lines and then blocks forever.
      const ProcessResult result = RunAndSignal({WHYOOM_BINARY, "--format", "json", "-j", jobs, "a.log", "-", "z.log"},
                                                "begin\n" + FailureRule(12) + "end\n", scratch.path(), signal, 50ms);
      INFO(name << " " << jobs << " " << result.err);
      CHECK(result.exit_status == 128 + signal);
      const json report = json::parse(result.out);
      REQUIRE(report["summary"]["problems"].size() == 1);
      const std::string what = report["summary"]["problems"][0]["what"];
      CHECK(what.starts_with("interrupted by " + std::string(name) + ": "));
      if (jobs[0] != '1') continue;  // with several threads, it is unknown how far each got
      CHECK(report["diagnoses"].size() == 2);
      CHECK(what.ends_with(": 1 of 3 inputs were read to their end"));
    }
  }
  const ProcessResult killed = RunAndSignal({WHYOOM_BINARY, "-"}, "begin\n", scratch.path(), SIGKILL, 0ms);
  CHECK(killed.exit_status == 128 + SIGKILL);
  // Ignored signals stay ignored: the first signal changes nothing, and the next one ends the program.
  const ProcessResult ignored =
      RunProcess({"/bin/sh", "-c",
                  "trap '' HUP; sleep 1 | '" WHYOOM_BINARY "' --format json - & p=$!; sleep 0.4; kill -HUP $p; "
                  "sleep 0.2; kill -TERM $p; wait $p"});
  CHECK(ignored.exit_status == 128 + SIGTERM);
}

TEST_CASE("a signal to the process and, right after, to its group is one request", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log", FailureRule(10));
  const std::string begin = "cd '" + scratch.path() +
                            "'; { echo begin; sleep 2; } | '" WHYOOM_BINARY
                            "' --format json a.log - & p=$!; sleep 0.5; kill -TERM $p; ";
  const ProcessResult once = RunProcess({"/bin/sh", "-c", begin + "kill -TERM $p; wait $p"});
  CHECK(once.exit_status == 128 + SIGTERM);
  CHECK(json::parse(once.out)["diagnoses"].size() == 1);
}

TEST_CASE("a progress bar leaves nothing behind", "[cli]") {
  const ScratchFolder scratch;
  WriteTree(scratch, 50);
  const std::string plain = RunWhyoom({"tree"}, "", scratch.path()).out;
  const ProcessResult always = RunWhyoom({"--progress", "always", "tree"}, "", scratch.path());
  CHECK(always.out == plain);
  CHECK(always.err.find("files") != std::string::npos);
  CHECK(always.err.ends_with("\r\x1b[K"));
  CHECK(std::count(always.err.begin(), always.err.end(), '\n') == 0);
  CHECK(RunWhyoom({"--progress", "auto", "tree"}, "", scratch.path()).err.empty());
  if (!HasScript()) return;
  const auto in_terminal = [&](const std::string& options) {
    const std::string line = "stty rows 33 cols 40; { sleep 0.8; echo all is well; } | '" WHYOOM_BINARY
                             "' --format json tree - " +
                             options + " > report";
    return RunProcess({"/usr/bin/script", "-qec", line, "/dev/null"}, "", scratch.path(), {"TERM=xterm"}).out;
  };
  const std::string bar = in_terminal("");
  CHECK(bar.find("50 of 51 files") != std::string::npos);
  CHECK(bar.ends_with("\r\x1b[K"));
  for (std::size_t at = 0; (at = bar.find("\r\x1b[K", at)) != std::string::npos; at += 4) {
    std::size_t columns = 0;
    for (std::size_t i = at + 4; i < bar.size() && bar[i] != '\r'; ++i) columns += (bar[i] & 0xC0) != 0x80 ? 1 : 0;
    CHECK(columns < 40);
  }
  CHECK(json::parse(ReadText(scratch.path() + "/report"))["summary"]["artifacts"] == 51);
  CHECK(in_terminal("--progress never").empty());
}

}  // namespace TEST_FILE
