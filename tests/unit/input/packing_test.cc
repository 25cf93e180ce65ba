#include "input/packing.h"

#include <string>

#include "catch.h"
#include "input/byte_source.h"
#include "packed.h"

namespace whyoom {
namespace TEST_FILE {

Packing Of(const std::string& bytes) { return PackingOf(std::string_view(bytes).substr(0, kPackingBytes)); }

TEST_CASE("packed input is detected by its first bytes", "[input]") {
  const std::vector<std::pair<std::string, Packing>> filters = {{"gzip", Packing::kGzip},
                                                                {"zstd", Packing::kZstd},
                                                                {"xz", Packing::kXz},
                                                                {"bzip2", Packing::kBzip2},
                                                                {"lz4", Packing::kLz4}};
  for (const auto& [name, packing] : filters) {
    INFO(name);
    CHECK(Of(Compress(name, "text\n")) == packing);
    CHECK(Of(Compress(name, "")) == packing);
    CHECK(NameOf(packing) == name);
    CHECK_FALSE(IsArchive(packing));
  }
  const std::vector<std::pair<std::string, Packing>> formats = {
      {"ustar", Packing::kTar}, {"gnutar", Packing::kTar}, {"pax", Packing::kTar}, {"zip", Packing::kZip}};
  for (const auto& [name, packing] : formats) {
    INFO(name);
    CHECK(Of(Archive(name, {{"a.log", "text\n"}})) == packing);
    CHECK(IsArchive(packing));
  }
  CHECK(Of(Archive("zip", {})) == Packing::kZip);
  CHECK(Of(Archive("7zip", {{"a.log", "text\n"}})) == Packing::kSevenZip);
  CHECK(Of("7z is a word") == Packing::kNone);
}

TEST_CASE("text that only starts like packed bytes is plain", "[input]") {
  const std::string filler(600, 'x');
  for (const std::string& text :
       {std::string(), std::string("PK is a word, BZ too"), "BZh9 is how bzip2 begins\n" + filler,
        std::string("\x1f\x8b"), std::string(1024, '\0'), std::string(600, ' '), filler + "PK\x03\x04",
        std::string(100, 'x') + "ustar" + filler}) {
    INFO(text);
    CHECK(Of(text) == Packing::kNone);
  }
}

TEST_CASE("programs are detected by their first bytes", "[input]") {
  using std::string_literals::operator""s;
  for (const std::string& program :
       {"\x7f"
        "ELF\2\1\1\0"s,
        "\xcf\xfa\xed\xfe\7\0"s, "\xca\xfe\xba\xbe\0"s, "\0asm\1\0\0\0"s, "BC\xc0\xde\x35\x14\0\0\5\0\0\0"s,
        "MZ\x90\0\3"s + std::string(100, '\0'), "!<arch>\n/"s + std::string(100, '\0'),
        "\xa7\x0d\x0d\x0a\0\0\0\0\x11\x22\x33\x44\x55\0\0\0"s}) {
    INFO(program);
    CHECK(IsProgram(program));
    CHECK(Unpack(program).pieces.empty());
    CHECK(Unpack(Compress("gzip", program)).pieces.empty());
  }
  for (const std::string& text :
       {"ELF is a format"s, "MZ stands for a name"s + std::string(100, 'x'), "BC: 3"s, "a\n\r\nb"s, ""s,
        "\0\0\0step 3"s, "a\r\r\nstep 3 of 9 is done"s, std::string(600, '\0')}) {
    INFO(text);
    CHECK_FALSE(IsProgram(text));
  }
}

TEST_CASE("text after the first bytes of a program is read", "[input]") {
  using std::string_literals::operator""s;
  std::string log;
  for (int step = 0; step < 40; ++step) log += "step " + std::to_string(step) + " loss 2.3, and more of the line\n";
  for (const std::string& begin : {"MZ "s, "\0asm\n"s,
                                   "\x7f"
                                   "ELF\n"s,
                                   "\xca\xfe\xba\xbe\n"s, "BC\xc0\xde\n"s, "!<arch>\n"s}) {
    INFO(begin);
    const std::string text = begin + log;
    CHECK_FALSE(IsProgram(text.substr(0, 512)));
    for (const ReadBack& read : {Unpack(text), Unpack(Compress("gzip", text))}) {
      REQUIRE(read.pieces.size() == 1);
      CHECK(read.pieces[0].text == text);
      CHECK(read.problems.empty());
    }
  }
}

}  // namespace TEST_FILE

}  // namespace whyoom
