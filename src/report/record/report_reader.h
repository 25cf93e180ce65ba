// Reads the output of --format ndjson, one report or several concatenated ones, to merge them. It reads line by line,
// so memory grows only with the number of different failures.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "diagnose/report.h"
#include "input/byte_source.h"
#include "report/record/fields.h"
#include "rules/rule_set.h"

namespace whyoom {

class ReportReader {
 public:
  // Borrows the rules.
  explicit ReportReader(const RuleSet& rules) : rules_(rules), table_(report_.table.emplace(rules)) {}

  // Reads one source to its end; problems name it `path`. Records may have any order. Skips lines that are not records
  // and records made with other rule data. Reports these and truncated reports as problems.
  void Read(const std::string& path, ByteSource& source);

  // Returns the merged report. Call once, at the end.
  Report Take() { return std::move(report_); }

 private:
  // Lines with the same fault are reported once.
  struct Complaint {
    std::uint64_t first_line = 0;
    std::uint64_t count = 0;
  };
  struct Counts {
    std::uint64_t headers = 0;
    std::uint64_t summaries = 0;
    std::uint64_t records = 0;     // diagnoses, programs and problems
    std::uint64_t summarized = 0;  // how many of them the summaries count
    std::map<std::string, Complaint> complaints;
  };
  std::string ReadRecord(std::string_view line, Counts* counts);
  bool ReadPart(const std::string& type, const nlohmann::json& record);
  bool ReadSummary(const nlohmann::json& record, Counts* counts);
  void Tell(const std::string& path, const Counts& counts);

  const RuleSet& rules_;
  Report report_;
  FailureTable& table_;  // of report_
};

// A report without conclusions as JSON, not shortened: read back, it joins with others exactly as the original would.
Json ToStored(const Report& report, const std::string& rules_fingerprint);

// Returns nullopt unless ToStored made the JSON. The report borrows the rules, which are loaded only for failures.
std::optional<Report> FromStored(const nlohmann::json& json, const RuleSource& rules);

}  // namespace whyoom
