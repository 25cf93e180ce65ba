#include "cli/follow.h"

#include <exception>
#include <filesystem>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "cli/interrupt.h"
#include "cli/read_input.h"
#include "cli/terminal.h"
#include "diagnose/artifact_findings.h"
#include "input/error.h"
#include "input/follow_source.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// What all followed inputs came to, and what was said of it.
class Told {
 public:
  Told(const Engine& engine, const Options& options, const TextOptions& text)
      : engine_(engine), options_(options), text_(text) {}

  // `found` is all that one artifact has told so far.
  void Tell(ArtifactFindings found) {
    if (options_.format != Format::kText) return;
    Report report;
    report.artifacts = 1;
    std::vector<Finding> findings = found.Take().Finish(XlaDump(), &report.problems);
    const std::lock_guard lock(mutex_);
    for (Finding& finding : findings) {
      if (told_.insert(finding.id).second) report.findings.push_back(std::move(finding));
    }
    if (report.findings.empty()) return;
    const std::string text = (said_.empty() ? "" : "\n") + PrintText(report, text_);
    said_ += text;
    // A file holds all of it, whenever one looks.
    WriteOutput(options_.output.empty() ? text : said_, options_.output);
    if (options_.output.empty()) said_ = "\n";
  }

  void Add(Readings readings) {
    const std::lock_guard lock(mutex_);
    readings_.Join(std::move(readings));
  }

  Report Finish() {
    Report report;
    report.artifacts = readings_.artifacts;
    report.bytes = readings_.bytes;
    report.problems = std::move(readings_.problems);
    report.problems_left_out = readings_.problems_left_out;
    TellUnknownTimes(readings_.unknown_times, &report.problems);
    if (readings_.table) {
      report.findings = readings_.table->Finish(XlaDump(), &report.problems);
      report.reports_left_out = readings_.table->left_out();
      TakePrograms(&*readings_.table, std::nullopt, &report);
    }
    return report;
  }

  const Engine& engine() const { return engine_; }

 private:
  const Engine& engine_;
  const Options& options_;
  const TextOptions text_;
  std::mutex mutex_;
  std::set<std::string> told_;
  std::string said_;  // empty: nothing yet
  Readings readings_;
};

// Reads one file, from its begin until another one takes its place, or the pipe.
FollowSource::State FollowOne(const Artifact& artifact, const TimeRange& range, Told* told, ReadControl* control) {
  const Engine& engine = told->engine();
  FollowSource source(artifact.path, *control);
  LineScanner scanner(
      source, engine.prefilter(), [&engine] { return engine.lead(); }, LineScanner::Limits(), nullptr, control);
  Diagnoser diagnoser(engine);
  std::optional<ArtifactFindings> found;
  TimeFilter filter(range);
  const auto take = [&] {
    std::vector<Draft> drafts = diagnoser.TakeDrafts();
    filter.Apply(&drafts);
    if (drafts.empty()) return;
    if (!found) found.emplace(engine.rules(), artifact);
    found->Add(std::move(drafts), diagnoser.framework());
    told->Tell(*found);
  };
  RawLine line;
  while (true) {
    while (scanner.Next(diagnoser.wants_adjacent(), &line)) {
      diagnoser.Feed(line);
      take();
    }
    if (source.state() != FollowSource::State::kQuiet || control->stopped()) break;
    diagnoser.Pause();
    take();
    scanner.Resume();
  }
  diagnoser.Finish();
  take();
  Readings readings;
  readings.artifacts = 1;
  readings.bytes = scanner.bytes_read();
  readings.unknown_times = filter.unknown();
  if (found) readings.table = found->Take();
  ProgramTable programs = diagnoser.TakePrograms();
  filter.Apply(&programs);
  if (!programs.empty()) {
    if (!readings.table) readings.table.emplace(engine.rules());
    readings.table->programs().AddOf(artifact, std::move(programs));
  }
  if (!source.problem().empty())
    readings.problems.push_back({artifact.path, artifact.member, std::string(source.problem())});
  told->Add(std::move(readings));
  return source.state();
}

}  // namespace

Report Follow(const Engine& engine, const Options& options, const TextOptions& text, ReadControl* control) {
  for (const std::string& path : options.paths) {
    std::error_code error;
    if (std::filesystem::is_directory(path, error))
      throw Error("a folder cannot be followed, name the files in it: " + Printable(path));
  }
  // The only way to end the following of a file is to interrupt it, so that this is its end and no failure.
  const Interrupt interrupt(&control->stop);
  Told told(engine, options, text);
  std::mutex mutex;
  std::exception_ptr failure;
  std::vector<std::thread> threads;
  for (const std::string& path : options.paths) {
    threads.emplace_back([&, path] {
      try {
        while (FollowOne({path, ""}, options.range, &told, control) == FollowSource::State::kReplaced &&
               !control->stopped()) {
        }
      } catch (...) {
        const std::lock_guard lock(mutex);
        failure = std::current_exception();
        control->stop = true;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  if (failure) std::rethrow_exception(failure);
  return told.Finish();
}

}  // namespace whyoom
