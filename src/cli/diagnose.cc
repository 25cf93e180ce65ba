#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <future>
#include <iterator>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/dump_folder.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/resume.h"
#include "cli/run.h"
#include "cli/run_context.h"
#include "diagnose/dump_report.h"
#include "diagnose/read_input.h"
#include "input/artifact.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/members.h"
#include "input/walk.h"
#include "program/xla_dump.h"
#include "read/failure_reader.h"
#include "report/failure_view.h"
#include "report/formatting.h"
#include "report/record/report_reader.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

struct Inputs {
  std::vector<Artifact> files;
  Report unread;             // problems only
  bool is_complete = false;  // false if a signal ended the listing
};

constexpr std::size_t kMostListBytes = std::size_t{1} << 30;

void ListPaths(std::vector<std::string> paths, const ReadControl& control, Inputs* inputs) {
  for (Walk walk(std::move(paths)); !control.stopped();) {
    std::optional<Artifact> file = walk.Next(&inputs->unread.problems);
    BoundProblems(&inputs->unread.problems, &inputs->unread.problems_left_out);
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
    inputs->unread.problems.push_back({path, "", std::move(what)});
    BoundProblems(&inputs->unread.problems, &inputs->unread.problems_left_out);
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

// A followed file may not exist yet.
void AddFollowed(const std::vector<std::string>& paths, Inputs* inputs) {
  for (const std::string& path : paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw Error("cannot follow a folder; name its files instead: " + Printable(path));
    inputs->files.push_back({path, ""});
  }
}

// Lists the files at and below the paths of the command line and those in the list of --files-from, in an order that
// depends only on the names. Names in the list are always files and folders: "-" becomes "./-". Files of an XLA dump
// are added to `dump` instead. Ends early if `control` asks to stop, even while it waits for the list.
Inputs ListInputs(const RunContext& run, const ReadControl& control, XlaDump* dump) {
  const Options& options = run.options;
  if (options.files_from == "-" && std::find(options.paths.begin(), options.paths.end(), "-") != options.paths.end())
    throw Error("standard input cannot be both the list of --files-from and an input");
  Inputs inputs;
  if (options.follow) {
    AddFollowed(options.paths, &inputs);
  } else {
    ListPaths(options.paths, control, &inputs);
  }
  if (!options.files_from.empty()) AddListed(options, control, &inputs);
  inputs.is_complete = !control.stopped();
  if (!options.xla_dump.empty()) AddDumpFolder(options.xla_dump, run.outputs, dump, &inputs.unread.problems);
  std::erase_if(inputs.files, [&](const Artifact& input) {
    run.outputs.ThrowIfOutput(input.path);
    return dump->AddFile(input.path, true);
  });
  return inputs;
}

// Everything but the input itself that affects its failures. Any new option with such an effect must be added, or
// --resume would return stale failures.
std::string Settings(const RuleSource& rules, const Options& options) {
  const Limits& limits = options.limits;
  return fmt::format("whyoom {}\nrules {}\nlimits {} {} {} {} {} {} {}", WHYOOM_VERSION, rules.head().fingerprint,
                     limits.bytes, limits.suspicious_bytes, limits.suspicious_ratio, limits.depth, limits.members,
                     limits.seconds, limits.memory);
}

// Whether --follow prints each failure when it is complete; otherwise it prints a report at the end.
bool PrintsAtOnce(const Options& options) {
  return options.follow && options.format == Format::kText && options.output.empty();
}

// Reads inputs on several threads, each its own with --follow, and counts them.
class Batch {
 public:
  // Borrows all.
  Batch(const RunContext& run, const std::vector<Artifact>& inputs, ReadControl* control);

  // Reads all inputs, and shows the progress meanwhile. Rethrows an exception of a read. Call once.
  Report ReadAll();

  std::uint64_t read_to_end() const { return done_ - cut_short_; }

 private:
  void DrawProgress(const std::future<void>& ended) const;
  Report Work();
  Report Read(const Artifact& input);
  Report Follow(const Artifact& input);
  void PrintNew(const ArtifactFailures& found);

  const RunContext& run_;
  const std::vector<Artifact>& inputs_;
  ReadControl& control_;
  const std::size_t jobs_;
  std::optional<ResumeFolder> resume_;
  std::atomic<std::size_t> next_{0};         // input
  std::atomic<std::uint64_t> done_{0};       // inputs
  std::atomic<std::uint64_t> cut_short_{0};  // were being read when the run was interrupted
  std::atomic<std::uint64_t> failures_{0};   // before equal failures of several inputs are joined
  std::mutex printing_;                      // guards the member below
  std::set<std::string> printed_ids_;        // with --follow
};

Batch::Batch(const RunContext& run, const std::vector<Artifact>& inputs, ReadControl* control)
    : run_(run),
      inputs_(inputs),
      control_(*control),
      jobs_(run.options.follow     ? inputs.size()
            : run.options.jobs > 0 ? run.options.jobs
                                   : std::max(1U, std::thread::hardware_concurrency())) {
  if (!run.options.resume.empty()) resume_.emplace(run.options.resume, run.rules, Settings(run.rules, run.options));
}

Report Batch::ReadAll() {
  std::future<void> progress;  // the destructors of futures wait
  std::vector<std::future<Report>> threads;
  std::promise<void> ended;  // its destructor ends the progress
  Report found;
  try {
    if (ShowsProgress(run_.options) && !run_.options.follow)
      progress = std::async(std::launch::async, [this, end = ended.get_future()] { DrawProgress(end); });
    for (std::size_t i = 1; i < std::min(jobs_, inputs_.size()); ++i)
      threads.push_back(std::async(std::launch::async, [this] { return Work(); }));
    found = Work();
    for (std::future<Report>& thread : threads) found.Join(thread.get());
  } catch (...) {
    control_.stop = true;
    throw;
  }
  if (resume_ && resume_->problem()) found.problems.push_back(*resume_->problem());
  return found;
}

// Shows on one line: "12 of 40 files · 3 findings · 1.20 GiB · logs/worker-7.log". An error must not end the batch.
void Batch::DrawProgress(const std::future<void>& ended) const {
  using namespace std::chrono_literals;
  const std::string clear = "\r\x1b[K";
  const std::size_t columns = StyleOf(run_.options, false, STDERR_FILENO).width - 1;  // some terminals wrap full lines
  bool is_drawn = run_.options.progress == When::kAlways;
  for (auto wait = is_drawn ? 0ms : 500ms; wait == 0ms || ended.wait_for(wait) == std::future_status::timeout;
       wait = 200ms) {
    const std::size_t begun = std::min(next_.load(), inputs_.size());
    const std::string line = fmt::format(
        "{} of {} files · {} · {} · {}", done_.load(), inputs_.size(), Counted(failures_, "finding", "findings"),
        SizeText(static_cast<double>(control_.bytes)), begun == 0 ? "" : Printable(inputs_[begun - 1].path));
    WriteAll(STDERR_FILENO, clear + Shorten(line, columns));
    is_drawn = true;
  }
  if (is_drawn) WriteAll(STDERR_FILENO, clear);
}

// Reads the next input until none is left. If that fails, stops the other threads.
Report Batch::Work() {
  Report found;
  try {
    for (std::size_t i = 0; !control_.stopped() && (i = next_++) < inputs_.size(); ++done_) {
      Report one = run_.options.follow ? Follow(inputs_[i]) : Read(inputs_[i]);
      if (one.table) failures_ += one.table->entries().size();
      found.Join(std::move(one));
    }
  } catch (...) {
    control_.stop = true;
    throw;
  }
  return found;
}

Report Batch::Read(const Artifact& input) {
  if (resume_ && resume_->Contains(input.path)) return {};
  const std::string file = resume_ ? resume_->FileOf(input.path) : "";
  if (std::optional<Report> earlier = file.empty() ? std::nullopt : resume_->Load(file)) return *std::move(earlier);
  // A thread that waits for matches in a large file is idle, so one more thread than are idle can search blocks.
  const std::size_t idle = jobs_ - std::min<std::size_t>(jobs_, inputs_.size() - done_);
  const std::size_t searchers = idle == 0 ? 0 : idle + 1;
  Report found = ReadInput(run_.engine, input, run_.options.limits, {searchers, &control_});
  if (control_.stopped()) {
    ++cut_short_;
  } else if (!file.empty()) {
    resume_->Store(file, found);
  }
  return found;
}

// Reads a file until the control stops it, or a pipe until it is closed.
Report Batch::Follow(const Artifact& input) {
  using Clock = std::chrono::steady_clock;
  constexpr int kPart = 8;
  const Stop stop(&control_, run_.options.limits);
  const std::unique_ptr<ByteSource> source = FollowFile(input.path, stop);
  FailureReader reader(run_.engine, *source, {0, nullptr, &stop});
  ArtifactFailures found(run_.engine, input);
  Clock::time_point next;  // print
  do {
    bool unprinted = false;
    for (std::vector<Failure> more = reader.Next(); !more.empty(); more = reader.Next()) {
      found.Add(std::move(more), reader.framework());
      // Each print draws conclusions from all failures so far. If failures arrive quickly, limits printing to a small
      // part of the time.
      const Clock::time_point begin = Clock::now();
      unprinted = begin < next;
      if (unprinted) continue;
      PrintNew(found);
      next = Clock::now() + kPart * (Clock::now() - begin);
    }
    if (unprinted) PrintNew(found);
  } while (source->may_grow());
  Report report = found.Finish(reader.Finish());
  if (!source->problem().empty()) report.problems.push_back({input.path, input.member, std::string(source->problem())});
  return report;
}

// Prints the failures of a followed input that were not printed before.
void Batch::PrintNew(const ArtifactFailures& found) {
  if (!PrintsAtOnce(run_.options)) return;
  Report report;
  report.artifacts = 1;
  FailureTable table = found.SoFar();
  table.settings.framework = run_.framework;
  report.failures = table.Finish(&report.problems);
  const std::lock_guard lock(printing_);
  const bool is_first = printed_ids_.empty();
  run_.Hide(&report);
  std::erase_if(report.failures, [&](const Failure& failure) { return !printed_ids_.insert(failure.id).second; });
  report.hidden = {};  // reported at the end
  if (report.failures.empty()) return;
  const TextOptions style = StyleOf(run_.options, false);
  const std::string before = is_first || style.detail == Detail::kBrief ? "" : "\n";
  if (!WriteOutput(before + PrintText(report, style), "")) control_.stop = true;  // the output was closed
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

// Prints the notes of the report, which the failures printed so far do not contain.
void PrintNotes(const Report& report) {
  for (const Problem& problem : report.problems)
    WriteError(fmt::format("whyoom: {}: {}\n", Printable(problem.path), Printable(problem.what)));
  if (const std::string text = HiddenText(report); !text.empty()) WriteError("whyoom: " + text + "\n");
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
    const auto ended_by = [&] { return options.follow ? 0 : interrupt.signal(); };  // the usual end of --follow
    Inputs inputs = ListInputs(run, control, &dump);
    Batch batch(run, inputs.files, &control);
    Report found = batch.ReadAll();
    const std::uint64_t read = batch.read_to_end();
    if (ended_by() != 0 && (read < inputs.files.size() || !inputs.is_complete))
      found.problems.push_back(Interrupted(ended_by(), read, inputs.files.size(), inputs.is_complete));
    found.Join(std::move(inputs.unread));
    dump.StopAt(&control, options.limits);
    AddDumps(run, limit, &dump, &found);
    report = run.MakeReport(std::move(found));
    signal = ended_by();
  }
  for (CompiledProgram& program : report.programs) {
    if (limit) program.facts.Set("limit_bytes", *limit, {});
  }
  run.Hide(&report);
  if (PrintsAtOnce(options) && !report.failures.empty()) {
    if (!options.quiet) PrintNotes(report);
    WriteReport(report, options, -1);
    return run.ExitStatus(report);
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
    // Spark and Hadoop write metadata next to their output files ("_SUCCESS", ".part-00000.crc").
    const char first = path[path.rfind('/') + 1];
    const bool is_metadata = first == '.' || first == '_';
    if (is_metadata && std::find(paths.begin(), paths.end(), path) == paths.end()) continue;
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
