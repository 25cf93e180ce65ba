// The folder that XLA dumps a job's compiles into, and the flag that makes it do so.
#pragma once

#include <ctime>
#include <optional>
#include <string>
#include <vector>

#include "cli/file_writer.h"
#include "input/artifact.h"
#include "program/xla_dump.h"

namespace whyoom {

// Why there may be none though it was asked for.
inline constexpr const char* kWhyNoDump =
    "XLA_FLAGS=--xla_dump_to is read once, when the process begins to use XLA, by the process that compiles; a compile "
    "that was cached writes nothing";

// The value of --xla_dump_to in the text of XLA_FLAGS (the last one counts, as for XLA); nothing where it is not there.
std::optional<std::string> DumpFlag(const std::string& flags);

// Takes note of all files of dumps below a folder; what stands in the way is a problem. Throws Error where a report is
// to be written over one of the files there.
void AddDumpFolder(const std::string& path, const OutputFiles& outputs, XlaDump* dump, std::vector<Problem>* problems);

// The one that the user's XLA_FLAGS ask for, or a temporary one that is removed with the object.
class DumpFolder {
 public:
  // `flags` is what XLA_FLAGS holds, null where it is not set. With `add` a temporary folder is made where the user has
  // none; where none can be made there is no dump.
  DumpFolder(const char* flags, bool add);
  ~DumpFolder();
  DumpFolder(const DumpFolder&) = delete;
  DumpFolder& operator=(const DumpFolder&) = delete;

  // What XLA_FLAGS must be for the job; nothing: as it is.
  const std::optional<std::string>& flags() const { return flags_; }

  // Empty where there is no dump to read.
  const std::string& path() const { return path_; }

  // Whether the folder is ours.
  bool temporary() const { return temporary_; }

  void Keep() { kept_ = true; }

  // What the job left there; in a folder of the user's only what is no older than the job. Throws Error where a report
  // is to be written over that.
  XlaDump Read(const OutputFiles& outputs) const;

 private:
  std::optional<std::string> flags_;
  std::string path_;
  bool temporary_ = false;
  bool kept_ = false;
  std::time_t started_;
};

}  // namespace whyoom
