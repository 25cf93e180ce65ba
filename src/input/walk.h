// Turns the paths of a command line into artifacts, in an order that does not depend on the file system.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "input/artifact.h"

namespace whyoom {

// Each file at or below each path: paths in the order given, the entries of a folder sorted by name (bytes). "-" is
// standard input. Symbolic links to files are followed, links to folders only where named on the command line (a link
// inside a tree could loop). Anything that is no readable file or folder is a problem, never skipped in silence, and so
// is a folder of the command line without a file: a job that wrote its logs elsewhere has not run well for that;
// devices, sockets and FIFOs found *inside* a folder count as such, a FIFO or device named by the user is read.
class Walk {
 public:
  explicit Walk(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // The next file; nothing at the end. What stands in its way is appended to `problems`.
  std::optional<Artifact> Next(std::vector<Problem>* problems);

 private:
  enum class Kind { kFile, kFolder, kOther };
  struct Folder {
    std::filesystem::path path;
    std::vector<std::pair<std::string, Kind>> entries;  // sorted
    std::size_t next = 0;
  };

  std::optional<Artifact> Named(const std::string& name, std::vector<Problem>* problems);
  std::optional<Artifact> Other(const std::filesystem::path& path, std::vector<Problem>* problems) const;
  void Open(const std::filesystem::path& folder, std::vector<Problem>* problems);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::filesystem::path root_;   // of the tree at hand, as it was named
  bool is_empty_ = false;        // nothing but folders was met in it
  std::vector<Folder> folders_;  // from there to where the walk is
};

}  // namespace whyoom
