#include "cli/trace.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/exit_status.h"
#include "cli/print_report.h"
#include "cli/rules_command.h"
#include "cli/terminal.h"
#include "diagnose/trace.h"
#include "input/error.h"
#include "input/walk.h"
#include "read/engine.h"
#include "report/record/trace_json.h"
#include "report/text/trace_printer.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::set<std::string> Codes(const RuleSet& rules, const std::vector<std::string>& given) {
  std::set<std::string> codes;
  for (const std::string& name : given) {
    const Failure* failure = rules.FindFailure(name);
    if (failure == nullptr) {
      std::vector<std::string> known;
      for (const Failure& each : rules.failures()) known.push_back(each.code);
      const std::string meant = DidYouMean(name, known);
      throw Error(fmt::format("--rule: there is no failure '{}'{}", Printable(name),
                              meant.empty() ? "; `whyoom rules list` names them" : ", " + meant));
    }
    codes.insert(failure->code);
  }
  return codes;
}

}  // namespace

void SetTraced(const std::string& word, Options* options) {
  constexpr std::size_t kMostDigits = 18;
  options->paths = {word};
  options->trace_line = 0;
  const std::size_t colon = word.rfind(':');
  if (colon == std::string::npos || colon == 0) return;
  const std::string line = word.substr(colon + 1);
  std::error_code error;
  if (line.empty() || line.size() > kMostDigits || line.find_first_not_of("0123456789") != std::string::npos ||
      std::filesystem::exists(word, error))
    return;
  options->paths = {word.substr(0, colon)};
  options->trace_line = std::stoull(line);
  if (options->trace_line == 0) throw CLI::ValidationError("LOG:LINE", "lines are counted from 1");
}

int RunTrace(const Options& options, const TextOptions& text) {
  std::vector<std::string> paths = options.paths;
  if (paths.empty()) {
    if (InputIsTerminal()) throw Error("nothing to read: give a log, or pipe one in (whyoom rules trace --help)");
    paths = {"-"};
  }
  const RuleSet rules = LoadRules(options);
  const TraceRequest request{options.trace_line, Codes(rules, options.trace_rules)};
  const Engine engine(rules);
  std::vector<Problem> problems;
  std::vector<Artifact> inputs;
  for (Walk walk(paths); std::optional<Artifact> input = walk.Next(&problems);) inputs.push_back(*std::move(input));
  ReadControl control;  // for a pipe that nobody writes to, which --max-time is to end
  LogTrace trace = TraceInputs(engine, inputs, request, options.limits, &control);
  trace.problems.insert(trace.problems.begin(), problems.begin(), problems.end());
  const bool all_read = std::all_of(trace.problems.begin(), trace.problems.end(),
                                    [](const Problem& problem) { return problem.is_unknown_error(); });
  if (request.line > trace.last_line && all_read && trace.lines.empty())
    throw Error(fmt::format("{} has {} lines, and no line {}", Printable(paths[0]), trace.last_line, request.line));
  const auto print = [&](Format format, const TextOptions& style) {
    return format == Format::kJson ? PrintTraceJson(trace, WHYOOM_VERSION, rules) : PrintTraceText(trace, style);
  };
  WriteOutput(print(options.format, text), options.output);
  WriteExtraOutputs(options, print);
  return all_read ? kNothing : kNotAllRead;
}

}  // namespace whyoom
