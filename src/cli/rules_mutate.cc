#include "cli/rules_mutate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/diff.h"
#include "cli/exit_status.h"
#include "cli/progress.h"
#include "cli/rule_files.h"
#include "cli/rules_command.h"
#include "cli/terminal.h"
#include "diagnose/read_input.h"
#include "diagnose/rule_mutation.h"
#include "diagnose/rule_test.h"
#include "input/error.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "report/diff.h"
#include "report/layout.h"
#include "report/markdown/failure_pages.h"
#include "report/record/diff_json.h"
#include "report/record/json_printer.h"
#include "report/report.h"
#include "report/text/diff_printer.h"
#include "rules/json_positions.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Kind = RuleMutant::Kind;
using End = TriedMutant::End;

constexpr std::array kKinds = {Kind::kPattern, Kind::kCondition, Kind::kSentence, Kind::kNumber,
                               Kind::kFlag,    Kind::kName,      Kind::kEntry,    Kind::kWords};

// The folder of two runs, `before` and `after`, that a file is or lies in one of.
std::optional<std::filesystem::path> PairOf(const std::filesystem::path& file) {
  for (std::filesystem::path part = file; part.has_relative_path(); part = part.parent_path()) {
    const std::filesystem::path folder = part.parent_path();
    const bool is_run = part.filename() == "before" || part.filename() == "after";
    if (is_run && std::filesystem::exists(folder / "before") && std::filesystem::exists(folder / "after"))
      return folder;
  }
  return std::nullopt;
}

// What is reported of each log below the folder, with the dump in a folder beside it, and of each pair of runs.
std::vector<RuleWitness> WitnessesOf(const std::string& corpus, const OutputFiles& outputs) {
  std::vector<RuleWitness> witnesses;
  witnesses.push_back({[](const Engine& engine) {
                         std::string pages;
                         for (const Page& page : MakeFailurePages(engine.rules())) pages += page.text;
                         return pages;
                       },
                       true});
  if (corpus.empty()) return witnesses;
  std::vector<Problem> problems;
  std::vector<Artifact> logs;
  std::set<std::filesystem::path> pairs;
  std::map<std::string, std::shared_ptr<XlaDump>> dumps;  // by the folders that hold theirs
  for (Walk walk({corpus}); const std::optional<Artifact> file = walk.Next(&problems);) {
    outputs.ThrowIfOutput(file->path);
    if (const std::optional<std::filesystem::path> folder = PairOf(file->path)) {
      pairs.insert(*folder);
      continue;
    }
    if (!XlaDump::IsDumpFile(file->path)) {
      logs.push_back(*file);
      continue;
    }
    std::shared_ptr<XlaDump>& dump = dumps[std::filesystem::path(file->path).parent_path().parent_path().string()];
    if (!dump) dump = std::make_shared<XlaDump>();
    dump->AddFile(file->path);
  }
  for (const Artifact& log : logs) {
    const auto dump = dumps.find(std::filesystem::path(log.path).parent_path().string());
    const std::shared_ptr<XlaDump> of_log = dump == dumps.end() ? std::make_shared<XlaDump>() : dump->second;
    witnesses.push_back(
        {[log, of_log](const Engine& engine) { return PrintJson(MakeReport("", ReadInput(engine, log, {}), *of_log)); },
         false});
  }
  for (const std::filesystem::path& folder : pairs) {
    witnesses.push_back({[folder, &outputs](const Engine& engine) {
                           Options options;
                           options.paths = {(folder / "before").string(), (folder / "after").string()};
                           const Diff diff = MakeDiff(engine, options, outputs);
                           // The digest of the rules tells of each change, and so of none.
                           std::string said = PrintDiffJson(diff, "", engine.rules());
                           const std::string& digest = engine.rules().fingerprint();
                           for (std::size_t at; (at = said.find(digest)) != std::string::npos;)
                             said.erase(at, digest.size());
                           return said + PrintDiffText(diff, engine.rules(), {});
                         },
                         false});
  }
  for (const Problem& problem : problems) throw Error("cannot read " + Printable(problem.path) + ": " + problem.what);
  return witnesses;
}

struct Count {
  std::size_t all = 0;
  std::size_t survived = 0;

  double Share() const {
    return all == 0 ? 100 : 100.0 * static_cast<double>(all - survived) / static_cast<double>(all);
  }
};

// Rounded down: 100 % is all of them.
std::string ShareText(const Count& count) { return fmt::format("{:.1f}", std::floor(count.Share() * 10) / 10); }

