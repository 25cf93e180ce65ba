// Bars of memory and columns as inline SVG. Colours and hatching are the style sheet's.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/html/html_writer.h"
#include "text/timestamp.h"

namespace whyoom {

inline constexpr double kMargin = 1.02;  // of a scale: a limit at the right edge would not be seen

// A bar with its parts side by side; `alternative` is read out in its place. Empty: the numbers stand beside it.
void DrawBar(const std::vector<doc::BarPart>& parts, const doc::BarScale& scale, const std::string& style,
             const std::string& alternative, HtmlWriter* html);

// The head of a table's row: a small square in the part's colour, and its label.
void AddSwatchHead(const doc::BarPart& part, HtmlWriter* html);

// The parts of the need, the allocations below, the limit through both.
void DrawNeed(const doc::NeedBar& bar, HtmlWriter* html);

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

// How many of `times` fall into which span of the calendar, as columns; nothing if there are less than two different
// ones. `what` they are of is read out in its place.
void DrawTimes(const std::vector<Timestamp>& times, const std::string& what, HtmlWriter* html);

}  // namespace whyoom
