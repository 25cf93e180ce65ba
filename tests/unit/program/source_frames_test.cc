// The tables that map a stack frame's number to a source line.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "program/hlo_text.h"

using namespace whyoom;

namespace TEST_FILE {

const std::vector<std::string> kTables = {
    "FileNames",
    "1 \"/home/ada/t.py\"",
    "2 \"/lib/l.py\"",
    "",
    "FunctionNames",
    "1 \"main\"",
    "2 \"call\"",
    "",
    "FileLocations",
    "1 {file_name_id=1 function_name_id=1 line=41 end_line=42 column=4 end_column=4}",
    "2 {file_name_id=2 function_name_id=2 line=251 end_line=251 column=4 end_column=4}",
    "",
    "StackFrames",
    "1 {file_location_id=1 parent_frame_id=1}",
    "2 {file_location_id=2 parent_frame_id=2}"};

// One line per frame, from 1 on: "/home/ada/t.py:41 < 0". "?" marks damaged parts.
std::string Read(const std::vector<std::string>& lines) {
  TextArena arena;
  SourceTables tables(arena);
  for (const std::string& line : lines) {
    INFO(line);
    CHECK(tables.Read(line));
  }
  std::string shown;
  const std::vector<SourceFrame> frames = tables.Frames();
  for (std::size_t i = 1; i < frames.size(); ++i)
    shown += fmt::format("{}:{} < {}\n", frames[i].file, frames[i].line, frames[i].parent);
  return shown + (tables.whole() ? "" : "?");
}

std::vector<std::string> Replaced(std::size_t at, const std::string& line) {
  std::vector<std::string> lines = kTables;
  lines[at] = line;
  return lines;
}

TEST_CASE("frames have a file, line and caller", "[program]") {
  CHECK(Read(kTables) == "/home/ada/t.py:41 < 0\n/lib/l.py:251 < 1\n");
  CHECK(Read({}).empty());
}

TEST_CASE("a row that is damaged or refers to a missing row is empty", "[program]") {
  CHECK(Read(Replaced(10, "2 {file_name_id=9 function_name_id=2 line=251 end_line=1 column=1 end_column=1}"))
            .find(":251 < 1\n") != std::string::npos);
  const std::string shown = Read(Replaced(14, "2 {file_location_id=9 parent_frame_id=2}"));
  CHECK(shown.starts_with("/home/ada/t.py:41 < 0\n"));
  CHECK(shown.find("l.py") == std::string::npos);
  // A frame that would call itself has no parent.
  CHECK(Read(Replaced(13, "1 {file_location_id=1 parent_frame_id=7}")).starts_with("/home/ada/t.py:41 < 0\n"));
}

TEST_CASE("damaged rows are reported", "[program]") {
  for (const char* row : {"2 /lib/l.py\"", "2\"/lib/l.py\"", "99999999999 \"/lib/l.py\"", "2"}) {
    INFO(row);
    CHECK(Read(Replaced(2, row)).ends_with("?"));
  }
}

TEST_CASE("lines outside of the tables are not accepted", "[program]") {
  TextArena arena;
  SourceTables tables(arena);
  CHECK(tables.Read(""));
  CHECK_FALSE(tables.Read("%main {"));
  CHECK_FALSE(tables.Read("ENTRY %main {"));
  CHECK(tables.Read("FileNames"));
}

}  // namespace TEST_FILE
