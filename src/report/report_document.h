// The document of a report. Headings, labels, order, limits, units and empty cases are decided here, for every format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "report/document.h"
#include "report/report.h"

namespace whyoom {

// Borrows the report.
doc::Document MakeDocument(const Report& report);

// One failure. `notes_elsewhere`: what holds of a remedy whatever the log is left to Document::remedies.
doc::Blocks FindingBlocks(const Diagnosis& finding, bool notes_elsewhere, doc::Pass pass);

// The parts that the files of the builder share.

doc::Spans LinkSpans(const Link& link);
doc::Spans ReasonSpans(const Reason& reason);

// What holds of a remedy whatever the log.
doc::Blocks RemedyNotes(const Remedy& remedy, const std::string& safe_why);

// Adds what to do, and what is not worth trying.
void AddRemedies(const Diagnosis& finding, bool notes_elsewhere, doc::Pass pass, doc::Blocks* blocks);

// Adds what fills the memory by kind and by module, over the program's order, and what would fit.
void AddMemory(const Prospects& prospects, const std::optional<double>& limit, doc::Blocks* blocks);

// The parts of the need that the report itemises, and what is free, if it lies in pieces.
std::vector<doc::BarPart> PartsOfNeed(const Diagnosis& finding, const Need& need);
std::vector<doc::BarPart> PartsOfFree(const Diagnosis& finding, const Need& need);

// What a remedy leaves, and what it saves.
doc::MemoryBar EffectBar(const Need& need, const RankedRemedy& ranked);

std::vector<doc::Part> ProgramParts(const Report& report);

// Adds the overview, the failures and the table of them.
void AddBatch(const Report& report, doc::Document* document);
std::string BatchTitle(const Report& report);  // "3 different failures in 40 inputs"

// The folder that all failures were found below, "logs/run1/"; empty if there is none, or hardly a name.
std::string CommonFolder(const Report& report);
// "a.log:7": a place (PlaceText) without that folder.
std::string BelowFolder(const std::string& place, const std::string& folder);

}  // namespace whyoom
