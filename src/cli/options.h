// The command line, parsed. What each option means is said once, in commands.cc and option_groups.cc; --help, the
// manual page and completions are made from that.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "input/limits.h"
#include "read/time_filter.h"
#include "report/text/text_page.h"

namespace whyoom {

enum class Command {
  kDiagnose,
  kExplain,
  kRulesList,
  kRulesCheck,
  kRulesTest,
  kRulesLiterals,
  kRulesSchema,
  kRulesNew,
  kRulesTrace,
  kDiff,
  kRun,
  kMerge,
  kCompletions,
  kSkill,
  kComplete
};
enum class Format { kText, kJson, kNdjson, kMarkdown, kHtml, kGithub, kSarif, kJunit };
enum class ColorMode { kAuto, kAlways, kNever };
enum class ProgressMode { kAuto, kAlways, kNever, kJson };

// Of --files-from. Lines end with LF or CRLF and may hold file: URIs, as may the JSON strings of kJsonl; kNull takes
// names as they are.
enum class PathListForm { kLines, kNull, kJsonl };

enum class Shell { kBash, kZsh, kFish };

// Of kRulesTest.
struct RuleTestSettings {
  std::vector<std::string> healthy;  // files and folders of logs in which nothing is to be found
  bool untried = false;              // list what no example shows
};

// One of N equal parts of a batch, for jobs that share it (--shard). Which part a path belongs to follows from the path
// alone: it is the same on every machine, and files that come later move none.
struct Shard {
  std::uint64_t index = 0;  // counted from 0
  std::uint64_t count = 1;

  // Whether the first 8 bytes of the SHA-256 of the path, as it was given or found, leave `index` when divided by
  // `count`.
  bool Owns(const std::string& path) const;

  // "2/16".
  std::string Text() const;
};

// Of "2/16". Throws Error that says what is wrong with anything else.
Shard ParseShard(std::string_view text);

// One more format of the same report, in a file.
struct ExtraOutput {
  Format format = Format::kText;
  std::string path;
};

struct Options {
  Command command = Command::kDiagnose;
  std::vector<std::string> paths;  // of kDiagnose and kMerge; "-" is standard input
  std::string topic;               // of kExplain; empty: list them
  std::string framework;  // by id or name. Of kExplain: whose steps are shown, "all", or empty: the default one's. Of
                          // reports: whose steps the advice has, or empty: those of the one that the log shows
  std::string pages;      // of kExplain: a folder to write all into; empty: none
  std::vector<std::string> new_rule;       // of kRulesNew: the code, then the lines of the message
  std::vector<std::string> new_rule_from;  // of kRulesNew: lines of logs that it is made from, two at most
  std::vector<std::string> rules;          // files and folders
  RuleTestSettings rule_test;
  std::uint64_t trace_line = 0;          // of kRulesTrace, in the path; 0: all that matter
  std::vector<std::string> trace_rules;  // codes of failures that are told of wherever they are
  bool project_rules = true;             // use those of the folder that the run is in
  Format format = Format::kText;
  std::string output;  // empty: standard output
  std::vector<ExtraOutput> extra_outputs;
  std::string source_root;    // names of sources below it are told relative to it; empty: as the log has them
  bool step_summary = false;  // append the report in Markdown to the file that GITHUB_STEP_SUMMARY names
  ColorMode color = ColorMode::kAuto;
  Detail detail = Detail::kUsual;
  bool quiet = false;                // no notes, no progress, no remarks
  bool verbose = false;              // say on standard error what is read
  std::vector<std::string> select;   // failures that are told of; empty: all, see report/selection.h
  std::vector<std::string> ignore;   // of these, those that are not
  std::vector<std::string> fail_on;  // those that make the exit status 1; empty: all
  std::string baseline;              // file of the failures that are known; empty: none
  std::string write_baseline;        // file that they are written to; empty: none
  bool exit_zero = false;
  bool strict = false;     // an error about memory that no rule knows counts as found
  bool follow = false;     // wait for what is still written
  std::size_t jobs = 0;    // inputs and parts of large ones read at once; 0: as many as there are processors
  Limits limits;           // of each path that is read
  TimeRange range;         // of kDiagnose: failures outside of it are left out
  std::string files_from;  // a list of more paths; empty: none, "-": standard input
  PathListForm files_form = PathListForm::kLines;
  Shard shard;
  ProgressMode progress = ProgressMode::kAuto;
  std::string resume;           // journal of the inputs that were read; empty: none
  std::string xla_dump;         // folder; empty: none
  std::string hbm;              // what a device has of memory, or which chip it is; empty: what the inputs say
  std::string xla_dump_before;  // of kDiff, whose paths are BEFORE and AFTER
  std::string xla_dump_after;
  std::vector<std::string> job;  // of kRun: the command and its arguments
  bool dump = true;              // of kRun: have XLA dump, where the user does not himself
  bool keep_dump = false;
  std::optional<int> exit_retry;    // of kRun: to end with where the job will fail the same way again
  Shell shell = Shell::kBash;       // of kCompletions
  std::vector<std::string> words;   // of kComplete: what stands behind "whyoom" up to the cursor
  bool ignore_broken_pipe = false;  // how this process was started: SIGPIPE ignored; a job is started the same way
};

// What to do instead of running: print `text` and end with `exit_status`.
struct EarlyExit {
  int exit_status = 0;
  std::string text;
};

// Parses the arguments (without the program's name). Exactly one of the two comes back.
std::optional<EarlyExit> ParseOptions(const std::vector<std::string>& arguments, Options* options);

}  // namespace whyoom
