// The child processes of `whyoom try`. Its Python part (python/whyoom/driver.py) starts them by running whyoom under
// another name.
//
// A module of a dump may come from a stranger. The Python that compiles it has no network, no environment variables
// except those that Python needs, and a private folder for its files.
#pragma once

#include <sys/types.h>

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

// Starts a command, looked up in PATH, which ends when whyoom ends. Throws Error if it cannot be started.
pid_t StartFree(std::vector<std::string> command);

}  // namespace whyoom
