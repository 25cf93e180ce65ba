// A table that was written and read back joins and concludes like the original: in every format, for every case.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "read/engine.h"
#include "report/printers.h"
#include "report/record/report_reader.h"

namespace whyoom {
namespace TEST_FILE {

FailureTable TableOf(const std::string& log, const std::string& path) {
  static const Engine engine(BuiltInRules());
  Report report = ReadArtifact(engine, {path, ""}, *OpenMemory(log));
  return report.table ? *std::move(report.table) : FailureTable(BuiltInRules());
}

std::string TextOf(const FailureTable& table) {
  Report report;
  report.table = table;
  return LineOf(ToStored(report, BuiltInRules().fingerprint));
}

std::optional<Report> ReadStored(const std::string& text) {
  static const RuleSource rules(BuiltInRules());
  return FromStored(nlohmann::json::parse(text, nullptr, false), rules);
}

FailureTable ThroughText(const FailureTable& table) {
  const std::string text = TextOf(table);
  CHECK(std::all_of(text.begin(), text.end(), [](char c) { return c >= 0x20 && c < 0x7F; }));
  std::optional<Report> read = ReadStored(text);
  REQUIRE(read);
  if (!read->table) {  // stands for an empty table
    CHECK(table.entries().empty());
    CHECK(table.programs().programs().empty());
    return FailureTable(BuiltInRules());
  }
  CHECK((TextOf(*read->table) == text));
  return *std::move(read->table);
}

std::string Show(FailureTable table, const XlaDump& dump = {}) {
  Report report;
  table.AddDump(dump);
  report.failures = table.Finish(&report.problems);
  report.reports_left_out = table.left_out();
  return PrintJson(report) + PrintNdjson(report) + PrintText(report, TextOptions());
}

std::vector<std::string> CaseFolders() {
  std::vector<std::string> folders;
  for (const auto& entry : std::filesystem::directory_iterator(WHYOOM_SOURCE_DIR "/testdata/cases"))
    folders.push_back(entry.path());
  std::sort(folders.begin(), folders.end());
  return folders;
}

std::string FileText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

TEST_CASE("a table that was written and read back gives the same report", "[report][slow]") {
  FailureTable whole(BuiltInRules());
  FailureTable again(BuiltInRules());
  for (const std::string& folder : CaseFolders()) {
    INFO(folder);
    const std::string log = FileText(folder + "/log");
    FailureTable table = TableOf(log, "a\n\xff/" + folder);
    FailureTable read = ThroughText(table);
    CHECK((Show(read) == Show(table)));
    whole.Join(table);
    again.Join(read);
    XlaDump dump;
    if (std::filesystem::is_directory(folder + "/dump")) {
      for (const auto& file : std::filesystem::directory_iterator(folder + "/dump")) dump.AddFile(file.path());
      CHECK((Show(read, dump) == Show(table, dump)));
      CHECK((Show(table, dump) != Show(table)));
    }
  }
  CHECK((Show(again) == Show(whole)));
  CHECK((Show(ThroughText(whole)) == Show(whole)));
}

TEST_CASE("lists and texts that a report would cut are kept whole", "[report][slow]") {
  std::string log =
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.00G of "
      "15.75G hbm. Exceeded hbm capacity by 4.25G.\n  Largest program allocations in hbm:\n";
  for (int i = 1; i <= 1500; ++i) {
    log += "  " + std::to_string(i) + ". Size: 9.00M\n     Operator: op_name=\"jit(f)/" + std::string(3000, 'x') +
           std::to_string(i) + "\"\n     Shape: (f32[8,8]{1,0:T(8,128)}, bf16[" + std::to_string(i) +
           "]{0})\n     XLA label: fusion\n     Allocation type: HLO temp\n";
  }
  for (int i = 0; i < 1100; ++i) {
    log += "\n\nRESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate " + std::to_string(i + 10) +
           ".00M. That was not possible. There are 5.00M free.\n";
  }
  const FailureTable table = TableOf(log, "log");
  REQUIRE(table.entries().size() > 1000);
  CHECK_FALSE(table.left_out().empty());
  CHECK((Show(ThroughText(table)) == Show(table)));
}

TEST_CASE("a damaged table is rejected", "[report]") {
  const FailureTable table = TableOf(FileText(CaseFolders().front() + "/log"), "log");
  const std::string text = TextOf(table);
  CHECK(ReadStored(text));
  CHECK_FALSE(ReadStored(""));
  CHECK_FALSE(ReadStored("[]"));
  CHECK_FALSE(ReadStored(text.substr(0, text.size() / 2)));
  std::string wrong = text;
  wrong.replace(wrong.find("\"shapes\":["), 10, "\"shapes\":[\"\",");
  CHECK_FALSE(ReadStored(wrong));
}

}  // namespace TEST_FILE
}  // namespace whyoom
