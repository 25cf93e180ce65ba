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
#include "cli/output.h"
#include "cli/run.h"
#include "cli/run_context.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "facts/evidence.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/walk.h"
#include "read/engine.h"
#include "report/command_documents.h"
#include "report/failure_view.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "report/summary.h"
#include "rules/rule_compiler.h"
#include "rules/suggest.h"
#include "text/numbers.h"
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

RuleSet Load(const std::vector<RuleFile>& files, std::vector<RuleEntry>* entries = nullptr) {
  CompiledRules compiled = AddToBuiltIn(files, entries);
  const std::size_t count = compiled.faults.size();
  if (count == 0) return std::move(compiled.rules);
  throw Error(fmt::format("the rules have {}:\n{}", Counted(count, "error", "errors"), FaultListing(compiled.faults)));
}

constexpr std::size_t kMostTitle = 200;

// One line per entry, for grep.
std::string ListRules(const std::vector<RuleFile>& files) {
  std::vector<RuleEntry> entries;
  Load(files, &entries);
  std::string text;
  for (const RuleEntry& entry : entries) {
    text += Printable(fmt::format("{} {}: {}", entry.section, entry.id, CutBytes(entry.title, kMostTitle))) + "\n";
    for (const std::string& change : entry.changes) text += "    " + Printable(change) + "\n";
  }
  return WithoutCommands(text);
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
  trace.problems.insert(trace.problems.end(), found.problems.begin(), found.problems.end());
  MaskSecretsOf(&trace.problems);
  WriteOutput(PrintBlocks(TraceBlocks(trace), StyleOf(options, !options.output.empty())), options.output);
  return AllRead(trace.problems) ? kNothing : kUnreadInput;
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

// Finds a framework by id or name. Throws Error, which lists the frameworks (and "all" if `or_all`), if there is none.
const Framework& NamedFramework(const RuleSet& rules, const std::string& name, bool or_all) {
  if (const Framework* found = rules.FindFramework(name)) return *found;
  std::vector<std::string> known;
  for (const Framework& framework : rules.frameworks) known.push_back(framework.id);
  const std::string near = Nearest(LowerAscii(name), known);
  throw Error(fmt::format("--framework {}: unknown framework{} (expected one of {}{})", Printable(name),
                          near.empty() ? "" : fmt::format(", did you mean '{}'?", Printable(near)),
                          Printable(Listing(known)), or_all ? ", or all" : ""));
}

// Returns the frameworks whose steps are shown; empty for all.
Frameworks FrameworksOf(const RuleSet& rules, const std::string& asked) {
  if (asked == "all") return {};
  if (!asked.empty()) return {&NamedFramework(rules, asked, true)};
  const Framework* usual = rules.default_framework();
  return usual == nullptr ? Frameworks() : Frameworks{usual};
}

std::optional<Explanation> ExplanationOf(const RuleSet& rules, const std::string& given) {
  // "E1000.?" is how reports name an undecided scenario.
  const std::string topic = given.ends_with(kUndecidedSuffix) ? given.substr(0, given.rfind(kUndecidedSuffix)) : given;
  if (topic.empty()) return std::nullopt;
  if (std::optional<Explanation> found = FindExplanation(rules, topic)) return found;
  const std::string near = SuggestTopic(rules, topic);
  const std::string meant = near.empty() ? "" : fmt::format(", did you mean '{}'?", near);
  throw Error(
      fmt::format("unknown topic '{}'{} (`whyoom explain` lists the topics)", Printable(topic), Printable(meant)));
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

int RunRules(Options options) {
  if (options.command == Command::kRulesTrace) return RunTrace(options);
  if (options.command == Command::kRulesSchema) {
    WriteOutput(EmbeddedRuleSchema().front().text, options.output);
    return kNothing;
  }
  options.rules.insert(options.rules.end(), options.paths.begin(), options.paths.end());
  const std::vector<RuleFile> files = FindRuleFiles(options);
  int status = kNothing;
  std::string text;
  if (options.command == Command::kRulesList) {
    text = ListRules(files);
  } else if (options.command == Command::kRulesTest) {
    bool ok = true;
    text = TestRules(Load(files), &ok);
    if (!ok) status = kFound;
  } else if (text = FaultListing(AddToBuiltIn(files).faults); !text.empty()) {
    status = kCouldNotRun;
  } else {
    text = "The rules are valid. `whyoom rules test` reads the examples of their failures as logs.\n";
  }
  WriteOutput(text, options.output);
  return status;
}

void SetTracedPlace(Options* options) {
  std::string& path = options->paths[0];
  std::error_code error;
  const std::size_t colon = path.rfind(':');
  if (colon == path.npos || std::filesystem::exists(path, error)) return;
  const std::optional<std::uint64_t> line = ParseWholeNumber(path.substr(colon + 1));
  if (line == 0) throw Error("LOG:LINE: invalid line 0 (lines are counted from 1)");
  if (!line) return;
  options->trace_line = *line;
  path.resize(colon);
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

int RunExplain(const RuleSet& rules, const Options& options) {
  const std::optional<Explanation> explanation = ExplanationOf(rules, options.paths.empty() ? "" : options.paths[0]);
  const Frameworks frameworks = FrameworksOf(rules, options.framework);
  const doc::Blocks blocks = explanation ? ExplanationBlocks(rules, *explanation, frameworks) : TopicBlocks(rules);
  WriteFormats(options, [&](Format format, const TextOptions& style) {
    return format == Format::kMarkdown ? PrintMarkdownPage(blocks) : PrintBlocks(blocks, style);
  });
  return kNothing;
}

std::string SelectedFramework(const Options& options, const RuleSource& rules) {
  return options.framework.empty() ? "" : NamedFramework(rules.rules(), options.framework, false).id;
}

}  // namespace whyoom
