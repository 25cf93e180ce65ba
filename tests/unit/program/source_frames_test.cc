// The tables that map a stack frame's number to a source line.
#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "program/hlo.h"

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
  const std::string text =
      fmt::format("HloModule m\n\n{}\n\nENTRY %e {{\n  ROOT %p = f32[] parameter(0)\n}}\n", fmt::join(lines, "\n"));
  const HloModule module = ReadHlo(*OpenMemory(text));
  std::string shown;
  for (std::size_t i = 1; i < module.frames.size(); ++i)
    shown += fmt::format("{}:{} < {}\n", module.frames[i].file, module.frames[i].line, module.frames[i].parent);
  return shown + (module.whole ? "" : "?");
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

}  // namespace TEST_FILE
