// The inputs of a run: the paths of the command line, the files below them, and a list (--files-from), which may be
// larger than memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/options.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/limits.h"
#include "input/walk.h"

namespace whyoom {

// Reads the list of --files-from. Skips empty names. Every name is a file or folder, never standard input: "-" is
// returned as "./-".
class PathList {
 public:
  // Reads the list from `source`; `path` names the list in problems. `nulls`: each name ends with a NUL byte, instead
  // of LF or CRLF.
  PathList(std::string path, std::unique_ptr<ByteSource> source, bool nulls)
      : path_(std::move(path)), source_(std::move(source)), nulls_(nulls) {}

  // Returns the next name, or nullopt at the end. At the end, reports invalid entries, once for each kind of fault, and
  // read errors. Throws Error if nothing can be read.
  std::optional<std::string> Next(std::vector<Problem>* problems);

 private:
  struct Fault {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  bool ReadEntry();
  std::string TakeEntry();
  void ReportFaults(std::vector<Problem>* problems);

  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  const bool nulls_;
  std::string block_;  // bytes read from the source; the next entry begins at `at_`
  std::size_t at_ = 0;
  bool ended_ = false;
  std::string entry_;
  std::uint64_t number_ = 0;
  std::map<std::string, Fault> faults_;
};

class Inputs {
 public:
  // Borrows both. `control` also stops waiting for a list that blocks (a pipe). Throws Error if standard input is both
  // the list and an input.
  Inputs(const Options& options, const ReadControl& control);

  // Returns the next input, in an order that depends only on the names, or nullopt at the end or when `control` asks to
  // stop. Throws Error if the list cannot be used.
  std::optional<Artifact> Next();

  // Whether all inputs were returned.
  bool all_listed() const { return ended_ && (!list_ || !control_.stopped()); }

  // Returns the problems with the inputs; adds to `left_out` the number of problems that were not kept. Call once, at
  // the end.
  std::vector<Problem> TakeProblems(std::uint64_t* left_out);

 private:
  bool OpenNextName(std::vector<Problem>* problems);
  void Keep(std::vector<Problem> problems);

  const Options& options_;
  const ReadControl& control_;
  const Stop stop_;
  Walk walk_;
  std::optional<PathList> list_;
  bool ended_ = false;
  std::vector<Problem> problems_;
  std::uint64_t problems_left_out_ = 0;
};

struct FileStamp {
  bool regular = false;  // false: missing, a pipe or standard input; then nothing below is known
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// "-" is always standard input.
FileStamp StampOf(const std::string& path);

}  // namespace whyoom
