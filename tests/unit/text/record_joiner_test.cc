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
  const auto add = [&](const std::optional<RawLine>& line) {
    if (line)
      out.push_back(std::to_string(line->number) + "@" + std::to_string(line->offset) + " " + std::string(line->bytes));
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
}

}  // namespace TEST_FILE
}  // namespace whyoom
