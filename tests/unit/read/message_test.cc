// Joins lines to a text, finds headers in it, and reads the message after a header.
#include "read/message.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "catch.h"
#include "made_lines.h"
#include "show.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Joined(const std::vector<std::string>& texts, std::size_t count = 12) {
  return JoinedLines(LinesOf(texts), count).text();
}

// Returns the first header's message: facts, then the text to display, then the text up to the message's end.
std::string ReadFirst(const std::vector<std::string>& texts) {
  const std::deque<Line> lines = LinesOf(texts);
  const JoinedLines joined(lines, 12);
  const std::deque<std::string> none;
  const Quotation* quoted = nullptr;
  const std::vector<HeaderMatch> header_patterns =
      TestEngine().matchers().headers.Find(joined, {none, lines}, false, &quoted);
  if (header_patterns.empty()) return "no head";
  std::size_t end = 0;
  const Failure failure = TestEngine().matchers().headers.Read(joined, header_patterns[0], &end);
  return ShowWithLines(failure.facts) + " | " + failure.message + " | " + joined.text().substr(0, end);
}

// Returns the headers in order: "T1 at 3-17".
std::string Heads(const std::string& text, const std::string& line_before = "", std::size_t from = 0) {
  const std::deque<Line> lines = LinesOf({text});
  const std::deque<std::string> before = {line_before};
  std::string shown;
  const Quotation* quoted = nullptr;
  for (const HeaderMatch& head :
       TestEngine().matchers().headers.Find(JoinedLines(lines, 1, from), {before, lines}, false, &quoted))
    shown += fmt::format("{}{} at {}-{}", shown.empty() ? "" : ", ", head.rule->code, head.match.begin, head.match.end);
  return shown;
}

TEST_CASE("lines are joined as one text", "[read]") {
  CHECK(Joined({"one", "two"}) == "one two");
  CHECK(Joined({"  one \t two", "   three  ", "four"}) == "one two three four");
  CHECK(Joined({"one", "two", "three"}, 2) == "one two");
  CHECK(Joined({""}).empty());
}

TEST_CASE("a message ends before a blank line, a gap, the next exception and a frame", "[read]") {
  for (const char* end :
       {"", " \t", "~two", "Traceback (most recent call last):", "  The above exception was the direct cause of",
        "During handling of the above exception", "  File \"a.py\", line 3, in f", "ValueError: two",
        "jaxlib.xla_extension.XlaRuntimeError: two", "RESOURCE_EXHAUSTED: two", "XlaRuntimeError: INTERNAL: two"}) {
    INFO(end);
    CHECK(Joined({"one", end, "three"}) == "one");
  }
  for (const char* other : {"File a.py, line 3", "an INTERNAL: two", "ValueErrors: two", "Error", "Traceback of it"}) {
    INFO(other);
    CHECK(Joined({"one", other, "three"}) == std::string("one ") + other + " three");
  }
  // A logger puts its prefix before a message, a collector before each of its lines.
  CHECK(Joined({"one", "^two"}) == "one");
  CHECK(Joined({"^one", "two"}) == "one two");
  CHECK(Joined({"^one", "^two"}) == "one two");
  // The first line may be anything.
  CHECK(Joined({"ValueError: one", "two"}) == "ValueError: one two");
}

TEST_CASE("each position of the text maps to its line", "[read]") {
  const std::deque<Line> lines = LinesOf({"  one  two", " three"});
  const JoinedLines joined(lines, 2);
  REQUIRE(joined.text() == "one two three");
  CHECK(joined.line_count() == 2);
  CHECK(joined.first_line_end() == 7);
  std::string places;  // line, column and offset of each character
  for (std::size_t at = 0; at < joined.text().size(); ++at)
    places += fmt::format("{} {}:{} {}\n", joined.text()[at], joined.PlaceOf(at).line, joined.ColumnOf(at),
                          joined.PlaceOf(at).offset);
  CHECK(places ==
        "o 1:2 2\nn 1:3 3\ne 1:4 4\n  1:5 5\nt 1:7 7\nw 1:8 8\no 1:9 9\n  1:10 10\n"
        "t 2:1 12\nh 2:2 13\nr 2:3 14\ne 2:4 15\ne 2:5 16\n");
  CHECK(joined.OffsetInLine(10) == 2);
}

TEST_CASE("a long line is split into windows", "[read]") {
  const std::deque<Line> lines = LinesOf({std::string(20000, 'x'), "y"});
  for (const std::size_t from : {0, 6144, 12288, 18432}) {
    const JoinedLines joined(lines, 2, from);
    INFO(from);
    CHECK(joined.first_line_end() == (from < 18432 ? 6144 : 1568));
    CHECK(joined.text().size() == std::min<std::size_t>(8192, 20000 - from) + (from < 12288 ? 0 : 2));
    CHECK(joined.ColumnOf(100) == from + 100);
  }
  CHECK(JoinedLines(LinesOf({std::string(6144, 'x')}), 1).first_line_end() == 6144);
}

