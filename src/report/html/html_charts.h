// Bars of memory as inline SVG: all bars of a diagnosis have one scale, and the limit stands at one place in them.
// Colours and hatching are the style sheet's.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "report/finding_view.h"
#include "report/html/html_writer.h"

namespace whyoom {

// A piece of a bar.
struct BarPart {
  double bytes = 0;
  std::string style;     // class of the style sheet
  std::string label;     // empty: none is shown
  bool padding = false;  // hatched
};

// What a bar is drawn on.
struct BarScale {
  double whole = 1;             // bytes of the full width
  std::optional<double> limit;  // marked
};

// So that need, limit and every listed allocation have room.
BarScale ScaleOf(const Need& need);

// A bar with its parts side by side; `alternative` is read out in its place. Empty: the numbers stand beside it.
void DrawBar(const std::vector<BarPart>& parts, const BarScale& scale, const std::string& style,
             const std::string& alternative, HtmlWriter* html);

// The head of a table's row: a small square in the part's colour, and its label.
void AddSwatchHead(const BarPart& part, HtmlWriter* html);

// What a remedy that saves something leaves, what it saves, and the limit.
void DrawEffect(const Need& need, const RankedRemedy& ranked, HtmlWriter* html);

// What fills the memory: the parts of the need, the listed allocations below, the limit through both, and a table of
// the parts. At most `most_rows` allocations. Only what the log tells; nothing is drawn where it tells no need.
void DrawMemory(const Diagnosis& finding, std::size_t most_rows, HtmlWriter* html);

// Columns side by side.
struct ColumnChart {
  std::vector<double> heights;
  std::vector<std::string> titles;  // of the columns; may be empty
  double whole = 1;                 // of the full height
  std::optional<double> limit;      // marked
  std::string alternative;          // read out in its place
  std::string begin, middle, end;   // stand below it
};
void DrawColumns(const ColumnChart& chart, HtmlWriter* html);

}  // namespace whyoom
