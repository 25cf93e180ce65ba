#include "diagnose/dump_report.h"

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "diagnose/read_input.h"
#include "input/byte_source.h"
#include "read/context_facts.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostReported = 12;
constexpr std::size_t kMostRows = 10;
constexpr std::size_t kMostSettings = std::size_t{256} << 10;  // the files have 1 and 60 KiB

using InputModule = XlaDump::Module;

std::string ReadSettings(const std::string& path) {
  return path.empty() ? std::string() : ReadUpTo(*OpenFile(path), kMostSettings);
}

// Whether a setting that changes the usable memory has its default value.
bool IsDefaultSetting(std::string_view settings, std::string_view name, std::string_view usual) {
  const std::size_t at = settings.find(name);
  return at == std::string_view::npos || settings.substr(at + name.size()).starts_with(usual);
}

class DumpReporter {
 public:
  DumpReporter(const XlaDump& dump, const Engine& engine, const std::optional<double>& limit, Report* found)
      : dump_(dump), engine_(engine), limit_(limit), table_(*found->table), problems_(found->problems) {
    for (const Failure* failure : table_.entries()) AddCompile(*failure, &logged_);
  }

  // Reports the modules of a folder. Returns false if interrupted.
  bool Report(const std::vector<InputModule>& folder) {
    bool any = false;
    for (const InputModule* module : Failures(folder)) any = (!dump_.stopped() && ReportFailed(*module)) || any;
    if (!any) ReportFitting(folder);
    return !dump_.stopped();
  }

 private:
  // Returns the failed compiles to report. Of several with the same name and need, keeps the last one. Of each name,
  // keeps at most the last kMostReported.
  std::vector<const InputModule*> Failures(const std::vector<InputModule>& folder) {
    std::map<std::string, std::vector<const InputModule*>> by_name;
    for (const InputModule& module : folder) {
      if (module.failed) by_name[module.name].push_back(&module);
    }
    std::vector<const InputModule*> reported;
    for (auto& [name, modules] : by_name) {
      std::stable_sort(modules.begin(), modules.end(),
                       [](const InputModule* a, const InputModule* b) { return a->number > b->number; });
      std::set<std::int64_t> needs;
      std::size_t of_name = 0;
      for (const InputModule* module : modules) {
        // A problem is reported when the module is read.
        if (modules.size() > 1 && !needs.insert(dump_.NeedOf(*module).bytes).second &&
            dump_.NeedOf(*module).problem.what.empty())
          continue;
        if (++of_name > kMostReported) {
          problems_.push_back({module->path, "", "earlier failures of this module were dropped", true});
          break;
        }
        reported.push_back(module);
      }
    }
    return reported;
  }

  // Reads the module. If the usable memory is known, adds it and the chip as facts.
  std::optional<DumpReading> Read(const InputModule& module, Problem* problem) {
    Evidence usable;
    if (limit_) {
      usable.Set("limit_bytes", *limit_, {});
    } else {
      usable = TargetOfModule(rules_, module);
    }
    std::optional<DumpReading> reading =
        dump_.ReadModule(module, &rules_.role_words, usable.Number("limit_bytes").value_or(0), problem);
    if (reading) reading->facts.Add(usable);
    return reading;
  }

  // An interruption is reported once, by the caller.
  void AddProblem(Problem problem) {
    if (!problem.what.empty() && !dump_.stopped()) problems_.push_back(std::move(problem));
  }

  // Returns false if the compile did not fail after all.
  bool ReportFailed(const InputModule& module) {
    if (!logged_.empty() && logged_.contains({module.name, static_cast<double>(dump_.NeedOf(module).bytes)}))
      return true;
    Problem problem = {module.path, "", XlaDump::kNoAssignment};
    std::optional<DumpReading> reading;
    if (!module.assignment.empty()) reading = Read(module, &problem);
    if (reading && !reading->failed) return false;
    AddProblem(std::move(problem));
    const auto rule = std::find_if(rules_.failures.begin(), rules_.failures.end(),
                                   [](const FailureRule& each) { return each.of_dump; });
    if (!reading || rule == rules_.failures.end()) return true;
    Failure failure;
    failure.rule = &*rule;
    failure.where.line = 1;
    failure.facts = std::move(reading->facts);
    failure.facts.Set("used_bytes", failure.facts.Get("program_need_bytes"), {});
    failure.allocations = std::move(reading->rows);
    if (!reading->estimates.memory.empty()) failure.estimates = std::move(reading->estimates);
    ArtifactFailures found(engine_, {module.path, ""});
    found.Add({std::move(failure)}, FrameworkOf(rules_.frameworks, reading->sources, ""));
    table_.Join(found.SoFar());
    return true;
  }

