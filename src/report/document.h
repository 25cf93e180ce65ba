// A report as a document. The builders (report_document.h) decide content, order and wording; the renderers for text,
// Markdown and HTML only lay it out.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "report/failure_view.h"
#include "report/memory_view.h"
#include "text/timestamp.h"

namespace whyoom::doc {

// The amount of detail at which an element is shown.
enum class Depth {
  kAlways,
  kMore,   // text with --all; folded in Markdown and HTML
  kBrief,  // replaces kMore elements where those are left out or folded
};

struct Span {
  enum class Kind { kText, kCode, kStrong, kFaint, kGood, kCareful, kBad, kLink, kPage };
  std::string text;  // printable, not escaped for any markup; kText never contains markup, see phrases.h
  Kind kind = Kind::kText;
  std::string url;  // kLink: text output appends it; kPage: a link within our own pages; text omits it
};
using Spans = std::vector<Span>;

inline constexpr std::size_t kLongestName = 240;  // columns

Spans Words(std::string text, Span::Kind kind = Span::Kind::kText);  // our own words and figures
// For text of the rule data or the log. Names become code; other words get `kind`.
Spans Sentence(std::string_view text, Span::Kind kind = Span::Kind::kText);
Spans Name(std::string_view text, std::size_t columns = kLongestName);  // for a name from the log; empty if `text` is
Spans Joined(const std::vector<Spans>& pieces, std::string_view between = "");  // skips empty pieces
std::string PlainText(const Spans& spans);

struct Block;
using Blocks = std::vector<Block>;

// The first lines of a page.
struct Verdict {
  int level = 1;     // 2: below a heading; 0: the title of a whole page
  std::string code;  // "E1000"; may be empty
  Spans title;
  std::vector<Spans> notes;  // one sentence each
  std::vector<Spans> facts;  // shown in one line
};

struct Heading {
  std::string text;
};

struct Section {
  std::string label;  // text only, next to the first line: "why"; at most 5 columns, except for tables
  std::string title;  // for Markdown and HTML
  Blocks blocks;
  bool follows = false;  // text: no empty line before the section
  bool open = false;     // never folded in HTML; in Markdown, not folded among the notes
  std::string anchor;    // HTML: anchor of the heading
  bool spare = false;    // text: left out if the first screen has no room for it
  bool weighty = false;  // text: each paragraph gets two lines of the first screen
};

struct Paragraph {
  Spans text;
};

struct Facts {
  std::vector<Spans> facts;
};

struct Item;
struct List {
  enum class Style { kBullets, kJoined, kSteps, kNumbered, kWarnings, kFields };  // kJoined: one paragraph in text
  Style style = Style::kBullets;
  bool whole = false;  // text, kSteps only: what to type, in one line for the clipboard
  std::string lead;    // text, kJoined only: what comes before the items, "would not help here: "
  std::vector<Item> items;
  std::uint64_t left_out = 0;
  std::string elsewhere;  // where to find the omitted items: " (--format json lists them)"
};

// A segment of a bar.
struct BarPart {
  double bytes = 0;
  std::string style;  // CSS class
  std::string label;  // empty: not shown
  bool hatched = false;
};

struct BarScale {
  double whole = 1;             // bytes at full width
  std::optional<double> limit;  // drawn as a mark
};

struct Column {
  // kSwatch: text with a colour sample (in plain text, a bar). kWord: a short text, after the kText columns.
  enum class Kind { kText, kNumber, kBar, kSwatch, kWord };
  std::string title;
  Kind kind = Kind::kText;
  std::size_t width = 0;         // text: minimum width in columns
  Depth depth = Depth::kAlways;  // text shows kMore only with --all; Markdown and HTML always do
};

struct Cell {
  Spans text;
  std::vector<BarPart> bar;     // drawn below or instead of the text
  std::optional<double> value;  // sort key, if the text does not sort correctly
};

struct Row {
  std::vector<Cell> cells;
  std::vector<std::string> brief;  // text: replaces the text cells; cut from the end to fit
  std::vector<std::string> below;  // text: lines below the row
  std::string anchor;              // link to the details on the page
  bool drops = false;              // text: drop pieces that do not fit, instead of cutting them
  Depth depth = Depth::kAlways;
};

struct Table {
  std::string style;  // CSS class
  std::string caption;
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::uint64_t left_out = 0;
  std::string elsewhere;
  BarScale scale;
};

// The memory that is needed and available. A drawing: the verdict states the same figures.
struct NeedBar {
  Need need;
  std::vector<BarPart> parts;  // of the needed memory; empty: only the figures
  std::vector<BarPart> free;   // of the free memory; empty if unknown
  std::vector<BarPart> rows;   // the largest allocations
};

// One bar. The text next to it contains the same information.
struct MemoryBar {
  std::vector<BarPart> parts;
  BarScale scale;
  bool thin = false;
  std::string alternative;  // text for screen readers
};

struct Timeline {
  TimelineView view;
  std::optional<double> limit;
};

// When the failures were first reported.
struct TimesChart {
  std::vector<Timestamp> times;
};

// A command for the user to copy. It is never wrapped.
struct Command {
  std::string command;
  Spans behind;     // what the command does
  std::string url;  // may be empty
};

struct CodeLine {
  std::string text;
  bool changed = false;  // differs from the other version of the code
};

// Code before or after a change.
struct Code {
  std::string caption;
  std::string language;  // for syntax highlighting: "python"
  std::vector<CodeLine> lines;
  bool after = false;
};

// Preformatted text from the log.
struct Pre {
  std::string text;
};

struct Block {
  using Content = std::variant<Verdict, Heading, Section, Paragraph, Facts, List, Table, NeedBar, MemoryBar, Timeline,
                               TimesChart, Command, Code, Pre>;
  template <typename Kind>
  Block(Kind kind, Depth deep = Depth::kAlways) : content(std::move(kind)), depth(deep) {}  // NOLINT: implicit
  Content content;
  Depth depth;
};

struct Item {
  Spans text;
  Depth depth = Depth::kAlways;
  int number = 0;       // kNumbered only
  std::string id;       // kNumbered only, faint after the text
  Blocks blocks;        // below the text
  std::string details;  // anchor of further details on the page
  Spans label;          // kFields only
};

// Selects the blocks for one kind of output.
enum class Pass {
  kBrief,  // without kMore
  kAll,    // without kBrief
  kRest,   // only what kBrief leaves out, with its headings
};

// A failure or a program. `make` creates its blocks on demand, because a batch can contain thousands of failures.
struct Part {
  Spans summary;  // shown while the part is folded
  const Failure* failure = nullptr;
  std::string anchor;
  Depth depth = Depth::kAlways;
  std::function<Blocks(Pass)> make;  // may omit blocks that Select would remove
};

struct Document {
  std::string title;
  bool batch = false;  // the parts are folded
  Blocks head;
  std::vector<Part> failures;
  Blocks table;                // batch only: of all failures
  Blocks remedies;             // batch only: notes on each remedy, independent of the log
  std::vector<Part> programs;  // programs that fit
  Blocks notes;                // unread inputs and errors that match no rule
  std::vector<Spans> footer;
};

inline Depth DepthAt(std::size_t at, std::size_t most) { return at < most ? Depth::kAlways : Depth::kMore; }

// Adds `section` without its empty paragraphs and lists. Adds nothing if no other block is left.
void AddSection(Section section, Depth depth, Blocks* blocks);

// Drawings can be dropped, because the text next to them contains the same information.
enum class Drawings { kKept, kDropped };
Blocks Select(Blocks blocks, Pass pass, Drawings drawings);

}  // namespace whyoom::doc
