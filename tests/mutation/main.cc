// Mutation testing of the rules: changes them in one place at a time and lists the changes that no example detects.
//   whyoom_mutate [--corpus DIR] [--only TEXT] [--sample N] [--seed N] [--at-least PERCENT] [-j N] [FILE|DIR ...]
// Without files, changes the built-in rules. Exit status 1 if fewer than PERCENT of the changes are detected.
#include <fmt/format.h>
#include <re2/re2.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <iostream>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "cli/rules_command.h"
#include "cli/run_context.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "examples/built_in.h"
#include "input/error.h"
#include "input/walk.h"
#include "mutation/rule_mutation.h"
#include "pages/failure_pages.h"
#include "program/xla_dump.h"
#include "report/command_documents.h"
#include "report/printers.h"
#include "rules/rule_file.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// The folder with the runs `before` and `after` that contains the file, if there is one.
std::optional<std::filesystem::path> PairOf(const std::filesystem::path& file) {
  for (std::filesystem::path part = file; part.has_relative_path(); part = part.parent_path()) {
    const std::filesystem::path folder = part.parent_path();
    const bool is_run = part.filename() == "before" || part.filename() == "after";
    if (is_run && std::filesystem::exists(folder / "before") && std::filesystem::exists(folder / "after"))
      return folder;
  }
  return std::nullopt;
}

// One observer for the pages of `explain`, one per log of the folder (with its dump) and one per pair of runs.
std::vector<RuleObserver> ObserversOf(const std::string& corpus, const OutputFiles& outputs) {
  std::vector<RuleObserver> observers;
  observers.push_back({[](const Engine& engine) {
                         std::string pages;
                         for (const Page& page : MakeFailurePages(engine.rules())) pages += page.text;
                         return pages;
                       },
                       true});
  if (corpus.empty()) return observers;
  std::vector<Problem> problems;
  std::vector<Artifact> logs;
  std::set<std::filesystem::path> pairs;
  std::map<std::string, std::shared_ptr<XlaDump>> dumps;  // by the folder that contains the dump's folder
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
    observers.push_back({[log, of_log](const Engine& engine) {
                           Report report = ReadInput(engine, log, {});
                           if (report.table) report.table->AddDump(*of_log);
                           // The command to type next names the rule file, which differs for every change.
                           static const re2::RE2 next("\\n *\"next\": [^\\n]*");
                           std::string said = PrintJson(MakeReport("", std::move(report)));
                           re2::RE2::GlobalReplace(&said, next, "");
                           return said;
                         },
                         false});
  }
  for (const std::filesystem::path& folder : pairs) {
    observers.push_back({[folder, &outputs](const Engine& engine) {
                           Options options;
                           options.paths = {(folder / "before").string(), (folder / "after").string()};
                           const Diff diff = MakeDiff(engine, options, outputs);
                           // Drop the fingerprint of the rules, because it differs for every change.
                           std::string said = PrintDiffJson(diff, "", engine.rules());
                           const std::string& digest = engine.rules().fingerprint;
                           for (std::size_t at; (at = said.find(digest)) != std::string::npos;)
                             said.erase(at, digest.size());
                           return said + PrintBlocks(DiffBlocks(diff), {});
                         },
                         false});
  }
  for (const Problem& problem : problems) throw Error(Printable(problem.path) + ": " + problem.what);
  return observers;
}

struct Count {
  std::size_t all = 0;
  std::size_t unnoticed = 0;

  double Share() const {
    return all == 0 ? 100 : 100.0 * static_cast<double>(all - unnoticed) / static_cast<double>(all);
  }
  // Rounds down, so that 100 % means all of them.
  std::string Text() const {
    return fmt::format("{:>6} changes, {:>5} undetected, {:>5.1f} % detected\n", all, unnoticed,
                       std::floor(Share() * 10) / 10);
  }
};

