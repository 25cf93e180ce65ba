// whyoom --follow with a growing file and a pipe.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

namespace fs = std::filesystem;

std::string Case(const std::string& name) {
  return ReadText(std::string(WHYOOM_SOURCE_DIR "/testdata/cases/") + name + "/log");
}

void Append(const std::string& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::app) << text;
}

// whyoom --follow in the background, with its output in a file.
class Follower {
 public:
  Follower(const std::string& path, const std::string& out) : out_(out), child_(fork()) {
    if (child_ == 0) {
      if (freopen(out.c_str(), "w", stdout) == nullptr) _exit(99);
      execl(WHYOOM_BINARY, WHYOOM_BINARY, "--follow", path.c_str(), static_cast<char*>(nullptr));
      _exit(98);
    }
  }
  ~Follower() {
    if (child_ > 0) kill(child_, SIGKILL);
  }

  // Waits until the output contains `text`.
  bool Says(const std::string& text) const {
    for (int i = 0; i < 1200; ++i) {
      if (fs::exists(out_) && ReadText(out_).find(text) != std::string::npos) return true;
      std::this_thread::sleep_for(std::chrono::milliseconds(25));
    }
    return false;
  }

  int Interrupt() {
    kill(child_, SIGINT);
    int status = 0;
    waitpid(child_, &status, 0);
    child_ = 0;
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }

 private:
  const std::string out_;
  pid_t child_;
};

std::size_t Count(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_CASE("a followed file is diagnosed while it grows", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.path() + "/job.log";
  const std::string out = scratch.path() + "/out";
  Follower follower(log, out);  // the file does not exist yet
  const std::string report = Case("compile-adam-state");
  Append(log, report.substr(0, report.size() / 2));
  Append(log, report.substr(report.size() / 2));
  REQUIRE(follower.Says("E1000"));
  // A diagnosis is printed only once.
  Append(log, "step 5\n" + Case("program-too-large"));
  REQUIRE(follower.Says("0101"));
  Append(log, "step 6\n" + Case("program-too-large"));
  std::this_thread::sleep_for(std::chrono::milliseconds(1500));
  CHECK(follower.Interrupt() == 1);
  const std::string printed = ReadText(out);
  CHECK(Count(printed, "\n0101  run time") == 1);
}

TEST_CASE("a followed pipe ends with its writer", "[cli]") {
  const ProcessResult result = RunWhyoom({"--follow", "--format", "json"}, Case("compile-adam-state"));
  CHECK(result.exit_status == 1);
  CHECK(result.out == RunWhyoom({"--format", "json"}, Case("compile-adam-state")).out);
}

TEST_CASE("--follow on a pipe respects --ignore and --framework", "[cli]") {
  const std::string log = Case("compile-padded-points") + Case("neighbour-cpu");
  const auto followed = [&](std::vector<std::string> options) {
    options.insert(options.begin(), "--follow");
    return RunWhyoom(options, log);
  };
  const ProcessResult all = followed({"--brief"});
  CHECK(all.exit_status == 1);
  CHECK(Count(all.out, "E1000  ") == 1);
  CHECK(Count(all.out, "cpu.oom  ") == 1);
  const ProcessResult selected = followed({"--brief", "--ignore", "E1000"});
  CHECK(selected.exit_status == 1);
  CHECK(Count(selected.out, "E1000  ") == 0);
  CHECK(Count(selected.out, "cpu.oom  ") == 1);
  CHECK(Count(selected.err, "1 failure excluded by --ignore") == 1);
  const ProcessResult ignored = followed({"--brief", "--ignore", "E1000,cpu.oom"});
  CHECK(ignored.exit_status == 0);
  CHECK(Count(ignored.out, "E1000  ") + Count(ignored.out, "cpu.oom  ") == 0);
  const ProcessResult keras = followed({"--framework", "Keras", "--ignore", "cpu.oom"});
  CHECK(Count(keras.out, " · keras") == 1);
}

TEST_CASE("--follow rejects a folder", "[cli]") {
  const ScratchFolder scratch;
  const ProcessResult result = RunWhyoom({"--follow", scratch.path()});
  CHECK(result.exit_status == 2);
  CHECK(result.err.find("cannot follow a folder") != std::string::npos);
}

}  // namespace TEST_FILE
