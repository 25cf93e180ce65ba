// Writes output files.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cli/options.h"

namespace whyoom {

// Writes all of `text`, also if write() accepts only parts of it. Returns 0 or an errno.
int WriteAll(int descriptor, std::string_view text);

// Writes `text` to the file, completely or not at all. A link, a device, and a file with another name or owner are
// written in place, and may contain a part of the text after an error; the streams /dev/stdout and /dev/stderr are not
// truncated. Throws Error if the file cannot be written.
void WriteFile(std::string_view text, const std::string& path);

class OutputFiles {
 public:
  // Throws Error if an output cannot be written, so that a job or a long batch does not start in vain; if two outputs
  // are the same file; or if an output is a file that the options read or keep (inputs, lists, rule files,
  // the journal of --resume).
  explicit OutputFiles(const Options& options);

  // Throws Error if `path`, which is about to be read, is an output. Does nothing if no output file exists yet.
  void ThrowIfOutput(const std::string& path) const;

 private:
  std::set<std::pair<unsigned long long, unsigned long long>> files_;  // device and inode of outputs that exist
};

}  // namespace whyoom
