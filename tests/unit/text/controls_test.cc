// Invisible characters are removed from a line; a text is split at its line breaks.
#include <string>
#include <vector>

#include "catch.h"
#include "text/cleaning.h"

using namespace whyoom;

namespace TEST_FILE {

// Strips the text and checks the returned flag.
std::string Strip(const std::string& text) {
  MappedText mapped = MapRaw(text);
  const bool changed = StripControls(&mapped);
  CHECK(changed == (mapped.text != text));
  return mapped.text;
}

// The lines with their raw offsets: "one@0|two@4".
std::string Split(const std::string& text) {
  const std::vector<MappedText> lines = SplitLines(MapRaw(text));
  std::string shown;
  for (const MappedText& line : lines) {
    if (&line != &lines.front()) shown += '|';
    shown += line.text;
    if (!line.segments.empty()) shown += "@" + std::to_string(line.segments.front().raw_at);
  }
  return shown;
}

TEST_CASE("terminal escape sequences are removed", "[text]") {
  CHECK(Strip("a\x1b[31mred\x1b[0m b") == "ared b");
  CHECK(Strip("\x1b[1;31;48;5;9mred") == "red");
  CHECK(Strip("\x1b[2Kline") == "line");
  CHECK(Strip("\x1b[?25lline") == "line");
  CHECK(Strip("\x1b(Bline") == "line");
  CHECK(Strip("\x1b=line") == "line");
  CHECK(Strip("\xC2\x9B"
              "31mred") == "red");
  // An incomplete sequence removes only its own bytes.
  CHECK(Strip("red\x1b") == "red");
  CHECK(Strip("red\x1b[") == "red");
  CHECK(Strip("red\x1b[31") == "red");
  CHECK(Strip("a\x1b[31\x07"
              "b") == "ab");
  CHECK(Strip("a\x1b\x7F"
              "b") == "ab");
}

TEST_CASE("a terminated command string is removed with its content, an unterminated one only with its introducer",
          "[text]") {
  CHECK(Strip("a\x1b]8;;https://x\x07link\x1b]8;;\x07 b") == "alink b");
  CHECK(Strip("a\x1b]0;title\x1b\\b") == "ab");
  CHECK(Strip("a\x1bPq\x1b\\b\x1b_c\x1b\\d\x1b^e\x1b\\f\x1bXg\x1b\\h") == "abdfh");
  CHECK(Strip("a\x1b]0;title") == "a0;title");
  CHECK(Strip("a\x1b]0;x\x07"
              "b\x1b]0;title") == "ab0;title");
}

TEST_CASE("a colour code without escape character is removed only if it is unambiguous", "[text]") {
  CHECK(Strip("[36mcyan[0m") == "cyan");
  CHECK(Strip("[1;36mcyan") == "cyan");
  CHECK(Strip("[255mx") == "x");
  for (const char* text : {"[256mx", "[m]", "[mx", "[36 m", "[2m 30s]", "[2m30s]", "[30m]", "[36",
                           "[12345678901234567890mx", "f32[36,4]"}) {
    INFO(text);
    CHECK(Strip(text) == text);
  }
  CHECK(Strip("[2m x") == " x");
}

TEST_CASE("a colour code with a spelt-out escape character is removed", "[text]") {
  for (const char* spelled :
       {"^[[36mx", "#033[36mx", "\\033[36mx", "\\x1b[36mx", "\\x1B[36mx", "\\u001b[36mx", "\\u001B[36mx", "\\e[36mx"}) {
    INFO(spelled);
    CHECK(Strip(spelled) == "x");
  }
  for (const char* text : {"^[x", "\\033x", "\\x1b[x", "#03[36,x", "\\e[", "a^b", "# x", "\\n"}) {
    INFO(text);
    CHECK(Strip(text) == text);
  }
}

TEST_CASE("control characters are removed, tabs kept, no-break spaces become blanks", "[text]") {
  CHECK(Strip("a\tb") == "a\tb");
  CHECK(Strip(std::string("a\0b\x01"
                          "c\x1F"
                          "d\x7F"
                          "e",
                          9)) == "abcde");
  CHECK(Strip("a\x08"
              "b") == "ab");
  CHECK(Strip("\xEF\xBB\xBFline") == "line");  // byte order mark
  CHECK(Strip("a\xE2\x80\x8B"
              "b") == "ab");  // zero-width space
  CHECK(Strip("a\xC2\xA0"
              "b") == "a b");  // no-break space
  CHECK(Strip("a\xC2\x80"
              "b\xC2\x9F"
              "c") == "abc");  // C1 controls
  for (const char* text : {"caf\xC3\xA9", "\xC2\xA1", "\xE2\x80\xA2 x", "\xEF\xBC\x81", "~ }", ""}) {
    INFO(text);
    CHECK(Strip(text) == text);
  }
}

TEST_CASE("a stripped text maps back to raw offsets", "[text]") {
  MappedText text = MapRaw("a\x1b[31mred\x1b[0m b");
  REQUIRE(StripControls(&text));
  REQUIRE(text.text == "ared b");
  Line line;
  line.text = text.text;
  line.segments = text.segments;
  CHECK(line.RawOffset(0) == 0);
  CHECK(line.RawOffset(1) == 6);
  CHECK(line.RawOffset(3) == 8);
  CHECK(line.RawOffset(4) == 13);
}

TEST_CASE("lines end at line feeds, carriage returns, or both", "[text]") {
  CHECK(Split("one") == "one@0");
  CHECK(Split("one\ntwo") == "one@0|two@4");
  CHECK(Split("one\r\ntwo") == "one@0|two@5");
  CHECK(Split("one\r\r\ntwo") == "one@0|two@6");
  CHECK(Split("10%\r20%\r30%") == "10%@0|20%@4|30%@8");
  CHECK(Split("one\n") == "one@0");
  CHECK(Split("one\n\ntwo") == "one@0||two@5");
  CHECK(Split("\rone") == "one@1");
  CHECK(Split("\none") == "|one@1");
  CHECK(Split("one\r") == "one@0");
  CHECK(Split("").empty());
  CHECK(SplitLines(MapRaw("")).size() == 1);
  // The rest of a text with very many breaks stays in the last part.
  std::string many;
  for (std::size_t i = 0; i < kMostParts + 10; ++i) many += "a\r";
  const std::vector<MappedText> parts = SplitLines(MapRaw(many));
  CHECK(parts.size() == kMostParts);
  CHECK(parts.back().text.size() == 2 * 11);
}

}  // namespace TEST_FILE
