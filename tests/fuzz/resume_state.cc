// Any bytes as the state of a batch: it is refused, or gives what can be printed. The first byte chooses whether they
// are the file, or what is kept in it of an input's findings.
#include "cli/resume_state.h"

#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "clean_text.h"
#include "fuzz/choices.h"
#include "fuzz/fuzz.h"
#include "input/error.h"
#include "report/record/json_printer.h"
#include "report/record/table_record.h"
#include "report/report.h"

using namespace whyoom;
namespace fs = std::filesystem;

namespace {

struct Folder {
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  const fs::path path = fs::temp_directory_path() / ("whyoom-fuzz-state-" + std::to_string(getpid()));
};

void CheckReadings(Readings readings) {
  const std::string json = PrintJson(MakeReport(BuiltInRules().fingerprint(), std::move(readings), XlaDump()));
  Require(IsClean(json, "\n"), "the JSON is clean");
}

void CheckFile(std::string_view bytes) {
  static const Folder folder;
  static const RuleSource rules(BuiltInRules());
  const std::string path = folder.path / "state";
  fs::remove(path + "-journal");
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
  FileStamp stamp;
  stamp.regular = true;
  try {
    ResumeState state(path, rules, "settings");
    for (const char* name : {"/log", "log", "/a"}) {
      if (std::optional<Readings> readings = state.Recall({name, ""}, stamp)) CheckReadings(*std::move(readings));
    }
    state.Record({"/new", ""}, stamp, Readings());
    state.Close();
  } catch (const Error& error) {
    Require(std::string_view(error.what()).starts_with("--resume "), "it is told which option is at fault");
  }
}

void CheckTable(std::string_view text) {
  std::optional<FindingTable> table = ReadTable(WithFingerprint(std::string(text)), BuiltInRules());
  if (!table) return;
  const std::string printed = PrintTable(*table, BuiltInRules().fingerprint());
  std::optional<FindingTable> again = ReadTable(printed, BuiltInRules());
  Require(again.has_value(), "what is kept can be read");
  Require(PrintTable(*again, BuiltInRules().fingerprint()) == printed, "what is kept is read back the same");
  Readings readings;
  readings.table = std::move(table);
  CheckReadings(std::move(readings));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  Choices choices(Bytes(data, size));
  if (choices.OneIn(2)) {
    CheckFile(choices.Rest());
  } else {
    CheckTable(choices.Rest());
  }
  return 0;
}
