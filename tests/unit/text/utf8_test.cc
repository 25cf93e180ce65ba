#include "text/utf8.h"

#include <random>

#include "catch.h"
#include "clean_text.h"
#include "text/line.h"

namespace whyoom {
namespace TEST_FILE {

const std::string kBad = "\xEF\xBF\xBD";

TEST_CASE("valid UTF-8 is unchanged", "[text]") {
  for (const std::string text :
       {"", "plain", "caf\xC3\xA9", "\xE2\x82\xAC", "\xF0\x9F\x92\xA5", "\xF4\x8F\xBF\xBF", "\xEF\xBF\xBF"}) {
    CHECK(ValidUtf8(text) == text);
  }
  CHECK(ValidUtf8(std::string_view("a\0b", 3)) == std::string("a\0b", 3));
}

TEST_CASE("each invalid sequence becomes one replacement character", "[text]") {
  CHECK(ValidUtf8("\x80") == kBad);
  CHECK(ValidUtf8("a\xFF\xFE"
                  "b") == "a" + kBad + kBad + "b");
  CHECK(ValidUtf8("\xC3(") == kBad + "(");
  CHECK(ValidUtf8("\xC0\xAF") == kBad + kBad);                        // overlong
  CHECK(ValidUtf8("\xE0\x80\x80") == kBad + kBad + kBad);             // overlong
  CHECK(ValidUtf8("\xED\xA0\x80") == kBad + kBad + kBad);             // surrogate
  CHECK(ValidUtf8("\xF4\x90\x80\x80") == kBad + kBad + kBad + kBad);  // above U+10FFFF
  CHECK(ValidUtf8("\xE2\x82") == kBad);                               // truncated
  CHECK(ValidUtf8("\xF0\x9F\x92x") == kBad + "x");
}

TEST_CASE("any bytes become valid UTF-8", "[text]") {
  std::mt19937 random(3);
  for (int round = 0; round < 2000; ++round) {
    std::string bytes;
    for (std::size_t i = 0, size = random() % 12; i < size; ++i) bytes += static_cast<char>(random());
    const std::string text = ValidUtf8(bytes);
    CHECK(ValidUtf8(text) == text);
    for (std::size_t at = 0; at < text.size();) {
      const CodePoint point = DecodeUtf8(text, at);
      REQUIRE(point.valid);
      std::string again;
      AppendUtf8(point.code, &again);
      REQUIRE(again == text.substr(at, point.length));
      at += point.length;
    }
  }
}

TEST_CASE("invalid code points are replaced", "[text]") {
  std::string text;
  AppendUtf8(0xD800, &text);
  AppendUtf8(0x110000, &text);
  CHECK(text == kBad + kBad);
}

TEST_CASE("printable text contains nothing that controls a terminal or is invisible", "[text]") {
  CHECK(Printable("a\xC2\xAD\xE2\x81\xA0\xF3\xA0\x81\x81z") == "a\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBDz");
  for (const char32_t hidden : {0x115F, 0x180E, 0x2069, 0x3164, 0xFFA0, 0xE01EF}) {
    std::string text;
    AppendUtf8(hidden, &text);
    CHECK(Printable(text) == kBad);
  }
  CHECK(Printable("\xE2\x9D\xA4\xEF\xB8\x8F") == "\xE2\x9D\xA4\xEF\xB8\x8F");  // a heart, in colour
  CHECK(Printable("plain\ttext caf\xC3\xA9") == "plain text caf\xC3\xA9");
  CHECK(Printable("\x1b[31mred\x1b]0;title\x07") == kBad + "[31mred" + kBad + "]0;title" + kBad);
  CHECK(Printable(std::string_view("a\0b\x7F\b", 5)) == "a" + kBad + "b" + kBad + kBad);
  CHECK(Printable("\xC2\x9B"
                  "31m\xC2\x85") == kBad + "31m" + kBad);  // C1
  CHECK(Printable("a\xE2\x80\xAE"
                  "b\xE2\x81\xA6"
                  "c\xE2\x80\x8E\xE2\x80\x8F\xD8\x9C") ==
        "a" + kBad + "b" + kBad + "c" + kBad + kBad + kBad);  // bidirectional controls
  CHECK(Printable("a\nb\rc\r\nd\xE2\x80\xA8"
                  "e\xE2\x80\xA9") == "a b c d e ");
  CHECK(Printable("\x9B"
                  "31m") == kBad + "31m");
}

TEST_CASE("the display width counts terminal columns", "[text]") {
  CHECK(DisplayWidth("") == 0);
  CHECK(DisplayWidth("plain") == 5);
  CHECK(DisplayWidth("caf\xC3\xA9") == 4);
  CHECK(DisplayWidth("e\xCC\x81") == 1);                 // combining accent
  CHECK(DisplayWidth("\xE6\x97\xA5\xE6\x9C\xAC") == 4);  // CJK
  CHECK(DisplayWidth("\xF0\x9F\x92\xA5") == 2);          // emoji
  CHECK(DisplayWidth("\xE2\x96\x88\xE2\x96\x91") == 2);  // the blocks of a bar
  CHECK(DisplayWidth("22.89 GiB \xC2\xB7 32 \xC3\x97") == 16);
  CHECK(DisplayWidth("\xFF\xFF") == 2);
}

TEST_CASE("a position in a line maps back to its raw byte", "[text]") {
  Line line;
  line.offset = 100;
  CHECK(line.RawOffset(5) == 105);  // without segments, offsets are unchanged
  line.segments = {{0, 10}, {4, 20}, {6, 40}};
  CHECK(line.RawOffset(0) == 110);
  CHECK(line.RawOffset(3) == 113);
  CHECK(line.RawOffset(4) == 120);
  CHECK(line.RawOffset(5) == 121);
  CHECK(line.RawOffset(9) == 143);
}

}  // namespace TEST_FILE
}  // namespace whyoom
