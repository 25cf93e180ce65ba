// Runs the built program as a user does, for tests.
#pragma once

#include <chrono>
#include <string>
#include <vector>

struct ProcessResult {
  int exit_status = -1;  // 128 + the signal where one ended it
  std::string out;
  std::string err;
};

// Runs `arguments` (the program first) in `folder` with `input` on standard input. The environment is the caller's,
// less what colours output, plus `environment` ("NAME=value").
ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& input = "",
                         const std::string& folder = ".", const std::vector<std::string>& environment = {});

// Feeds the pieces through a pipe, each only after the one before it was read, so that the program gets just these.
// They are not empty and fit a pipe (64 KiB); the program prints nothing before it has read all.
ProcessResult RunFedInPieces(const std::vector<std::string>& arguments, const std::vector<std::string>& pieces);

// Sends `signal` when the program has read `input`, which fits a pipe, and `after` has passed; standard input stays
// open.
ProcessResult RunAndSignal(const std::vector<std::string>& arguments, const std::string& input,
                           const std::string& folder, int signal, std::chrono::milliseconds after);

// RunProcess for the whyoom under test.
ProcessResult RunWhyoom(std::vector<std::string> arguments, const std::string& input = "",
                        const std::string& folder = ".", const std::vector<std::string>& environment = {});

// The text of a file; fails the test where it cannot be read.
std::string ReadText(const std::string& path);

// A folder that is removed with the object.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const;  // gives the path

 private:
  std::string path_;
};
