// Byte sets as text.
#include "catch.h"
#include "rules/pattern_needs.h"

namespace whyoom {
namespace TEST_FILE {

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
