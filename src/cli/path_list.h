// The names of inputs from a list (--files-from), one after another: the list may be longer than memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "input/artifact.h"
#include "input/byte_source.h"

namespace whyoom {

// Lines end with LF or CRLF and may hold file: URIs, as may the JSON strings of kJsonl; kNull takes names as they are.
enum class PathListForm { kLines, kNull, kJsonl };

// Calls `visit` for each name in the list that `source` gives until it returns false; empty ones are passed over. A
// name is of a file or folder, never standard input: "-" is given as "./-". What in the list is no name is told to
// `problem`, once for each kind of fault; `path` is what it calls the list. Throws Error where nothing of the list can
// be read.
void ReadPathList(const std::string& path, ByteSource& source, PathListForm form,
                  const std::function<bool(const std::string&)>& visit,
                  const std::function<void(const Problem&)>& problem);

// The path of a file: URI as find, Spark and Hadoop write them (file:///a%20b, file:/a, file://localhost/a); any other
// text as it is. False, and nothing changed, where it is a file: URI of another machine or has a bad escape.
bool DecodeFileUri(std::string_view text, std::string* path);

}  // namespace whyoom
