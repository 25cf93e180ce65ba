#include "cli/run.h"

#include <execinfo.h>
#include <fmt/format.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdlib>
#include <exception>
#include <filesystem>
#include <new>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "cli/diff.h"
#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "cli/file_writer.h"
#include "cli/options.h"
#include "cli/rules_command.h"
#include "cli/run_context.h"
#include "cli/terminal.h"
#include "cli/try_command.h"
#include "input/error.h"
#include "report/explanation.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Without a path, reads standard input unless it is a terminal.
Options WithPaths(Options options) {
  if (!options.paths.empty() || !options.files_from.empty()) return options;
  if (InputIsTerminal()) throw Error("no input: name a file or pipe one in (see whyoom --help)");
  options.paths = {"-"};
  return options;
}

int RunWithReport(const Options& given, const OutputFiles& outputs) {
  if (given.command == Command::kTry) return RunTry(RunContext(given, outputs, LoadExtraRules(given)));
  const Options options = WithPaths(given);
  // Never destroyed: freeing the rules would take a tenth of the time of a short run.
  static const RunContext& context = *new RunContext(options, outputs, LoadExtraRules(options));
  if (options.command == Command::kMerge) return RunMerge(context);
  return options.follow ? RunFollow(context) : RunDiagnose(context);
}

// Whether the only path is no file but a code, scenario or remedy: `whyoom E1000`.
bool AsksForTopic(const Options& options) {
  std::error_code error;
  return options.command == Command::kDiagnose && options.paths.size() == 1 &&
         !std::filesystem::exists(options.paths[0], error) && FindExplanation(LoadRules(options), options.paths[0]);
}

int Dispatch(Options options) {
  if (AsksForTopic(options)) options.command = Command::kExplain;
  const OutputFiles outputs(options);  // throws if an output would overwrite an input
  switch (options.command) {
    case Command::kExplain:
      return RunExplain(LoadRules(options), options);
    case Command::kRun:
      return RunAndDiagnose(RunContext(options, outputs, LoadExtraRules(options)));
    case Command::kDiff:
      return RunDiff(LoadRules(options), options, outputs);
    case Command::kRulesList:
    case Command::kRulesCheck:
    case Command::kRulesTest:
    case Command::kRulesSchema:
      return RunRules(options);
    case Command::kRulesTrace:
      return RunRules(WithPaths(options));
    case Command::kSkill:
      WriteOutput(Skill(), options.output);
      return kNothing;
    default:
      return RunWithReport(options, outputs);
  }
}

// Released after an allocation failure, because destructors may need memory during unwinding.
constexpr std::size_t kReserveBytes = std::size_t{1} << 20;
std::atomic<void*> reserved_memory{nullptr};

void OnShortMemory() {
  if (void* const released = reserved_memory.exchange(nullptr)) {
    std::free(released);
    throw std::bad_alloc();
  }
  constexpr std::string_view kMessage = "whyoom: out of memory\n";
  [[maybe_unused]] const auto written = write(STDERR_FILENO, kMessage.data(), kMessage.size());
  _exit(kCouldNotRun);
}

// Unwinding loads a library on first use, and aborts if there is no memory for it. Load it now.
void PrepareForShortMemory() {
  void* frame = nullptr;
  backtrace(&frame, 1);
  reserved_memory = std::malloc(kReserveBytes);
  std::set_new_handler(OnShortMemory);
}

}  // namespace

int RunCommandLine(const std::vector<std::string>& arguments) {
  PrepareForShortMemory();
  Options options;
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
