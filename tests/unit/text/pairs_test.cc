// Lines that are "key=value" pairs.
#include "text/pairs.h"

#include <string>

#include "catch.h"

using namespace whyoom;

namespace {

// "key<value>@place", one after another.
std::string Read(const std::string& line) {
  std::string shown;
  for (const Pair& pair : ReadPairs(MapRaw(line))) {
    shown += (shown.empty() ? "" : " ") + pair.key + "<" + pair.value.text + ">";
    if (!pair.value.segments.empty()) shown += "@" + std::to_string(pair.value.segments.front().raw_at);
  }
  return shown;
}

// The text behind the first quote, and where its last one is.
std::string Quoted(const std::string& text, char quote = '"') {
  std::size_t end = 0;
  const MappedText read = ReadQuoted(MapRaw(text), 1, quote, &end);
  return read.text + "@" + std::to_string(end);
}

}  // namespace

TEST_CASE("a line of pairs", "[text]") {
  CHECK(Read("a=1 b.c=two @t_3=x=y") == "a<1>@2 b.c<two>@8 @t_3<x=y>@17");
  CHECK(Read("  a=1   b=2  ") == "a<1>@4 b<2>@10");
  CHECK(Read("a=\"one two\" b='three \"x\"'") == "a<one two>@3 b<three \"x\">@15");
  CHECK(Read("a=\"one\\ntwo \\\" three\"") == "a<one\ntwo \" three>@3");
  CHECK(Read("a= b=2") == "a<> b<2>@5");
  CHECK(Read("a=\"\"") == "a<>");
}

TEST_CASE("a line with anything else in it is none", "[text]") {
  for (const char* line : {"a=1 two", "one a=1", "a=1 =2", "a=\"one", "a=\"one\"two", "a-b=1", "", " "}) {
    INFO(line);
    CHECK(Read(line).empty());
  }
}

TEST_CASE("a text in quotes, unescaped", "[text]") {
  CHECK(Quoted("\"one\" two") == "one@4");
  CHECK(Quoted("'one\"two' x", '\'') == "one\"two@8");
  CHECK(Quoted("\"a\\\"b\\\\\"") == "a\"b\\@7");
  CHECK(Quoted("\"open") == "open@5");
  CHECK(Quoted("\"open\\") == "open\\@6");
  CHECK(Quoted("\"\"") == "@1");
  CHECK(Quoted(std::string("\"a\0b\"", 5)) == std::string("a\0b@4", 5));
}
