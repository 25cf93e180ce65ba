// Packed input yields the bytes that were packed, whatever the chunking.
#include "input/members.h"

#include <string>
#include <vector>

#include "catch.h"
#include "packed.h"
#include "process.h"

namespace whyoom {
namespace TEST_FILE {

const std::vector<std::string> kFilters = {"gzip", "zstd", "xz", "bzip2", "lz4"};
const std::vector<std::string> kFormats = {"ustar", "gnutar", "pax", "zip"};

// Compresses, but not to almost nothing.
std::string SomeLog(std::size_t size) {
  std::string text;
  for (std::uint32_t i = 0; text.size() < size; ++i)
    text += "step " + std::to_string(i * 2654435761U % 1000003U) + " loss 2.31\n";
  return text;
}

TEST_CASE("a compressed log yields the log", "[input]") {
  for (const std::string& filter : kFilters) {
    for (const std::string& text : {std::string(), std::string("one line\n"), SomeLog(300'000)}) {
      const std::string packed = Compress(filter, text);
      for (const std::size_t chunk : {std::size_t{1}, std::size_t{7}, std::size_t{4096}, std::string::npos}) {
        INFO(filter << " of " << text.size() << " by " << chunk);
        const ReadBack read = Unpack(packed, {}, chunk);
        CHECK(read.problems.empty());
        REQUIRE(read.pieces.size() == 1);
        CHECK(read.pieces[0].member.empty());
        CHECK((read.pieces[0].text == text));  // in parentheses, so that a failure does not print it
      }
    }
  }
}

TEST_CASE("each member of an archive is read with its name, in order", "[input]") {
  const std::vector<PackedFile> files = {
      {"job/", ""}, {"job/b.log", "second\n"}, {"job/empty", ""}, {"job/a.log", SomeLog(20'000)}, {"job/b.log", "x"}};
  for (const std::string& format : kFormats) {
    const std::string packed = Archive(format, files);
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{1000}, std::string::npos}) {
      INFO(format << " by " << chunk);
      const ReadBack read = Unpack(packed, {}, chunk);
      CHECK(read.problems.empty());
      REQUIRE(read.pieces.size() == 4);
      CHECK((read.pieces ==
             std::vector<Piece>{
                 {"job/b.log", "second\n"}, {"job/empty", ""}, {"job/a.log", files[3].bytes}, {"job/b.log", "x"}}));
    }
  }
}

TEST_CASE("an archive yields the same from a file and from a pipe", "[input]") {
  const ScratchFolder scratch;
  for (const std::string& format : kFormats) {
    INFO(format);
    const std::string packed = Archive(format, {{"a.log", SomeLog(200'000)}, {"b.log", "two\n"}});
    const ReadBack file = UnpackFile(scratch.Write(format, packed));
    CHECK(file.problems.empty());
    CHECK((file.pieces == Unpack(packed).pieces));
    CHECK(file.pieces.size() == 2);
  }
}

TEST_CASE("packings may be nested", "[input]") {
  const std::string log = SomeLog(5000);
  for (const std::string& filter : kFilters) {
    for (const std::string& format : kFormats) {
      INFO(format << " in " << filter);
      const ReadBack read = Unpack(Compress(filter, Archive(format, {{"a.log", Compress(filter, log)}})));
      CHECK(read.problems.empty());
      CHECK((read.pieces == std::vector<Piece>{{"a.log", log}}));
    }
  }
  for (const std::string& outer : kFormats) {
    for (const std::string& inner : kFormats) {
      INFO(inner << " in " << outer);
      const std::string packed = Archive(outer, {{"in", Archive(inner, {{"a.log", log}})}, {"b.log", "after\n"}});
      const ReadBack read = Unpack(packed);
      CHECK(read.problems.empty());
      CHECK((read.pieces == std::vector<Piece>{{"in/a.log", log}, {"b.log", "after\n"}}));
    }
  }
}

TEST_CASE("concatenated streams in one input are read as one", "[input]") {
  for (const std::string& filter : kFilters) {
    for (const std::size_t chunk : {std::size_t{1}, std::size_t{5}, std::string::npos}) {
      INFO(filter << " by " << chunk);
      const std::string packed = Compress(filter, "one\n") + Compress(filter, "") + Compress(filter, "two\n");
      const ReadBack read = Unpack(packed, {}, chunk);
      CHECK(Lines(read) == std::vector<std::string>{": one\ntwo\n"});
      CHECK(read.problems.empty());
    }
  }
  const std::string skippable("\x50\x2a\x4d\x18\x03\0\0\0abc", 11);
  CHECK(Lines(Unpack(skippable + Compress("zstd", "text\n") + skippable)) == std::vector<std::string>{": text\n"});
  const ReadBack padded = Unpack(Compress("gzip", "text\n") + std::string(1000, '\0'));
  CHECK(Lines(padded) == std::vector<std::string>{": text\n"});
  CHECK(padded.problems.empty());
  CHECK(Lines(Unpack(Archive("ustar", {{"a", "1"}}) + Archive("ustar", {{"b", "2"}}))) ==
        std::vector<std::string>{"a: 1", "b: 2"});
}

TEST_CASE("a zip written to a pipe, with sizes after the data, is read", "[input]") {
  const std::string log = SomeLog(100'000);
  for (const char* options : {"zip:compression=deflate", "zip:compression=store"}) {
    const ReadBack read = Unpack(Archive("zip", {{"a.log", log}, {"b.log", "after\n"}}, options));
    CHECK(read.problems.empty());
    CHECK((read.pieces == std::vector<Piece>{{"a.log", log}, {"b.log", "after\n"}}));
  }
}

TEST_CASE("a 7z archive is reported, and other members are read", "[input]") {
  const std::string packed = Archive("7zip", {{"a.log", "text\n"}});
  const std::string reported = "7z archives are not supported; unpack it first";
  CHECK(Unpack(packed).pieces.empty());
  CHECK(Unpack(packed).problems == std::vector<std::string>{": " + reported});
  CHECK(Unpack(Compress("gzip", packed)).problems == std::vector<std::string>{": " + reported});
  const ReadBack read = Unpack(Archive("ustar", {{"a.7z", packed}, {"b", "after\n"}}));
  CHECK(Lines(read) == std::vector<std::string>{"b: after\n"});
  CHECK(read.problems == std::vector<std::string>{"a.7z: " + reported});
}

TEST_CASE("names are returned unchanged", "[input]") {
  const std::vector<std::string> names = {"t\xc3\xa4gliches.log", "\xe6\x97\xa5.log", "a\x1b[31mb",
                                          std::string(300, 'n')};
  for (const std::string& name : names) {
    for (const std::string& format : {"pax", "gnutar"}) {
      INFO(format << " " << name);
      CHECK(Lines(Unpack(Archive(format, {{name, "x"}}))) == std::vector<std::string>{name + ": x"});
    }
  }
}

TEST_CASE("plain bytes are returned unchanged", "[input]") {
  const ScratchFolder scratch;
  for (const std::size_t size : {0U, 1U, 511U, 512U, 65'535U, 65'536U, 65'537U, 1'000'000U}) {
    const std::string text = SomeLog(size).substr(0, size);
    for (const std::size_t chunk : {std::size_t{3}, std::size_t{512}, std::string::npos})
      CHECK((Unpack(text, {}, chunk).pieces == std::vector<Piece>{{"", text}}));
    CHECK((UnpackFile(scratch.Write("log", text)).pieces == std::vector<Piece>{{"", text}}));
  }
  CHECK(UnpackFile(scratch.path() + "/none").problems ==
        std::vector<std::string>{": cannot open: No such file or directory"});
}

}  // namespace TEST_FILE
}  // namespace whyoom
