// Runs the program under test as a user does.
#pragma once

#include <chrono>
#include <string>
#include <vector>

struct ProcessResult {
  int exit_status = -1;  // 128 + signal if one ended it
  std::string out;
  std::string err;
};

// Runs `arguments` (the program first) in `folder` with `input` on standard input. The environment is the caller's
// without variables that affect colors, plus `environment` ("NAME=value").
ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& input = "",
                         const std::string& folder = ".", const std::vector<std::string>& environment = {});

// Writes the pieces to a pipe, each only after the previous one was read, so that the program's reads return exactly
// these. Pieces must not be empty and must fit a pipe (64 KiB). The program must print nothing before it has read all.
ProcessResult RunFedInPieces(const std::vector<std::string>& arguments, const std::vector<std::string>& pieces);

// Sends `signal` when the program has read `input`, which must fit a pipe, and `after` has passed. Standard input stays
// open.
ProcessResult RunAndSignal(const std::vector<std::string>& arguments, const std::string& input,
                           const std::string& folder, int signal, std::chrono::milliseconds after);

// RunProcess for whyoom.
ProcessResult RunWhyoom(std::vector<std::string> arguments, const std::string& input = "",
                        const std::string& folder = ".", const std::vector<std::string>& environment = {});

// The text of a file; fails the test if it cannot be read.
std::string ReadText(const std::string& path);

// A temporary folder that the destructor removes.
class ScratchFolder {
 public:
  ScratchFolder();
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::string& path() const { return path_; }
  std::string Write(const std::string& name, const std::string& text) const;  // returns the path

 private:
  std::string path_;
};
