// Damaged, truncated and encrypted input: what precedes the damage is kept, and the damage is reported.
#include <algorithm>
#include <string>
#include <vector>

#include "catch.h"
#include "packed.h"

namespace whyoom {
namespace TEST_FILE {

std::string Numbers(std::uint32_t from, std::uint32_t to) {
  std::string text;
  for (std::uint32_t i = from; i < to; ++i) text += std::to_string(i * 2654435761U) + "\n";
  return text;
}

std::string Joined(const std::vector<std::string>& texts) {
  std::string all;
  for (const std::string& text : texts) all += text + "\n";
  return all;
}

TEST_CASE("a stream truncated anywhere yields what precedes the cut, and a problem", "[input]") {
  const std::string text = Numbers(0, 300);
  for (const std::string filter : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    const std::string packed = Compress(filter, text);
    std::size_t longest = 0;
    for (std::size_t size = 0; size < packed.size(); ++size) {
      const ReadBack read = Unpack(packed.substr(0, size));
      INFO(filter << " cut to " << size << " of " << packed.size());
      REQUIRE(read.pieces.size() == 1);
      // Fewer bytes do not show that the data is packed.
      if (size < 14) continue;
      REQUIRE(read.problems.size() == 1);
      CHECK(text.starts_with(read.pieces[0].text));
      longest = std::max(longest, read.pieces[0].text.size());
    }
    INFO(filter);
    // The whole text is read if only checksums at the end are missing. zstd has none here, and its only block is cut.
    CHECK((longest == text.size() || filter == "zstd"));
  }
}

TEST_CASE("half of a long stream yields about half of the text", "[input][slow]") {
  for (const std::string filter : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    const std::string text = Numbers(0, filter == "lz4" ? 1'200'000 : 300'000);  // its blocks have 4 MiB
    const std::string packed = Compress(filter, text);
    const ReadBack read = Unpack(packed.substr(0, packed.size() / 2));
    INFO(filter << ": " << read.pieces[0].text.size() << " of " << text.size());
    CHECK(read.problems == std::vector<std::string>{": its " + filter + " data is truncated"});
    CHECK(text.starts_with(read.pieces[0].text));
    CHECK(read.pieces[0].text.size() > text.size() / 4);
  }
}

TEST_CASE("an archive truncated anywhere yields the members before the cut, and a problem", "[input][slow]") {
  const std::vector<PackedFile> files = {{"a.log", Numbers(0, 100)}, {"b.log", Numbers(100, 200)}};
  for (const std::string format : {"ustar", "pax", "zip"}) {
    const std::string plain = Archive(format, files);
    for (const std::string& packed : {plain, Compress("gzip", plain)}) {
      for (std::size_t size = 300; size < packed.size(); ++size) {
        const ReadBack read = Unpack(packed.substr(0, size));
        INFO(format << " cut to " << size << " of " << packed.size() << ": " << Joined(read.problems));
        CHECK(read.problems.size() <= 1);
        bool whole = read.pieces.size() == 2;
        for (std::size_t i = 0; i < read.pieces.size() && i < 2; ++i) {
          CHECK(files[i].bytes.starts_with(read.pieces[i].text));
          whole = whole && files[i].bytes == read.pieces[i].text;
        }
        // If any content is missing, there is a problem.
        CHECK((whole || read.problems.size() == 1));
        if (read.pieces.size() == 2) CHECK((read.pieces[0].text == files[0].bytes));
      }
    }
  }
}

TEST_CASE("one wrong bit is reported or changes nothing", "[input]") {
  const std::string text = Numbers(0, 60);
  for (const std::string filter : {"gzip", "xz", "bzip2"}) {
    const std::string packed = Compress(filter, text);
    for (std::size_t at = 20; at < packed.size(); ++at) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
      const ReadBack read = Unpack(damaged);
      INFO(filter << " damaged at " << at);
      CHECK((read.problems.size() == 1 || Lines(read) == std::vector<std::string>{": " + text}));
    }
  }
  // For archives, check only that reading ends: most of their bytes have no checksum.
  for (const std::string format : {"ustar", "zip"}) {
    const std::string packed = Archive(format, {{"a.log", text}, {"b.log", text}});
    for (std::size_t at = 0; at < packed.size(); ++at) {
      std::string damaged = packed;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x81);
      Unpack(damaged);
    }
  }
  SUCCEED();
}

TEST_CASE("bytes after the packed data are reported", "[input]") {
  for (const std::string filter : {"gzip", "zstd", "xz", "bzip2", "lz4"}) {
    const ReadBack read = Unpack(Compress(filter, "text\n") + "garbage that is long enough to be some");
    INFO(filter << ": " << Joined(read.problems));
    CHECK(Lines(read) == std::vector<std::string>{": text\n"});
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems[0].find("other bytes follow its " + filter + " data") != std::string::npos);
  }
  CHECK(Unpack(Archive("ustar", {{"a.log", "text\n"}}) + std::string(600, 'x')).problems.size() == 1);
}

TEST_CASE("members after one with damaged content are read", "[input]") {
  const std::string good = Numbers(0, 1000);
  const std::string cut = Compress("gzip", good).substr(0, 2000);
  for (const std::string format : {"ustar", "zip"}) {
    const ReadBack inner = Unpack(Archive(format, {{"a.gz", cut}, {"b.log", "after\n"}}));
    CHECK(inner.problems == std::vector<std::string>{"a.gz: its gzip data is truncated"});
    REQUIRE(inner.pieces.size() == 2);
    CHECK(good.starts_with(inner.pieces[0].text));
    CHECK(inner.pieces[0].text.size() > 1000);
    CHECK((inner.pieces[1] == Piece{"b.log", "after\n"}));
  }
}

TEST_CASE("reading a zip that consists of member signatures ends", "[input]") {
  std::string zip;
  while (zip.size() < 4'000'000) zip += "PK\x03\x04";
  const ReadBack read = Unpack(zip);
  CHECK_FALSE(read.problems.empty());
}

TEST_CASE("truncated outer data is reported once", "[input]") {
  const std::string tar = Archive("ustar", {{"a.log", Numbers(0, 100'000)}, {"b.log", "after\n"}});
  const ReadBack read = Unpack(Compress("gzip", Compress("zstd", tar)).substr(0, 300'000));
  CHECK(read.problems == std::vector<std::string>{"a.log: its gzip data is truncated"});
  REQUIRE(read.pieces.size() == 1);
  CHECK(Numbers(0, 100'000).starts_with(read.pieces[0].text));
}

TEST_CASE("an encrypted member is reported by name", "[input]") {
  const std::string zip = Archive("zip", {{"a.log", "hidden\n"}, {"b.log", "hidden too\n"}}, "zip:encryption=zipcrypt");
  const ReadBack read = Unpack(zip);
  CHECK(read.problems == std::vector<std::string>{"a.log: encrypted; not read", "b.log: encrypted; not read"});
  CHECK(Lines(read) == std::vector<std::string>{"a.log: ", "b.log: "});
}

TEST_CASE("the number of reported problems is limited", "[input]") {
  std::vector<PackedFile> files;
  const std::string cut = Compress("gzip", "text").substr(0, 20);
  for (int i = 0; i < 250; ++i) files.push_back({"member" + std::to_string(i), cut});
  const ReadBack read = Unpack(Archive("ustar", files));
  REQUIRE(read.problems.size() == 101);
  CHECK(read.problems.back() == ": 150 more problems are not listed");
}

}  // namespace TEST_FILE
}  // namespace whyoom