const JsonNode& NodeAt(const JsonNode& root, const std::string& pointer) {
  const JsonNode* node = &root;
  for (nlohmann::json::json_pointer rest(pointer), next; !rest.empty(); rest = next) {
    std::string token = rest.to_string().substr(1);
    token = token.substr(0, token.find('/'));
    next = nlohmann::json::json_pointer(rest.to_string().substr(token.size() + 1));
    for (const auto& [from, to] : {std::pair("~1", "/"), std::pair("~0", "~")}) {
      for (std::size_t at = token.find(from); at != token.npos; at = token.find(from, at + 1)) token.replace(at, 2, to);
    }
    node = node->kind() == JsonNode::Kind::kArray ? &node->items().at(std::stoul(token)) : &(*node)[token];
  }
  return *node;
}

// Lists the undetected changes, prints the counts by kind and returns the total.
Count PrintResults(const std::vector<RuleFile>& files, const std::vector<TriedMutant>& tried) {
  std::map<std::string, Count> counts;
  Count total;
  for (const auto& [mutant, end] : tried) {
    const bool unnoticed = end == TriedMutant::End::kSurvived;
    for (Count* count : {&counts[KindName(mutant.kind)], &total}) {
      ++count->all;
      count->unnoticed += unnoticed ? 1 : 0;
    }
    if (!unnoticed) continue;
    const LoadedFile file(files[mutant.file]);
    const JsonNode& node = NodeAt(file.root(), mutant.pointer);
    node.ReportAt(mutant.at, std::string(KindName(mutant.kind)) + ": " + mutant.what);
    for (const Fault& fault : file.SortedFaults()) fmt::print("{}\n", Printable(fault.ToString()));
  }
  for (const auto& [kind, count] : counts) fmt::print("{:<10} {}", kind, count.Text());
  fmt::print("{:<10} {}", "all", total.Text());
  return total;
}

int Mutate(int argc, char** argv) {
  Options options;
  MutationOptions mutation;
  mutation.jobs = std::max(1U, std::thread::hardware_concurrency());
  std::string corpus;
  double at_least = 100;
  CLI::App app("Change the rules in one place at a time and list the changes that no example detects");
  app.add_option("file", options.rules, "Rule files or folders to change (default: the built-in ones)");
  app.add_option("--corpus", corpus, "Also compare the reports for the logs and pairs of runs in this folder");
  app.add_option("--only", mutation.only, "Select files, entries and kinds whose name contains this text");
  app.add_option("--sample", mutation.sample, "Try only this many random changes");
  app.add_option("--seed", mutation.seed, "Seed for --sample (default: 1)");
  app.add_option("--at-least", at_least, "Percentage that must be detected for exit status 0 (default: 100)");
  app.add_option("-j,--jobs", mutation.jobs, "Number of parallel jobs");
  CLI11_PARSE(app, argc, argv);
  const std::vector<RuleFile> own = FindRuleFiles(options);
  bool ok = true;
  const std::string result = TestRules(own.empty() ? RulesOf(BuiltInFiles(), ExampleFiles()) : LoadRules(options), &ok);
  if (!ok) throw Error("the rules do not pass `whyoom rules test`: " + result);
  mutation.with_conclusions = own.empty();
  const std::vector<RuleFile>& files = own.empty() ? BuiltInFiles() : own;
  const std::vector<TriedMutant> tried =
      TryMutants(own.empty() ? std::vector<RuleFile>() : BuiltInFiles(), files, ExampleFiles(),
                 ObserversOf(corpus, OutputFiles(options)), mutation);
  return PrintResults(files, tried).Share() < at_least ? 1 : 0;
}

}  // namespace
}  // namespace whyoom

int main(int argc, char** argv) {
  try {
    return whyoom::Mutate(argc, argv);
  } catch (const whyoom::Error& error) {
    std::cerr << "whyoom_mutate: " << error.what() << "\n";
    return 2;
  }
}
