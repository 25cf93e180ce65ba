// `whyoom try`: the Python part (python/whyoom/driver.py) runs the user's command and compiles its program with
// remedies; this part starts it, reads its results and prints the report.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "cli/dump_folder.h"
#include "cli/run_context.h"
#include "diagnose/report.h"
#include "facts/compiled_program.h"
#include "input/limits.h"
#include "program/xla_dump.h"

namespace whyoom {

// The Python part starts its child processes by running whyoom under another name. A module of a
// dump may come from a stranger. The Python that compiles it has no network, no environment variables except those that
// Python needs, and a private folder for its files.
//
// Call first in main. If this process was started as such a child, runs its command instead of whyoom, and does not
// return.
void BecomeCompileIfAsked(int argc, char** argv);

// Throws Error if an option names a remedy that no rule has.
void CheckRemedies(const RunContext& run);

// A private folder with the Python scripts, a request for them and what they write.
class Trial {
 public:
  // Borrows `run`. Throws Error if the folder cannot be written.
  explicit Trial(const RunContext& run);

  // With these variables, a job's Python tries the remedies in the process whose compile fails.
  std::map<std::string, std::string> JobVariables() const;

  // Runs the Python part, with more keys in its request, until it ends or `control` stops it. Throws Error if it fails.
  void Run(const nlohmann::json& more, const ReadControl& control) const;

  // What the Python part has written: see attempts.py; an empty object if nothing.
  nlohmann::json Results() const;
  bool HasResults() const;  // of any compile

  // Adds the results to the report, which must have a table. `dump`: that of the program. Throws Error if there are
  // none.
  void AddResults(XlaDump dump, bool was_interrupted, Report* found) const;

  // Replaces estimated sizes that fit by the compiled ones.
  void AddRoom(Report* report) const;

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  const RunContext& run_;
  const TemporaryFolder folder_{"whyoom-try"};
};

// Names the files of a temporary dump without its folder, which is removed.
void ForgetFolder(const std::string& folder, Report* report);

// Reads results that the Python part wrote. Throws Error if it cannot.
Recompilation ReadResults(const std::string& path);

// Tries remedies on the program of a dump or of a command, and prints the report. Returns the exit status.
int RunTry(const RunContext& run);

// Writes the patch of the cheapest remedy that fits to the file of --patch, if any.
void WritePatch(const Report& report, const Options& options);

}  // namespace whyoom
