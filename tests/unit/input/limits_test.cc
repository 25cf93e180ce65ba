// Limits apply, are named when they are reached, and are reached only if there is more.
#include "input/limits.h"

#include <lzma.h>
#include <zstd.h>

#include <chrono>
#include <string>
#include <vector>

#include "catch.h"
#include "input/members.h"
#include "packed.h"
#include "read_all.h"

namespace whyoom {
namespace TEST_FILE {

const std::string kTooManyBytes = "stopped after 1000 bytes unpacked (--max-bytes); the rest was not read";

Limits WithBytes(std::uint64_t bytes) {
  Limits limits;
  limits.bytes = bytes;
  return limits;
}

TEST_CASE("sizes of limits are shown as given", "[input]") {
  CHECK(WholeSize(0) == "0 bytes");
  CHECK(WholeSize(1000) == "1000 bytes");
  CHECK(WholeSize(1536 << 10) == "1536 KiB");
  CHECK(WholeSize(std::uint64_t{1} << 40) == "1 TiB");
  CHECK(WholeSize(std::uint64_t{15} << 60) == "15 EiB");
}

TEST_CASE("unpacking stops at the byte limit, and only if there are more bytes", "[input]") {
  const std::string text(1000, 'x');
  for (const std::string filter : {"gzip", "zstd", "xz", "bzip2"}) {
    INFO(filter);
    CHECK(Unpack(Compress(filter, text), WithBytes(1000)).problems.empty());
    const ReadBack over = Unpack(Compress(filter, text + "y"), WithBytes(1000));
    CHECK(Lines(over) == std::vector<std::string>{": " + text});
    CHECK(over.problems == std::vector<std::string>{": " + kTooManyBytes});
  }
  CHECK(Unpack(text + "plain bytes are not unpacked", WithBytes(1000)).problems.empty());
}

TEST_CASE("the byte limit applies to the whole input", "[input]") {
  const std::vector<PackedFile> files = {{"a", std::string(600, 'a')}, {"b", std::string(600, 'b')}, {"c", "c"}};
  for (const std::string format : {"ustar", "zip"}) {
    const ReadBack read = Unpack(Archive(format, files), WithBytes(1000));
    INFO(format);
    REQUIRE(read.pieces.size() == 2);
    CHECK((read.pieces[1].text == std::string(400, 'b')));
    CHECK(read.problems == std::vector<std::string>{"b: " + kTooManyBytes});
  }
  const std::string tar = Archive("ustar", {{"a", std::string(600, 'a')}, {"b", std::string(600, 'b')}});
  const ReadBack outer = Unpack(Compress("gzip", tar), WithBytes(1000));
  CHECK(outer.problems == std::vector<std::string>{"a: " + kTooManyBytes});
  CHECK(Unpack(Compress("gzip", tar), WithBytes(tar.size())).problems.empty());
}

TEST_CASE("members are counted over all archives of an input", "[input]") {
  Limits limits;
  limits.members = 4;
  const std::string inner = Archive("ustar", {{"a", "1"}, {"b/", ""}, {"b/c", "2"}});
  CHECK(Unpack(Archive("zip", {{"x", inner}, {"y", "2"}}), limits).problems.empty());
  const ReadBack read = Unpack(Archive("zip", {{"x", inner}, {"y", inner}, {"z", "3"}}), limits);
  CHECK(Lines(read) == std::vector<std::string>{"x/a: 1", "x/b/c: 2"});
  CHECK(read.problems == std::vector<std::string>{"y: stopped after 4 members; the rest was not read"});
}

TEST_CASE("depth is limited, and other members are read", "[input]") {
  std::string nested = "text\n";
  for (int i = 0; i < 8; ++i) nested = Compress("gzip", nested);
  CHECK(Lines(Unpack(nested)) == std::vector<std::string>{": text\n"});
  for (int i = 8; i < 25; ++i) nested = Compress("gzip", nested);
  CHECK(Unpack(nested).problems == std::vector<std::string>{": packed (gzip) more than 8 levels deep; not read"});
  const ReadBack beside = Unpack(Archive("ustar", {{"a.gz", nested}, {"b", "after\n"}}));
  CHECK(Lines(beside) == std::vector<std::string>{"b: after\n"});
  CHECK(beside.problems == std::vector<std::string>{"a.gz: packed (gzip) more than 8 levels deep; not read"});
  Limits none;
  none.depth = 0;
  CHECK(Unpack(Compress("zstd", "x"), none).problems.size() == 1);
  CHECK(Unpack("plain", none).problems.empty());
}

TEST_CASE("examining lines counts as work", "[input]") {
  Limits limits;
  limits.suspicious_bytes = 1 << 20;
  const std::string packed = Compress("zstd", std::string(1 << 18, 'x'));
  REQUIRE(packed.size() * limits.suspicious_ratio < limits.suspicious_bytes);
  CHECK(Unpack(packed, limits).problems.empty());
  Members members({"input", ""}, OpenMemory(packed), limits);
  Artifact artifact;
  ByteSource* const source = members.Next(&artifact);
  REQUIRE(source != nullptr);
  source->AddWork(1 << 20);
  CHECK(ReadAll(*source).size() < std::size_t{1} << 18);
  CHECK_FALSE(source->problem().empty());
}

TEST_CASE("a signal ends the streams without a problem", "[input]") {
  ReadControl control;
  const std::string packed = Compress("gzip", "text");
  Members members({"input", ""}, OpenMemory(packed), {}, &control);
  Artifact artifact;
  ByteSource* const source = members.Next(&artifact);
  REQUIRE(source != nullptr);
  CHECK(ReadAll(*source) == "text");
  CHECK(control.bytes == 4);
  control.stop = true;
  CHECK(members.Next(&artifact) == nullptr);
  CHECK(members.TakeProblems().empty());
}

TEST_CASE("an archive bomb ends at the byte limit", "[input][slow]") {
  const std::string zeros = Compress("gzip", std::string(std::size_t{200} << 20, '\0'));
  Limits limits = WithBytes(std::uint64_t{16} << 20);
  const ReadBack read = Unpack(zeros, limits);
  CHECK(read.pieces[0].text.size() == limits.bytes);
  CHECK(read.problems ==
        std::vector<std::string>{": stopped after 16 MiB unpacked (--max-bytes); the rest was not read"});
}

TEST_CASE("data that grows suspiciously is not unpacked further", "[input]") {
  Limits limits;
  limits.suspicious_bytes = 1 << 20;
  const std::string bomb = Compress("zstd", std::string(3 << 20, 'x'));
  REQUIRE(bomb.size() * limits.suspicious_ratio < limits.suspicious_bytes);
  const ReadBack read = Unpack(bomb, limits);
  CHECK(read.pieces[0].text.size() == limits.suspicious_bytes);
  REQUIRE(read.problems.size() == 1);
  CHECK(read.problems[0].find("takes more than 800 times the work expected for its packed size") != std::string::npos);
  limits.suspicious_ratio = 100;
  CHECK(Unpack(Compress("gzip", bomb), limits).pieces[0].text.size() == limits.suspicious_bytes);
  const ReadBack deep = Unpack(Compress("gzip", Compress("gzip", bomb)), limits);
  CHECK(deep.pieces[0].text.size() == limits.suspicious_bytes / 16);
  limits.suspicious_ratio = 0;
  CHECK(Unpack(bomb, limits).problems.empty());
  limits.suspicious_ratio = 2000;
  CHECK(
      Unpack(Compress("gzip", std::string(3 << 20, 'x')), limits).problems.empty());  // deflate cannot reach this ratio
}

TEST_CASE("the default limits end bombs after little work", "[input][slow]") {
  const auto unpacked = [](const std::string& bomb) {
    const ReadBack read = Unpack(bomb);
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems[0].find("(--max-bytes lifts this limit)") != std::string::npos);
    return read.pieces[0].text.size();
  };
  // Concatenated streams, each with more than 800 bytes per packed byte.
  const auto repeated = [](const std::string& stream, std::size_t bytes) {
    std::string bomb;
    for (std::size_t made = 0; made < bytes; made += std::size_t{8} << 20) bomb += stream;
    return bomb;
  };
  const std::string zeros(std::size_t{8} << 20, '\0');
  CHECK(unpacked(repeated(Compress("zstd", zeros), std::size_t{1} << 30)) == Limits().suspicious_bytes);
  CHECK(unpacked(repeated(Compress("gzip", zeros), std::size_t{1} << 30)) == Limits().suspicious_bytes);
  CHECK(unpacked(repeated(Compress("bzip2", zeros), std::size_t{1} << 30)) == Limits().suspicious_bytes / 8);
}

TEST_CASE("time is limited, for plain bytes too", "[input]") {
  Limits limits;
  limits.seconds = 1e-9;
  for (const std::string& bytes : {std::string("plain\n"), Compress("gzip", "packed\n")}) {
    const ReadBack read = Unpack(bytes, limits);
    REQUIRE(read.problems.size() == 1);
    CHECK(read.problems[0].find("(--max-time)") != std::string::npos);
    CHECK(read.may_differ);  // another run may reach other limits
  }
  CHECK_FALSE(Unpack(Compress("gzip", std::string(2000, 'x')), WithBytes(1000)).may_differ);
  const std::string tar = Archive("ustar", {{"a", "text"}});
  CHECK(Unpack(tar, limits).may_differ);
  limits.seconds = 1000;
  CHECK(Unpack(Compress("gzip", "packed\n"), limits).problems.empty());
  CHECK(Lines(Unpack("plain\n", limits)) == std::vector<std::string>{": plain\n"});
}

std::string XzWithDictionary(std::uint32_t size) {
  lzma_options_lzma options;
  REQUIRE_FALSE(lzma_lzma_preset(&options, 0));
  lzma_filter filters[] = {{LZMA_FILTER_LZMA2, &options}, {LZMA_VLI_UNKNOWN, nullptr}};
  std::string packed(1000, '\0');
  const std::string text = "text\n";
  lzma_stream stream = LZMA_STREAM_INIT;
  REQUIRE(lzma_stream_encoder(&stream, filters, LZMA_CHECK_NONE) == LZMA_OK);
  stream.next_in = reinterpret_cast<const std::uint8_t*>(text.data());
  stream.avail_in = text.size();
  stream.next_out = reinterpret_cast<std::uint8_t*>(packed.data());
  stream.avail_out = packed.size();
  REQUIRE(lzma_code(&stream, LZMA_FINISH) == LZMA_STREAM_END);
  packed.resize(packed.size() - stream.avail_out);
  lzma_end(&stream);
  // The block header: size, flags, filter, size of its properties, dictionary size, padding, checksum.
  constexpr std::size_t kBlock = 12;
  constexpr std::size_t kDictionary = kBlock + 4;
  REQUIRE(packed[kBlock + 2] == '\x21');
  packed[kDictionary] = static_cast<char>(size);
  const std::uint32_t sum = lzma_crc32(reinterpret_cast<const std::uint8_t*>(packed.data()) + kBlock, 8, 0);
  for (std::size_t i = 0; i < 4; ++i) packed[kBlock + 8 + i] = static_cast<char>(sum >> 8 * i);
  return packed;
}

TEST_CASE("the memory of a decoder is limited", "[input]") {
  constexpr std::uint32_t kOneAndAHalfGiB = 37;  // 3 << 29
  const ReadBack xz = Unpack(XzWithDictionary(kOneAndAHalfGiB));
  REQUIRE(xz.problems.size() == 1);
  CHECK(xz.problems[0].find("unpacking its xz data further needs more than 128 MiB") != std::string::npos);
  Limits generous;
  generous.memory = std::size_t{2} << 30;
  CHECK(Lines(Unpack(XzWithDictionary(kOneAndAHalfGiB), generous)) == std::vector<std::string>{": text\n"});

  // A frame of unknown content size with a window of 2 GiB, and one raw block.
  const std::string zstd("\x28\xb5\x2f\xfd\x00\xa8\x29\x00\x00text\n", 14);
  const ReadBack wide = Unpack(zstd);
  REQUIRE(wide.problems.size() == 1);
  CHECK(wide.problems[0].find("unpacking its zstd data further needs more than 128 MiB") != std::string::npos);
  CHECK(Lines(Unpack(zstd, generous)) == std::vector<std::string>{": text\n"});
}

TEST_CASE("a hole in a file is read as one zero", "[input]") {
  // A hole of one terabyte before five bytes, in pax.
  const std::uint64_t hole = std::uint64_t{1} << 40;
  const auto record = [](const std::string& text) {
    const std::size_t length = text.size() + 4;
    return std::to_string(length) + " " + text + "\n";
  };
  const std::string map = "1\n" + std::to_string(hole) + "\n5\n";
  const auto block = [](const std::string& bytes) {
    return bytes + std::string((512 - bytes.size() % 512) % 512, '\0');
  };
  const std::string extended = record("GNU.sparse.major=1") + record("GNU.sparse.minor=0") +
                               record("GNU.sparse.name=a") + record("GNU.sparse.realsize=" + std::to_string(hole + 5));
  const auto header = [&](char type, std::size_t size) {
    std::string tar = Archive("ustar", {{"a", ""}}).substr(0, 512);
    char octal[12];
    std::snprintf(octal, sizeof(octal), "%011zo", size);
    tar.replace(124, 11, octal);
    tar[156] = type;
    tar.replace(148, 8, 8, ' ');
    unsigned sum = 0;
    for (const char c : tar) sum += static_cast<unsigned char>(c);
    std::snprintf(octal, sizeof(octal), "%06o", sum);
    tar.replace(148, 7, octal, 7);
    return tar;
  };
  const std::string tar = header('x', extended.size()) + block(extended) + header('0', 512 + 5) + block(map) +
                          block("text\n") + std::string(1024, '\0');
  for (const bool sandbox : {true, false}) {
    Limits limits;
    limits.sandbox = sandbox;
    CHECK(Lines(Unpack(tar, limits)) == std::vector<std::string>{"a: " + std::string(1, '\0') + "text\n"});
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
