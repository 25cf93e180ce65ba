// Reports for programs: one JSON object, or one record per line. docs/report.schema.json describes both.
#pragma once

#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "diagnose/report.h"
#include "report/diff.h"
#include "rules/rule_set.h"

namespace whyoom {

std::string PrintJson(const Report& report);

// --brief: a short report, one line per diagnosis, for readers that pay for each word, such as language models. It has
// only the fields of a report that a first look needs: two reasons, three remedies, and their first steps.
std::string PrintBriefJson(const Report& report);
nlohmann::ordered_json BriefRecord(const Failure& failure);

// Maximum length of a record.
inline constexpr std::size_t kMostRecordBytes = std::size_t{512} << 10;

// The report for batches: one JSON object per line, so reports can be concatenated, split by lines and merged
// (report_reader.h). "type" is header, diagnosis, program, problem or summary.
//
//   - ASCII only. A name that is not valid text is made printable.
//   - Records are bounded, well below half a megabyte: long texts are cut, and only the first allocations are
//     printed; "allocations_left_out" counts the others.
//   - Equal reports give equal bytes. Merging the reports of any parts of the input gives the report of the whole.
std::string PrintNdjson(const Report& report);

// docs/diff.schema.json describes it.
std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules);

}  // namespace whyoom
