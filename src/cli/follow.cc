#include "cli/follow.h"

#include <chrono>
#include <exception>
#include <filesystem>
#include <functional>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/terminal.h"
#include "diagnose/readings.h"
#include "input/error.h"
#include "input/follow_source.h"
#include "input/quota.h"
#include "input/stop.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// What the followed inputs came to so far, and what of it was printed.
class LiveReport {
 public:
  LiveReport(const Engine& engine, const Options& options, const ReportFilter& filter, std::string framework,
             const TextOptions& text, ReadControl* control)
      : engine_(engine),
        options_(options),
        filter_(filter),
        framework_(std::move(framework)),
        text_(text),
        control_(control) {}

  // Prints the diagnoses of one artifact that were not printed before.
  void PrintNew(const ArtifactReader& reader) {
    if (options_.format != Format::kText) return;
    Report report;
    report.artifacts = 1;
    FindingTable table = reader.SoFar();
    table.SetFramework(framework_);
    std::vector<Diagnosis> findings = table.Finish(XlaDump(), &report.problems);
    const std::lock_guard lock(mutex_);
    for (Diagnosis& finding : findings) {
      if (printed_ids_.insert(finding.id).second) report.findings.push_back(std::move(finding));
    }
    filter_.TakeOut(&report);
    report.passed_over = {};  // told of at the end
    if (report.findings.empty()) return;
    const std::string text =
        (printed_.empty() || text_.detail == Detail::kBrief ? "" : "\n") + PrintText(report, text_);
    printed_ += text;
    // The file of --output holds the whole report at any time, not only what is new.
    const bool is_read = WriteOutput(options_.output.empty() ? text : printed_, options_.output);
    if (!is_read) control_->stop = true;  // nobody is there to follow for
    if (options_.output.empty()) printed_ = "\n";
  }

  void Add(Readings readings) {
    const std::lock_guard lock(mutex_);
    readings_.Join(std::move(readings));
  }

  Readings Finish() { return std::move(readings_); }

  const Engine& engine() const { return engine_; }

 private:
  const Engine& engine_;
  const Options& options_;
  const ReportFilter& filter_;
  const std::string framework_;
  const TextOptions text_;
  ReadControl* const control_;
  std::mutex mutex_;
  std::set<std::string> printed_ids_;
  std::string printed_;  // empty: nothing yet
  Readings readings_;
};

// Printing concludes all that was found so far. Where failures come fast, it is done less often, so that it takes a
// small part of the time.
class PrintPace {
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

// Reads one file, from its begin until another one takes its place, or the pipe.
FollowSource::State FollowOne(const Artifact& artifact, const Options& options, const Quota& time, LiveReport* live,
                              ReadControl* control) {
  FollowSource source(artifact.path, *control, FollowSource::kQuietTime, &time);
  const Stop stop(control, options.limits);
  ArtifactReader reader(live->engine(), artifact, source, {options.range, 0, control, &stop});
  PrintPace pace;
  do {
    bool unprinted = false;
    while (reader.Next()) {
      unprinted = !pace.IsDue();
      if (!unprinted) pace.Time([&] { live->PrintNew(reader); });
    }
    if (unprinted) live->PrintNew(reader);
  } while (source.state() == FollowSource::State::kQuiet && !control->stopped());
  Readings readings = reader.Finish();
  if (!source.problem().empty())
    readings.problems.push_back({artifact.path, artifact.member, std::string(source.problem())});
  live->Add(std::move(readings));
  return source.state();
}

}  // namespace

Readings Follow(const Engine& engine, const Options& options, const ReportFilter& filter, const std::string& framework,
                const TextOptions& text, ReadControl* control) {
  for (const std::string& path : options.paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw Error("a folder cannot be followed, name the files in it: " + Printable(path));
  }
  // The only way to end the following of a file is to interrupt it, so that this is its end and no failure.
  const Interrupt interrupt(&control->stop);
  LiveReport live(engine, options, filter, framework, text, control);
  const Quota time(options.limits);
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  const auto fail = [&] {
    const std::lock_guard lock(mutex);
    failure = std::current_exception();
    control->stop = true;
  };
  const auto follow = [&](const std::string& path) {
    try {
      while (FollowOne({path, ""}, options, time, &live, control) == FollowSource::State::kReplaced &&
             !control->stopped()) {
      }
    } catch (...) {
      fail();
    }
  };
  try {
    for (const std::string& path : options.paths) threads.emplace_back(follow, path);
  } catch (const std::system_error&) {
    fail();  // there can be no more threads
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return live.Finish();
}

}  // namespace whyoom
