// Any bytes as the journal of a batch: it is rejected, or its contents can be printed. The first byte selects whether
// the bytes are the failures of an input, the whole file, or lines of the file that receive a header.
#include "cli/resume_journal.h"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>

#include "clean_text.h"
#include "diagnose/report.h"
#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "input/error.h"
#include "report/printers.h"

using namespace whyoom;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  const fs::path path = fs::temp_directory_path() / ("whyoom-fuzz-journal-" + std::to_string(getpid()));
};

void CheckReport(Report report) {
  const std::string json = PrintJson(MakeReport(BuiltInRules().fingerprint, std::move(report)));
  Require(IsClean(json, "\n"), "the JSON is clean");
}

void CheckFile(std::string_view bytes) {
  static const Folder folder;
  static const RuleSource rules(BuiltInRules());
  const std::string path = folder.path / "journal";
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  FileStamp stamp;
  stamp.regular = true;
  try {
    ResumeJournal journal(path, rules, "settings");
    for (const char* name : {"/log", "log", "/a"}) {
      if (std::optional<Report> report = journal.Recall({name, ""}, stamp)) CheckReport(*std::move(report));
    }
    if (bytes.size() % 2 == 0) journal.Record({"/log", ""}, stamp, Report());
    journal.Close();
  } catch (const Error& error) {
    Require(std::string_view(error.what()).starts_with("--resume: "), "the message names the option");
  }
}

void CheckLines(std::string_view lines) {
  CheckFile("{\"schema\":\"whyoom.journal/2\"}\n" + WithFingerprint(std::string(lines)) + "\n");
}

void CheckTable(std::string_view text) {
  const auto read = [](std::string_view json) {
    return TableFromRecord(nlohmann::json::parse(json, nullptr, false), BuiltInRules());
  };
  const auto print = [](const FailureTable& table) { return LineOf(ToRecord(table, BuiltInRules().fingerprint)); };
  std::optional<FailureTable> table = read(WithFingerprint(std::string(text)));
  if (!table) return;
  const std::string printed = print(*table);
  std::optional<FailureTable> again = read(printed);
  Require(again.has_value(), "a stored table can be read");
  Require(print(*again) == printed, "a stored table is read back unchanged");
  Report report;
  report.table = std::move(table);
  CheckReport(std::move(report));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  constexpr std::array kChecks = {CheckTable, CheckFile, CheckLines};
  const auto check = choices.Of(kChecks);
  check(choices.Rest());
  return 0;
}
