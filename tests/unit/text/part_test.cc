// Lines that a collector split are joined, separately for each stream.
#include <fmt/format.h>

#include <string>

#include "catch.h"
#include "text/normalizer.h"

using namespace whyoom;

namespace TEST_FILE {

Line Piece(const std::string& text, bool continues, const std::string& stream_name = "a", std::uint64_t offset = 0) {
  Line part;
  part.stream_name = stream_name;
  part.offset = offset;
  part.continues = continues;
  static_cast<MappedText&>(part) = MapRaw(text);
  return part;
}

// The result of joining the piece: "kept", or the returned text.
std::string Join(IncompleteLines* unfinished, Line part) {
  switch (unfinished->Join(&part)) {
    case IncompleteLines::Joined::kKept:
      return "kept";
    case IncompleteLines::Joined::kWhole:
      return "whole: " + part.text;
    case IncompleteLines::Joined::kNot:
      break;
  }
  CHECK_FALSE(part.continues);
  return "alone: " + part.text;
}

TEST_CASE("pieces are joined until one is the last", "[text]") {
  IncompleteLines unfinished;
  CHECK(unfinished.empty());
  CHECK(Join(&unfinished, Piece("one", false)) == "alone: one");
  CHECK(Join(&unfinished, Piece("one ", true)) == "kept");
  CHECK_FALSE(unfinished.empty());
  CHECK(Join(&unfinished, Piece("x", false, "b")) == "alone: x");
  CHECK(Join(&unfinished, Piece("y ", true, "b")) == "kept");
  CHECK(Join(&unfinished, Piece("two ", true)) == "kept");
  CHECK(Join(&unfinished, Piece("three", false)) == "whole: one two three");
  CHECK(Join(&unfinished, Piece("z", false, "b")) == "whole: y z");
  CHECK(unfinished.empty());
}

TEST_CASE("a joined line maps each piece back to its raw offset", "[text]") {
  IncompleteLines unfinished;
  Line first = Piece("one ", true, "a", 100);
  first.number = 7;
  first.repeats = 2;
  Line last = Piece("two", false, "a", 150);
  last.number = 9;
  last.repeats = 5;
  CHECK(unfinished.Join(&first) == IncompleteLines::Joined::kKept);
  REQUIRE(unfinished.Join(&last) == IncompleteLines::Joined::kWhole);
  CHECK(last.number == 7);
  CHECK(last.offset == 100);
  CHECK(last.repeats == 5);
  Line line;
  line.offset = last.offset;
  line.text = last.text;
  line.segments = last.segments;
  CHECK(line.RawOffset(2) == 102);
  CHECK(line.RawOffset(4) == 150);
  CHECK(line.RawOffset(6) == 152);
}

TEST_CASE("a line that becomes too long is returned incomplete", "[text]") {
  IncompleteLines unfinished;
  const std::string half(std::size_t{1} << 19, 'x');
  CHECK(Join(&unfinished, Piece(half, true)) == "kept");
  CHECK(Join(&unfinished, Piece(half.substr(1), true)) == "kept");
  CHECK(Join(&unfinished, Piece("x", true)) == "whole: " + half + half);
}

TEST_CASE("beyond the maximum number of streams, pieces are not joined", "[text]") {
  IncompleteLines unfinished;
  for (int i = 0; i < 1024; ++i) CHECK(Join(&unfinished, Piece("x", true, fmt::format("{}", i))) == "kept");
  CHECK(Join(&unfinished, Piece("x", true, "more")) == "alone: x");
  CHECK(Join(&unfinished, Piece("y", false, "0")) == "whole: xy");
  CHECK(Join(&unfinished, Piece("x", true, "more")) == "kept");
}

TEST_CASE("an overdue line is returned incomplete", "[text]") {
  IncompleteLines unfinished;
  CHECK_FALSE(unfinished.RemoveOverdue(true));
  Join(&unfinished, Piece("one", true));
  for (int i = 0; i < 1024; ++i) unfinished.CountLine();
  CHECK_FALSE(unfinished.RemoveOverdue(false));
  Join(&unfinished, Piece("two", true, "b"));
  unfinished.CountLine();
  std::optional<Line> overdue = unfinished.RemoveOverdue(false);
  REQUIRE(overdue);
  CHECK(overdue->text == "one");
  CHECK_FALSE(unfinished.RemoveOverdue(false));
  overdue = unfinished.RemoveOverdue(true);
  REQUIRE(overdue);
  CHECK(overdue->text == "two");
  CHECK(unfinished.empty());
  // Each piece restarts the wait.
  Join(&unfinished, Piece("one", true));
  for (int i = 0; i < 1024; ++i) unfinished.CountLine();
  Join(&unfinished, Piece("two", true));
  unfinished.CountLine();
  CHECK_FALSE(unfinished.RemoveOverdue(false));
}

}  // namespace TEST_FILE
