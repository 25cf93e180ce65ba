// Builds the document of a report. Decides headings, labels, order, limits, units and empty cases for every format.
#pragma once

#include <string>
#include <vector>

#include "diagnose/report.h"
#include "report/document.h"
#include "report/failure_view.h"

namespace whyoom {

// Both borrow the failure. The first blocks are what a reader needs at once; the others are everything else, without
// what the first blocks of the same extent contain.
doc::Blocks FirstBlocks(const Failure& failure, const doc::Extent& extent);
doc::Blocks MoreBlocks(const Failure& failure, const doc::Extent& extent);

struct ReportDocument {
  std::string title;
  bool is_batch = false;  // Markdown folds each failure below its SummaryOf
  doc::Blocks head;       // of a batch, or a report without failures
  std::vector<const Failure*> failures;
  std::string folder;                 // batch only: see CommonFolder
  std::size_t whole = 0;              // the number of failures that text shows in full
  doc::Blocks table;                  // batch only: of all failures
  std::vector<doc::Blocks> programs;  // programs that fit
  doc::Blocks notes;                  // unread inputs and errors that match no rule
  std::vector<doc::Spans> footer;
};

// Borrows the report.
ReportDocument MakeDocument(const Report& report);

// Shared by the files that build the document.

doc::Spans ReasonSpans(const Reason& reason);

// "It needs 9.81 GiB of 15.75 GiB (62 %); 5.94 GiB is free".
std::string ProgramVerdict(const CompiledProgram& program);

// The memory at the peak, by kind: a table, or one line.
doc::Table KindsTable(const ProgramEstimates& estimates);
void AddPeak(const ProgramEstimates& estimates, doc::Blocks* blocks);
// Adds the sizes that would fit: "batch 24 (now 64)".
void AddRoom(const Room& room, doc::Blocks* blocks);
// The parts of the needed memory that a log states.
doc::Paragraph NeededParts(const Failure& failure);

std::vector<doc::Blocks> ProgramBlocks(const Report& report);

// A failure in one line: "E1000.2 jit_step · 5.02 GiB too much · a.log:7".
doc::Spans SummaryOf(const Failure& failure, const std::string& folder);

// The common parent folder of all failures' inputs, "logs/run1/"; empty if there is none or it is very short.
std::string CommonFolder(const Report& report);
// Removes `folder` from a place (PlaceText): "a.log:7".
std::string BelowFolder(const std::string& place, const std::string& folder);

}  // namespace whyoom
