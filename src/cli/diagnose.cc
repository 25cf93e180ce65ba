#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <csignal>
#include <cstddef>
#include <deque>
#include <exception>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "cli/dump_folder.h"
#include "cli/exit_status.h"
#include "cli/inputs.h"
#include "cli/interrupt.h"
#include "cli/progress.h"
#include "cli/resume_journal.h"
#include "cli/run_context.h"
#include "cli/terminal.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "input/artifact.h"
#include "input/error.h"
#include "input/members.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "report/failure_view.h"
#include "report/record/report_reader.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Everything but the input itself that affects its failures. Any new option with such an effect must be added, or the
// journal would return stale failures.
std::string Settings(const RuleSource& rules, const Options& options) {
  const auto time = [](const std::optional<Timestamp>& bound) { return bound ? ToString(*bound) : "none"; };
  const Limits& limits = options.limits;
  return fmt::format("whyoom {}\nrules {}\nlimits {} {} {} {} {} {} {}\nrange {} {}", WHYOOM_VERSION,
                     rules.head().fingerprint, limits.bytes, limits.suspicious_bytes, limits.suspicious_ratio,
                     limits.depth, limits.members, limits.seconds, limits.memory, time(options.range.since),
                     time(options.range.until));
}

// Reads inputs on several threads and counts them. Passes dump files to `dump` without reading them.
class Batch {
 public:
  // Borrows all.
  Batch(const RunContext& run, ReadControl* control, XlaDump* dump);
  ~Batch();  // drops inputs that are not read yet

  // Queues the input, unless it is part of a dump. Blocks while the queue is full. Rethrows an exception of an earlier
  // read. Returns false if the run was stopped.
  bool Add(const Artifact& input);

  // Reads what is left and waits for all reads. Rethrows an exception of a read. `listed`: all inputs are known. Call
  // once, at the end.
  Report Finish(bool listed, const Interrupt& interrupt);

  const BatchCounts& counts() const { return counts_; }

 private:
  bool IsToRead(const Artifact& input);
  void Work();
  Report Read(const Artifact& input, std::size_t threads);
  void CountDone(const Report& found);
  void Close(bool drop);

  const RunContext& run_;
  XlaDump& dump_;
  ReadControl& control_;
  const std::size_t jobs_;
  std::optional<ResumeJournal> journal_;
  BatchCounts counts_;
  std::atomic<std::uint64_t> cut_short_{0};  // were being read when the run was interrupted

  std::mutex mutex_;  // guards all members below but `threads_`
  std::condition_variable not_empty_;
  std::condition_variable not_full_;
  std::deque<Artifact> waiting_;
  bool closed_ = false;
  std::size_t busy_ = 0;  // threads that are reading
  std::exception_ptr error_;
  Report found_;  // of threads that have finished
  std::vector<std::thread> threads_;
};

// Size of the queue, so that millions of paths do not fill the memory.
constexpr std::size_t kMaxQueued = 4096;
// Maximum number of inputs that a thread takes at once. Taking small files one by one costs more than reading them.
constexpr std::size_t kMaxTaken = 32;

Batch::Batch(const RunContext& run, ReadControl* control, XlaDump* dump)
    : run_(run),
      dump_(*dump),
      control_(*control),
      jobs_(run.options.jobs > 0 ? run.options.jobs : std::max(1U, std::thread::hardware_concurrency())) {
  const std::string& resume = run.options.resume;
  if (resume.empty()) return;
  journal_.emplace(resume, run.rules, Settings(run.rules, run.options));
  if (const std::size_t count = journal_->damaged_lines(); count > 0 && !run.options.quiet)
    WriteError(fmt::format("whyoom: --resume: '{}' had {}; these inputs are read again\n", Printable(resume),
                           Counted(count, "damaged line", "damaged lines")));
}

Batch::~Batch() { Close(true); }

void Batch::Close(bool drop) {
  {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    if (drop) waiting_.clear();
  }
  not_empty_.notify_all();
  if (!drop && threads_.size() < jobs_) Work();  // a single input needs no thread
  for (std::thread& thread : threads_) thread.join();
  threads_.clear();
}

// Counts the input if it is to be read. Registers dump files.
bool Batch::IsToRead(const Artifact& input) {
  run_.outputs.ThrowIfOutput(input.path);
  if (dump_.AddFile(input.path, true)) return false;
  ++counts_.files_known;
  return !control_.stopped();
}

bool Batch::Add(const Artifact& input) {
  if (!IsToRead(input)) return !control_.stopped();
  std::unique_lock lock(mutex_);
  not_full_.wait(lock, [&] { return waiting_.size() < kMaxQueued || error_; });
  if (error_) std::rethrow_exception(error_);
  waiting_.push_back(input);
  const std::size_t idle = threads_.size() - busy_;
  if (threads_.size() < jobs_ && idle + 1 < waiting_.size()) threads_.emplace_back([this] { Work(); });
  lock.unlock();
  not_empty_.notify_one();
  return true;
}

