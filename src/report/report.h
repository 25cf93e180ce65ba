// All that a printer sees. Printers format; they decide nothing.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/compiled_program.h"
#include "diagnose/finding.h"
#include "diagnose/finding_table.h"
#include "input/artifact.h"

namespace whyoom {

struct Report {
  std::string version;                    // of the program
  std::string rules_fingerprint;          // of the rule data
  std::vector<Finding> findings;          // root causes first
  std::vector<CompiledProgram> programs;  // no failures; the one that needs most first
  std::uint64_t programs_left_out = 0;    // beyond what a report holds
  std::uint64_t artifacts = 0;            // read, also in part
  std::uint64_t bytes = 0;                // read from them
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;
  std::map<std::string, std::uint64_t> reports_left_out;  // by code: of failures beyond what a report holds
};

// Moves the table's programs into the report. `limit` is what a device has, for those that do not know themselves.
void TakePrograms(FindingTable* table, const std::optional<double>& limit, Report* report);

// Puts the problems in an order that does not depend on what was read first, and keeps as many of them as a report can
// hold: the first ones. May be called again as more come.
void SortProblems(Report* report);
void SortProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

// The same where there are many more than a report can hold: for who collects them, call after each.
void BoundProblems(std::vector<Problem>* problems, std::uint64_t* left_out);

}  // namespace whyoom
