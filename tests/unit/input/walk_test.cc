// Paths of a command line become files in a fixed order.
#include "input/walk.h"

#include <sys/stat.h>

#include <filesystem>
#include <string>

#include "catch.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

namespace fs = std::filesystem;

// Returns the files, then the problems, one per line; paths are relative to the scratch folder.
std::string Files(const ScratchFolder& scratch, std::vector<std::string> names) {
  std::vector<std::string> paths;
  for (const std::string& name : names) paths.push_back(name == "-" ? name : scratch.path() + "/" + name);
  Walk walk(paths);
  std::vector<Problem> problems;
  std::string shown;
  const auto relative = [&](const std::string& path) {
    return path.starts_with(scratch.path()) ? path.substr(scratch.path().size() + 1) : path;
  };
  while (const std::optional<Artifact> file = walk.Next(&problems)) {
    CHECK(file->member.empty());
    shown += relative(file->path) + "\n";
  }
  for (const Problem& problem : problems) shown += relative(problem.path) + ": " + problem.what + "\n";
  return shown;
}

TEST_CASE("files in folders are sorted by name, paths keep their order", "[input]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/logs/b");
  fs::create_directories(scratch.path() + "/logs/empty");
  for (const char* name : {"logs/c", "logs/B", "logs/b/x", "logs/b/a", "logs/a", "other"}) scratch.Write(name, "x");
  CHECK(Files(scratch, {"other", "logs"}) == "other\nlogs/B\nlogs/a\nlogs/b/a\nlogs/b/x\nlogs/c\n");
  CHECK(Files(scratch, {"logs/b", "-", "other", "other"}) == "logs/b/a\nlogs/b/x\n-\nother\nother\n");
  CHECK(Files(scratch, {}).empty());
}

TEST_CASE("anything that is not a file or folder is reported", "[input]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/logs");
  scratch.Write("logs/a", "x");
  REQUIRE(mkfifo((scratch.path() + "/logs/pipe").c_str(), 0600) == 0);
  CHECK(Files(scratch, {"logs"}) == "logs/a\nlogs/pipe: neither a file nor a folder\n");
  CHECK(Files(scratch, {"logs/pipe"}) == "logs/pipe\n");
  const std::string missing = Files(scratch, {"gone", "logs/a"});
  CHECK(missing.starts_with("logs/a\ngone: "));
}

TEST_CASE("a folder without files is reported, but not one inside another", "[input]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/logs/empty");
  fs::create_directories(scratch.path() + "/none/empty/emptier");
  fs::create_directories(scratch.path() + "/pipes");
  scratch.Write("logs/a", "x");
  REQUIRE(mkfifo((scratch.path() + "/pipes/pipe").c_str(), 0600) == 0);
  CHECK(Files(scratch, {"logs", "none", "logs/empty"}) ==
        "logs/a\nnone: folder contains no files\nlogs/empty: folder contains no files\n");
  CHECK(Files(scratch, {"pipes"}) == "pipes/pipe: neither a file nor a folder\n");
  CHECK(Files(scratch, {"none", "logs"}) == "logs/a\nnone: folder contains no files\n");
}

TEST_CASE("links to files are followed, links to folders only on the command line", "[input]") {
  const ScratchFolder scratch;
  fs::create_directories(scratch.path() + "/logs/run");
  fs::create_directories(scratch.path() + "/elsewhere");
  scratch.Write("logs/run/a", "x");
  scratch.Write("elsewhere/b", "x");
  fs::create_symlink(scratch.path() + "/elsewhere/b", scratch.path() + "/logs/file");
  fs::create_symlink("run", scratch.path() + "/logs/latest");
  fs::create_symlink(scratch.path() + "/elsewhere", scratch.path() + "/logs/out");
  // A link to a folder that is read anyway is not reported.
  CHECK(Files(scratch, {"logs"}) == "logs/file\nlogs/run/a\nlogs/out: symbolic link to a folder, not followed\n");
  CHECK(Files(scratch, {"logs/out"}) == "logs/out/b\n");
  fs::create_symlink("nowhere", scratch.path() + "/logs/broken");
  CHECK(Files(scratch, {"logs"}).find("logs/broken: ") != std::string::npos);
}

}  // namespace TEST_FILE
