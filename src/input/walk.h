// Lists the artifacts at the paths of a command line, in an order that does not depend on the file system.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "input/artifact.h"

namespace whyoom {

bool IsEndless(const std::filesystem::path& device);

// Iterates over the files at or below each path: paths in the given order, folder entries sorted by name (bytes). "-"
// is standard input. Follows symbolic links to files. Follows links to folders only if they are on the command line,
// because a link inside a tree could loop. Reads a FIFO or device on the command line. Everything else that is not a
// readable file or folder is a problem, including devices, sockets and FIFOs inside a folder. A folder on the command
// line without any file is a problem, too: the job may have written its logs elsewhere.
class Walk {
 public:
  explicit Walk(std::vector<std::string> paths) : paths_(std::move(paths)) {}

  // Returns the next file, or nullopt at the end. Appends to `problems` what could not be read.
  std::optional<Artifact> Next(std::vector<Problem>* problems);

 private:
  using Entry = std::filesystem::directory_entry;

  bool IsFile(const Entry& entry, std::vector<Problem>* problems);
  void Open(const std::filesystem::path& folder, std::vector<Problem>* problems);

  std::vector<std::string> paths_;
  std::size_t next_path_ = 0;
  std::filesystem::path root_;  // of the current tree, as on the command line
  bool is_empty_ = false;       // only folders were found in it so far
  std::vector<Entry> entries_;  // of the current tree, the next one last
};

}  // namespace whyoom
