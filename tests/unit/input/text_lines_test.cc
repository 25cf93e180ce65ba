// TextLines, which reads a file line by line.
#include <string>

#include "catch.h"
#include "input/byte_source.h"

using namespace whyoom;

namespace TEST_FILE {

// Returns the lines in brackets.
std::string Lines(const std::string& text, std::size_t chunk = std::string::npos,
                  std::size_t longest = std::size_t{1} << 20) {
  const std::unique_ptr<ByteSource> source = OpenMemory(text, chunk);
  TextLines lines(*source, longest);
  std::string shown;
  std::string_view line;
  while (lines.Next(&line)) shown += "<" + std::string(line) + ">";
  return shown;
}

TEST_CASE("lines are returned without their end, whatever the chunking", "[input]") {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{2}, std::size_t{5}, std::string::npos}) {
    INFO(chunk);
    CHECK(Lines("one\ntwo\n\nthree", chunk) == "<one><two><><three>");
    CHECK(Lines("one\r\ntwo\rx\n", chunk) == "<one><two\rx>");
    CHECK(Lines("", chunk).empty());
    CHECK(Lines("\n", chunk) == "<>");
  }
}

TEST_CASE("a line that is too long is cut", "[input]") {
  for (const std::size_t chunk : {std::size_t{1}, std::size_t{3}, std::string::npos}) {
    INFO(chunk);
    CHECK(Lines("abcd\nefghij\nkl\n", chunk, 4) == "<abcd><efgh><kl>");
    CHECK(Lines("abcdefghijklmnop", chunk, 4) == "<abcd>");
  }
  // Longer than one read.
  const std::string large(std::size_t{300} << 10, 'x');
  CHECK((Lines(large + "\ny\n") == "<" + large + "><y>"));
  CHECK((Lines(large + large + large + large + "\ny\n") ==
         "<" + (large + large + large + large).substr(0, 1 << 20) + "><y>"));
}

}  // namespace TEST_FILE
