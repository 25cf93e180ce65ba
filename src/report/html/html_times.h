// Dates as people write them, and how many failures there were when.
#pragma once

#include <string>
#include <vector>

#include "report/html/html_writer.h"
#include "text/timestamp.h"

namespace whyoom {

// "21 Nov 2026, 01:52". In which zone stands once on the page, see ZoneText.
std::string DateText(const Timestamp& time);

// "21 Nov 2026, 01:52 to 03:10", "23 Dec 2021 to 21 Nov 2026": what both have is said once, and of what lies days apart
// no time of day.
std::string PeriodText(const Timestamp& first, const Timestamp& last);

// "UTC"; "as the logs have it, without a zone". Empty for no times.
std::string ZoneText(const std::vector<Timestamp>& times);

// How many of `times` fall into which span of the calendar, as columns; nothing where there are less than two different
// ones. `what` they are of is said to who does not see it.
void DrawTimes(const std::vector<Timestamp>& times, const std::string& what, HtmlWriter* html);

}  // namespace whyoom