class MutationReport {
 public:
  MutationReport(const std::vector<RuleFile>& files, const std::vector<TriedMutant>& tried) : tried_(tried) {
    for (const RuleFile& file : files) documents_.push_back({file.name, JsonDocument::Parse(file.text)});
    for (const TriedMutant& one : tried) {
      for (Count* count : {&counts_[static_cast<std::size_t>(one.mutant.kind)], &all_}) {
        ++count->all;
        if (one.end == End::kSurvived) ++count->survived;
      }
    }
  }

  const Count& all() const { return all_; }

  std::string Text() const {
    std::string text;
    for (const TriedMutant& one : tried_) {
      if (one.end != End::kSurvived) continue;
      const JsonPlace place = PlaceOf(one.mutant);
      text += fmt::format("{}:{}:{}: {}: {}\n", Printable(documents_[one.mutant.file].name), place.line, place.column,
                          KindName(one.mutant.kind), one.mutant.what);
    }
    for (const Kind kind : kKinds) {
      const Count& count = counts_[static_cast<std::size_t>(kind)];
      if (count.all > 0)
        text += fmt::format("{:<10} {:>6} changes, {:>5} unnoticed, {:>5} % noticed\n", KindName(kind), count.all,
                            count.survived, ShareText(count));
    }
    text += fmt::format("{:<10} {:>6} changes, {:>5} unnoticed, {:>5} % noticed\n", "all", all_.all, all_.survived,
                        ShareText(all_));
    return WithoutCommands(text);
  }

  std::string JsonText() const {
    nlohmann::json json = {
        {"format", "whyoom.mutants/1"}, {"changes", all_.all}, {"unnoticed", nlohmann::json::array()}};
    for (const Kind kind : kKinds) {
      const Count& count = counts_[static_cast<std::size_t>(kind)];
      json["kinds"][KindName(kind)] = {{"changes", count.all}, {"unnoticed", count.survived}};
    }
    for (const TriedMutant& one : tried_) {
      if (one.end != End::kSurvived) continue;
      const JsonPlace place = PlaceOf(one.mutant);
      json["unnoticed"].push_back({{"file", documents_[one.mutant.file].name},
                                   {"line", place.line},
                                   {"column", place.column},
                                   {"pointer", one.mutant.pointer},
                                   {"kind", KindName(one.mutant.kind)},
                                   {"what", one.mutant.what}});
    }
    return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
  }

 private:
  struct Document {
    std::string name;
    JsonDocument document;
  };

  JsonPlace PlaceOf(const RuleMutant& mutant) const {
    const JsonDocument& document = documents_[mutant.file].document;
    const bool in_text = mutant.at > 0;
    return in_text ? document.PlaceInText(mutant.pointer, mutant.at) : document.PlaceOf(mutant.pointer);
  }

  const std::vector<TriedMutant>& tried_;
  std::vector<Document> documents_;
  std::array<Count, kKinds.size()> counts_;
  Count all_;
};

}  // namespace

int RunRulesMutate(const Options& options, const OutputFiles& outputs) {
  const RuleTestResult test = TestRules(LoadRules(options, RuleSet::BuiltInData::kChecked));
  if (!test.ok()) throw Error("the rules do not pass `whyoom rules test`: " + Printable(test.Failures().front()));
  // One's own files where there are any: what is built in was tried by those who made it.
  const std::vector<RuleFile> own = NamedRuleFiles(options).files;
  const std::vector<RuleFile>& files = own.empty() ? RuleSet::BuiltIn() : own;
  MutationOptions mutation;
  mutation.jobs = options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
  mutation.sample = options.mutate.sample;
  mutation.seed = options.mutate.seed;
  mutation.only = options.mutate.only;
  const bool shows = Progress::IsWanted(options.progress);
  const std::vector<TriedMutant> tried =
      TryMutants(own.empty() ? std::vector<RuleFile>() : RuleSet::BuiltIn(), files, RuleSet::BuiltInExamples(),
                 WitnessesOf(options.mutate.corpus, outputs), mutation, [&](std::size_t done, std::size_t of) {
                   if (shows && (done % 50 == 0 || done == of))
                     WriteError(fmt::format("\r{} of {} changes tried{}", done, of, done == of ? "\n" : ""));
                 });
  const MutationReport report(files, tried);
  WriteOutput(options.format == Format::kJson ? report.JsonText() : report.Text(), options.output);
  return report.all().Share() < options.mutate.at_least ? kFound : kNothing;
}

}  // namespace whyoom
