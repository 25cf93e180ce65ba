// `whyoom try`: the Python part (python/whyoom/attempts.py) compiles a program again with remedies; this part starts
// it and reads its results.
#pragma once

#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "cli/compile_child.h"
#include "cli/run_context.h"
#include "diagnose/report.h"
#include "facts/compiled_program.h"
#include "input/artifact.h"
#include "input/limits.h"
#include "program/xla_dump.h"

namespace whyoom {

// Throws Error if an option names a remedy that no rule has.
void CheckRemedies(const RunContext& run);

// The results of one program. They are in a private folder, with the scripts that write them.
class Trial {
 public:
  // Borrows `run`. Throws Error if the folder cannot be written.
  explicit Trial(const RunContext& run);

  std::string folder() const { return folder_.path().string(); }

  // With these variables, a job's Python tries the remedies in the process whose compile fails.
  std::map<std::string, std::string> JobVariables() const;

  // Whether the job's process has written results.
  bool has_results() const;
  // Why it has not; empty if it did not say.
  std::string problem() const;

  // Adds the dumps of the steps that were compiled for --topology.
  void AddDump(XlaDump* dump, std::vector<Problem>* problems) const;

  // Adds what the job's process, its dump and its command show to the report, which must have a table. An interrupt
  // ends the compiles only, so its request to stop is withdrawn. Throws Error if nothing could be compiled.
  void Finish(const XlaDump& dump, ReadControl* control, Report* found);

  // Replaces estimated sizes that fit by the compiled ones.
  void AddRoom(Report* report) const;

 private:
  void Run(const nlohmann::json& more, bool confined, const ReadControl& control);
  void RunCommand(const XlaDump& inputs, const ReadControl& control, const Report& found);
  void AddResults(const XlaDump& inputs, const ReadControl& control, Report* found) const;

  const RunContext& run_;
  const PrivateFolder folder_;
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
