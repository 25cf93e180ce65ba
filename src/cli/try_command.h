// `whyoom try`: the Python part (python/whyoom/driver.py) runs the user's command and compiles its program with
// remedies; this part starts it, reads its results and prints the report.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/compile_child.h"
#include "cli/dump_folder.h"
#include "cli/run_context.h"
#include "diagnose/report.h"
#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "program/xla_dump.h"

namespace whyoom {

// Throws Error if an option names a remedy that no rule has.
void CheckRemedies(const RunContext& run);

// Whether the Python part wrote results to a folder.
bool HasResults(const std::filesystem::path& folder);
void AddRoomOf(const std::filesystem::path& folder, Report* report);  // see Trial::AddRoom

// A private folder with the Python scripts, a request for them and what they write.
class Trial {
 public:
  // Borrows `run`. Throws Error if the folder cannot be written.
  explicit Trial(const RunContext& run);

  // With these variables, a job's Python tries the remedies in the process whose compile fails.
  std::map<std::string, std::string> JobVariables() const;

  bool has_results() const { return HasResults(folder_.path()); }

  // Compiles the program of the job's dump, which was read from `folder`, if the job's process has not, and adds the
  // results to the report, which must have a table. An interrupt ends the compiles only, so its request to stop is
  // withdrawn. Throws Error if nothing could be compiled.
  void Finish(const DumpFolder& folder, const XlaDump& dump, ReadControl* control, Report* found) const;

  // Replaces estimated sizes that fit by the compiled ones.
  void AddRoom(Report* report) const { AddRoomOf(folder_.path(), report); }

  // Runs the Python part, with more keys in its request, until it ends or `control` stops it. Returns the request.
  // Throws Error if it fails.
  nlohmann::json Run(const nlohmann::json& more, const ReadControl& control) const;

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  const RunContext& run_;
  const PrivateFolder folder_;
};

// Names the files of a temporary dump without its folder, which is removed.
void ForgetFolder(const std::string& folder, Report* report);

// Reads results that the Python part wrote. Throws Error if it cannot.
Recompilation ReadResults(const std::string& path);

// Tries remedies on the program of a dump or of a command, and prints the report. Returns the exit status. The Python
// part calls whyoom with --finish for the facts of the programs.
int RunTry(const RunContext& run);

// Writes the patch of the cheapest remedy that fits to the file of --patch, if any.
void WritePatch(const Report& report, const Options& options);

}  // namespace whyoom
