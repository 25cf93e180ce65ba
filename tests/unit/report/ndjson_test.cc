// The records of --format ndjson are clean and bounded, and are read back to the same report.
#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "process.h"
#include "read/engine.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "report/record/report_reader.h"

using namespace whyoom;
using nlohmann::json;

namespace TEST_FILE {

Report Finish(Report found) {
  Report report = MakeReport(BuiltInRules().fingerprint, std::move(found));
  report.version = "1";
  return report;
}

Report ReadLogs(const std::vector<std::pair<Artifact, std::string>>& logs) {
  static const Engine engine(BuiltInRules());
  Report found;
  for (const auto& [artifact, log] : logs) found.Join(ReadArtifact(engine, artifact, *OpenMemory(log)));
  return found;
}

Report Diagnose(const std::vector<std::pair<Artifact, std::string>>& logs) { return Finish(ReadLogs(logs)); }

Report Merge(const std::vector<std::string>& parts) {
  ReportReader reader(BuiltInRules());
  for (const std::string& part : parts) reader.Read("part", *OpenMemory(part));
  return Finish(reader.Take());
}

std::string CaseLog(const std::string& name) {
  return ReadText(std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name + "/log");
}

std::vector<std::string> Lines(const std::string& text) {
  std::vector<std::string> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = text.find('\n', begin);
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

std::vector<std::string> Problems(const Report& report) {
  std::vector<std::string> all;
  for (const Problem& problem : report.problems) all.push_back(problem.what);
  return all;
}

const std::string kBuffer =
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There "
    "are 6.43M free.; (0x0x1_HBM0)\n";

// A report with `rows` allocations whose names contain `name`.
std::string LongReport(int rows, const std::string& name) {
  std::string log =
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.00G of "
      "15.75G hbm. Exceeded hbm capacity by 4.25G.\n  Largest program allocations in hbm:\n";
  for (int i = 1; i <= rows; ++i) {
    log += fmt::format(
        "  {}. Size: 6.00M\n     Operator: op_name=\"jit(f)/{}/{}\"\n     Shape: f32[6,1024,256]{{2,1,0:T(8,128)}}\n   "
        "  "
        "Unpadded size: 6.00M\n     XLA label: fusion.{} = fusion(p.1)\n     Allocation type: HLO temp\n",
        i, name, i, i);
  }
  return log;
}

TEST_CASE("a report is read back to the same report, in every format", "[report]") {
  for (const char* name : {"buffer-eight-hosts", "compile-padded-points", "compile-short-message", "compile-sparsecore",
                           "compile-unrolled-blocks", "neighbour-vmem", "program-too-large", "silent-source-line"}) {
    INFO(name);
    const Report report = Diagnose({{{"log", ""}, CaseLog(name)}});
    const std::string printed = PrintNdjson(report);
    const Report merged = Merge({printed});
    CHECK(PrintNdjson(merged) == printed);
    CHECK(PrintJson(merged) == PrintJson(report));
    CHECK(PrintText(merged, {}) == PrintText(report, {}));
  }
}

TEST_CASE("the header comes first and the summary last, even in an empty report", "[report]") {
  const std::vector<std::string> lines = Lines(PrintNdjson(Merge({})));
  REQUIRE(lines.size() == 2);
  CHECK(json::parse(lines[0])["type"] == "header");
  CHECK(json::parse(lines[0])["schema"] == "whyoom.report/1");
  const json summary = json::parse(lines[1]);
  CHECK(summary["type"] == "summary");
  for (const char* count : {"artifacts", "bytes", "diagnoses", "occurrences", "problem_count"})
    CHECK(summary[count] == 0);
}

TEST_CASE("records are ASCII, and a name that is not text is made printable", "[report]") {
  const std::string path = "l\xc3\xb6g\xff\x1b[31m\n.log";
  const std::string member = "m\xfe";
  const Report report = Diagnose({{{path, member}, "[h\xc3\xb6st] " + kBuffer}});
  const std::string printed = PrintNdjson(report);
  CHECK(std::all_of(printed.begin(), printed.end(), [](char c) { return (c >= 0x20 && c < 0x7f) || c == '\n'; }));
  const json failure = json::parse(Lines(printed)[1]);
  CHECK(failure["where"]["path"] == "l\xc3\xb6g\xef\xbf\xbd\xef\xbf\xbd[31m .log");
  CHECK(failure["where"]["member"] == "m\xef\xbf\xbd");
  const Report merged = Merge({printed});
  REQUIRE(merged.failures.size() == 1);
  CHECK(PrintNdjson(merged) == printed);
}

TEST_CASE("records are bounded and count what they omit", "[report][slow]") {
  std::string log = LongReport(3000, std::string(500, 'n') + "\xc3\xb6");
  for (int i = 0; i < 4000; ++i) log += fmt::format("[pod/name-{:0180}] {}", i, kBuffer);
  log +=
      "Ran out of memory on HBM, the total memory required for HLO temporaries (41.00G) exceeds available HBM "
      "(31.25G). HLO module: jit_" +
      std::string(3000, 'm') + ".\n";
  const std::string name(4000, '\xff');
  const Report report = Diagnose({{{name, name}, log}});
  const std::string printed = PrintNdjson(report);
  for (const std::string& line : Lines(printed)) CHECK(line.size() < kMostRecordBytes);
  const json list = json::parse(Lines(printed)[1]);
  CHECK(list["allocations"].size() > 20);
  CHECK(list["allocations"].size() + list["allocations_left_out"].get<std::size_t>() == 3000);
  const json hosts = json::parse(Lines(printed)[2]);
  CHECK(hosts["occurrences_estimated"] == true);
  CHECK(hosts["occurrences"].get<double>() == Approx(4000).epsilon(0.4));
  CHECK(PrintNdjson(Merge({printed})) == printed);
}

TEST_CASE("lines that are no records are skipped and reported once", "[report]") {
  const std::string good = PrintNdjson(Diagnose({{{"a.log", ""}, kBuffer}}));
  const std::string bad = "not a record\n{\"type\":\"diagnosis\"}\n[1,2]\n{\"type\":\"other\"}\n\n\x01\x02\xff\n" +
                          std::string(600000, '[') + "\n";
  const Report merged = Merge({bad + good});
  REQUIRE(merged.failures.size() == 1);
  CHECK(Problems(merged) ==
        std::vector<std::string>{
            "6 lines are not written by whyoom --format ndjson (only that format can be merged), the first is line 1"});
  CHECK(merged.artifacts == 1);
}

TEST_CASE("a truncated report is detected", "[report]") {
  const std::string good = PrintNdjson(Diagnose({{{"a.log", ""}, kBuffer}, {{"b.log", ""}, CaseLog("neighbour-cpu")}}));
  std::vector<std::string> lines = Lines(good);
  REQUIRE(lines.size() == 4);
  CHECK(Problems(Merge({lines[0] + "\n" + lines[1] + "\n"})) ==
        std::vector<std::string>{"a report is truncated: its summary is missing"});
  CHECK(Problems(Merge({lines[0] + "\n" + lines[2] + "\n" + lines[3] + "\n"})) ==
        std::vector<std::string>{"a report is truncated: it contains fewer records than its summary counts"});
  CHECK(Problems(Merge({good.substr(0, good.size() - 40)})).size() == 2);
  CHECK(Problems(Merge({good + good})).empty());
  CHECK(Problems(Merge({lines[3] + "\n" + lines[1] + "\n" + lines[0] + "\n" + lines[2]})).empty());
}

TEST_CASE("records made with other rule data are skipped and reported", "[report]") {
  std::string other = PrintNdjson(Diagnose({{{"a.log", ""}, kBuffer}}));
  const std::string mine = other;
  for (std::size_t at = other.find(BuiltInRules().fingerprint); at != std::string::npos;
       at = other.find(BuiltInRules().fingerprint, at + 1))
    other.replace(at, 8, "00000000");
  const Report merged = Merge({other, mine});
  CHECK(merged.failures.size() == 1);
  CHECK(merged.failures[0].tally.artifacts == 1);
  CHECK(merged.artifacts == 1);
  REQUIRE(merged.problems.size() == 1);
  CHECK(merged.problems[0].what.find("2 lines are made with different rule data (00000000") == 0);
}

TEST_CASE("a damaged record is rejected or harmless", "[report][slow]") {
  const std::string good =
      PrintNdjson(Diagnose({{{"a.log", ""}, CaseLog("compile-padded-points")}, {{"b.log", ""}, "[r1] " + kBuffer}}));
  std::mt19937 random(5);
  int accepted = 0;
  for (int round = 0; round < 400; ++round) {
    std::string damaged = good;
    for (int edits = 1 + static_cast<int>(random() % 4); edits > 0; --edits) {
      const std::size_t at = random() % damaged.size();
      static const std::string kBytes = "0123456789{}[]\",:-e\\u\n\xff";
      switch (random() % 3) {
        case 0:
          damaged[at] = kBytes[random() % kBytes.size()];
          break;
        case 1:
          damaged.erase(at, random() % 40);
          break;
        default:
          damaged.insert(at, 1, kBytes[random() % kBytes.size()]);
      }
    }
    const Report merged = Merge({damaged, good});
    accepted += static_cast<int>(merged.failures.size());
    CHECK(merged.failures.size() >= 2);
    for (const std::string& printed : {PrintText(merged, {}), PrintJson(merged), PrintNdjson(merged)}) {
      const bool clean = std::all_of(printed.begin(), printed.end(),
                                     [](char c) { return static_cast<unsigned char>(c) >= 0x20 || c == '\n'; });
      CHECK(clean);
    }
  }
  CHECK(accepted > 0);
}

TEST_CASE("a record with a field of the wrong type is rejected", "[report]") {
  const std::string good = PrintNdjson(Diagnose({{{"a.log", ""}, CaseLog("compile-padded-points")}}));
  const json failure = json::parse(Lines(good)[1]);
  const std::vector<std::pair<json::json_pointer, json>> changes = {
      {"/id"_json_pointer, "0123"},
      {"/code"_json_pointer, "E9999"},
      {"/code"_json_pointer, 1},
      {"/where"_json_pointer, nullptr},
      {"/where/line"_json_pointer, -1},
      {"/scenario/id"_json_pointer, "99"},
      {"/confidence"_json_pointer, "sure"},
      {"/facts/\x1b"_json_pointer, 1},
      {"/facts/limit_bytes"_json_pointer, json::array()},
      {"/allocations/0/size_bytes"_json_pointer, 1.5},
      {"/allocations/0"_json_pointer, "row"},
      {"/remedies/0/id"_json_pointer, "pray"},
      {"/remedies/0/enough_with"_json_pointer, json::array({"\x1b[2J"})},
      {"/hosts"_json_pointer, json::array({7})},
      {"/merge"_json_pointer, nullptr},
      {"/merge/reports"_json_pointer, "many"},
      {"/first_time"_json_pointer, "yesterday"},
      {"/last_time"_json_pointer, "2026-02-30T00:00:00"},
  };
  for (const auto& [where, value] : changes) {
    json changed = failure;
    changed[where] = value;
    INFO(where.to_string());
    const Report merged = Merge({changed.dump() + "\n"});
    CHECK(merged.failures.empty());
    CHECK(merged.problems.size() == 1);
  }
  json timed = failure;
  timed["first_time"] = "2026-02-28T23:59:59.000120Z";
  timed["last_time"] = "2026-03-01T01:02:03";
  const Report merged = Merge({timed.dump() + "\n"});
  REQUIRE(merged.failures.size() == 1);
  const json again = json::parse(Lines(PrintNdjson(merged))[1]);
  CHECK(again["first_time"] == timed["first_time"]);
  CHECK(again["last_time"] == timed["last_time"]);
}

TEST_CASE("a report contains the first problems and counts the others", "[report][slow]") {
  std::vector<std::string> parts;
  Report whole;
  for (int part = 0; part < 3; ++part) {
    Report found;
    for (int i = 0; i < 7000; ++i) {
      const Problem problem = {fmt::format("gone-{}-{}", i, part), "", "there is no such file or folder"};
      found.problems.push_back(problem);
      whole.problems.push_back(problem);
    }
    parts.push_back(PrintNdjson(Finish(found)));
  }
  const std::string expected = PrintNdjson(Finish(whole));
  CHECK(Lines(expected).size() == 10002);
  CHECK(json::parse(Lines(expected).back())["problem_count"] == 21000);
  CHECK(PrintNdjson(Merge(parts)) == expected);
  CHECK(PrintNdjson(Merge({PrintNdjson(Merge({parts[2], parts[0]})), parts[1]})) == expected);
}

}  // namespace TEST_FILE
