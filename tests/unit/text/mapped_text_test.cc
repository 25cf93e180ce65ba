// Modified text maps back to raw offsets.
#include <string>

#include "catch.h"
#include "text/line.h"

using namespace whyoom;

namespace TEST_FILE {

// Each character with the offset of its raw byte: "a0b1".
std::string Show(const MappedText& text) {
  Line line;
  line.text = text.text;
  line.segments = text.segments;
  std::string shown;
  for (std::size_t at = 0; at < text.text.size(); ++at)
    shown += text.text.substr(at, 1) + std::to_string(line.RawOffset(at));
  return shown;
}

TEST_CASE("raw bytes become valid UTF-8", "[text]") {
  CHECK(Show(MapRaw("abc")) == "a0b1c2");
  CHECK(MapRaw("caf\xC3\xA9").text == "café");
  const MappedText mapped = MapRaw(
      "a\xFF"
      "b");
  CHECK(mapped.text ==
        "a\xEF\xBF\xBD"
        "b");
  Line line;
  line.text = mapped.text;
  line.segments = mapped.segments;
  CHECK(line.RawOffset(0) == 0);
  CHECK(line.RawOffset(1) == 1);
  CHECK(line.RawOffset(4) == 2);
  CHECK(MapRaw("").text.empty());
}

TEST_CASE("a text is copied or replaced from left to right", "[text]") {
  const MappedText from = MapRaw("0123456789");
  Rewriter rewriter(from);
  rewriter.Keep(1, 3);
  rewriter.Put("x", 4);
  rewriter.Keep(6, 8);
  CHECK(Show(rewriter.Take()) == "1122x46677");
  rewriter.Keep(8, 8);
  rewriter.Keep(9, 10);
  CHECK(Show(rewriter.Take()) == "99");
  CHECK(rewriter.Take().text.empty());
}

TEST_CASE("a slice of a modified text maps back to raw offsets", "[text]") {
  const MappedText from = MapRaw("0123456789");
  Rewriter rewriter(from);
  rewriter.Keep(1, 3);
  rewriter.Keep(6, 9);
  const MappedText changed = rewriter.Take();
  CHECK(Show(changed) == "1122667788");
  CHECK(Show(Slice(changed, 1, 4)) == "226677");
  CHECK(Show(Slice(changed, 2, 5)) == "667788");
  CHECK(Slice(changed, 2, 2).text.empty());
}

}  // namespace TEST_FILE
