// The parts of the JSON contract that the formats share: a diagnosis, a problem, the summary. What is not known is
// absent.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "diagnose/finding.h"
#include "report/report.h"
#include "report/summary.h"

namespace whyoom {

using Json = nlohmann::ordered_json;

inline constexpr const char* kReportSchema = "whyoom.report/1";

Json FindingJson(const Finding& finding);

Json ProgramJson(const CompiledProgram& program);

Json ProblemJson(const Problem& problem);

// What a reader needs beside the fields for people, so that merging comes to what reading the logs at once would have.
// `rules` is the fingerprint of the rule data.
Json MergeJson(const Finding& finding, const std::string& rules);

// Without the problems themselves; of long lists the most frequent.
Json SummaryJson(const Report& report);

Json ToolJson(const Report& report);

}  // namespace whyoom
