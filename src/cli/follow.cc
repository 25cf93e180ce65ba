#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <future>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/run_context.h"
#include "diagnose/read_input.h"
#include "diagnose/report.h"
#include "input/byte_source.h"
#include "input/error.h"
#include "input/limits.h"
#include "report/summary.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool PrintsAtOnce(const Options& options) { return options.format == Format::kText && options.output.empty(); }

// Prints the failures of the followed inputs.
class LiveReport {
 public:
  LiveReport(const RunContext& run, ReadControl* control)
      : run_(run), text_(StyleOf(run.options, false)), control_(control) {}

  // Prints diagnoses of an artifact that were not printed before.
  void PrintNew(const ArtifactFailures& found) {
    if (!PrintsAtOnce(run_.options)) return;
    Report report;
    report.artifacts = 1;
    FailureTable table = found.SoFar();
    table.settings.framework = run_.framework;
    std::vector<Failure> failures = table.Finish(&report.problems);
    const std::lock_guard lock(mutex_);
    for (Failure& failure : failures) {
      if (printed_ids_.insert(failure.id).second) report.failures.push_back(std::move(failure));
    }
    run_.Hide(&report);
    report.hidden = {};  // reported at the end
    if (report.failures.empty()) return;
    const std::string before = is_first_ || text_.detail == Detail::kBrief ? "" : "\n";
    if (!WriteOutput(before + PrintText(report, text_), "")) control_->stop = true;  // the output was closed
    is_first_ = false;
  }

 private:
  const RunContext& run_;
  const TextOptions text_;
  ReadControl* const control_;
  std::mutex mutex_;
  std::set<std::string> printed_ids_;
  bool is_first_ = true;
};

// Reads a file until `stop`, or a pipe until it is closed.
Report FollowOne(const RunContext& run, const Artifact& artifact, const Stop& stop, LiveReport* live) {
  using Clock = std::chrono::steady_clock;
  constexpr int kPart = 8;
  const std::unique_ptr<ByteSource> source = FollowFile(artifact.path, stop);
  FailureReader reader(run.engine, *source, {0, nullptr, &stop});
  ArtifactFailures found(run.engine, artifact);
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
      live->PrintNew(found);
      next = Clock::now() + kPart * (Clock::now() - begin);
    }
    if (unprinted) live->PrintNew(found);
  } while (source->may_grow());
  Report report = found.Finish(reader.Finish());
  if (!source->problem().empty())
    report.problems.push_back({artifact.path, artifact.member, std::string(source->problem())});
  return report;
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
  Report report;
  std::vector<std::future<Report>> parts;  // their destructors wait
  try {
    for (const std::string& path : run.options.paths) {
      parts.push_back(std::async(std::launch::async, [&, path] {
        try {
          return FollowOne(run, {path, ""}, Stop(control, run.options.limits), &live);
        } catch (...) {
          control->stop = true;
          throw;
        }
      }));
    }
  } catch (const std::system_error&) {  // the system cannot start another thread
    control->stop = true;
    throw;
  }
  for (std::future<Report>& part : parts) report.Join(part.get());
  return report;
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
  run.Hide(&report);
  if (!PrintsAtOnce(run.options) || report.failures.empty()) {
    run.Write(report);
  } else {
    if (!run.options.quiet) PrintNotes(report);
    WriteExtraOutputs(report, run.options);
  }
  return run.ExitStatus(report);
}

}  // namespace whyoom
