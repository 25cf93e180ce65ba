// What a run is to read: the paths of the command line, what lies below them, and what a list names (--files-from).
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "cli/options.h"
#include "cli/path_list.h"
#include "input/artifact.h"
#include "input/read_control.h"
#include "input/walk.h"

namespace whyoom {

class Inputs {
 public:
  // Borrows both. Where the list is one that may let wait, it ends soon after `control` says to stop. Throws Error
  // where standard input would be both the list and an input.
  Inputs(const Options& options, const ReadControl& control);

  // The next one, in an order that depends on the names only; nothing at the end, or where `control` says to stop.
  // Throws Error where the list cannot be used.
  std::optional<Artifact> Next();

  // Whether all there are were given.
  bool all_listed() const { return ended_ && (!list_ || !control_.stopped()); }

  // What stood in the way, of this shard's share. Call once, at the end.
  std::vector<Problem> TakeProblems(std::uint64_t* left_out);

 private:
  bool OpenNextName(std::vector<Problem>* problems);
  void Keep(std::vector<Problem> problems);

  const Options& options_;
  const ReadControl& control_;
  Walk walk_;
  std::optional<PathList> list_;
  bool ended_ = false;
  std::vector<Problem> problems_;
  std::uint64_t problems_left_out_ = 0;
};

}  // namespace whyoom
