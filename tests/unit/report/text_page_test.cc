// Pages of plain text: positions and widths.
#include "report/text/text_page.h"

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "text/utf8.h"

using namespace whyoom;

namespace TEST_FILE {

TextPage Page(std::size_t width = 40) { return TextPage({width, false}); }

// The width of the widest line, in columns.
std::size_t Widest(const std::string& page) {
  std::size_t widest = 0;
  std::istringstream lines(page);
  for (std::string line; std::getline(lines, line);) widest = std::max(widest, DisplayWidth(line));
  return widest;
}

const char* const kLong = "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen";

TEST_CASE("without colour a style returns the text unchanged", "[report]") {
  const Style plain(false);
  const Style colour(true);
  for (const TextPage::Look look :
       {&Style::Error, &Style::Strong, &Style::Good, &Style::Warning, &Style::Faint, &Style::Label}) {
    CHECK((plain.*look)("text") == "text");
    CHECK((plain.*look)("").empty());
    const std::string coloured = (colour.*look)("text");
    CHECK(coloured.starts_with("\x1b["));
    CHECK(coloured.ends_with("mtext\x1b[0m"));
    CHECK((colour.*look)("").empty());  // no text to colour
  }
  CHECK(colour.Error("x") != colour.Good("x"));
}

TEST_CASE("lines are printed unchanged, indented ones after the label column", "[report]") {
  TextPage page = Page();
  page.Line("a");
  page.IndentedLine("b");
  page.Blank();
  page.Line("");
  CHECK(page.Take() == "a\n      b\n\n\n");
  CHECK(Page().Take().empty());
}

TEST_CASE("a rule separates two parts of a page", "[report]") {
  TextPage page = Page();
  page.Rule();  // the page is empty
  page.Line("a");
  page.Rule();
  page.Line("b");
  const std::string text = page.Take();
  CHECK(text.starts_with("a\n"));
  CHECK(text.ends_with("\nb\n"));
  CHECK(Widest(text) == 40);
}

TEST_CASE("titles and headings are printed", "[report]") {
  TextPage page = Page();
  page.Title("E1000", "out of memory");
  page.Heading("What to do");
  CHECK(page.Take() == "E1000  out of memory\n\nWhat to do\n");
}

TEST_CASE("a paragraph is wrapped after its column, with every line styled", "[report]") {
  TextPage page = Page();
  page.Paragraph(kLong, 3);
  const std::string text = page.Take();
  CHECK(Widest(text) <= 40);
  std::istringstream lines(text);
  std::string joined;
  std::size_t count = 0;
  for (std::string line; std::getline(lines, line); ++count) {
    CHECK(line.starts_with("   "));
    CHECK(line[3] != ' ');
    joined += (count == 0 ? "" : " ") + line.substr(3);
  }
  CHECK(count == 3);
  CHECK(joined == kLong);

  TextPage styled({40, true});
  styled.Paragraph(kLong, 0, &Style::Faint);
  std::istringstream faint(styled.Take());
  for (std::string line; std::getline(faint, line);) {
    CHECK(line.starts_with("\x1b["));
    CHECK(line.ends_with("\x1b[0m"));
  }
}

TEST_CASE("a label is printed only before the first line", "[report]") {
  TextPage page = Page();
  page.Beside("why", "short");
  CHECK(page.Take() == "why   short\n");
  TextPage wrapped = Page();
  wrapped.Beside("why", kLong);
  const std::string text = wrapped.Take();
  CHECK(Widest(text) <= 40);
  CHECK(text.starts_with("why   one two"));
  CHECK(text.find("\n      ") != std::string::npos);
  CHECK(text.find("why", 1) == std::string::npos);
}

TEST_CASE("the text of an item starts at the column, or after a longer label", "[report]") {
  TextPage page = Page();
  page.Item("a", 6, "text");
  page.Item("a longer one", 6, "text");
  CHECK(page.Take() == "a     text\na longer one text\n");
}

TEST_CASE("steps and warnings are indented under their first line", "[report]") {
  TextPage page = Page();
  page.Step(2, "do it", false);
  page.Warning("careful");
  CHECK(page.Take() == "  → do it\nwarning: careful\n");
  TextPage wrapped = Page();
  wrapped.Step(2, kLong, false);
  wrapped.Warning(kLong);
  const std::string text = wrapped.Take();
  CHECK(Widest(text) <= 40);
  CHECK(text.find("\n    ") != std::string::npos);
  CHECK(text.find("\n         ") != std::string::npos);
}

TEST_CASE("a word that is wider than the page is not broken", "[report]") {
  TextPage page = Page();
  page.Paragraph("a " + std::string(60, 'x') + " b");
  CHECK(page.Take() == "a\n" + std::string(60, 'x') + "\nb\n");
}

}  // namespace TEST_FILE
