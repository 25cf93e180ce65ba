#include <algorithm>
#include <vector>

#include "catch.h"
#include "text/normalizer.h"

namespace whyoom {
namespace TEST_FILE {

using Lines = std::vector<std::string>;

// The joined lines, each with its number and offset in the artifact.
std::vector<std::string> Joined(const Lines& lines) {
  RecordJoiner joiner;
  Lines out;
  const auto add = [&](const std::vector<RawLine>& complete) {
    for (const RawLine& line : complete)
      out.push_back(std::to_string(line.number) + "@" + std::to_string(line.offset) + " " + std::string(line.bytes));
  };
  RawLine raw;
  for (const std::string& line : lines) {
    ++raw.number;
    raw.bytes = line;
    add(joiner.Feed(raw));
    raw.offset += line.size() + 1;
  }
  add(joiner.Flush());
  CHECK_FALSE(joiner.open());
  return out;
}

TEST_CASE("a record ends at the closing brace with the same indentation as its opening brace", "[text]") {
  CHECK(Joined({"[", "  {", "    \"a\": {", "      \"b\": 1", "    }", "  },", "  {", "  }", "]"}) ==
        Lines{"1@0 [", "2@2   {\n    \"a\": {\n      \"b\": 1\n    }\n  },", "7@41   {\n  }", "9@49 ]"});
  CHECK(Joined({"{\r", "}\r", "boom"}) == Lines{"1@0 {\r\n}\r", "3@6 boom"});
}

TEST_CASE("an object in an array is a record of its own", "[text]") {
  CHECK(Joined({"{", "  \"events\": [", "    {", "    },", "    {", "    }", "  ]", "}"}) ==
        Lines{"1@0 {\n  \"events\": [", "3@16     {\n    },", "5@29     {\n    }", "7@41   ]", "8@45 }"});
}

TEST_CASE("lines that are not a record are not lost", "[text]") {
  CHECK(Joined({"{", "boom"}) == Lines{"1@0 {\nboom"});
  std::vector<std::string> lines = {"{"};
  lines.insert(lines.end(), 5000, "boom");
  std::size_t feeds = 0;
  for (const std::string& line : Joined(lines))
    feeds += 1 + static_cast<std::size_t>(std::count(line.begin(), line.end(), '\n'));
  CHECK(feeds == lines.size());
  RecordJoiner joiner;
  RawLine raw;
  raw.bytes = "{";
  CHECK(joiner.Feed(raw).empty());
  raw.bytes = "after the gap";
  raw.after_gap = true;
  Lines out;
  for (const RawLine& line : joiner.Feed(raw)) out.emplace_back(line.bytes);
  CHECK(out == Lines{"{", "after the gap"});
}

Line Piece(const std::string& text, const std::string& stream_name, std::uint64_t offset, bool continues) {
  Line part;
  static_cast<MappedText&>(part) = {text, {{0, 0}}};
  part.stream_name = stream_name;
  part.offset = offset;
  part.continues = continues;
  return part;
}

TEST_CASE("pieces of a line are joined per stream", "[text]") {
  IncompleteLines unfinished;
  Line a = Piece("one ", "a", 0, true);
  Line b = Piece("uno ", "b", 100, true);
  CHECK(unfinished.Join(&a) == IncompleteLines::Joined::kKept);
  CHECK(unfinished.Join(&b) == IncompleteLines::Joined::kKept);
  Line other = Piece("eins", "c", 200, false);
  CHECK(unfinished.Join(&other) == IncompleteLines::Joined::kNot);
  CHECK(other.text == "eins");
  Line rest = Piece("two", "a", 300, false);
  REQUIRE(unfinished.Join(&rest) == IncompleteLines::Joined::kWhole);
  CHECK(rest.text == "one two");
  CHECK(rest.offset == 0);
  CHECK(rest.segments.back().text_at == 4);
  CHECK(rest.segments.back().raw_at == 300);
  CHECK_FALSE(unfinished.RemoveOverdue(false).has_value());
  for (int i = 0; i < 2000; ++i) unfinished.CountLine();
  CHECK(unfinished.RemoveOverdue(false).value().text == "uno ");
  CHECK(unfinished.empty());
}

TEST_CASE("a line that never ends is returned at a maximum length", "[text]") {
  IncompleteLines unfinished;
  std::size_t kept = 0;
  for (int i = 0; i < 100; ++i) {
    Line part = Piece(std::string(std::size_t{1} << 16, 'x'), "a", 0, true);
    if (unfinished.Join(&part) == IncompleteLines::Joined::kKept) ++kept;
  }
  CHECK(kept < 100);
  for (int i = 0; i < 5000; ++i) {
    Line part = Piece("x", std::to_string(i), 0, true);
    if (unfinished.Join(&part) == IncompleteLines::Joined::kNot) CHECK_FALSE(part.continues);
  }
  int waiting = 0;
  while (unfinished.RemoveOverdue(true)) ++waiting;
  CHECK(waiting <= 1025);
}

}  // namespace TEST_FILE
}  // namespace whyoom
