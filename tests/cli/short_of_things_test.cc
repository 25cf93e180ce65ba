// Runs with little memory, with a limit on file sizes, with closed standard streams, and with endless rules.
#include <signal.h>

#include <algorithm>
#include <string>

#include "catch.h"
#include "input/archive/worker.h"
#include "process.h"

namespace TEST_FILE {

std::string Log() { return ReadText(WHYOOM_SOURCE_DIR "/testdata/cases/compile-padded-points/log"); }

ProcessResult RunUnder(const std::string& limits, const std::string& arguments, const std::string& folder) {
  return RunProcess({"/bin/bash", "-c", limits + "; '" WHYOOM_BINARY "' " + arguments}, "", folder);
}

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

// RE2 prints its own message if memory runs out while it compiles a pattern: "./re2/walker-inl.h:149: Stack not empty."
// It writes it in parts, between which another thread can print whyoom's message.
std::string WithoutRe2(std::string text) {
  while (text.starts_with("./re2/")) text.erase(0, std::min(text.find('\n') + 1, text.find("whyoom: ")));
  return text;
}

TEST_CASE("running out of memory anywhere yields an error message", "[cli][slow]") {
  if (whyoom::kSanitized) return;
  const ScratchFolder scratch;
  scratch.Write("train.log", Log());
  REQUIRE(RunProcess({"/bin/tar", "-cf", "logs.tar", "train.log"}, "", scratch.path()).exit_status == 0);
  int short_of_it = 0;
  for (int kilobytes = 50'000; kilobytes <= 320'000; kilobytes += 6'000) {
    for (const char* arguments : {"-j 1 train.log logs.tar", "-j 4 train.log logs.tar"}) {
      const ProcessResult run = RunUnder("ulimit -v " + std::to_string(kilobytes), arguments, scratch.path());
      CAPTURE(kilobytes, arguments, run.err);
      // If not even the loader has enough memory, the error is not from whyoom.
      const bool loaded = !Holds(run.err, "error while loading shared libraries");
      if (!loaded) continue;
      CHECK(run.exit_status >= 1);
      CHECK(run.exit_status <= 3);
      if (run.exit_status != 2) continue;
      ++short_of_it;
      CHECK(WithoutRe2(run.err).starts_with("whyoom: "));
    }
  }
  CHECK(short_of_it > 0);
}

TEST_CASE("if no process can be started that unpacks, that is reported and the rest is read", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("train.log", Log());
  REQUIRE(RunProcess({"/bin/tar", "-cf", "logs.tar", "train.log"}, "", scratch.path()).exit_status == 0);
  const ProcessResult small = RunUnder("ulimit -n 5", "-j 1 train.log logs.tar", scratch.path());
  CHECK(small.exit_status == 3);
  CHECK(Holds(small.out, "E1000"));
  CHECK(Holds(small.out, "cannot start the process that unpacks it"));
  CHECK(Holds(small.out, "--no-sandbox"));
  const ProcessResult without = RunUnder("ulimit -n 5", "--no-sandbox logs.tar", scratch.path());
  CHECK(without.exit_status == 1);
}

TEST_CASE("if standard streams are closed, no other file receives the report", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("train.log", Log());
  REQUIRE(RunProcess({"/bin/tar", "-cf", "logs.tar", "train.log"}, "", scratch.path()).exit_status == 0);
  for (const char* input : {"train.log", "logs.tar"}) {
    CAPTURE(input);
    CHECK(RunUnder("exec 0<&- 1>&-", input, scratch.path()).exit_status == 2);
    CHECK(RunUnder("exec 0<&-", input, scratch.path()).exit_status == 1);
  }
}

TEST_CASE("an endless rule file is rejected", "[cli]") {
  const ProcessResult run = RunWhyoom({"--rules", "/dev/zero"}, Log());
  CHECK(run.exit_status == 2);
  CHECK(Holds(run.err, "the file is larger than 4 MiB"));
}

}  // namespace TEST_FILE
