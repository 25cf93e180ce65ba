// Where reports are written: files, links and streams.
#include "cli/file_writer.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <string>

#include "catch.h"
#include "input/error.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

TEST_CASE("a file is replaced, and keeps its permissions", "[cli]") {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/report";
  WriteFile("a long text", path);
  CHECK(ReadText(path) == "a long text");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  WriteFile("short", path);
  CHECK(ReadText(path) == "short");
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
}

TEST_CASE("links and hard links stay intact", "[cli]") {
  const ScratchFolder scratch;
  const std::string path = scratch.Write("report", "old");
  std::filesystem::create_symlink("report", scratch.path() + "/link");
  WriteFile("new", scratch.path() + "/link");
  CHECK(std::filesystem::is_symlink(scratch.path() + "/link"));
  CHECK(ReadText(path) == "new");
  std::filesystem::create_symlink("later", scratch.path() + "/dangling");
  WriteFile("made", scratch.path() + "/dangling");
  CHECK(ReadText(scratch.path() + "/later") == "made");
  std::filesystem::create_hard_link(path, scratch.path() + "/same");
  WriteFile("both", path);
  CHECK(ReadText(scratch.path() + "/same") == "both");
}

TEST_CASE("links that the system does not follow are errors", "[cli]") {
  const ScratchFolder scratch;
  std::filesystem::create_symlink("loop", scratch.path() + "/loop");
  CHECK_THROWS_AS(WriteFile("text", scratch.path() + "/loop"), Error);
  std::filesystem::create_symlink("no/such/folder", scratch.path() + "/nowhere");
  CHECK_THROWS_AS(WriteFile("text", scratch.path() + "/nowhere"), Error);
}

TEST_CASE("streams and devices are written, a pipe without a reader is an error", "[cli]") {
  const ScratchFolder scratch;
  // Standard output may be a file that other processes write to.
  const std::string out = scratch.path() + "/out";
  const ProcessResult run = RunProcess(
      {"/bin/bash", "-c", "{ echo head; '" WHYOOM_BINARY "' rules schema --output /dev/stdout; echo tail; } >" + out});
  CHECK(run.exit_status == 0);
  CHECK(ReadText(out).starts_with("head\n{"));
  CHECK(ReadText(out).ends_with("\ntail\n"));
  WriteFile("text", "/dev/null");
  CHECK_THROWS_AS(WriteFile("text", "/dev/full"), Error);
  CHECK_THROWS_AS(WriteFile("text", scratch.path() + "/no/such/folder"), Error);
  CHECK_THROWS_AS(WriteFile("text", scratch.path()), Error);
  const std::string fifo = scratch.path() + "/fifo";
  REQUIRE(mkfifo(fifo.c_str(), 0600) == 0);
  CHECK_THROWS_AS(WriteFile("text", fifo), Error);  // it has no reader
}

}  // namespace TEST_FILE
