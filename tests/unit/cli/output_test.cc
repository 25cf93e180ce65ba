// Reports are written completely or not at all, even through links.
#include "cli/output.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <set>
#include <string>

#include "catch.h"
#include "input/error.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

std::set<std::string> NamesIn(const std::string& folder) {
  std::set<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator(folder)) names.insert(entry.path().filename().string());
  return names;
}

ino_t FileOf(const std::string& path) {
  struct stat status {};
  REQUIRE(stat(path.c_str(), &status) == 0);
  return status.st_ino;
}

TEST_CASE("a file is replaced as a whole, and no temporary file remains", "[cli]") {
  const ScratchFolder scratch;
  const std::string path = scratch.path() + "/report";
  WriteFile("first", path);
  CHECK(ReadText(path) == "first");
  REQUIRE(chmod(path.c_str(), 0640) == 0);
  const ino_t before = FileOf(path);
  scratch.Write(".report.whyoom-part", "somebody else's");
  WriteFile("second", path);
  CHECK(ReadText(path) == "second");
  CHECK(FileOf(path) != before);
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0640));
  CHECK(NamesIn(scratch.path()) == std::set<std::string>{".report.whyoom-part", "report"});
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
  CHECK(NamesIn(scratch.path()) == std::set<std::string>{"loop", "nowhere"});
}

TEST_CASE("the permissions of a link's target are kept", "[cli]") {
  const ScratchFolder scratch;
  const std::string path = scratch.Write("own", "old");
  REQUIRE(chmod(path.c_str(), 0600) == 0);
  std::filesystem::create_symlink("own", scratch.path() + "/link");
  WriteFile("new", scratch.path() + "/link");
  CHECK(ReadText(path) == "new");
  CHECK(std::filesystem::status(path).permissions() == std::filesystem::perms(0600));
}

TEST_CASE("a file is written in place if no temporary file can be created", "[cli]") {
  const ScratchFolder scratch;
  const std::string long_name(250, 'n');
  WriteFile("text", scratch.path() + "/" + long_name);
  WriteFile("other", scratch.path() + "/" + long_name);
  CHECK(ReadText(scratch.path() + "/" + long_name) == "other");
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
