// `whyoom try`: the Python part (python/whyoom/driver.py) runs the user's command and compiles its program with
// remedies; this part starts it, reads its results and prints the report.
#pragma once

#include <sys/types.h>

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

// The Python part starts its child processes by running whyoom under another name (compile_child.cc). A module of a
// dump may come from a stranger. The Python that compiles it has no network, no environment variables except those that
// Python needs, and a private folder for its files.
//
// Call first in main. If this process was started as such a child, runs its command instead of whyoom, and does not
// return.
void BecomeCompileIfAsked(int argc, char** argv);

// Starts a command, looked up in PATH, which ends when whyoom ends. Throws Error if no process can be created. Call it
// while there is no other thread.
pid_t StartFree(const std::vector<std::string>& command);

// Throws Error if an option names a remedy that no rule has.
void CheckRemedies(const RunContext& run);

// A private folder with the Python scripts, a request for them and what they write.
class Trial {
 public:
  // Borrows `run`. Throws Error if the folder cannot be written.
  explicit Trial(const RunContext& run);

  // With these variables, a job's Python tries the remedies in the process whose compile fails.
  std::map<std::string, std::string> JobVariables() const;

  // Compiles the program of the job's dump, which was read from `folder`, if the job's process has not, and adds the
  // results to the report, which must have a table. An interrupt ends the compiles only, so its request to stop is
  // withdrawn. Throws Error if nothing could be compiled.
  void Finish(const DumpFolder& folder, const XlaDump& dump, ReadControl* control, Report* found) const;

  // Runs the Python part, with more keys in its request, until it ends or `control` stops it. Returns the request.
  // Throws Error if it fails.
  nlohmann::json Run(const nlohmann::json& more, const ReadControl& control) const;

  const std::filesystem::path& folder() const { return folder_.path(); }

 private:
  const RunContext& run_;
  const TemporaryFolder folder_{"whyoom-try"};
};

// Whether the Python part wrote results to the folder of a trial.
bool HasResults(const std::filesystem::path& folder);

// Replaces estimated sizes that fit by the compiled ones.
void AddRoom(const std::filesystem::path& folder, Report* report);

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