  void ReportFitting(const std::vector<InputModule>& folder) {
    std::vector<std::pair<std::int64_t, const InputModule*>> by_need;
    for (const InputModule& module : folder) {
      if (dump_.stopped()) return;
      if (module.assignment.empty()) {
        AddProblem({module.path, "", XlaDump::kNoAssignment});
      } else {
        by_need.emplace_back(dump_.NeedOf(module).bytes, &module);
      }
    }
    std::stable_sort(by_need.begin(), by_need.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    std::size_t reported = 0;
    for (const auto& [need, module] : by_need) {
      constexpr double kWorthTelling = 0.03;  // of the need of the largest program
      const double least = kWorthTelling * static_cast<double>(by_need[0].first);
      if (need <= 0 || static_cast<double>(need) < least || dump_.stopped()) break;
      if (++reported <= kMostReported) {
        ReportProgram(*module, need);
      } else {
        table_.programs().LeaveOut(1);
      }
    }
    if (!by_need.empty() && by_need[0].first <= 0) AddProblem(dump_.NeedOf(*by_need.back().second).problem);
  }

  void ReportProgram(const InputModule& module, std::int64_t need) {
    Problem problem;
    std::optional<DumpReading> reading = Read(module, &problem);
    AddProblem(std::move(problem));
    if (!reading) return;
    CompiledProgram program;
    program.basis = "dump";
    program.where = {{BoundedPath(module.assignment), ""}, 1, 1, 0};
    for (const auto& [name, fact] : reading->facts.all()) {
      if (name != "dump" && name != "listed" && name != "list_seen") program.facts.Set(name, fact.value, {});
    }
    program.facts.Set("need_bytes", static_cast<double>(need), {});
    program.allocations = std::move(reading->rows);
    if (program.allocations.size() > kMostRows) program.allocations.resize(kMostRows);
    if (!reading->estimates.memory.empty()) program.estimates = std::move(reading->estimates);
    Identify(&program);
    table_.programs().Add(std::move(program));
  }

  const XlaDump& dump_;
  const Engine& engine_;
  const RuleSet& rules_ = engine_.rules();
  const std::optional<double>& limit_;
  FailureTable& table_;
  std::vector<Problem>& problems_;
  LoggedCompiles logged_;
};

}  // namespace

std::optional<double> ParseLimit(const std::string& text, const RuleSet& rules) {
  for (const Chip& chip : rules.chips) {
    if (chip.id == text && !chip.limits.empty()) return chip.limits.front();
  }
  const std::optional<std::int64_t> size = ParseSize(text);
  return size && *size > 0 ? std::optional(static_cast<double>(*size)) : std::nullopt;
}

Evidence TargetOfDump(const RuleSet& rules, std::string_view text) {
  Evidence target;
  for (const Chip& chip : rules.chips) {
    for (const Chip::Target& each : chip.targets) {
      PatternMatch match;
      if (!each.pattern.Find(text, 0, &match)) continue;
      target.Set("limit_bytes", each.limit, {});  // keeps the first one
      target.Set("chip", chip.id, {});
    }
  }
  return target;
}

Evidence TargetOfModule(const RuleSet& rules, const XlaDump::Module& module) {
  const std::string target = ReadSettings(module.target);
  const std::string settings = ReadSettings(module.environment);
  const bool is_usual = IsDefaultSetting(settings, "\nxla_tpu_max_hbm_size_mib: ", "0\n") &&
                        IsDefaultSetting(settings, "\nxla_tpu_user_reserved_hbm_bytes: ", "-1\n");
  return target.empty() || !is_usual ? Evidence() : TargetOfDump(rules, target);
}

void ReportDumps(const XlaDump& dump, const Engine& engine, const std::optional<double>& limit, Report* found) {
  std::map<std::string, std::vector<InputModule>> folders;
  for (InputModule& module : dump.InputModules()) {
    ++found->artifacts;
    found->bytes += module.bytes;
    folders[module.folder].push_back(std::move(module));
  }
  DumpReporter dump_reporter(dump, engine, limit, found);
  for (const auto& [folder, modules] : folders) {
    if (dump_reporter.Report(modules)) continue;
    found->problems.push_back({folder.empty() ? "." : folder, "",
                               "interrupted: this XLA dump and later ones may not have been read completely"});
    break;
  }
}

}  // namespace whyoom
