// Extracts the message at a line of a log, as the engine sees it. `rules new` makes a rule from it.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/byte_source.h"
#include "read/engine.h"

namespace whyoom {

struct LineRange {
  std::uint64_t first = 1;  // 1-based
  std::uint64_t last = 0;   // 0 if only one line is given and the end of the message must be found
};

struct MessageAt {
  std::vector<std::string> lines;  // without prefixes and collector records; none is blank
  std::uint64_t first = 0;         // number of the line where the message begins
  std::uint64_t last_read = 0;     // last line number read; less than requested if the log is shorter
};

// Reads the source to a little after the range.
//
// If only one line is given, the message continues in lines of the same stream that are indented or continue a
// sentence. If the line is part of a traceback, the message is the exception that ends it; in a record of many lines,
// it is the first candidate error. If a range is given, the message is all its lines of the first line's stream.
// Limits: 12 lines, or 40 of a range; 4 KiB of each.
MessageAt ReadMessageAt(const Engine& engine, ByteSource& source, const LineRange& range);

}  // namespace whyoom
