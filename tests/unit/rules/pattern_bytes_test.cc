// The bytes that a text must begin or end with for a pattern to match.
#include <algorithm>
#include <string>
#include <vector>

#include "byte_texts.h"
#include "catch.h"
#include "rules/pattern_needs.h"

namespace whyoom {
namespace TEST_FILE {

ByteSet FirstBytes(std::string_view pattern) { return LeadingBytes(pattern, 1).front(); }

std::string Ascii(std::string_view pattern) { return AsciiOf(FirstBytes(pattern)); }

TEST_CASE("first bytes include those of each alternative and those after optional parts", "[rules]") {
  CHECK(Ascii("pod/") == "Pp");
  CHECK(Ascii("\\[pod|<\\d") == "<[");
  CHECK(Ascii(" ?\\d\\d") == " 0123456789");
  CHECK(Ascii(" {0,8}[IWEF]\\d") == " EFIWefiw");
  CHECK(Ascii("(?P<time>\\d{4})-") == "0123456789");
  CHECK(Ascii("(?:a|b)?(?i)c") == "ABCabc");
  CHECK(Ascii("^\\bx") == "Xx");
  CHECK(Ascii("[^a-zA-Z0-9]") == " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
}

TEST_CASE("any byte is possible if the pattern can be empty or is not understood", "[rules]") {
  for (const char* pattern : {"", "a?", "(?:a|)", "a*", "(", "\\x41"}) {
    CAPTURE(pattern);
    CHECK(FirstBytes(pattern).all());
  }
}

TEST_CASE("a non-ASCII character allows all non-ASCII bytes", "[rules]") {
  CHECK(FirstBytes("\xE2\x94\x82 ").test(0xE2));
  CHECK(FirstBytes("[^a]").test(0xC3));
  CHECK(FirstBytes("\\S").test(0xC3));
  CHECK(FirstBytes(".").test(0xF0));
  CHECK_FALSE(FirstBytes("\\d").test(0xC3));
  CHECK_FALSE(FirstBytes("[a-f]").test(0xC3));
}

TEST_CASE("later bytes are known while the preceding parts have a bounded length", "[rules]") {
  CHECK(AllAscii(LeadingBytes("(?:\\d|xy)\\.[+-]", 4)) == Sets{"0123456789Xx", ".Yy", "+-.", AsciiOf(ByteSet().set())});
  CHECK(AllAscii(LeadingBytes("\\[\\d{1,2}\\]", 3)) == Sets{"[", "0123456789", "0123456789]"});
  CHECK(AllAscii(LeadingBytes("a%{word:x}b", 3)) == Sets{"Aa", AsciiOf(ByteSet().set()), AsciiOf(ByteSet().set())});
  CHECK(AllAscii(LeadingBytes("a b", 3)) == Sets{"Aa", " ", " Bb"});
}

TEST_CASE("a non-ASCII character has one to four bytes, from either end", "[rules]") {
  const std::vector<ByteSet> leading = LeadingBytes("âx", 2);
  CHECK(leading[0].test(0xE2));
  CHECK(leading[1].test(0x94));
  const std::vector<ByteSet> leading_class = LeadingBytes("[^a]x", 3);
  CHECK(leading_class[1].test('x'));
  CHECK(leading_class[1].test(0x94));
  CHECK(leading_class[2].test(0x82));
  const std::vector<ByteSet> trailing = TrailingBytes("x[â]", 2);
  CHECK(trailing[0].test(0x82));
  CHECK(trailing[1].test(0x94));
  CHECK(trailing[1].test('x'));
}

TEST_CASE("last bytes are computed like first bytes", "[rules]") {
  CHECK(AllAscii(TrailingBytes("x \\[y\\] ?", 2)) == Sets{" ]", " Y]y"});
  CHECK(AllAscii(TrailingBytes("ab|c", 2)) == Sets{"BCbc", AsciiOf(ByteSet().set())});
}

TEST_CASE("byte sets survive packing and unpacking", "[rules]") {
  ByteSet bytes;
  bytes.set('"');
  bytes.set('z');
  bytes.set('\n');
  CHECK(UnpackBytes(PackBytes(bytes)) == bytes);
  for (std::size_t byte = 0x80; byte < 256; ++byte) bytes.set(byte);
  CHECK(UnpackBytes(PackBytes(bytes)) == bytes);
  CHECK(UnpackBytes(PackBytes(ByteSet())).none());
}

}  // namespace TEST_FILE

}  // namespace whyoom
