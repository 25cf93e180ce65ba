#include "cli/rules_command.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "cli/print_report.h"
#include "cli/terminal.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "facts/evidence.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/walk.h"
#include "read/engine.h"
#include "report/layout.h"
#include "report/text/text_printer.h"
#include "report/trace_document.h"
#include "rules/rule_compiler.h"
#include "rules/suggest.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

RuleFile ReadFile(const std::filesystem::path& path) {
  const std::unique_ptr<ByteSource> source = OpenFile(path.string());
  // One byte over the limit, so that the parser rejects larger files.
  std::string text = ReadUpTo(*source, kMostRuleBytes + 1);
  if (!source->problem().empty()) throw Error(path.string() + ": cannot read the rule file");
  return {path.string(), std::move(text)};
}

// One line per fault, for a terminal or a CI log.
std::string FaultListing(const std::vector<Fault>& faults) {
  std::string text;
  for (const Fault& fault : faults) text += Printable(fault.ToString()) + "\n";
  return WithoutCommands(text);  // file names and keys may be untrusted, and a CI server may print them
}

std::string FaultText(const std::vector<Fault>& faults) {
  return fmt::format("the rules have {} {}:\n{}", faults.size(), faults.size() == 1 ? "error" : "errors",
                     FaultListing(faults));
}

RuleSet Load(const std::vector<RuleFile>& files, std::vector<RuleEntry>* entries = nullptr) {
  CompiledRules compiled = AddToBuiltIn(files, entries);
  if (!compiled.faults.empty()) throw Error(FaultText(compiled.faults));
  return std::move(compiled.rules);
}

int Check(const Options& options) {
  const std::vector<Fault> faults = AddToBuiltIn(FindRuleFiles(options)).faults;
  if (faults.empty()) {
    WriteOutput("The rules are valid. `whyoom rules test` reads the examples of their failures as logs.\n",
                options.output);
    return kNothing;
  }
  WriteOutput(FaultListing(faults), options.output);
  return kCouldNotRun;
}

int Test(const Options& options) {
  bool ok = true;
  WriteOutput(TestRules(LoadRules(options), &ok), options.output);
  return ok ? kNothing : kFound;
}

constexpr std::size_t kMostTitle = 200;

std::string ToText(const std::vector<RuleEntry>& entries, const TextOptions& options) {
  doc::Blocks blocks;
  for (const RuleEntry& entry : entries) {
    const auto* last = blocks.empty() ? nullptr : std::get_if<doc::Section>(&blocks.back().content);
    if (last == nullptr || last->title != entry.section)
      blocks.emplace_back(doc::Section{entry.section, {doc::List{doc::List::Style::kFields, {}}}});
    auto& list = std::get<doc::List>(std::get<doc::Section>(blocks.back().content).blocks.front().content);
    doc::Item item{.text = doc::Words(CutBytes(Printable(entry.title), kMostTitle)),
                   .label = doc::Words(Printable(entry.id))};
    for (const std::string& change : entry.changes)
      item.blocks.emplace_back(doc::Paragraph{doc::Words(Printable(change))});
    list.items.push_back(std::move(item));
  }
  return PrintBlocks(blocks, options);
}

int ListRules(const Options& options) {
  std::vector<RuleEntry> entries;
  Load(FindRuleFiles(options), &entries);
  WriteOutput(ToText(entries, StyleOf(options, !options.output.empty())), options.output);
  return kNothing;
}

int RunTrace(const Options& options) {
  const RuleSet rules = LoadRules(options);
  LogTrace trace{.line = options.trace_line};
  const Engine engine(rules);
  Recorder reading_recorder(trace.line);
  Report found;
  ReadControl control;  // so that --max-time can end the wait for a pipe without a writer
  ReadOptions reading;
  reading.control = &control;
  reading.recorder = &reading_recorder;
  for (Walk walk(options.paths); const std::optional<Artifact> input = walk.Next(&trace.problems);)
    found.Join(ReadInput(engine, *input, options.limits, reading));
  trace.is_truncated = reading_recorder.full();
  trace.reading = reading_recorder.Take();
  Recorder recorder;
  if (found.table) {
    found.table->settings.recorder = &recorder;
    found.table->settings.recorded_line = trace.line;
    trace.failures = found.table->Finish(&found.problems).size();
    trace.conclusions = recorder.Take();
  }
  std::move(found.problems.begin(), found.problems.end(), std::back_inserter(trace.problems));
  MaskSecretsOf(&trace.problems);
  const bool all_read = std::all_of(trace.problems.begin(), trace.problems.end(),
                                    [](const Problem& problem) { return problem.is_unknown_error(); });
  WriteOutput(PrintBlocks(TraceBlocks(trace), StyleOf(options, !options.output.empty())), options.output);
  return all_read ? kNothing : kUnreadInput;
}

std::vector<Failure> Diagnose(const Engine& engine, const std::string& text) {
  Report report = ReadArtifact(engine, {"example", ""}, *OpenMemory(text + "\n"));
  return report.table ? report.table->Finish(&report.problems) : std::vector<Failure>();
}

std::string Codes(const std::vector<Failure>& failures) {
  std::string codes;
  for (const Failure& failure : failures) codes += (codes.empty() ? "" : ", ") + failure.rule->code;
  return codes.empty() ? "nothing" : codes;
}

