// Which raw lines are binary data.
#include <string>

#include "catch.h"
#include "text/cleaning.h"

namespace whyoom {
namespace TEST_FILE {

using std::string_literals::operator""s;

const std::string kMessage = "Ran out of memory in memory space hbm. Used 20.25G of 15.48G hbm.";

TEST_CASE("messages between zero bytes or machine code are binary", "[text]") {
  CHECK(IsBinary("_ZN3fooE\0"s + kMessage + "\0%d bytes\0"s));
  CHECK(IsBinary("a\0\0b\0"s + kMessage));
  CHECK(IsBinary("\x01H\x89\xe5\x05\x02\xc3\x0f\x1f" + kMessage + "\x04\x0e\x02"));
}

TEST_CASE("texts with a few unusual bytes are not binary", "[text]") {
  CHECK_FALSE(IsBinary(""));
  CHECK_FALSE(IsBinary("\0\0\0"s));
  CHECK_FALSE(IsBinary(kMessage));
  CHECK_FALSE(IsBinary("\x1b[2mstep 3\x1b[0m\x07 10%\r20%\r\b\t\f\v" + kMessage));
  CHECK_FALSE(IsBinary(std::string(4096, '\0') + kMessage));  // a truncated log that was still written to
  CHECK_FALSE(IsBinary(kMessage + std::string(4096, '\0')));
  CHECK_FALSE(IsBinary("step 3" + std::string(512, '\0') + kMessage));  // two writers on a network file system
  CHECK_FALSE(
      IsBinary("8=FIX\x01"
               "9=12\x01"
               "a\x01"
               "b\x01" +
               kMessage));                                                 // \x01 as a separator
  CHECK_FALSE(IsBinary("\xcf\xf0\xe8\xe2\xe5\xf2 \xff\xfe " + kMessage));  // another encoding
  CHECK_FALSE(IsBinary("\x01\x02\x03 " + std::string(500, 'x') + kMessage));
}

}  // namespace TEST_FILE
}  // namespace whyoom
