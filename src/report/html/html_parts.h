// The parts of a page: a diagnosis, the memory of a program, the overview of a batch.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"
#include "program/prospect.h"
#include "report/html/html_writer.h"
#include "report/report.h"

namespace whyoom {

struct FindingLayout {
  int level = 1;                    // of its heading
  std::size_t allocations = 200;    // rows at most
  std::size_t whole_remedies = 50;  // the others are only named; needs remedies_elsewhere where there are others
  bool remedies_elsewhere = false;  // what is true of a remedy in general stands once on the page, see AddRemedyNotes
};

void AddFinding(const Diagnosis& finding, const FindingLayout& layout, HtmlWriter* html);

// What is true of these remedies whatever the log, in order of their titles; the diagnoses point there.
void AddRemedyNotes(const std::set<const Remedy*>& remedies, HtmlWriter* html);

// What fills the memory by kind and by the user's modules, over the program's order, and what would fit; `limit` is
// marked where it is known. `level` is that of the headings. Nothing where nothing is known.
void AddMemory(const Prospects& prospects, const std::optional<double>& limit, int level, HtmlWriter* html);

// The programs of a report that are no failures; nothing where there are none.
void AddPrograms(const Report& report, HtmlWriter* html);

// "3 different failures in 40 inputs".
std::string BatchTitle(const Report& report);

// The folder that all failures were found below, "logs/run1/"; empty where there is none, or hardly a name.
std::string CommonFolder(const Report& report);
// "a.log:7": a place (PlaceText) without that folder.
std::string BelowFolder(const std::string& place, const std::string& folder);

// What failed, what would help, when.
void AddOverview(const Report& report, const std::string& folder, HtmlWriter* html);

// Names of places in the page, by finding; those without details are missing.
using Anchors = std::map<const Diagnosis*, std::string>;

// A table in which everybody finds his own failure, in the order given; each row leads to its details where the page
// holds them. Beyond a few thousand, how many there are more.
void AddFailureTable(const std::vector<const Diagnosis*>& findings, const Anchors& anchors, const std::string& folder,
                     HtmlWriter* html);

}  // namespace whyoom
