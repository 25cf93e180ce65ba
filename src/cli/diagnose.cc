#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <csignal>
#include <future>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/resume_journal.h"
#include "cli/run_context.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/members.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "report/failure_view.h"
#include "report/record/report_reader.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct Inputs {
  std::vector<Artifact> files;
  std::vector<Problem> problems;
  std::uint64_t problems_left_out = 0;
};

constexpr std::size_t kMostListBytes = std::size_t{1} << 30;

void ListPaths(std::vector<std::string> paths, const ReadControl& control, Inputs* inputs) {
  std::vector<Problem> problems;
  for (Walk walk(std::move(paths)); !control.stopped();) {
    std::optional<Artifact> file = walk.Next(&problems);
    for (Problem& problem : std::exchange(problems, {})) {
      inputs->problems.push_back(std::move(problem));
      BoundProblems(&inputs->problems, &inputs->problems_left_out);
    }
    if (!file) break;
    inputs->files.push_back(*std::move(file));
  }
}

void AddListed(const Options& options, const ReadControl& control, Inputs* inputs) {
  const std::string& path = options.files_from;
  if (IsEndless(path)) throw Error("--files-from: device with endless output");
  const Stop stop(&control, Limits());
  const std::unique_ptr<ByteSource> source = OpenFile(path, &stop);
  const std::string list = ReadUpTo(*source, kMostListBytes);
  const auto add_problem = [&](std::string what) {
    inputs->problems.push_back({path, "", std::move(what)});
    BoundProblems(&inputs->problems, &inputs->problems_left_out);
  };
  std::size_t number = 1;
  for (std::size_t at = 0; at < list.size() && !control.stopped(); ++at, ++number) {
    const std::size_t end = std::min(list.find(options.nulls ? '\0' : '\n', at), list.size());
    std::string name = list.substr(at, end - at);
    at = end;
    if (!options.nulls && name.ends_with('\r')) name.pop_back();
    if (name.find('\0') != name.npos) {
      add_problem(fmt::format("entry {}: contains a NUL byte", number));
    } else if (!name.empty()) {
      ListPaths({name == "-" ? "./-" : name}, control, inputs);
    }
  }
  if (list.size() == kMostListBytes) add_problem("the list is too long: only its first GiB was read");
  if (source->problem().empty()) return;
  if (list.empty()) throw Error(fmt::format("{}: {}", Printable(path), source->problem()));
  add_problem(std::string(source->problem()));
}

// Lists the files at and below the paths of the command line and those in the list of --files-from, in an order that
// depends only on the names. Names in the list are always files and folders: "-" becomes "./-". Ends early if `control`
// asks to stop, even while it waits for the list.
Inputs ListInputs(const Options& options, const ReadControl& control) {
  if (options.files_from == "-" && std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end())
    throw Error("standard input cannot be both the list of --files-from and an input");
  Inputs inputs;
  ListPaths(options.paths, control, &inputs);
  if (!options.files_from.empty()) AddListed(options, control, &inputs);
  return inputs;
}

// Everything but the input itself that affects its failures. Any new option with such an effect must be added, or the
// journal would return stale failures.
std::string Settings(const RuleSource& rules, const Options& options) {
  const Limits& limits = options.limits;
  return fmt::format("whyoom {}\nrules {}\nlimits {} {} {} {} {} {} {}", WHYOOM_VERSION, rules.head().fingerprint,
                     limits.bytes, limits.suspicious_bytes, limits.suspicious_ratio, limits.depth, limits.members,
                     limits.seconds, limits.memory);
}

// Reads inputs on several threads and counts them.
class Batch {
 public:
  // Borrows all.
  Batch(const RunContext& run, const std::vector<Artifact>& inputs, ReadControl* control);

  // Reads all inputs. Rethrows an exception of a read. Call once.
  Report ReadAll();

  const BatchCounts& counts() const { return counts_; }
  std::uint64_t read_to_end() const { return counts_.files_done - cut_short_; }

 private:
  Report Work();
  Report Read(const Artifact& input);
  Report CountDone(Report found);

  const RunContext& run_;
  const std::vector<Artifact>& inputs_;
  ReadControl& control_;
  const std::size_t jobs_;
  std::optional<ResumeJournal> journal_;
  BatchCounts counts_;
  std::atomic<std::size_t> next_{0};         // input
  std::atomic<std::uint64_t> cut_short_{0};  // were being read when the run was interrupted
};

Batch::Batch(const RunContext& run, const std::vector<Artifact>& inputs, ReadControl* control)
    : run_(run),
      inputs_(inputs),
      control_(*control),
      jobs_(run.options.jobs > 0 ? run.options.jobs : std::max(1U, std::thread::hardware_concurrency())) {
  counts_.files_known = inputs.size();
  if (!run.options.resume.empty()) journal_.emplace(run.options.resume, run.rules, Settings(run.rules, run.options));
}

// Each thread reads the next input until none is left.
Report Batch::ReadAll() {
  std::vector<std::future<Report>> threads;
  for (std::size_t i = 1; i < std::min(jobs_, inputs_.size()); ++i)
    threads.push_back(std::async(std::launch::async, [this] { return Work(); }));
  Report found = Work();
  for (std::future<Report>& thread : threads) found.Join(thread.get());
  if (std::optional<Problem> problem = journal_ ? journal_->Close() : std::nullopt)
    found.problems.push_back(*std::move(problem));
  return found;
}

