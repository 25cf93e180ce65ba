// The names of inputs from a list (--files-from), one after another: the list may be longer than memory.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "input/artifact.h"
#include "input/byte_source.h"

namespace whyoom {

// Lines end with LF or CRLF and may hold file: URIs, as may the JSON strings of kJsonl; kNull takes names as they are.
enum class PathListForm { kLines, kNull, kJsonl };

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

}  // namespace whyoom
