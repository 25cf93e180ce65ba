// Memory bars and column charts as inline SVG. The style sheet sets colours and hatching.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/html/html_writer.h"
#include "text/timestamp.h"

namespace whyoom {

inline constexpr double kMargin = 1.02;  // full width / largest value; keeps a limit at the right edge visible

// Draws the parts side by side. `alternative` is the text for screen readers; empty if the figures are next to the bar.
void DrawBar(const std::vector<doc::BarPart>& parts, const doc::BarScale& scale, const std::string& style,
             const std::string& alternative, HtmlWriter* html);

// Adds the heading cell of a table row: a small square in the part's colour, and its label.
void AddSwatchHead(const doc::BarPart& part, HtmlWriter* html);

// Draws bars for the need, the free memory and the allocations, one below the other, each with the limit as a line.
void DrawNeed(const doc::NeedBar& bar, HtmlWriter* html);

struct ColumnChart {
  std::vector<double> heights;
  std::vector<std::string> titles;  // one per column; may be empty
  double whole = 1;                 // value at full height
  std::optional<double> limit;      // drawn as a line
  std::string alternative;          // text for screen readers
  std::string begin, middle, end;   // captions below
};
void DrawColumns(const ColumnChart& chart, HtmlWriter* html);

// Draws how many of `times` fall into each calendar interval; draws nothing if there are fewer than two different
// times. `what` is the chart's label for screen readers.
void DrawTimes(const std::vector<Timestamp>& times, const std::string& what, HtmlWriter* html);

}  // namespace whyoom
