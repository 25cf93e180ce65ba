// The message that stands at a line of a log, as the engine sees it: what a new rule is made from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "input/byte_source.h"
#include "read/engine.h"

namespace whyoom {

struct LineRange {
  std::uint64_t first = 1;  // 1-based
  std::uint64_t last = 0;   // 0: one line is named, and the message's end is to be found
};

struct MessageAt {
  std::vector<std::string> lines;  // without the prefixes of loggers and the records of collectors; none is blank
  std::uint64_t first = 0;         // of the log's lines
  std::uint64_t last_read = 0;     // the last line of the log that was looked at; less than asked for: there is no more
};

// Reads the source up to a little behind the range. Of one line that is named the message goes on in the lines of the
// same reporter that are indented, or that go on in the middle of a sentence; a traceback or its head is left for the
// exception that ends it, and of a record with many lines the one that speaks of a failure is taken. Of a range all
// lines of the first one's reporter are the message. Bounded: 40 lines, 4 KiB of each.
MessageAt ReadMessageAt(const Engine& engine, ByteSource& source, const LineRange& range);

}  // namespace whyoom
