// Which 7z are read: those that say what they need, and need no more than there is.
#include "input/archive/seven_zip_check.h"

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "catch.h"
#include "file_in_memory.h"
#include "packed.h"
#include "read_all.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::size_t kMemory = std::size_t{1} << 27;

// Why not; also checks that the source is at its beginning again.
std::string WhyNot(const std::string& bytes, std::size_t memory = kMemory) {
  FileInMemory source(bytes);
  std::string why = WhyNotReadSevenZip(source, memory);
  CHECK(ReadAll(source) == bytes);
  return why;
}

// A 7z of a header alone.
std::string OfHeader(const std::string& header) {
  return std::string("7z\xbc\xaf\x27\x1c\0\4\0\0\0\0", 12) + std::string(8, '\0') + static_cast<char>(header.size()) +
         std::string(11, '\0') + header;
}

std::string Packed() { return Archive("7zip", {{"a.log", "text\n"}, {"b/", ""}, {"b/c.log", "more\n"}}); }

TEST_CASE("a 7z that asks for little is read", "[input]") {
  CHECK(WhyNot(Packed()).empty());
  CHECK(WhyNot(Archive("7zip", {{"a.log", std::string(100000, 'x')}})).empty());
  CHECK(WhyNot(Archive("7zip", {})).empty());
  CHECK(WhyNot(OfHeader("")).empty());  // no member
}

TEST_CASE("a 7z that asks for more memory than there may be is not", "[input]") {
  const std::string why = WhyNot(Packed(), 1 << 10);
  CHECK(why.starts_with("unpacking its 7z data needs "));
  CHECK(why.find("(--max-memory)") != std::string::npos);
}

TEST_CASE("a dictionary of 4 GiB is refused, one of 64 KiB is not", "[input]") {
  // One folder of streams with one LZMA coder; its properties are a byte and the size of the dictionary.
  const auto with = [](const std::string& dictionary) {
    const std::string coder = std::string("\x01\x23\x03\x01\x01\x05\x5d", 7) + dictionary;
    return OfHeader(std::string("\x01\x04\x06\x00\x01\x09\x00\x00", 8) + std::string("\x07\x0b\x01\x00", 4) + coder +
                    std::string("\x0c\x00\x00\x00\x00", 5));
  };
  CHECK(WhyNot(with(std::string("\xff\xff\xff\xff", 4))).starts_with("unpacking its 7z data needs 4096 MiB"));
  CHECK(WhyNot(with(std::string("\x00\x00\x01\x00", 4))).empty());
}

TEST_CASE("a hundred million members are refused", "[input]") {
  const std::string why = WhyNot(OfHeader(std::string("\x01\x05\xf0\x00\xe1\xf5\x05\x0e", 8)));
  CHECK_FALSE(why.empty());
}

TEST_CASE("a 7z that is cut anywhere is refused or read, and never crashes", "[input]") {
  const std::string whole = Packed();
  for (std::size_t size = 0; size < whole.size(); ++size) {
    INFO(size);
    CHECK_FALSE(WhyNot(whole.substr(0, size)).empty());  // the header stands at the end
  }
}

TEST_CASE("what is no 7z header is told in a sentence", "[input]") {
  for (const std::string& bytes : {std::string(), std::string("7z"), OfHeader("\x02"), OfHeader("\x17\x06")}) {
    const std::string why = WhyNot(bytes);
    CHECK(why.starts_with("its 7z header cannot be read: "));
    CHECK(why.size() > std::string("its 7z header cannot be read: ").size());
    CHECK_FALSE(why.ends_with('.'));
  }
}

TEST_CASE("any byte of a 7z may be wrong", "[input]") {
  const std::string whole = Packed();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    for (const char byte : {'\0', '\x01', '\x7f', '\xff'}) {
      std::string damaged = whole;
      damaged[at] = byte;
      const std::string why = WhyNot(damaged);
      if (!why.empty()) CHECK((why.starts_with("its 7z header ") || why.starts_with("unpacking its 7z data ")));
    }
  }
}

}  // namespace TEST_FILE
