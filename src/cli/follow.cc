#include <fmt/format.h>

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/print_report.h"
#include "cli/run_context.h"
#include "cli/terminal.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/limits.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// The failures of the followed inputs, and which of them were printed.
class LiveReport {
 public:
  LiveReport(const RunContext& run, ReadControl* control)
      : run_(run), text_(StyleOf(run.options, !run.options.output.empty())), control_(control) {}

  // Prints diagnoses of an artifact that were not printed before.
  void PrintNew(const ArtifactFailures& found) {
    if (run_.options.format != Format::kText) return;
    Report report;
    report.artifacts = 1;
    FailureTable table = found.SoFar();
    table.settings.framework = run_.framework;
    std::vector<Failure> failures = table.Finish(&report.problems);
    const std::lock_guard lock(mutex_);
    for (Failure& failure : failures) {
      if (printed_ids_.insert(failure.id).second) report.failures.push_back(std::move(failure));
    }
    run_.filter.Apply(&report);
    report.hidden = {};  // reported at the end
    if (report.failures.empty()) return;
    const std::string text =
        (printed_.empty() || text_.detail == Detail::kBrief ? "" : "\n") + PrintText(report, text_);
    printed_ += text;
    // The file of --output always contains the whole report, not only the new part.
    const std::string& output = run_.options.output;
    const bool is_read = WriteOutput(output.empty() ? text : printed_, output);
    if (!is_read) control_->stop = true;  // the output was closed
    if (output.empty()) printed_ = "\n";
  }

  void Add(Report report) {
    const std::lock_guard lock(mutex_);
    report_.Join(std::move(report));
  }

  Report Finish() { return std::move(report_); }

 private:
  const RunContext& run_;
  const TextOptions text_;
  ReadControl* const control_;
  std::mutex mutex_;
  std::set<std::string> printed_ids_;
  std::string printed_;  // empty: nothing was printed yet
  Report report_;
};

// Each print draws conclusions from all failures so far. If failures arrive quickly, limits printing to a small part of
// the time.
class PrintThrottle {
 public:
  bool IsDue() const { return Clock::now() >= next_; }

  void Time(const std::function<void()>& print) {
    constexpr int kPart = 8;
    const Clock::time_point begin = Clock::now();
    print();
    const Clock::time_point end = Clock::now();
    next_ = end + kPart * (end - begin);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_;
};

// Reads a file until `stop`, or a pipe until it is closed.
void FollowOne(const RunContext& run, const Artifact& artifact, const Stop& stop, LiveReport* live) {
  const std::unique_ptr<ByteSource> source = FollowFile(artifact.path, stop);
  FailureReader reader(run.engine, *source, {run.options.range, 0, nullptr, &stop});
  ArtifactFailures found(run.engine, artifact);
  PrintThrottle pace;
  do {
    bool unprinted = false;
    for (std::vector<Failure> more = reader.Next(); !more.empty(); more = reader.Next()) {
      found.Add(std::move(more), reader.framework());
      unprinted = !pace.IsDue();
      if (!unprinted) pace.Time([&] { live->PrintNew(found); });
    }
    if (unprinted) live->PrintNew(found);
  } while (source->may_grow());
  Report report = found.Finish(reader.Finish());
  if (!source->problem().empty())
    report.problems.push_back({artifact.path, artifact.member, std::string(source->problem())});
  live->Add(std::move(report));
}

// Follows each pipe until it is closed, and each file until `control` stops it.
Report Follow(const RunContext& run, ReadControl* control) {
  for (const std::string& path : run.options.paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw Error("cannot follow a folder; name its files instead: " + Printable(path));
  }
  // Interrupting is the normal way to end --follow on a file, not a failure.
  const Interrupt interrupt(&control->stop);
  LiveReport live(run, control);
  std::mutex mutex;
  std::exception_ptr rule;
  std::vector<std::thread> threads;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    rule = std::current_exception();
    control->stop = true;
  };
  const auto follow = [&](const std::string& path) {
    try {
      FollowOne(run, {path, ""}, Stop(control, run.options.limits), &live);
    } catch (...) {
      fail();
    }
  };
  try {
    for (const std::string& path : run.options.paths) threads.emplace_back(follow, path);
  } catch (const std::system_error&) {
    fail();  // the system cannot start another thread
  }
  for (std::thread& thread : threads) thread.join();
  if (rule) std::rethrow_exception(rule);
  return live.Finish();
}

// Prints the notes of the report, which the diagnoses printed so far do not contain.
void PrintNotes(const Report& report) {
  for (const Problem& problem : report.problems)
    WriteError(fmt::format("whyoom: {}: {}\n", Printable(problem.path), Printable(problem.what)));
  if (const std::string text = HiddenText(report); !text.empty()) WriteError("whyoom: " + text + "\n");
}

}  // namespace

int RunFollow(const RunContext& run) {
  ReadControl control;
  Report report = run.MakeReport(Follow(run, &control));
  run.filter.Apply(&report);
  // In text format, each diagnosis was printed when it was complete.
  if (run.options.format != Format::kText || report.failures.empty()) {
    run.Write(report);
  } else {
    if (!run.options.quiet) PrintNotes(report);
    WriteExtraOutputs(report, run.options);
  }
  return run.filter.ExitStatus(report);
}

}  // namespace whyoom