void Batch::Work() {
  Report mine;
  std::vector<Artifact> inputs;
  std::unique_lock lock(mutex_);
  try {
    while (true) {
      not_empty_.wait(lock, [&] { return closed_ || !waiting_.empty(); });
      if (waiting_.empty() || error_) break;
      // Takes at most a fair share; otherwise the last thread would finish long after the others.
      const auto share =
          static_cast<std::ptrdiff_t>(std::clamp<std::size_t>(waiting_.size() / (2 * jobs_), 1, kMaxTaken));
      inputs.assign(std::make_move_iterator(waiting_.begin()), std::make_move_iterator(waiting_.begin() + share));
      waiting_.erase(waiting_.begin(), waiting_.begin() + share);
      ++busy_;
      // A thread that waits for matches in a large file is idle, so one more thread can search blocks.
      const std::size_t idle = jobs_ - std::min(jobs_, busy_ + waiting_.size());
      const std::size_t searchers = idle == 0 ? 0 : idle + 1;
      lock.unlock();
      not_full_.notify_one();
      for (const Artifact& input : inputs) mine.Join(Read(input, searchers));
      lock.lock();
      --busy_;
    }
    found_.Join(std::move(mine));
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    error_ = std::current_exception();
    waiting_.clear();
    not_full_.notify_all();
  }
}

// Several threads call it at once. It may use up to `threads` further threads for a large input.
Report Batch::Read(const Artifact& input, std::size_t threads) {
  if (control_.stopped()) return {};
  counts_.Begin(input.path);
  const FileStamp stamp = journal_ ? StampOf(input.path) : FileStamp();
  if (journal_) {
    if (journal_->IsJournalFile(stamp)) {
      ++counts_.files_done;
      return {};
    }
    if (std::optional<Report> earlier = journal_->Recall(input, stamp)) {
      CountDone(*earlier);
      return *std::move(earlier);
    }
  }
  Report found = ReadInput(run_.engine, input, run_.options.limits, {run_.options.range, threads, &control_});
  if (control_.stopped()) {
    ++cut_short_;
  } else if (journal_) {
    journal_->Record(input, stamp, found);
  }
  CountDone(found);
  return found;
}

void Batch::CountDone(const Report& found) {
  if (found.table) counts_.failures += found.table->entries().size();
  ++counts_.files_done;
}

Report Batch::Finish(bool listed, const Interrupt& interrupt) {
  counts_.listed = listed;
  Close(false);
  if (error_) std::rethrow_exception(error_);
  if (journal_) {
    if (std::optional<Problem> problem = journal_->Close()) found_.problems.push_back(*std::move(problem));
  }
  const std::uint64_t read = counts_.files_done - cut_short_;
  if (const int signal = interrupt.signal(); signal != 0 && (read < counts_.files_known || !listed)) {
    const char* name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
    const char* more = listed ? "" : " or more";
    found_.problems.push_back({"the rest", "",
                               fmt::format("interrupted by {}: {} of {}{} inputs were read to their end", name, read,
                                           counts_.files_known.load(), more)});
  }
  return std::move(found_);
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

// Metadata files that Spark and Hadoop write next to their output files ("_SUCCESS", ".part-00000.crc").
bool IsPartMetadata(const std::string& path) {
  const char first = path[path.rfind('/') + 1];
  return first == '.' || first == '_';
}

}  // namespace

int RunDiagnose(const RunContext& run) {
  const Options& options = run.options;
  const std::optional<double> limit = run.Limit();
  std::vector<Problem> problems;
  XlaDump dump;
  if (!options.xla_dump.empty()) AddDumpFolder(options.xla_dump, run.outputs, &dump, &problems);
  int signal = 0;
  Report report;
  {
    ReadControl control;
    const Interrupt interrupt(&control.stop);
    Inputs inputs(options, control);
    Batch batch(run, &control, &dump);
    Report found;
    {
      const ProgressBar progress(options, batch.counts(), control);
      for (bool goes_on = true; goes_on;) {
        const std::optional<Artifact> input = inputs.Next();
        goes_on = input && batch.Add(*input);
      }
      found = batch.Finish(inputs.all_listed(), interrupt);
    }
    for (Problem& problem : inputs.TakeProblems(&found.problems_left_out)) problems.push_back(std::move(problem));
    std::move(problems.begin(), problems.end(), std::back_inserter(found.problems));
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
  for (const Problem& problem : problems) reader.Tell(problem);
  Report report = run.MakeReport(reader.Take());
  return run.Print(&report);
}

}  // namespace whyoom
