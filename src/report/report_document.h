// Builds the document of a report. Decides headings, labels, order, limits, units and empty cases for every format.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "diagnose/report.h"
#include "report/document.h"

namespace whyoom {

// Borrows the report.
doc::Document MakeDocument(const Report& report);

// One failure. If `notes_elsewhere` is true, notes that do not depend on the log are only in Document::remedies.
doc::Blocks FailureBlocks(const Failure& failure, bool notes_elsewhere, doc::Pass pass);

// Shared by the files that build the document.

doc::Spans LinkSpans(const Link& link);
doc::Spans ReasonSpans(const Reason& reason);

// Notes on a remedy that do not depend on the log.
doc::Blocks RemedyNotes(const Remedy& remedy, const std::string& safe_why);

// Adds the remedies that can help, then those that would not.
void AddRemedies(const Failure& failure, bool notes_elsewhere, doc::Pass pass, doc::Blocks* blocks);

// Adds the memory by kind and over the program's schedule, and the sizes that would fit.
void AddMemory(const ProgramEstimates& estimates, const std::optional<double>& limit, doc::Blocks* blocks);

// Adds the memory by module, and how the mesh splits the arrays.
void AddMemoryTables(const ProgramEstimates& estimates, doc::Blocks* blocks);

// The segments of the bars of the needed memory and, for failures at run time, of the free memory.
std::vector<doc::BarPart> PartsOfNeed(const Failure& failure, const Need& need);
std::vector<doc::BarPart> PartsOfFree(const Failure& failure, const Need& need);

// A bar that shows the need with the remedy applied, and what the remedy saves.
doc::MemoryBar EffectBar(const Need& need, const RankedRemedy& ranked);

std::vector<doc::Part> ProgramParts(const Report& report);

// Adds the overview, the failures, and the table of all failures.
void AddBatch(const Report& report, doc::Document* document);
std::string BatchTitle(const Report& report);  // "3 different failures in 40 inputs"

// The common parent folder of all failures' inputs, "logs/run1/"; empty if there is none or it is very short.
std::string CommonFolder(const Report& report);
// Removes `folder` from a place (PlaceText): "a.log:7".
std::string BelowFolder(const std::string& place, const std::string& folder);

}  // namespace whyoom
