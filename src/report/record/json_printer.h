// The report for programs: as one JSON object, or record by record. docs/report.schema.json describes both.
#pragma once

#include <cstddef>
#include <string>

#include "diagnose/trace.h"
#include "report/diff.h"
#include "report/report.h"
#include "rules/rule_set.h"

namespace whyoom {

std::string PrintJson(const Report& report);

// --brief: the same in short, docs/brief.schema.json; a line a diagnosis.
std::string PrintBriefJson(const Report& report);

// No record is longer.
inline constexpr std::size_t kMostRecordBytes = std::size_t{512} << 10;

// The report for batches: one JSON object a line, so that many reports can be put one behind the other, split by lines
// and merged (report_reader.h): "type" is header, diagnosis, program, problem or summary.
//
//   - ASCII only; a name that is no text comes as "path_bytes" (base64) beside "path".
//   - A record is bounded, well below half a megabyte: long texts are cut, and of a list of allocations the first ones
//     are printed; "allocations_left_out" counts the others.
//   - The same report gives the same bytes, and so does the merged report of any parts of what was read.
std::string PrintNdjson(const Report& report);

std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules);

std::string PrintTraceJson(const LogTrace& trace, const std::string& version, const RuleSet& rules);

}  // namespace whyoom
