// Members of a zip that libarchive skips are detected by the list at its end; a complete zip has no problem.
#include <string>
#include <vector>

#include "catch.h"
#include "packed.h"

using namespace whyoom;

namespace TEST_FILE {

const std::vector<PackedFile> kFiles = {
    {"a.txt", "fine\n"}, {"d/", ""}, {"b.log", std::string(3000, 'b')}, {"c.txt", "x"}};

std::string Zip(const std::string& options = "") { return Archive("zip", kFiles, options); }

std::vector<std::string> Problems(const std::string& zip, std::size_t chunk = std::string::npos) {
  return Unpack(zip, {}, chunk).problems;
}

const std::vector<std::string> kOthers = {
    ": its zip data lists different members than it contains, so some may be missing"};
const std::vector<std::string> kNoList = {
    ": its zip data does not end with a complete list of its members, so some may be missing"};
const std::vector<std::string> kBehind = {": other bytes follow its zip data and were not read"};
std::size_t MemberAt(const std::string& zip, int number) {
  std::size_t at = 0;
  while (number-- > 0) at = zip.find("PK\x03\x04", at + 1);
  return at;
}

TEST_CASE("a complete zip has no problem, whatever the chunking", "[input]") {
  for (const std::string options : {"", "zip:compression=store", "zip:zip64"}) {
    const std::string zip = Zip(options);
    for (const std::size_t chunk : {1, 2, 3, 7, 29, 30, 31, 45, 100, 1000000}) {
      INFO(options << " " << chunk);
      CHECK(Problems(zip, chunk).empty());
    }
    CHECK(Problems(zip + std::string(4096, '\0')).empty());
  }
  CHECK(Problems(Archive("zip", {})).empty());
  std::vector<PackedFile> many;
  for (int i = 0; i < 70'000; ++i) many.push_back({std::to_string(i), "x"});
  CHECK(Problems(Archive("zip", many)).empty());
  CHECK(Problems(Archive("zip", {{"inner.zip", Zip()}, {"twice.zip", Zip("zip:compression=store")}},
                         "zip:compression=store"))
            .empty());
}

TEST_CASE("a comment that looks like the end of a zip is no problem", "[input]") {
  std::string zip = Zip();
  const std::string comment = "PK\x05\x06 and more PK\x01\x02";
  zip[zip.size() - 2] = static_cast<char>(comment.size());
  CHECK(Problems(zip + comment).empty());
  CHECK(Problems(zip + comment.substr(1)) == kNoList);
}

TEST_CASE("a member with a damaged signature is reported", "[input]") {
  for (const int number : {1, 2}) {
    for (const int byte : {0, 1, 2, 3}) {
      INFO(number << " " << byte);
      std::string zip = Zip();
      zip[MemberAt(zip, number) + byte] ^= 1;
      CHECK(Problems(zip) == kOthers);
      CHECK(Problems(zip, 10) == kOthers);
    }
  }
  // The last member counts as other data before the list.
  std::string zip = Zip();
  zip[MemberAt(zip, 3)] ^= 1;
  CHECK(Problems(zip) == kOthers);
}

TEST_CASE("other bytes between the members of a zip, and after it, are reported", "[input]") {
  const std::string zip = Zip();
  const std::size_t gap = MemberAt(zip, 2);
  for (const std::string end : {"PK\x05\x06", "PK\x01\x02", "PK\x06\x06"}) {
    INFO(end);
    CHECK_FALSE(Problems(zip.substr(0, gap) + end + zip.substr(gap)).empty());
  }
  // Inserted bytes make the offsets in the list wrong.
  CHECK(Problems(zip.substr(0, gap) + "junk" + zip.substr(gap)) == kOthers);
  const std::size_t list = zip.find("PK\x01\x02");
  CHECK(Problems(zip.substr(0, list) + std::string(200, 'x') + zip.substr(list)) == kOthers);
  CHECK(Problems(zip + Zip()) == kOthers);
  CHECK(Problems(zip + "x") == kBehind);
  CHECK(Problems(zip.substr(0, list)).size() == 1);
  CHECK(Problems(zip.substr(0, zip.size() - 1)) == kNoList);
}

}  // namespace TEST_FILE
