// The folder for the XLA dump of a job, and the flag that makes XLA write it.
#pragma once

#include <ctime>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/output.h"
#include "input/artifact.h"
#include "program/xla_dump.h"

namespace whyoom {

// Returns the value of --xla_dump_to in the text of XLA_FLAGS (the last one, like XLA), or nullopt.
std::optional<std::string> DumpFlag(const std::string& flags);

// Registers all dump files below the folder that are not older than `since`. Throws Error if an output would overwrite
// one of them or, without `since`, any file below the folder.
void AddDumpFolder(const std::string& path, const OutputFiles& outputs, XlaDump* dump, std::vector<Problem>* problems,
                   std::time_t since = 0);

// The same for a new dump, which is empty if there is no such folder.
XlaDump ReadDump(const std::string& path, std::time_t since, const OutputFiles& outputs);

// A folder that only this user can read; removed with the object.
class TemporaryFolder {
 public:
  // Creates "NAME-XXXXXX" in TMPDIR, or in /tmp if XLA_FLAGS or PYTHONPATH cannot name that. Throws Error if it cannot
  // be created.
  explicit TemporaryFolder(const std::string& name);
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// The dump folder of the user's XLA_FLAGS, or a temporary one that the destructor removes.
class DumpFolder {
 public:
  // `flags`: value of XLA_FLAGS, or null if unset. If the user has no dump folder and `add` is set, creates a temporary
  // one. There is no dump if that fails, or if XLA_FLAGS names a file of flags without a dump folder.
  DumpFolder(const char* flags, bool add);

  // XLA_FLAGS for the job; nullopt: unchanged.
  const std::optional<std::string>& flags() const { return flags_; }

  // Empty if there is no dump to read.
  const std::string& path() const { return path_; }

  // Whether whyoom created the folder.
  bool temporary() const { return temporary_.has_value(); }

  // Returns the dump that the job wrote; see ReadDump. In a folder of the user, skips files older than the job.
  XlaDump Read(const OutputFiles& outputs) const { return ReadDump(path_, since(), outputs); }

  // Files of the job are not older; 0 if all are its. Allows for a file server whose clock differs.
  std::time_t since() const { return temporary() ? 0 : started_ - kClockSlack; }

 private:
  static constexpr std::time_t kClockSlack = 5;  // seconds

  std::optional<std::string> flags_;
  std::string path_;
  std::optional<TemporaryFolder> temporary_;
  const std::time_t started_ = std::time(nullptr);
};

}  // namespace whyoom
