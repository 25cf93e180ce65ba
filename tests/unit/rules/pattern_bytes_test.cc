// What a pattern can begin with.
#include "rules/first_bytes.h"

#include <string>

#include "built_in_rules.h"
#include "catch.h"

namespace whyoom {
namespace TEST_FILE {

std::string Ascii(std::string_view pattern) {
  const ByteSet bytes = FirstBytes(pattern);
  std::string text;
  for (char c = ' '; c < 0x7F; ++c) {
    if (bytes.test(static_cast<unsigned char>(c))) text += c;
  }
  return text;
}

TEST_CASE("the first character of each alternative counts, and those behind what may be missing", "[rules]") {
  CHECK(Ascii("pod/") == "Pp");
  CHECK(Ascii("\\[pod|<\\d") == "<[");
  CHECK(Ascii(" ?\\d\\d") == " 0123456789");
  CHECK(Ascii(" {0,8}[IWEF]\\d") == " EFIWefiw");
  CHECK(Ascii("(?P<time>\\d{4})-") == "0123456789");
  CHECK(Ascii("(?:a|b)?(?i)c") == "ABCabc");
  CHECK(Ascii("^\\bx") == "Xx");
  CHECK(Ascii("[^a-zA-Z0-9]") == " !\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~");
}

TEST_CASE("where nothing can match, or nobody can tell, it is every byte", "[rules]") {
  for (const char* pattern : {"", "a?", "(?:a|)", "a*", "(", "\\x41"}) {
    CAPTURE(pattern);
    CHECK(FirstBytes(pattern).all());
  }
}

TEST_CASE("a character outside of ASCII may begin with any byte outside", "[rules]") {
  CHECK(FirstBytes("\xE2\x94\x82 ").test(0xE2));
  CHECK(FirstBytes("[^a]").test(0xC3));
  CHECK(FirstBytes("\\S").test(0xC3));
  CHECK(FirstBytes(".").test(0xF0));
  CHECK_FALSE(FirstBytes("\\d").test(0xC3));
  CHECK_FALSE(FirstBytes("[a-f]").test(0xC3));
}

}  // namespace TEST_FILE

}  // namespace whyoom