TEST_CASE("headers in the first line are sorted by position, the longer first", "[read]") {
  CHECK(Heads("TESTCOMPILEOOM: Test compile: used 7B of 5B") == "T1 at 0-14, T1 at 16-43");
  CHECK(Heads("a Test load of 'f' failed; Test request refused") == "T2 at 2-47, T3 at 27-47");
  CHECK(Heads("TESTCOMPILEOOM TESTCOMPILEOOM") == "T1 at 0-14, T1 at 15-29");
  CHECK(Heads("all is well").empty());
  CHECK(TestEngine().matchers().headers.MayMatter("a TESTCOMPILEOOM"));
  CHECK_FALSE(TestEngine().matchers().headers.MayMatter("all is well"));
  // A match that begins in the next window belongs to that window.
  CHECK(Heads(std::string(6143, 'x') + " TESTCOMPILEOOM").empty());
  CHECK(Heads(std::string(6142, 'x') + " TESTCOMPILEOOM") == "T1 at 6143-6157");
}

TEST_CASE("only exception names may precede a header that must start its line", "[read]") {
  CHECK(Heads("TEST_EXHAUSTED") == "T1 at 0-14");
  CHECK(Heads("jax.errors.JaxRuntimeError: TEST_EXHAUSTED") == "T1 at 28-42");
  CHECK(Heads("Error: jax.Error: TEST_EXHAUSTED") == "T1 at 18-32");
  CHECK(Heads("if status is TEST_EXHAUSTED").empty());
  CHECK(Heads("got: status TEST_EXHAUSTED").empty());
}

TEST_CASE("a quotation is not a header", "[read]") {
  CHECK(Heads("grep TESTCOMPILEOOM job.log").empty());
  CHECK(Heads("TESTCOMPILEOOM grep") == "T1 at 0-14");
  CHECK(Heads("TESTCOMPILEOOM", "grep ") == "T1 at 0-14");
  CHECK(Heads("grep " + std::string(4090, 'x') + " TESTCOMPILEOOM").empty());
  CHECK(Heads("grep " + std::string(4092, 'x') + " TESTCOMPILEOOM") == "T1 at 4098-4112");
}

TEST_CASE("a message has facts and a text to display", "[read]") {
  CHECK(ReadFirst({"Test compile: used 7B of 5B. Exceeded by 2B. More."}) ==
        "excess_bytes=2@1 limit_bytes=5@1 used_bytes=7@1 | Test compile: used 7B of 5B. Exceeded by 2B. | "
        "Test compile: used 7B of 5B. Exceeded by 2B");
  CHECK(ReadFirst({"Test compile: used 7B of 5B", "Exceeded by 2B", "of program main (hlo)"}) ==
        "excess_bytes=2@2 limit_bytes=5@1 module='main'@3 used_bytes=7@1 | "
        "Test compile: used 7B of 5B Exceeded by 2B of program main | "
        "Test compile: used 7B of 5B Exceeded by 2B of program main");
  // Facts are read only after the header. If a fact occurs twice, the first one counts.
  CHECK(ReadFirst({"Exceeded by 9B: TESTCOMPILEOOM, Exceeded by 2B, Exceeded by 3B"}) ==
        "excess_bytes=2@1 | Exceeded by 9B: TESTCOMPILEOOM, Exceeded by 2B | "
        "Exceeded by 9B: TESTCOMPILEOOM, Exceeded by 2B");
  // Facts after a second header with the same text belong to that header.
  CHECK(ReadFirst({"TESTCOMPILEOOM", "TESTCOMPILEOOM Exceeded by 2B"}) == " | TESTCOMPILEOOM | TESTCOMPILEOOM");
  CHECK(ReadFirst({"a.b.Error: (TESTCOMPILEOOM).') x"}) ==
        " | a.b.Error: (TESTCOMPILEOOM).') | a.b.Error: (TESTCOMPILEOOM");
}

TEST_CASE("the displayed text omits a long text before the header and is limited in length", "[read]") {
  const std::string lead(159, 'x');
  CHECK(ReadFirst({lead + " TESTCOMPILEOOM"}).find("| " + lead + " TESTCOMPILEOOM |") != std::string::npos);
  CHECK(ReadFirst({lead + "x TESTCOMPILEOOM"}).find("| TESTCOMPILEOOM |") != std::string::npos);
  CHECK(ReadFirst({lead + "x a.Error: TESTCOMPILEOOM"}).find("| a.Error: TESTCOMPILEOOM |") != std::string::npos);
  const std::string shown = ReadFirst({"TESTCOMPILEOOM " + std::string(2000, 'x') + " Exceeded by 2B"});
  CHECK(shown.find("| TESTCOMPILEOOM " + std::string(1185, 'x') + " |") != std::string::npos);
}

}  // namespace TEST_FILE
