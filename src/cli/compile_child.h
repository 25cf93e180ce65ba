// The child processes of `whyoom try`: its Python part, and the user's own command.
//
// A module of a dump may come from a stranger. The Python that compiles it has no network, no environment variables
// except those that Python needs, and a private folder for its files.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace whyoom {

// Call first in main. If this process was started as a child of these, runs its command instead of whyoom, and does not
// return.
void BecomeCompileIfAsked(int argc, char** argv);

// A folder that only this user can read; removed with the object.
class PrivateFolder {
 public:
  PrivateFolder();  // throws Error if it cannot be created
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// A command, looked up in PATH, that is killed when whyoom ends.
struct ChildProgram {
  std::vector<std::string> arguments;    // see Confined and Free
  std::vector<std::string> environment;  // "NAME=value"
};

// Confined as above, with `folder` for its files.
ChildProgram Confined(std::vector<std::string> command, const std::filesystem::path& folder);

ChildProgram Free(std::vector<std::string> command, std::vector<std::string> environment);

// The last line of a child's output, preferably one that names an error.
std::string LastLine(const std::filesystem::path& file);

// The running child. The destructor kills it and its own children.
class CompileChild {
 public:
  // Starts the program. Its output goes to the file `output`. Throws Error if it cannot be started.
  CompileChild(const ChildProgram& program, const std::filesystem::path& output);
  ~CompileChild();
  CompileChild(const CompileChild&) = delete;
  CompileChild& operator=(const CompileChild&) = delete;

  bool HasEnded();
  bool has_failed() const { return status_ != 0; }  // once it has ended
  std::string HowItEnded() const;                   // "signal 9", "exit status 1"

 private:
  const std::filesystem::path output_;
  pid_t pid_ = -1;
  int status_ = 0;
};

}  // namespace whyoom
