#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
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
#include "cli/remote_names.h"
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

std::size_t Jobs(const Options& options) {
  return options.jobs > 0 ? options.jobs : std::max(1U, std::thread::hardware_concurrency());
}

// Everything but the input itself that affects its failures. Any new option with such an effect must be added, or the
// journal would return stale failures.
std::string Settings(const RuleSource& rules, const Options& options) {
  const auto time = [](const std::optional<Timestamp>& bound) { return bound ? ToString(*bound) : "none"; };
  const Limits& limits = options.limits;
  return fmt::format("whyoom {}\nrules {}\nlimits {} {} {} {} {} {} {}\nrange {} {}", WHYOOM_VERSION,
                     rules.fingerprint(), limits.bytes, limits.suspicious_bytes, limits.suspicious_ratio, limits.depth,
                     limits.members, limits.seconds, limits.memory, time(options.range.since),
                     time(options.range.until));
}

// Reads inputs, several at once, and counts them. Passes dump files to `dump` without reading them.
class InputReader {
 public:
  InputReader(const RunContext& run, ReadControl* control, XlaDump* dump)
      : run_(run), dump_(*dump), control_(*control), wants_sizes_(ProgressBar::IsWanted(ProgressOf(run.options))) {
    const std::string& resume = run.options.resume;
    if (resume.empty()) return;
    journal_.emplace(resume, run.rules, Settings(run.rules, run.options));
    if (const std::size_t count = journal_->damaged_lines(); count > 0 && !run.options.quiet)
      WriteError(fmt::format("whyoom: --resume: '{}' had {}; these inputs are read again\n", Printable(resume),
                             Counted(count, "damaged line", "damaged lines")));
  }

  // Counts the input if this shard reads it, and returns whether it must be read. Registers dump files and returns
  // false for them.
  bool Admit(const Artifact& input);
  // Several threads call it at once. It may use up to `threads` further threads for a large input.
  Report Read(const Artifact& input, std::size_t threads);
  // Sets whether all inputs are known.
  void SetListed(bool listed) { counts_.listed = listed; }
  // Adds problems of the batch. `signal`: the signal that interrupted it, or 0. Call once, at the end.
  void Finish(int signal, std::vector<Problem>* problems);

  const BatchCounts& counts() const { return counts_; }

 private:
  void CountDone(const FileStamp& stamp, const Report& found, bool reused);
  std::string InterruptText(int signal) const;

  const RunContext& run_;
  XlaDump& dump_;
  ReadControl& control_;
  const bool wants_sizes_;
  std::optional<ResumeJournal> journal_;
  BatchCounts counts_;
  std::atomic<std::uint64_t> not_read_{0};   // listed, but not begun when the run was interrupted
  std::atomic<std::uint64_t> cut_short_{0};  // were being read when the run was interrupted
};

bool InputReader::Admit(const Artifact& input) {
  run_.outputs.ThrowIfOutput(input.path);
  // All modules of a folder are diagnosed together, so they belong to the same shard.
  const bool is_of_dump =
      dump_.AddFile(input.path, run_.options.shard.Owns(input.path.substr(0, input.path.rfind('/') + 1)));
  if (is_of_dump) run_.log.Skipped(input.path, "part of an XLA dump");
  if (is_of_dump) return false;
  if (!run_.options.shard.Owns(input.path)) {
    run_.log.Skipped(input.path, "belongs to another shard");
    return false;
  }
  if (wants_sizes_) {
    const FileStamp stamp = StampOf(input.path);
    counts_.size_known += stamp.size;
    if (!stamp.regular) counts_.size_unknown = true;
  }
  ++counts_.files_known;
  if (control_.stopped()) ++not_read_;
  return !control_.stopped();
}

Report InputReader::Read(const Artifact& input, std::size_t threads) {
  if (control_.stopped()) {
    ++not_read_;
    return {};
  }
  const FileStamp stamp = wants_sizes_ || journal_ ? StampOf(input.path) : FileStamp();
  if (journal_) {
    if (journal_->IsJournalFile(stamp)) {
      run_.log.Skipped(input.path, "the journal of --resume");
      ++counts_.files_done;
      return {};
    }
    if (std::optional<Report> earlier = journal_->Recall(input, stamp)) {
      CountDone(stamp, *earlier, true);
      run_.log.Skipped(input.path, "already read by an earlier run, and unchanged");
      return *std::move(earlier);
    }
  }
  const auto begin = std::chrono::steady_clock::now();
  Report found = ReadInput(run_.engine, input, run_.options.limits, {run_.options.range, threads, &control_});
  if (control_.stopped()) {
    ++cut_short_;
  } else if (journal_) {
    journal_->Record(input, stamp, found);
  }
  CountDone(stamp, found, false);
  run_.log.Read(input.path, found, begin);
  return found;
}

