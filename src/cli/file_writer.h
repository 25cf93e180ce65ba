// Files that a run writes.
#pragma once

#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "cli/options.h"

namespace whyoom {

// Writes all of `text`, in whatever pieces it is taken. 0, or the errno of what went wrong.
int WriteAll(int descriptor, std::string_view text);

// Where a file of this name comes to lie: links are followed, also those to nothing, which is made when it is written.
std::string FinalName(const std::string& path);

// Makes `text` the content of the file: all of it, or, where there is no room, an end of the process or another fault,
// what was there before; of a file that is given to others under several names, that lies where no other may be made,
// or that a link to nothing is followed to, not even that. Links are followed where the system lets this user. The text
// is collected in ".NAME.whyoom-0123abcd" beside it. A file that a standard stream goes to gets the text by way of
// that. Throws Error where it cannot be written.
void WriteFile(std::string_view text, const std::string& path);

// Writes behind what the file holds, which is made where it is not there. Throws Error.
void AppendToFile(std::string_view text, const std::string& path);

class OutputFiles {
 public:
  // Throws Error where two outputs are one file, or an output is a file that the options name as something to read or
  // keep (inputs, lists, rule files and folders of these, the journal of --resume).
  explicit OutputFiles(const Options& options);

  // Throws Error where `path`, which is about to be read, is one of the outputs. Costs nothing where no output exists
  // yet.
  void ThrowIfOutput(const std::string& path) const;

 private:
  void ThrowIfRule(const std::string& path) const;

  std::set<std::pair<unsigned long long, unsigned long long>> files_;  // device and number of those that exist
};

}  // namespace whyoom
