// HTML is well-formed for every content.
#include "report/html/html_writer.h"

#include <string>
#include <utility>

#include "catch.h"

using namespace whyoom;

TEST_CASE("elements nest and are closed by their scopes", "[report]") {
  HtmlWriter html;
  {
    const HtmlWriter::Scope outer = html.In("ul");
    {
      const HtmlWriter::Scope inner = html.In("li", {{"class", "x"}, {"id", "y"}});
      html.Text("one");
    }
    html.Element("li", "two");
  }
  CHECK(html.Take() == "<ul><li class=\"x\" id=\"y\">one</li><li>two</li></ul>");
}

TEST_CASE("a block ends with a line break", "[report]") {
  HtmlWriter html;
  { const HtmlWriter::Scope block = html.Block("p"); }
  html.Line();
  CHECK(html.Take() == "<p></p>\n\n");
}

TEST_CASE("a moved scope closes its element once", "[report]") {
  HtmlWriter html;
  {
    HtmlWriter::Scope first = html.In("b");
    const HtmlWriter::Scope second = std::move(first);
    html.Text("x");
  }
  CHECK(html.Take() == "<b>x</b>");
}

TEST_CASE("an unused writer returns an empty text", "[report]") {
  HtmlWriter html;
  CHECK(html.Take().empty());
}

TEST_CASE("an element without content is closed as in XML", "[report]") {
  HtmlWriter html;
  html.Empty("br");
  html.Empty("meta", {{"name", "a"}, {"content", ""}});
  html.Element("td", "");
  CHECK(html.Take() == "<br/><meta name=\"a\" content=\"\"/><td></td>");
}

TEST_CASE("text and attributes cannot become markup", "[report]") {
  HtmlWriter html;
  html.Element("p", "</p><script>&amp;", {{"title", "\"><i a='b'>&"}});
  const std::string written = html.Take();
  CHECK(written.find("<script") == std::string::npos);
  CHECK(written.find("<i") == std::string::npos);
  CHECK(written.starts_with("<p title=\"&quot;&gt;&lt;i a="));
  CHECK(written.ends_with(">&lt;/p&gt;&lt;script&gt;&amp;amp;</p>"));
}

TEST_CASE("unprintable characters and those that XML excludes are replaced", "[report]") {
  HtmlWriter html;
  const std::string hostile = "a\x1b[2J\x07\xff\xef\xbf\xbe\xef\xbf\xbf z";
  html.Element("p", hostile, {{"title", hostile}});
  const std::string written = html.Take();
  for (const char* bad : {"\x1b", "\x07", "\xff", "\xef\xbf\xbe", "\xef\xbf\xbf"}) {
    CHECK(written.find(bad) == std::string::npos);
  }
  CHECK(written.starts_with("<p title=\"a"));
  CHECK(written.ends_with(" z</p>"));
}

TEST_CASE("a number and its unit stay on one line, even in a long text", "[report]") {
  std::string sentence;
  std::string html_text;
  for (int i = 0; i < 50; ++i) {
    sentence += "it takes 640.00 MiB of 2 GiB or 31 % and 3 times ";
    html_text += "it takes 640.00\xC2\xA0MiB of 2\xC2\xA0GiB or 31\xC2\xA0% and 3 times ";
  }
  HtmlWriter html;
  html.Words(sentence);
  CHECK(html.Take() == html_text);
}

TEST_CASE("our own markup is written unchanged", "[report]") {
  HtmlWriter html;
  html.Verbatim("<b>x</b>&amp;");
  CHECK(html.Take() == "<b>x</b>&amp;");
}

TEST_CASE("heading levels are limited to h1 to h6", "[report]") {
  CHECK(HtmlWriter::HeadingElement(1) == "h1");
  CHECK(HtmlWriter::HeadingElement(6) == "h6");
  CHECK(HtmlWriter::HeadingElement(0) == "h1");
  CHECK(HtmlWriter::HeadingElement(7) == "h6");
  HtmlWriter html;
  html.Heading(2, "a & b", {{"id", "x"}});
  CHECK(html.Take() == "<h2 id=\"x\">a &amp; b</h2>");
}

TEST_CASE("a table's header marks number columns, and an empty title is a plain cell", "[report]") {
  HtmlWriter html;
  html.TableHead({{"name"}, {"size", true}, {""}});
  CHECK(
      html.Take() ==
      "<thead><tr><th scope=\"col\" class=\"text\">name</th><th scope=\"col\" class=\"number\">size</th><td></td></tr>"
      "</thead>");
  html.TableHead({});
  CHECK(html.Take() == "<thead><tr></tr></thead>");
}
