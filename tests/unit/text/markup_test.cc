// Markdown and HTML markup is removed.
#include <string>

#include "catch.h"
#include "text/cleaning.h"

using namespace whyoom;

namespace TEST_FILE {

std::string Markdown(const std::string& text) {
  Line line;
  line.SetText(MapRaw(text));
  const bool changed = StripMarkdown(&line);
  CHECK(changed == (line.text != text));
  CHECK(line.written.text == (changed ? text : ""));
  return line.text;
}

std::string Html(const std::string& text) {
  MappedText mapped = MapRaw(text);
  const bool changed = DecodeHtml(&mapped);
  CHECK(changed == (mapped.text != text));
  return mapped.text;
}

TEST_CASE("leading quote, list and heading markers are removed", "[text]") {
  CHECK(Markdown("> one") == "one");
  CHECK(Markdown(">one") == "one");
  CHECK(Markdown("> > - one") == "one");
  CHECK(Markdown("  - one") == "one");
  CHECK(Markdown("* one") == "one");
  CHECK(Markdown("### one") == "one");
  CHECK(Markdown("###### one") == "one");
  CHECK(Markdown("\xE2\x80\xA2 one") == "one");
  CHECK(Markdown("** one") == "one");
  CHECK(Markdown(">>>>>>>> one") == "one");
  CHECK(Markdown(">>>>>>>>> one") == "> one");
  for (const char* text : {">= 5", "-one", "--- x", "#one", "####### one", "one > two", "one - two", "*", "  ", ""}) {
    INFO(text);
    CHECK(Markdown(text) == text);
  }
}

TEST_CASE("backticks, emphasis and escapes are removed", "[text]") {
  CHECK(Markdown("`a` and ``b``") == "a and b");
  CHECK(Markdown("**a** b") == "a b");
  CHECK(Markdown("a **b***c*** d") == "a bc d");
  CHECK(Markdown("***a***") == "a");
  CHECK(Markdown("a\\_b\\[c\\]\\*") == "a_b[c]*");
  CHECK(Markdown("\\`a") == "\\`a");
  CHECK(Markdown("C:\\dir") == "C:\\dir");
  CHECK(Markdown("un**believ**able") == "unbelievable");
  CHECK(Markdown("a ****b") == "a ****b");
  CHECK(Markdown("a*b") == "a*b");
}

TEST_CASE("Python's stars are kept", "[text]") {
  for (const char* text : {"2**10", "(x)**2", "a ** b", "f(**kw)", "f(a, **kw)", "{**a, **b}", "[**a]"}) {
    INFO(text);
    CHECK(Markdown(text) == text);
  }
  CHECK(Markdown("(**bold** text)") == "(bold text)");
  CHECK(Markdown("x**2") == "x2");
}

TEST_CASE("named and numeric HTML references are decoded", "[text]") {
  CHECK(Html("&gt;= &lt;a&amp;b&quot;c&apos;&nbsp;d") == ">= <a&b\"c' d");
  CHECK(Html("&#62;&#x3e;&#X3E;") == ">>>");
  CHECK(Html("&#233;&#xe9;") == "éé");
  CHECK(Html("a&#10;b&#31;c&#32;d") == "a b c d");
  CHECK(Html("&#123456;") == "\xF0\x9E\x89\x80");
  CHECK(Html("&amp;gt;") == "&gt;");
  for (const char* text : {"a & b", "&gt", "&GT;", "&#;", "&#x;", "&#62", "&#6g;", "&#1234567;", "&copy;", ""}) {
    INFO(text);
    CHECK(Html(text) == text);
  }
}

TEST_CASE("text whose markup was removed maps back to raw offsets", "[text]") {
  const auto raw = [](const MappedText& text, std::size_t at) {
    Line line;
    line.text = text.text;
    line.segments = text.segments;
    return line.RawOffset(at);
  };
  Line quoted;
  quoted.SetText(MapRaw("> a\\_b `c`"));
  REQUIRE(StripMarkdown(&quoted));
  REQUIRE(quoted.text == "a_b c");
  CHECK(raw(quoted, 0) == 2);
  CHECK(raw(quoted, 2) == 5);
  CHECK(raw(quoted, 4) == 8);
  MappedText html = MapRaw("a&gt;b");
  REQUIRE(DecodeHtml(&html));
  CHECK(raw(html, 1) == 1);
  CHECK(raw(html, 2) == 5);
}

}  // namespace TEST_FILE
