// The files that a run writes, so that none of them costs what is read, or another one of them.
#pragma once

#include <set>
#include <string>
#include <utility>

#include "cli/options.h"

namespace whyoom {

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