// Returns a fact as read, even if it is removed as contradictory.
Value AsRead(const Failure& failure, const std::string& name) {
  for (const Contradiction& contradiction : failure.contradictions) {
    if (const Fact* figure = contradiction.figures.Find(name)) return figure->value;
  }
  return failure.facts.Get(name);
}

}  // namespace

std::vector<RuleFile> ReadRuleFiles(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(Printable(path) + ": no such rule file or folder");
  if (!std::filesystem::is_directory(status)) return {ReadFile(path)};
  std::vector<std::filesystem::path> paths;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& file = entry->path();
    if (file.extension() == ".json" && file.filename() != "schema.json") paths.push_back(file);
  }
  if (error) throw Error(path + ": cannot read the folder of rule files: " + error.message());
  if (paths.empty()) throw Error(path + ": the folder contains no rule files (expected *.json)");
  std::sort(paths.begin(), paths.end());
  std::vector<RuleFile> files;
  for (const std::filesystem::path& file : paths) files.push_back(ReadFile(file));
  return files;
}

std::vector<RuleFile> FindRuleFiles(const Options& options) {
  std::vector<RuleFile> files;
  for (const std::string& path : options.rules) {
    for (RuleFile& file : ReadRuleFiles(path)) {
      file.given = path;
      files.push_back(std::move(file));
    }
  }
  return files;
}

RuleSet LoadRules(const Options& options) { return Load(FindRuleFiles(options)); }

std::optional<RuleSet> LoadExtraRules(const Options& options) {
  const std::vector<RuleFile> files = FindRuleFiles(options);
  return files.empty() ? std::nullopt : std::optional(Load(files));
}

int RunRules(const Options& given) {
  if (given.command == Command::kRulesTrace) return RunTrace(given);
  Options options = given;
  options.rules.insert(options.rules.end(), given.paths.begin(), given.paths.end());
  switch (options.command) {
    case Command::kRulesCheck:
      return Check(options);
    case Command::kRulesTest:
      return Test(options);
    case Command::kRulesSchema:
      WriteOutput(EmbeddedRuleSchema().front().text, options.output);
      return kNothing;
    default:
      return ListRules(options);
  }
}

void SetTracedPlace(Options* options) {
  static const Regex place(R"((?s)(.+):(\d{1,18}))");
  std::string path;
  std::error_code error;
  if (std::filesystem::exists(options->paths[0], error) ||
      !re2::RE2::FullMatch(options->paths[0], place, &path, &options->trace_line))
    return;
  options->paths[0] = path;
  if (options->trace_line == 0) throw Error("LOG:LINE: invalid line 0 (lines are counted from 1)");
}

std::string ShownValue(const Value& value) {
  if (const auto number = AsNumber(value)) return fmt::format("{}", *number);
  if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
  const std::string* text = AsText(value);
  return text == nullptr ? "unknown" : "'" + *text + "'";
}

bool SameFact(const Value& got, const Value& want) {
  const auto a = AsNumber(got);
  const auto b = AsNumber(want);
  return a && b ? std::abs(*a - *b) < 1 : got == want;
}

std::string TryExample(const Engine& engine, const std::string& code, const Example& example, bool must_match) {
  const std::vector<Failure> failures = Diagnose(engine, example.text);
  const auto its = std::count_if(failures.begin(), failures.end(),
                                 [&](const Failure& failure) { return failure.rule->code == code; });
  if (!must_match) return its > 0 ? "matches but must not" : "";
  if (its != std::ssize(failures) || failures.size() != static_cast<std::size_t>(example.count))
    return "gives " + Codes(failures);
  const Failure& failure = failures[0];
  for (const auto& [name, want] : example.facts) {
    const Value got = AsRead(failure, name);
    if (!SameFact(got, want)) return fmt::format("fact {} is {}, not {}", name, ShownValue(got), ShownValue(want));
  }
  const std::string scenario = failure.scenario == nullptr ? "unknown" : failure.scenario->id;
  const std::string wanted = example.scenario == "" ? "unknown" : example.scenario.value_or(scenario);
  return scenario == wanted ? "" : fmt::format("scenario is {}, not {}", scenario, wanted);
}

std::string TestRules(const RuleSet& rules, bool* ok) {
  const Engine engine(rules);
  std::string text;
  std::size_t count = 0;
  std::size_t failed = 0;
  const auto test = [&](const std::string& code, const std::vector<Example>& examples, bool must_match) {
    for (const Example& example : examples) {
      ++count;
      const std::string complaint = TryExample(engine, code, example, must_match);
      if (complaint.empty()) continue;
      ++failed;
      const std::string why = example.why.empty() ? "" : " (" + example.why + ")";
      const std::string first_line = example.text.substr(0, example.text.find('\n'));
      text += Printable(fmt::format("{}: \"{}\" {}{}", code, CutBytes(first_line, 100), complaint, why)) + "\n";
    }
  };
  for (const FailureRule& failure : rules.failures) {
    test(failure.code, failure.samples.examples, true);
    test(failure.code, failure.samples.counterexamples, false);
  }
  *ok = failed == 0;
  return WithoutCommands(text + fmt::format("{} examples of failures, {} failed\n", count, failed));
}

}  // namespace whyoom