void InputReader::CountDone(const FileStamp& stamp, const Report& found, bool reused) {
  (reused ? counts_.size_reused : counts_.size_done) += stamp.size;
  if (!reused) counts_.bytes_done += found.bytes;
  if (found.table) counts_.failures += found.table->entries().size();
  ++counts_.files_done;
}

std::string InputReader::InterruptText(int signal) const {
  const char* name = signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
  std::vector<std::string> parts;
  if (const std::uint64_t count = not_read_; count > 0)
    parts.push_back(fmt::format("{}{} {} not read", counts_.listed ? "" : "at least ", count,
                                count == 1 ? "input was" : "inputs were"));
  if (const std::uint64_t count = cut_short_; count > 0)
    parts.push_back(fmt::format("{}{} possibly not to the end", count,
                                not_read_ > 0 ? ""
                                : count == 1  ? " input was read"
                                              : " inputs were read"));
  if (!counts_.listed && not_read_ == 0) parts.emplace_back("there may be more inputs");
  return fmt::format("interrupted by {}: {}", name, fmt::join(parts, ", "));
}

void InputReader::Finish(int signal, std::vector<Problem>* problems) {
  if (journal_) {
    if (std::optional<Problem> problem = journal_->Close()) problems->push_back(*std::move(problem));
  }
  if (signal != 0 && (not_read_ + cut_short_ > 0 || !counts_.listed))
    problems->push_back({"the rest", "", InterruptText(signal)});
}

// Reads inputs on several threads.
class Batch {
 public:
  // Reads with `jobs` threads. With one job, reads in the caller's thread, in Add. Borrows the reader.
  Batch(std::size_t jobs, InputReader& reader);
  ~Batch();  // drops inputs that are not read yet

  // Reads the input now, or queues it. Blocks while the queue is full. Rethrows an exception of an earlier read.
  void Add(Artifact input);

  // Reads what is left and waits for all reads. Rethrows an exception of a read. Call once, at the end.
  Report Finish();

 private:
  struct Queue;
  void Work();

  const std::size_t jobs_;
  InputReader& reader_;
  Report report_;
  std::unique_ptr<Queue> queue_;  // null if there is one job
};

// Size of the queue, so that millions of paths do not fill the memory.
constexpr std::size_t kMaxQueued = 4096;
// Maximum number of inputs that a thread takes at once. Taking small files one by one costs more than reading them.
constexpr std::size_t kMaxTaken = 32;

struct Batch::Queue {
  std::mutex mutex;
  std::condition_variable not_empty;
  std::condition_variable not_full;
  std::deque<Artifact> waiting;
  bool closed = false;
  std::size_t busy = 0;  // threads that are reading
  std::exception_ptr error;
  Report found;  // of threads that have finished
  std::vector<std::thread> threads;

  void Close(bool drop) {
    {
      const std::lock_guard lock(mutex);
      closed = true;
      if (drop) waiting.clear();
    }
    not_empty.notify_all();
    not_full.notify_all();
  }