Report Batch::Work() {
  Report found;
  try {
    for (std::size_t i = 0; !control_.stopped() && (i = next_++) < inputs_.size();) found.Join(Read(inputs_[i]));
  } catch (...) {
    next_ = inputs_.size();  // ends the other threads
    throw;
  }
  return found;
}

Report Batch::Read(const Artifact& input) {
  counts_.Begin(input.path);
  const FileStamp stamp = journal_ ? StampOf(input.path) : FileStamp();
  if (journal_) {
    if (journal_->IsJournal(input.path)) return CountDone({});
    if (std::optional<Report> earlier = journal_->Recall(input, stamp)) return CountDone(*std::move(earlier));
  }
  // A thread that waits for matches in a large file is idle, so one more thread than are idle can search blocks.
  const std::size_t idle = jobs_ - std::min<std::size_t>(jobs_, inputs_.size() - counts_.files_done);
  const std::size_t searchers = idle == 0 ? 0 : idle + 1;
  Report found = ReadInput(run_.engine, input, run_.options.limits, {searchers, &control_});
  if (control_.stopped()) {
    ++cut_short_;
  } else if (journal_) {
    journal_->Record(input, stamp, found);
  }
  return CountDone(std::move(found));
}

Report Batch::CountDone(Report found) {
  if (found.table) counts_.failures += found.table->entries().size();
  ++counts_.files_done;
  return found;
}

// If no log contains a failure, treats the dump itself as an input.
void AddDumps(const RunContext& run, const std::optional<double>& limit, XlaDump* dump, Report* found) {
  const bool any = found->table && !found->table->entries().empty();
  if (!any) dump->MarkAsInputs();
  if (dump->has_inputs() && !found->table) found->table.emplace(run.rules.rules());
  if (!found->table) return;
  if (!run.options.xla_dump.empty() && dump->empty()) found->table->settings.no_dump = true;
  run.AddDump(*dump, limit, found);
}

Problem Interrupted(int signal, std::uint64_t read, std::size_t known, bool all_listed) {
  const char* name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  return {"the rest", "",
          fmt::format("interrupted by {}: {} of {}{} inputs were read to their end", name, read, known,
                      all_listed ? "" : " or more")};
}

// Metadata files that Spark and Hadoop write next to their output files ("_SUCCESS", ".part-00000.crc").
bool IsPartMetadata(const std::string& path) {
  const char first = path[path.rfind('/') + 1];
  return first == '.' || first == '_';
}

}  // namespace

int RunDiagnose(const RunContext& run) {
  const Options& options = run.options;
  const std::optional<double> limit = run.Limit();
  XlaDump dump;
  int signal = 0;
  Report report;
  {
    ReadControl control;
    const Interrupt interrupt(&control.stop);
    Inputs inputs = ListInputs(options, control);
    const bool all_listed = !control.stopped();
    if (!options.xla_dump.empty()) AddDumpFolder(options.xla_dump, run.outputs, &dump, &inputs.problems);
    std::erase_if(inputs.files, [&](const Artifact& input) {
      run.outputs.ThrowIfOutput(input.path);
      return dump.AddFile(input.path, true);
    });
    Batch batch(run, inputs.files, &control);
    Report found;
    {
      const ProgressBar progress(options, batch.counts(), control);
      found = batch.ReadAll();
    }
    signal = interrupt.signal();
    if (signal != 0 && (batch.read_to_end() < inputs.files.size() || !all_listed))
      found.problems.push_back(Interrupted(signal, batch.read_to_end(), inputs.files.size(), all_listed));
    std::move(inputs.problems.begin(), inputs.problems.end(), std::back_inserter(found.problems));
    found.problems_left_out += inputs.problems_left_out;
    dump.StopAt(&control, options.limits);
    AddDumps(run, limit, &dump, &found);
    report = run.MakeReport(std::move(found));
    signal = interrupt.signal();
  }
  for (CompiledProgram& program : report.programs) {
    if (limit) program.facts.Set("limit_bytes", *limit, {});
  }
  const int status = run.Print(&report);
  return signal != 0 ? kSignalled + signal : status;
}

int RunMerge(const RunContext& run) {
  const std::vector<std::string>& paths = run.options.paths;
  ReportReader reader(run.rules.rules());
  std::vector<Problem> problems;
  for (Walk walk(paths); const std::optional<Artifact> artifact = walk.Next(&problems);) {
    const std::string& path = artifact->path;
    run.outputs.ThrowIfOutput(path);
    if (std::find(paths.begin(), paths.end(), path) == paths.end() && IsPartMetadata(path)) continue;
    Members members(*artifact, OpenFile(path), run.options.limits);
    for (Artifact part; ByteSource* source = members.Next(&part);) reader.Read(part.path, *source);
    for (Problem& problem : members.TakeProblems()) problems.push_back(std::move(problem));
  }
  Report read = reader.Take();
  read.problems.insert(read.problems.end(), problems.begin(), problems.end());
  Report report = run.MakeReport(std::move(read));
  return run.Print(&report);
}

}  // namespace whyoom
