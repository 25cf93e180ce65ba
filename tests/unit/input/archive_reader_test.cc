// Reads the members of an archive one after another.
#include <string>

#include "catch.h"
#include "input/archive/unpacker.h"
#include "packed.h"
#include "read_all.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Content(Unpacker* reader, std::size_t capacity) {
  std::string text;
  std::string buffer(capacity, '\0');
  while (const std::size_t got = reader->Read(buffer.data(), capacity)) text.append(buffer, 0, got);
  if (!reader->problem().empty()) text += " (" + std::string(reader->problem()) + ")";
  return text;
}

// Returns "a: text; " for each member, then the problem of the archive. `skip` skips the content.
std::string Members(const std::string& bytes, Packing packing, bool skip = false, std::size_t chunk = 100) {
  const std::unique_ptr<ByteSource> source = OpenMemory(bytes, chunk);
  const std::unique_ptr<Unpacker> reader = OpenUnpacker(*source, packing, std::size_t{64} << 20);
  std::string name;
  std::string shown;
  while (reader->Next(&name)) shown += name + (skip ? "" : ": " + Content(reader.get(), 3)) + "; ";
  CHECK_FALSE(reader->Next(&name));
  return shown + std::string(reader->archive_problem());
}

const std::vector<PackedFile> kFiles = {{"a", "first"}, {"b/", ""}, {"b/c", "second"}};

TEST_CASE("members are found whether their content is read or not", "[input]") {
  CHECK(Members(Archive("ustar", kFiles), Packing::kTar) == "a: first; b/c: second; ");
  CHECK(Members(Archive("ustar", kFiles), Packing::kTar, true) == "a; b/c; ");
  CHECK(Members(Archive("zip", kFiles), Packing::kZip) == "a: first; b/c: second; ");
  CHECK(Members(Archive("zip", kFiles), Packing::kZip, true) == "a; b/c; ");
  CHECK(Members(Archive("ustar", {{"caf\xC3\xA9", "x"}}), Packing::kTar) == "caf\xC3\xA9: x; ");
}

TEST_CASE("bytes after an archive and a missing end mark are reported", "[input]") {
  const std::string tar = Archive("ustar", kFiles);
  CHECK(Members(tar + std::string(5120, '\0'), Packing::kTar) == "a: first; b/c: second; ");
  CHECK(Members(tar + "more", Packing::kTar).find("its tar data") != std::string::npos);
  const std::string unmarked = tar.substr(0, 512 * 5);  // a header, a block; a header; a header, a block
  CHECK(Members(unmarked, Packing::kTar) ==
        "a: first; b/c: second; its tar data has no end mark, so members may be missing");
  CHECK(Members(unmarked + std::string(512, '\0'), Packing::kTar) == "a: first; b/c: second; ");
}

TEST_CASE("members hidden by damage are reported", "[input]") {
  std::string tar = Archive("ustar", kFiles);
  tar[512 * 3] ^= 1;  // the last header's name
  const std::string damaged = "its tar data is damaged, so members may be missing: Damaged tar archive";
  CHECK(Members(tar, Packing::kTar) == "a: first; " + damaged);
}

TEST_CASE("a truncated archive yields what precedes the cut", "[input]") {
  const std::string tar = Archive("ustar", kFiles);
  const std::string cut = Members(tar.substr(0, 512 * 4 + 3), Packing::kTar);
  CHECK(cut.starts_with("a: first; b/c: sec"));
  CHECK(cut.find("its tar data cannot be unpacked further: ") != std::string::npos);
}

TEST_CASE("an encrypted member is reported", "[input]") {
  CHECK(Members(Archive("zip", {{"a", "secret"}}, "zip:encryption=zipcrypt"), Packing::kZip)
            .starts_with("a:  (encrypted; not read); "));
}

}  // namespace TEST_FILE
