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

// Resolves symbolic links, including dangling ones, and returns the path of the file that would be written.
std::string ResolvedPath(const std::string& path);

// Replaces the content of the file with `text`. If writing fails (full disk, crash), the old content usually stays: the
// text is first written to ".NAME.whyoom-0123abcd" in the same folder, which then replaces the file. The file is
// written in place, without this protection, if it has several hard links, if its folder is not writable, or if `path`
// is a dangling link. Follows links that the system lets this user follow. If a standard stream is redirected to this
// file, writes to the stream. Throws Error if the file cannot be written.
void WriteFile(std::string_view text, const std::string& path);

class OutputFiles {
 public:
  // Throws Error if an output cannot be written, so that a job or a long batch does not start in vain; if two outputs
  // are the same file; or if an output is a file that the options read or keep (inputs, lists, rule files and folders,
  // the journal of --resume).
  explicit OutputFiles(const Options& options);

  // Throws Error if `path`, which is about to be read, is an output. Does nothing if no output file exists yet.
  void ThrowIfOutput(const std::string& path) const;

 private:
  void ThrowIfRule(const std::string& path) const;

  std::set<std::pair<unsigned long long, unsigned long long>> files_;  // device and inode of outputs that exist
};

}  // namespace whyoom
