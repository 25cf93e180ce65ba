// What a run is to read: the paths of the command line, what lies below them, and what a list names (--files-from),
// which may be longer than memory.
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

// Empty names are passed over. A name is of a file or folder, never standard input: "-" is given as "./-".
class PathList {
 public:
  // Reads what `source` gives; `path` is what problems call the list.
  PathList(std::string path, std::unique_ptr<ByteSource> source, PathListForm form)
      : path_(std::move(path)), source_(std::move(source)), form_(form) {}

  // The next name; nothing at the end. What in the list is no name is told then, once for each kind of fault, and so is
  // a list that could not be read to its end. Throws Error where nothing of it can be read.
  std::optional<std::string> Next(std::vector<Problem>* problems);

 private:
  struct Fault {
    std::uint64_t first = 0;
    std::uint64_t count = 0;
  };
  bool ReadEntry();
  std::string TakeEntry();
  const char* NameOf(const std::string& entry, std::string* name) const;
  void ReportFaults(std::vector<Problem>* problems);

  const std::string path_;
  const std::unique_ptr<ByteSource> source_;
  const PathListForm form_;
  std::string block_;  // what was read of the source, and where the next entry begins in it
  std::size_t at_ = 0;
  bool ended_ = false;
  std::string entry_;
  std::uint64_t number_ = 0;
  std::map<std::string, Fault> faults_;
};

// The path of a file: URI as find, Spark and Hadoop write them (file:///a%20b, file:/a, file://localhost/a); any other
// text as it is. False, and nothing changed, where it is a file: URI of another machine or has a bad escape.
bool DecodeFileUri(std::string_view text, std::string* path);

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

struct FileStamp {
  bool regular = false;  // false: no file, a pipe, standard input; nothing below is known then
  std::uint64_t size = 0;
  std::int64_t modified = 0;  // nanoseconds since 1970
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
};

// "-" is standard input, never a file.
FileStamp StampOf(const std::string& path);

}  // namespace whyoom