  void Join() {
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
};

Batch::Batch(std::size_t jobs, InputReader& reader)
    : jobs_(std::max<std::size_t>(jobs, 1)), reader_(reader), queue_(jobs_ > 1 ? std::make_unique<Queue>() : nullptr) {}

Batch::~Batch() {
  if (queue_ == nullptr) return;
  queue_->Close(true);
  queue_->Join();
}

void Batch::Add(Artifact input) {
  if (queue_ == nullptr) {
    report_.Join(reader_.Read(input, 0));
    return;
  }
  Queue& queue = *queue_;
  std::unique_lock lock(queue.mutex);
  queue.not_full.wait(lock, [&] { return queue.waiting.size() < kMaxQueued || queue.error; });
  if (queue.error) std::rethrow_exception(queue.error);
  queue.waiting.push_back(std::move(input));
  const std::size_t idle = queue.threads.size() - queue.busy;
  if (queue.threads.size() < jobs_ && idle + 1 < queue.waiting.size()) queue.threads.emplace_back([this] { Work(); });
  lock.unlock();
  queue.not_empty.notify_one();
}

void Batch::Work() {
  Queue& queue = *queue_;
  Report mine;
  std::vector<Artifact> inputs;
  std::unique_lock lock(queue.mutex);
  try {
    while (true) {
      queue.not_empty.wait(lock, [&] { return queue.closed || !queue.waiting.empty(); });
      if (queue.waiting.empty() || queue.error) break;
      // Takes at most a fair share; otherwise the last thread would finish long after the others.
      const std::size_t share = std::clamp<std::size_t>(queue.waiting.size() / (2 * jobs_), 1, kMaxTaken);
      inputs.assign(std::make_move_iterator(queue.waiting.begin()),
                    std::make_move_iterator(queue.waiting.begin() + static_cast<std::ptrdiff_t>(share)));
      queue.waiting.erase(queue.waiting.begin(), queue.waiting.begin() + static_cast<std::ptrdiff_t>(share));
      ++queue.busy;
      // A thread that waits for matches in a large file is idle, so one more thread can search blocks.
      const std::size_t idle = jobs_ - std::min(jobs_, queue.busy + queue.waiting.size());
      const std::size_t searchers = idle == 0 ? 0 : idle + 1;
      lock.unlock();
      queue.not_full.notify_one();
      for (const Artifact& input : inputs) mine.Join(reader_.Read(input, searchers));
      lock.lock();
      --queue.busy;
    }
    queue.found.Join(std::move(mine));
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    queue.error = std::current_exception();
    queue.waiting.clear();
    queue.not_full.notify_all();
  }
}

Report Batch::Finish() {
  if (queue_ == nullptr) return std::move(report_);
  queue_->Close(false);
  if (queue_->threads.size() < jobs_) Work();  // a single input needs no thread
  queue_->Join();
  if (queue_->error) std::rethrow_exception(queue_->error);
  return std::move(queue_->found);
}

// Reads all inputs of the command line and of --files-from.
Report ReadInputs(const RunContext& run, const Interrupt& interrupt, ReadControl* control, XlaDump* dump) {
  Report found;
  Inputs inputs(run.options, *control);
  InputReader reader(run, control, dump);
  {
    const ProgressBar progress(ProgressOf(run.options), BatchProgress(reader.counts(), *control));
    Batch batch(Jobs(run.options), reader);
    while (const std::optional<Artifact> input = inputs.Next()) {
      if (reader.Admit(*input)) {
        batch.Add(*input);
      } else if (control->stopped()) {
        break;
      }
    }
    reader.SetListed(inputs.all_listed());
    found = batch.Finish();
  }
  std::vector<Problem> problems = inputs.TakeProblems(&found.problems_left_out);
  reader.Finish(interrupt.signal(), &problems);
  std::move(problems.begin(), problems.end(), std::back_inserter(found.problems));
  return found;
}

// A list may contain remote names: suggest the command that reads them.
void SuggestReadCommands(std::vector<Problem>* problems) {
  for (Problem& problem : *problems) {
    const std::optional<std::string> command = problem.line > 0 ? std::nullopt : ReadCommand(problem.path);
    if (command && problem.member.empty())
      problem.what = "whyoom cannot read remote files, try: " + *command + " | whyoom";
  }
}

// If no log contains a failure, treats the dump itself as an input. Not done in a shard, which does not know the other
// logs.
void AddDumps(const RunContext& run, const std::optional<double>& limit, XlaDump* dump, Report* found) {
  const bool any = found->table && !found->table->entries().empty();
  if (!any && run.options.shard.count <= 1) dump->MarkAsInputs();
  if (dump->has_inputs() && !found->table) found->table.emplace(run.rules.rules());
  if (!found->table) return;
  if (!run.options.xla_dump.empty() && dump->empty()) found->table->SetNoDump();
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
  // Problems with other paths are reported by the shards that own those paths.
  std::erase_if(problems, [&](const Problem& one) { return !options.shard.Owns(one.path); });
  int signal = 0;
  Report report;
  {
    ReadControl control;
    const Interrupt interrupt(&control.stop);
    Report found = ReadInputs(run, interrupt, &control, &dump);
    std::move(problems.begin(), problems.end(), std::back_inserter(found.problems));
    SuggestReadCommands(&found.problems);
    dump.StopAt(&control, options.limits);
    AddDumps(run, limit, &dump, &found);
    report = run.MakeReport(std::move(found));
    signal = interrupt.signal();
  }
  for (CompiledProgram& program : report.programs) {
    if (limit) program.facts.Set("limit_bytes", *limit, {});
  }
  if (options.shard.count > 1) report.shards = {options.shard.Text()};
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
    Members members(*artifact, path == "-" ? OpenStandardInput() : OpenFile(path), run.options.limits);
    for (Artifact part; ByteSource* source = members.Next(&part);) reader.Read(part.path, *source);
    for (Problem& problem : members.TakeProblems()) problems.push_back(std::move(problem));
  }
  for (const Problem& problem : problems) reader.Tell(problem);
  Report report = run.MakeReport(reader.Take());
  return run.Print(&report);
}

}  // namespace whyoom
