// Searching a large file in blocks with several threads finds the same hits as one search.
#include "input/survey.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

constexpr std::size_t kSmall = 16;  // bytes of a block

class OpenScratch {
 public:
  explicit OpenScratch(const std::string& text) : descriptor_(open(scratch_.Write("a", text).c_str(), O_RDONLY)) {
    REQUIRE(descriptor_ >= 0);
  }
  ~OpenScratch() { close(descriptor_); }
  int descriptor() const { return descriptor_; }

 private:
  ScratchFolder scratch_;
  int descriptor_;
};

std::string Hits(Survey* survey, std::uint64_t from = 0) {
  std::string shown;
  for (Prefilter::Hit hit; survey->NextHit(from, &hit); from = hit.end) shown += std::to_string(hit.end) + " ";
  return shown;
}

TEST_CASE("an unreadable position counts as a hit, so that the reader gets there", "[input]") {
  const Prefilter prefilter({"needle"});
  const int folder = open("/", O_RDONLY);  // can be opened but not read
  REQUIRE(folder >= 0);
  Survey survey(folder, prefilter, 1, kAllTriggers, kSmall);
  CHECK(Hits(&survey) == "1 ");
  close(folder);
}

TEST_CASE("the hits of a survey are those of the text, also across blocks", "[input]") {
  const Prefilter prefilter({"needle", "edl"});
  std::string text(700, '.');
  std::string expected;
  for (const std::size_t at : {0, 30, 60, 122, 186, 250, 510, 694}) {
    text.replace(at, 6, "needle");
    expected += std::to_string(at + 5) + " " + std::to_string(at + 6) + " ";
  }
  const OpenScratch file(text);
  for (const std::size_t threads : {0, 1, 3}) {
    INFO(threads);
    Survey survey(file.descriptor(), prefilter, threads, kAllTriggers, kSmall);
    CHECK(Hits(&survey) == expected);
    CHECK(survey.bytes_read() == 700);
    Prefilter::Hit hit{};
    CHECK_FALSE(survey.NextHit(700, &hit));
  }
  Survey survey(file.descriptor(), prefilter, 2, kAllTriggers, kSmall);
  CHECK(Hits(&survey, 66) == "127 128 191 192 255 256 515 516 699 700 ");
}

TEST_CASE("files without hits, without bytes, and of exactly one block are searched", "[input]") {
  const Prefilter prefilter({"needle"});
  for (const std::size_t size : {0, 63, 64, 65, 128}) {
    INFO(size);
    const OpenScratch file(std::string(size, '.'));
    Survey survey(file.descriptor(), prefilter, 2, kAllTriggers, kSmall);
    CHECK(Hits(&survey).empty());
    CHECK(survey.bytes_read() == size);
  }
}

TEST_CASE("a stopped survey returns no hit; the control counts the bytes read", "[input]") {
  const Prefilter prefilter({"needle"});
  const OpenScratch file(std::string(1000, '.') + "needle");
  ReadControl control;
  Prefilter::Hit hit{};
  Survey survey(file.descriptor(), prefilter, 1, kAllTriggers, kSmall);
  CHECK(survey.NextHit(0, &hit, &control));
  CHECK(control.bytes == 1006);
  Survey stopped(file.descriptor(), prefilter, 1, kAllTriggers, kSmall);
  control.stop = true;
  CHECK_FALSE(stopped.NextHit(0, &hit, &control));
}

TEST_CASE("a cursor is at the start of the offset's block or before it, with its line", "[input]") {
  const Prefilter prefilter({"needle"});
  // Lines have ten bytes, blocks sixteen. The survey does not know whether the hit's line begins inside its block.
  std::string text;
  for (int i = 0; i < 20; ++i) text += i == 15 ? "..needle.\n" : ".........\n";
  const OpenScratch file(text);
  Survey survey(file.descriptor(), prefilter, 1, kAllTriggers, kSmall);
  Prefilter::Hit hit{};
  REQUIRE(survey.NextHit(0, &hit));
  CHECK(hit.end == 158);
  std::string shown;
  for (const std::uint64_t offset : {0, 15, 16, 47, 48, 150}) {
    const Cursor cursor = survey.CursorBefore(offset, hit.end, 1000);
    shown += std::to_string(cursor.offset) + ":" + std::to_string(cursor.number) + "@" +
             std::to_string(cursor.line_start) + " ";
  }
  CHECK(shown == "0:1@0 0:1@0 16:2@10 32:4@30 48:5@40 128:13@120 ");
}

TEST_CASE("inside a long line, a cursor is at or before the piece of the hit", "[input]") {
  const Prefilter prefilter({"needle"});
  const OpenScratch file("ab\n" + std::string(197, '.') + "needle\n");
  const auto before = [&](std::uint64_t offset, std::uint64_t piece) {
    Survey survey(file.descriptor(), prefilter, 1, kAllTriggers, kSmall);
    Prefilter::Hit hit{};
    REQUIRE(survey.NextHit(0, &hit));
    const Cursor cursor = survey.CursorBefore(offset, hit.end, piece);
    CHECK(cursor.line_start == (cursor.offset >= 16 ? 3 : 0));
    return cursor.offset;
  };
  CHECK(before(205, 1000) == 0);   // the piece begins at 3
  CHECK(before(205, 100) == 192);  // its third piece at 203
  CHECK(before(205, 120) == 112);  // its second piece at 123
  CHECK(before(50, 100) == 48);
}

}  // namespace TEST_FILE
