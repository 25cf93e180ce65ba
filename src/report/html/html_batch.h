// The overview of a batch: what failed, what would help, when, and a table of all failures in which everybody finds his
// own. Each row leads to its details where the page holds them.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "report/html/html_writer.h"
#include "report/report.h"

namespace whyoom {

// Names of places in the page, by finding; those without details are missing.
using Anchors = std::map<const Finding*, std::string>;

// "3 different failures in 40 inputs".
std::string BatchTitle(const Report& report);

void AddOverview(const Report& report, HtmlWriter* html);

// The failures in the order given; beyond a few thousand, how many there are more.
void AddFailureTable(const std::vector<const Finding*>& findings, const Anchors& anchors, HtmlWriter* html);

}  // namespace whyoom
