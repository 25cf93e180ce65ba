#include "report/formatting.h"

#include <string>
#include <vector>

#include "catch.h"
#include "text/utf8.h"

using namespace whyoom;

using Lines = std::vector<std::string>;

TEST_CASE("text is cut to bytes", "[report]") {
  CHECK(CutBytes("abc", 3) == "abc");
  CHECK(CutBytes("abcdefgh", 6) == "abc…");
  CHECK(CutBytes("aöööö", 7) == "aö…");
  CHECK(CutBytes(CutBytes("aöööö", 7), 7) == "aö…");
}

TEST_CASE("text is wrapped at blanks, and only very long words are broken", "[report]") {
  CHECK(Wrap("one two three", 8) == Lines{"one two", "three"});
  CHECK(Wrap("", 10) == Lines{""});
  CHECK(Wrap("  many   blanks  ", 20) == Lines{"many blanks"});
  // URLs and flags are for copying, so they are not broken.
  CHECK(Wrap("see https://example.org/page now", 10) == Lines{"see", "https://example.org/page", "now"});
  CHECK(Wrap("漢字 漢字 漢字", 9) == Lines{"漢字 漢字", "漢字"});
  // A hostile word of a megabyte takes linear time.
  CHECK(Wrap(std::string(1 << 20, 'x'), 80).size() == (1 << 20) / 160 + 1);
}

TEST_CASE("a hanging paragraph is indented under its first line", "[report]") {}

TEST_CASE("text is shortened in the middle", "[report]") {
  CHECK(Shorten("abcdefghij", 10) == "abcdefghij");
  CHECK(Shorten("abcdefghijk", 7) == "abc…ijk");
  CHECK(Shorten("ääääääääää", 5) == "ää…ää");
  CHECK(Shorten("abc", 1) == "…");
  CHECK(DisplayWidth(Shorten(std::string(1 << 20, 'x'), 40)) == 40);
}

TEST_CASE("no line is a command to a CI server", "[report]") {
  CHECK(WithoutCommands("a ::error::b\n") == "a ::error::b\n");
  for (const std::string blank : {"", " ", "\t", "  \t", "\u0085", "\u00A0", "\u1680", "\u2003", "\u2028", "\u202F",
                                  "\u205F", "\u3000", " \u3000\u00A0 "})
    CHECK(WithoutCommands("a\n" + blank + "::error::b") == "a\n" + blank + "\\::error::b");
  CHECK(WithoutCommands("\n\n::x") == "\n\n\\::x");
  CHECK(WithoutCommands("a ##[group]b ##vso[x]") == "a #\\#[group]b #\\#vso[x]");
  CHECK(WithoutCommands("a ##teamcity[buildStop]") == "a #\\#teamcity[buildStop]");
  for (const std::string command :
       {"section_start:1:a", "section_end:1:a", "travis_fold:start:a", "travis_time:start:a"}) {
    CHECK(WithoutCommands("a\n" + command) == "a\n\\" + command);
    CHECK(WithoutCommands("  " + command) == "  \\" + command);
    CHECK(WithoutCommands("a " + command) == "a " + command);
  }
  for (const std::string group : {"--- a", "+++ a", "~~~ a", "^^^ +++"}) {
    CHECK(WithoutCommands("a\n" + group) == "a\n\\" + group);
    CHECK(WithoutCommands(" " + group) == " " + group);
  }
  CHECK(WithoutCommands("---\n|---|\n") == "---\n|---|\n");
}

TEST_CASE("a shell reads a quoted word unchanged", "[report]") {
  CHECK(ShellWord("rules/ours-2.json") == "rules/ours-2.json");
  CHECK(ShellWord("my rules.json") == "'my rules.json'");
  CHECK(ShellWord("it's; rm -r $HOME") == "'it'\\''s; rm -r $HOME'");
  CHECK(ShellWord("~x") == "'~x'");
  CHECK(ShellWord("") == "''");
  CHECK(ShellWord("größe.json") == "'größe.json'");
}

TEST_CASE("a quoted word is printable", "[report]") {
  CHECK(ShellWord("a\x1b[31mb'\\") == "'a\xef\xbf\xbd[31mb'\\''\\'");
  CHECK(ShellWord("two\nlines") == "'two lines'");
}
