// The parsed command line.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/report.h"
#include "input/limits.h"
#include "report/printers.h"

namespace whyoom {

enum class Command {
  kDiagnose,
  kRules,  // of which the others are parts
  kExplain,
  kRulesList,
  kRulesCheck,
  kRulesTest,
  kRulesSchema,
  kRulesTrace,
  kDiff,
  kRun,
  kMerge,
  kTry,
  kSkill
};
enum class Format { kText, kJson, kNdjson, kMarkdown, kHtml, kGithub, kSarif, kJunit };
enum class When { kAuto, kAlways, kNever };

// A value of an option, by its name.
template <typename T>
struct Choice {
  const char* name;
  T value;
};
extern const std::vector<Choice<Format>> kReportFormats;

// An additional report in its own file.
struct ExtraOutput {
  Format format = Format::kText;
  std::string path;
};

// How remedies are tried with the compiler.
struct TryOptions {
  bool after_failure = false;           // for kRun: try them if the compile failed
  std::string python;                   // the interpreter that has jax and libtpu; empty: the job's, or else python3
  std::vector<std::string> remedies;    // "ID" or "ID=SETTING"; empty: all
  std::uint32_t attempt_seconds = 300;  // for one compile
  std::uint32_t total_seconds = 180;    // after them, no compile starts
  std::uint64_t memory = 0;  // bytes of host memory that a compile may use; 0: three quarters of the machine's
  bool whole = false;        // compile to the end, although the need is known as soon as buffers are assigned
  bool use_cache = true;
  std::string topology;  // of the TPU that the command does not have: "v5e-8"; empty: it runs as it is
  std::string patch;     // file for the patch of the first remedy that fits; empty: none
};

struct Options {
  Command command = Command::kDiagnose;
  std::vector<std::string> paths;  // inputs, for kTry the dump folder, for kExplain the topic; "-" is standard input
  std::string framework;  // Id or name. For kExplain: "all", or empty for the default framework. For reports: empty for
                          // the framework detected in the log
  std::vector<std::string> rules;  // files and folders; for kRulesList also sections
  std::uint64_t trace_line = 0;    // for kRulesTrace: line of the path; 0: all relevant lines
  Format format = Format::kText;
  std::string output;  // empty: standard output
  std::vector<ExtraOutput> extra_outputs;
  std::string source_root;  // sources below it are named relative to it; empty: names as in the log
  When color = When::kAuto;
  Detail detail = Detail::kUsual;
  bool quiet = false;               // no notes, no progress, no warnings
  std::vector<std::string> ignore;  // failures to hide: codes ("E1000"), with a scenario ("E1000.3"), ids
  bool exit_zero = false;
  bool strict = false;     // a memory error that matches no rule counts as found
  bool follow = false;     // keep reading growing inputs
  std::size_t jobs = 0;    // parallel reads; 0: one per processor. For kTry: parallel compiles; 0: one per two
  Limits limits;           // per input path
  std::string files_from;  // list of more paths; empty: none, "-": standard input
  bool nulls = false;      // its names end with NUL bytes, not with line breaks
  When progress = When::kAuto;
  std::string resume;           // folder of results; empty: none
  std::string xla_dump;         // folder; empty: none
  std::string tried;            // file with results of remedies for the compile that failed; empty: none
  std::string hbm;              // HBM of a device, or its chip; empty: as in the inputs
  std::string xla_dump_before;  // for kDiff, whose paths are BEFORE and AFTER
  std::string xla_dump_after;
  std::vector<std::string> job;     // for kRun: the command and its arguments
  bool dump = true;                 // for kRun: make XLA write a dump, unless the user already does
  std::optional<int> exit_retry;    // for kRun: exit status if a retry would fail the same way
  TryOptions attempts;              // for kTry and kRun
  bool ignore_broken_pipe = false;  // this process was started with SIGPIPE ignored; start the job the same way
};

// Parses the arguments (without the program's name) into `options`, or returns the text of --help or --version. Throws
// Error for wrong usage.
std::optional<std::string> ParseOptions(const std::vector<std::string>& arguments, Options* options);

}  // namespace whyoom
