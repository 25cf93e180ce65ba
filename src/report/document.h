// A report as a document. The builders (report_document.h, command_documents.h) decide content, order and wording; the
// renderers for text and Markdown only lay it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace whyoom::doc {

struct Span {
  enum class Kind { kText, kCode, kFaint, kGood, kCareful, kBad, kLink };
  std::string text;  // printable, not escaped for any markup; kText contains no markup, see Sentence
  Kind kind = Kind::kText;
  std::string url;  // kLink only: a page on the web
};
using Spans = std::vector<Span>;

inline constexpr std::size_t kLongestName = 240;  // columns

Spans Words(std::string text, Span::Kind kind = Span::Kind::kText);  // our own words and figures
// For text of the rule data or the log: names (shapes, files, calls, options) become code, and words get `kind`. Words
// consist of letters, digits and harmless punctuation only, so they cannot be markup, a mention, a reference or a link
// in any format. Code that does not look like code is in backquotes in the rule data ("`free -h` shows"). A call with
// blanks inside its brackets is one name. No span is empty.
Spans Sentence(std::string_view sentence, Span::Kind kind = Span::Kind::kText);
Spans Name(std::string_view text, std::size_t columns = kLongestName);  // for a name from the log; empty if `text` is
Spans Joined(const std::vector<Spans>& pieces, std::string_view between = "");  // skips empty pieces
std::string PlainText(const Spans& spans);

struct Block;
using Blocks = std::vector<Block>;

// The first lines of a failure, a program or a page.
struct Verdict {
  int level = 1;     // 2: below a heading; 0: the title of a whole page
  std::string code;  // "E1000"; may be empty
  Spans title;
  std::vector<Spans> notes;  // one sentence each
  std::vector<Spans> facts;  // shown in one line
};

struct Section {
  std::string title;
  Blocks blocks;
};

struct Paragraph {
  Spans text;
};

struct Item;
struct List {
  enum class Style { kBullets, kNumbered, kFields };
  Style style = Style::kBullets;
  std::vector<Item> items;
};

struct Column {
  std::string title;
  bool is_number = false;
  bool is_whole = false;  // contains ids, which are never cut
};

struct Table {
  std::vector<Column> columns;
  std::vector<std::vector<Spans>> rows;
  std::uint64_t left_out = 0;
};

// Commands, or lines of code or of a log. They are never wrapped.
struct Code {
  std::string language;  // for syntax highlighting: "python"
  Spans lines;
};

struct Block {
  std::variant<Verdict, Section, Paragraph, List, Table, Code> content;
  template <typename Kind>
  Block(Kind kind) : content(std::move(kind)) {}  // NOLINT: implicit
};

struct Item {
  Spans text;
  Blocks blocks = {};  // below the text
  Spans label = {};    // the number or the name of the field; for bullets a mark that only plain text needs
};

// How much of a failure is shown.
struct Extent {
  std::size_t reasons = 2;
  std::size_t remedies = 3;
  std::size_t steps = 3;        // number of these remedies that are shown with what to do first
  std::size_t in_full = 0;      // number of these remedies that are shown with their reasons and all steps
  std::size_t allocations = 3;  // rows
  bool is_headline = false;     // only the verdict and the remedies
  bool is_whole = false;        // FirstBlocks shows all reasons, kinds of memory and attempts, and MoreBlocks the rest
  bool more_follows = false;    // MoreBlocks follows
};

Item Step(Spans text);     // something to do
Item Warning(Spans text);  // a problem with the input

// Short texts in one paragraph: "a · b · and 3 more". Empty if there are none.
Paragraph Inline(std::vector<Spans> texts, std::uint64_t left_out = 0);
Paragraph LeftOut(std::uint64_t count);  // "and 3 more"; empty for 0

// The whole text of a log message or other preformatted text.
Code CodeOf(std::string_view text, std::string language = "text");

// Adds a section without its empty paragraphs, lists, code, tables and columns. Adds nothing if no other block is left.
void AddSection(Section section, Blocks* blocks);

}  // namespace whyoom::doc
