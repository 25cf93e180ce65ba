// Reads what --format ndjson printed, of one report or of many one behind the other, so that it can be merged: the
// failures, what was read and what could not be. Line by line; memory grows with the different failures only.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "diagnose/readings.h"
#include "input/byte_source.h"
#include "rules/rule_set.h"

namespace whyoom {

class ReportReader {
 public:
  // Borrows the rules.
  explicit ReportReader(const RuleSet& rules) : rules_(rules), table_(readings_.table.emplace(rules)) {}

  // Reads one source to its end; `path` is what problems call it. The order of the records does not matter. What is no
  // record, or was made with other rule data, is passed over, and so is a report that was cut; each is a problem.
  void Read(const std::string& path, ByteSource& source);

  // Adds a note on a source that could not be read.
  void Tell(const Problem& problem);

  // What all of them came to; shards (--shard) of which some are there and others not, or more often than others, are a
  // problem. Call once, at the end.
  Readings Take();

 private:
  // Lines with the same fault are told once.
  struct Complaint {
    std::uint64_t first_line = 0;
    std::uint64_t count = 0;
  };
  struct Counts {
    std::uint64_t headers = 0;
    std::uint64_t summaries = 0;
    std::uint64_t diagnoses = 0;
    std::uint64_t programs = 0;
    std::uint64_t problems = 0;
    std::uint64_t said_diagnoses = 0;  // by the summaries
    std::uint64_t said_programs = 0;
    std::uint64_t said_problems = 0;
    std::map<std::string, Complaint> complaints;
  };
  void TakeLine(std::string_view line, std::uint64_t number, Counts* counts);
  std::string TakeRecord(const nlohmann::json& record, Counts* counts);
  bool TakeDiagnosis(const nlohmann::json& record, Counts* counts);
  bool TakeProgram(const nlohmann::json& record, Counts* counts);
  bool TakeProblem(const nlohmann::json& record, Counts* counts);
  bool TakeSummary(const nlohmann::json& record, Counts* counts);
  void Tell(const std::string& path, const Counts& counts);
  void TellShards();

  const RuleSet& rules_;
  Readings readings_;
  FindingTable& table_;                                                     // of readings_
  std::map<std::uint64_t, std::map<std::uint64_t, std::uint64_t>> shards_;  // by their number: how often which is there
};

// The exit status of the job in a report that `whyoom run` wrote as JSON or ndjson; nullopt for anything else, also for
// a report with diagnoses.
std::optional<int> RecordedExitStatus(std::string_view report);

}  // namespace whyoom
