// A report as a document: what is shown, in which order and words. The builders (report_document.h) decide that; the
// renderers for text, Markdown and HTML only lay it out.
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

#include "report/finding_view.h"
#include "report/memory_view.h"
#include "text/timestamp.h"

namespace whyoom::doc {

// Which readers see an element.
enum class Depth {
  kAlways,
  kMore,   // text with --all; folded in Markdown and HTML
  kBrief,  // stands in for what is kMore, if that is left out or folded
};

struct Span {
  enum class Kind { kText, kCode, kStrong, kFaint, kGood, kCareful, kBad, kLink, kPage };
  std::string text;  // printable; not escaped for any markup. kText cannot be markup, see phrases.h
  Kind kind = Kind::kText;
  std::string url;  // of kLink: text shows it behind the words. Of kPage, a place in our own pages: it does not
};
using Spans = std::vector<Span>;

inline constexpr std::size_t kLongestName = 240;  // columns

Spans Words(std::string text, Span::Kind kind = Span::Kind::kText);  // our own words and figures
// Of the rule data or the log: names in it are code, the words are of `kind`.
Spans Sentence(std::string_view text, Span::Kind kind = Span::Kind::kText);
Spans Name(std::string_view text, std::size_t columns = kLongestName);  // out of the log; nothing for an empty one
Spans Joined(const std::vector<Spans>& pieces, std::string_view between = "");  // without empty pieces
std::string PlainText(const Spans& spans);

struct Block;
using Blocks = std::vector<Block>;

// What a page begins with.
struct Verdict {
  int level = 1;     // 2: below a heading; 0: of a page that stands by itself
  std::string code;  // "E1000"; may be empty
  Spans title;
  std::vector<Spans> notes;  // a sentence each
  std::vector<Spans> facts;  // in one line
};

struct Heading {
  std::string text;
};

struct Section {
  std::string label;  // for text, beside the first line: "why"
  std::string title;  // for Markdown and HTML
  Blocks blocks;
  bool follows = false;  // text: no empty line before it
  bool open = false;     // HTML does not fold it, whatever its depth; Markdown neither, among the notes
  std::string anchor;    // HTML: of its heading
};

struct Paragraph {
  Spans text;
};

// Short facts in one line.
struct Facts {
  std::vector<Spans> facts;
};

struct Item;
struct List {
  enum class Style { kBullets, kJoined, kSteps, kNumbered, kWarnings, kFields };  // kJoined: one paragraph in text
  Style style = Style::kBullets;
  std::string lead;  // text, of kJoined: "worth trying here: "
  std::vector<Item> items;
  std::uint64_t left_out = 0;
  std::string elsewhere;  // where those are: " (--format json has them)"
};

// Piece of a bar.
struct BarPart {
  double bytes = 0;
  std::string style;  // class of the style sheet
  std::string label;  // empty: not shown
  bool hatched = false;
};

struct BarScale {
  double whole = 1;             // bytes of the full width
  std::optional<double> limit;  // marked
};

struct Column {
  // kSwatch: a text and the colour of its part; in text a bar. kWord: short texts, behind those of kText.
  enum class Kind { kText, kNumber, kBar, kSwatch, kWord };
  std::string title;
  Kind kind = Kind::kText;
  std::size_t width = 0;         // text: the least number of columns
  Depth depth = Depth::kAlways;  // text leaves out kMore; Markdown and HTML have room for all
};

struct Cell {
  Spans text;
  std::vector<BarPart> bar;     // drawn below or in place of the text
  std::optional<double> value;  // to sort by, if the text does not sort by itself
};

struct Row {
  std::vector<Cell> cells;
  std::vector<std::string> brief;  // text: in place of the text cells; what does not fit is cut from the end
  std::vector<std::string> below;  // text: lines below it
  std::string anchor;              // the page's details of it
  bool drops = false;              // text: pieces of it are dropped, not cut
  Depth depth = Depth::kAlways;
};

struct Table {
  std::string style;    // class of the style sheet
  std::string caption;  // of the bars
  std::vector<Column> columns;
  std::vector<Row> rows;
  std::uint64_t left_out = 0;
  std::string elsewhere;
  BarScale scale;
};

// What is needed, and what there is.
struct NeedBar {
  Need need;
  std::vector<BarPart> parts;  // of the need
  std::vector<BarPart> free;   // of what is free, if that lies in pieces
  std::vector<BarPart> rows;   // the largest allocations
};

// One bar. A drawing: what it shows is in the text beside it.
struct MemoryBar {
  std::vector<BarPart> parts;
  BarScale scale;
  bool thin = false;
  std::string alternative;  // read out in its place
};

struct Timeline {
  TimelineView view;
  std::optional<double> limit;
};

// How many failures were first reported when.
struct TimesChart {
  std::vector<Timestamp> times;
};

// To be copied: never wrapped.
struct Command {
  std::string command;
  Spans behind;     // what it does
  std::string url;  // may be empty
};

struct CodeLine {
  std::string text;
  bool changed = false;  // the other side has no such line at this place
};

// Code before or after a change.
struct Code {
  std::string caption;
  std::string language;  // for what colours it: "python"
  std::vector<CodeLine> lines;
  bool after = false;
};

// Text of the log.
struct Pre {
  std::string text;
  std::size_t brief = 0;  // columns in text; 0: all of it
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
  int number = 0;       // of kNumbered
  std::string id;       // of kNumbered, faint behind the text
  Blocks blocks;        // below it
  std::string details;  // anchor of what the page says of it elsewhere
  Spans label;          // of kFields
};

// What is left of blocks for one kind of reader.
enum class Pass {
  kBrief,  // without what is kMore
  kAll,    // without what stands in for it
  kRest,   // only what kBrief leaves out, under its headings
};

// A failure or a program, made when it is rendered: a batch has thousands.
struct Part {
  Spans summary;  // what it is called if it is folded
  std::string anchor;
  Depth depth = Depth::kAlways;
  std::function<Blocks(Pass)> make;  // may leave out what Select would
};

struct Document {
  std::string title;
  bool batch = false;  // the parts are folded
  Blocks head;
  std::vector<Part> findings;
  Blocks failures;             // of a batch: a table of them all
  Blocks remedies;             // of a batch: what holds of each remedy whatever the log
  std::vector<Part> programs;  // that are no failures
  Blocks notes;                // what could not be read, errors that no rule knows
  std::vector<Spans> footer;
};

inline Depth DepthAt(std::size_t at, std::size_t most) { return at < most ? Depth::kAlways : Depth::kMore; }

// Without empty paragraphs and lists; nothing if there is nothing else in it.
void AddSection(Section section, Depth depth, Blocks* blocks);

// Drawings show what is in the text beside them.
enum class Drawings { kKept, kDropped };
Blocks Select(Blocks blocks, Pass pass, Drawings drawings);

}  // namespace whyoom::doc
