#include "input/byte_source.h"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "input/walk.h"

namespace whyoom {
namespace TEST_FILE {

namespace fs = std::filesystem;

// A folder for one test, removed afterwards.
struct Scratch {
  Scratch() : path(fs::temp_directory_path() / ("whyoom_input_" + std::to_string(getpid()))) {
    fs::remove_all(path);
    fs::create_directories(path);
  }
  ~Scratch() { fs::remove_all(path); }
  std::string Write(const std::string& name, const std::string& text) const {
    fs::create_directories((path / name).parent_path());
    std::ofstream(path / name, std::ios::binary) << text;
    return (path / name).string();
  }
  fs::path path;
};

std::string ReadAll(ByteSource* source, std::size_t capacity = 5) {
  std::string all;
  std::vector<char> buffer(capacity);
  while (const std::size_t got = source->Read(buffer.data(), capacity)) all.append(buffer.data(), got);
  CHECK(source->Read(buffer.data(), capacity) == 0);
  return all;
}

TEST_CASE("memory is returned in chunks", "[input]") {
  CHECK(ReadAll(OpenMemory("hello world", 2).get()) == "hello world");
  CHECK(ReadAll(OpenMemory("hello world", 0).get()) == "hello world");
  CHECK(ReadAll(OpenMemory("").get()).empty());
  char buffer[8];
  CHECK(OpenMemory("hello world", 3)->Read(buffer, sizeof buffer) == 3);
  CHECK(OpenMemory("hello world")->Read(buffer, sizeof buffer) == 8);
}

TEST_CASE("files are read to their end", "[input]") {
  const Scratch scratch;
  const std::string text = std::string("with\0nul\n", 9) + std::string(3000, 'x');
  const auto source = OpenFile(scratch.Write("a.log", text));
  CHECK(ReadAll(source.get(), 1000) == text);
  CHECK(source->problem().empty());
}

TEST_CASE("an unreadable file yields a problem and no bytes", "[input]") {
  const Scratch scratch;
  const auto missing = OpenFile((scratch.path / "missing").string());
  CHECK(ReadAll(missing.get()).empty());
  CHECK(missing->problem() == "cannot open: No such file or directory");
  const auto folder = OpenFile(scratch.path.string());
  CHECK(ReadAll(folder.get()).empty());
  CHECK(folder->problem() == "cannot read: Is a directory");
}

TEST_CASE("a FIFO is read like a file", "[input]") {
  const Scratch scratch;
  const std::string path = (scratch.path / "pipe").string();
  REQUIRE(mkfifo(path.c_str(), 0600) == 0);
  std::thread writer([&] { std::ofstream(path) << "through the pipe\n"; });
  CHECK(ReadAll(OpenFile(path).get()) == "through the pipe\n");
  writer.join();
}

struct Walked {
  std::vector<std::string> artifacts;
  std::vector<std::string> problems;
};

Walked WalkAll(const Scratch& scratch, const std::vector<std::string>& paths) {
  const std::size_t skip = scratch.path.string().size() + 1;
  Walked walked;
  std::vector<Problem> problems;
  for (Walk walk(paths); const std::optional<Artifact> artifact = walk.Next(&problems);)
    walked.artifacts.push_back(artifact->path == "-" ? "-" : artifact->path.substr(skip));
  for (const Problem& problem : problems) walked.problems.push_back(problem.path.substr(skip) + ": " + problem.what);
  return walked;
}

TEST_CASE("a walk keeps the order of its paths and sorts the files in a folder by name", "[input]") {
  const Scratch scratch;
  const std::string last = scratch.Write("z.log", "");
  for (const char* name : {"job/b.log", "job/a/2.log", "job/a/10.log", "job/c.log", "job/B.log"})
    scratch.Write(name, "");
  const Walked walked = WalkAll(scratch, {last, "-", (scratch.path / "job").string()});
  CHECK(walked.artifacts ==
        std::vector<std::string>{"z.log", "-", "job/B.log", "job/a/10.log", "job/a/2.log", "job/b.log", "job/c.log"});
  CHECK(walked.problems.empty());
}

TEST_CASE("a walk reports what it cannot read", "[input]") {
  const Scratch scratch;
  scratch.Write("job/a.log", "");
  scratch.Write("other/b.log", "");
  mkfifo((scratch.path / "job/pipe").c_str(), 0600);
  fs::create_symlink("nowhere", scratch.path / "job/dangling");
  fs::create_symlink("a.log", scratch.path / "job/linked.log");
  fs::create_directory_symlink(".", scratch.path / "job/loop");
  fs::create_directory_symlink("../other", scratch.path / "job/other");
  const std::string job = (scratch.path / "job").string();
  const Walked walked = WalkAll(scratch, {job, (scratch.path / "missing").string()});
  CHECK(walked.artifacts == std::vector<std::string>{"job/a.log", "job/linked.log"});
  CHECK(walked.problems == std::vector<std::string>{"job/dangling: no such file or folder",
                                                    "job/other: symbolic link to a folder, not followed",
                                                    "job/pipe: neither a file nor a folder",
                                                    "missing: no such file or folder"});

  CHECK(WalkAll(scratch, {job + "/other"}).artifacts == std::vector<std::string>{"job/other/b.log"});
  CHECK(WalkAll(scratch, {job + "/pipe"}).artifacts == std::vector<std::string>{"job/pipe"});
}

}  // namespace TEST_FILE
}  // namespace whyoom
