#include "cli/run.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <csignal>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/embedded.h"
#include "cli/options.h"
#include "cli/output.h"
#include "cli/rules_command.h"
#include "cli/run_context.h"
#include "cli/try_command.h"
#include "input/error.h"
#include "report/command_documents.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Whether the only path is no file but a code, scenario or remedy: `whyoom E1000`.
bool AsksForTopic(const Options& options) {
  std::error_code error;
  return options.command == Command::kDiagnose && options.paths.size() == 1 &&
         !std::filesystem::exists(options.paths[0], error) && FindExplanation(LoadRules(options), options.paths[0]);
}

// Without a path, reads standard input unless it is a terminal.
void AddStandardInput(Options* options) {
  if (!options->paths.empty() || !options->files_from.empty()) return;
  if (isatty(STDIN_FILENO) == 1) throw Error("no input: name a file or pipe one in (see whyoom --help)");
  options->paths = {"-"};
}

int Dispatch(Options options) {
  using enum Command;
  if (AsksForTopic(options)) options.command = kExplain;
  const Command command = options.command;
  const OutputFiles outputs(options);  // throws if an output would overwrite an input
  if (command == kDiagnose || command == kMerge || command == kRulesTrace) AddStandardInput(&options);
  switch (command) {
    case kExplain:
      return RunExplain(LoadRules(options), options);
    case kDiff:
      return RunDiff(LoadRules(options), options, outputs);
    case kSkill:
      WriteOutput(EmbeddedSkill().front().text, options.output);
      return kNothing;
    case kDiagnose:
    case kMerge:
    case kRun:
    case kTry:
      break;
    default:
      return RunRules(options);
  }
  // Never destroyed: freeing the rules would take a tenth of the time of a short run.
  static const RunContext& context = *new RunContext(options, outputs, LoadExtraRules(options));
  if (command == kRun) return RunAndDiagnose(context);
  if (command == kTry) return RunTry(context);
  return command == kMerge ? RunMerge(context) : RunDiagnose(context);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  Options options;
  // Unwinding out of the C library loads a library on first use, and aborts if there is no memory for it. Load it now.
  void* frame = nullptr;
  backtrace(&frame, 1);
  // Ignore SIGXFSZ: write() and ftruncate() report EFBIG themselves.
  std::signal(SIGXFSZ, SIG_IGN);
  // A closed pipe is not an error.
  options.ignore_broken_pipe = std::signal(SIGPIPE, SIG_IGN) == SIG_IGN;
  try {
    if (const std::optional<std::string> text = ParseOptions(arguments, &options)) {
      WriteOutput(*text, "");
      return kNothing;
    }
    return Dispatch(std::move(options));
  } catch (const std::bad_alloc&) {
    WriteError("whyoom: out of memory\n");
    return kCouldNotRun;
  } catch (const std::exception& error) {
    WriteError(fmt::format("whyoom: {}\n", error.what()));
    return kCouldNotRun;
  }
}

}  // namespace whyoom
