#include "input/utf16_source.h"

#include <string>
#include <vector>

#include "catch.h"
#include "packed.h"

namespace whyoom {
namespace TEST_FILE {

std::string Bytes(const std::u16string& text, bool big_endian) {
  std::string bytes;
  for (const char16_t unit : text) {
    const char high = static_cast<char>(unit >> 8);
    const char low = static_cast<char>(unit & 0xFF);
    bytes += big_endian ? high : low;
    bytes += big_endian ? low : high;
  }
  return bytes;
}

std::string ReadAll(ByteSource* source, std::size_t capacity) {
  std::string all;
  std::vector<char> buffer(capacity);
  while (const std::size_t got = source->Read(buffer.data(), capacity)) all.append(buffer.data(), got);
  return all;
}

const std::u16string kText = u"plain\näöü € \U0001F600\nend";

TEST_CASE("UTF-16 in either byte order becomes UTF-8", "[input]") {
  const std::string utf8 = "plain\n\xc3\xa4\xc3\xb6\xc3\xbc \xe2\x82\xac \xf0\x9f\x98\x80\nend";
  for (const bool big_endian : {false, true}) {
    const std::string bytes = Bytes(kText, big_endian);
    for (const std::size_t chunk : {1U, 2U, 3U, 1000U}) {
      for (const std::size_t capacity : {1U, 2U, 3U, 4U, 5U, 1000U}) {
        INFO(chunk << " into " << capacity);
        const auto source = FromUtf16(OpenMemory(bytes, chunk), Bytes(u"\uFEFF", big_endian));
        CHECK(ReadAll(source.get(), capacity) == utf8);
        CHECK(source->problem().empty());
      }
    }
    const std::string marked = Bytes(u"\uFEFF", big_endian) + bytes;
    CHECK(Lines(Unpack(marked)) == std::vector<std::string>{": \xef\xbb\xbf" + utf8});
    CHECK(Lines(Unpack(Compress("gzip", marked))) == std::vector<std::string>{": \xef\xbb\xbf" + utf8});
    CHECK(Lines(Unpack(Archive("zip", {{"a.log", marked}}))) == std::vector<std::string>{"a.log: \xef\xbb\xbf" + utf8});
  }
}

TEST_CASE("half a surrogate pair or code unit does not affect the text around it", "[input]") {
  const std::string lone = Bytes({u'a', 0xD83D, u'b', 0xDE00, u'c', 0xD83D}, false);
  for (const std::size_t chunk : {1U, 2U, 100U}) {
    const auto source = FromUtf16(OpenMemory(lone, chunk), "\xff\xfe");
    CHECK(ReadAll(source.get(), 50) ==
          "a\xef\xbf\xbd"
          "b\xef\xbf\xbd"
          "c\xef\xbf\xbd");
    CHECK(source->problem().empty());
  }
  const std::string three("a\0b", 3);
  const auto cut = FromUtf16(OpenMemory(three, 2), "\xff\xfe");
  CHECK(ReadAll(cut.get(), 50) == "a");
  CHECK(cut->problem() == "its UTF-16 text ends in the middle of a character");
}

}  // namespace TEST_FILE
}  // namespace whyoom
