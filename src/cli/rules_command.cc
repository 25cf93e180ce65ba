#include "cli/rules_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/embedded.h"
#include "cli/exit_status.h"
#include "cli/print_report.h"
#include "cli/rules_test.h"
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

using Json = nlohmann::ordered_json;

constexpr std::size_t kMostTitle = 200;

std::string ToText(const std::vector<RuleEntry>& entries, const TextOptions& options) {
  doc::Blocks blocks;
  for (const RuleEntry& entry : entries) {
    const auto* last = blocks.empty() ? nullptr : std::get_if<doc::Section>(&blocks.back().content);
    if (last == nullptr || last->title != entry.section)
      blocks.emplace_back(doc::Section{entry.section, {doc::List{doc::List::Style::kFields, {}, 0}}});
    auto& list = std::get<doc::List>(std::get<doc::Section>(blocks.back().content).blocks.front().content);
    doc::Item item{.text = doc::Words(CutBytes(Printable(entry.title), kMostTitle)),
                   .label = doc::Words(Printable(entry.id))};
    for (const std::string& change : entry.changes)
      item.blocks.emplace_back(doc::Paragraph{doc::Words(Printable(change))});
    list.items.push_back(std::move(item));
  }
  return PrintBlocks(blocks, options);
}

std::string ToJson(const std::vector<RuleEntry>& entries) {
  Json all = Json::array();
  for (const RuleEntry& entry : entries) {
    all.push_back({{"section", entry.section}, {"id", entry.id}, {"title", entry.title}, {"changes", entry.changes}});
  }
  const Json list = {{"schema", "whyoom.rule_list/1"}, {"entries", std::move(all)}};
  return list.dump(2, ' ', true, Json::error_handler_t::replace) + "\n";
}

int ListRules(const Options& options, const TextOptions& text) {
  Options with_files = options;
  std::vector<std::string> wanted;
  const std::vector<std::string>& sections = RuleSections();
  std::erase_if(with_files.rules, [&](const std::string& word) {
    const bool is_section = std::find(sections.begin(), sections.end(), word) != sections.end();
    if (is_section) wanted.push_back(word);
    std::error_code error;
    if (!is_section && !std::filesystem::exists(word, error))
      throw Error(fmt::format("'{}' is no rule file or folder, and none of the sections {}", Printable(word),
                              fmt::join(sections, ", ")));
    return is_section;
  });
  std::vector<RuleEntry> entries;
  Load(FindRuleFiles(with_files), &entries);
  std::erase_if(entries, [&](const RuleEntry& entry) {
    return !wanted.empty() && std::find(wanted.begin(), wanted.end(), entry.section) == wanted.end();
  });
  WriteOutput(options.format == Format::kJson ? ToJson(entries) : ToText(entries, text), options.output);
  return kNothing;
}

int RunTrace(const Options& options, const TextOptions& text) {
  std::vector<std::string> paths = options.paths;
  if (paths.empty()) {
    if (InputIsTerminal()) throw Error("no input: name a log or pipe one in (see whyoom rules trace --help)");
    paths = {"-"};
  }
  const RuleSet rules = LoadRules(options);
  LogTrace trace{.line = options.trace_line};
  const Engine engine(rules);
  Recorder reading_recorder(trace.line);
  Report found;
  ReadControl control;  // so that --max-time can end the wait for a pipe without a writer
  ReadOptions reading;
  reading.control = &control;
  reading.recorder = &reading_recorder;
  for (Walk walk(paths); const std::optional<Artifact> input = walk.Next(&trace.problems);)
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
  WriteOutput(PrintBlocks(TraceBlocks(trace), text), options.output);
  return all_read ? kNothing : kUnreadInput;
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

int RunRules(const Options& given, const TextOptions& text) {
  if (given.command == Command::kRulesTrace) return RunTrace(given, text);
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
      return ListRules(options, text);
  }
}

void SetTracedPlace(Options* options) {
  constexpr std::size_t kMostDigits = 18;
  std::string& path = options->paths[0];
  const std::size_t colon = path.rfind(':');
  if (colon == std::string::npos || colon == 0) return;
  const std::string line = path.substr(colon + 1);
  std::error_code error;
  if (line.empty() || line.size() > kMostDigits || line.find_first_not_of("0123456789") != std::string::npos ||
      std::filesystem::exists(path, error))
    return;
  path.resize(colon);
  options->trace_line = std::stoull(line);
  if (options->trace_line == 0) throw Error("LOG:LINE: invalid line 0 (lines are counted from 1)");
}

}  // namespace whyoom
