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
#include "cli/terminal.h"
#include "diagnose/readings.h"
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

  // Of all that one artifact has told so far, what is new.
  void Tell(const ArtifactReader& reader) {
    if (options_.format != Format::kText) return;
    Report report;
    report.artifacts = 1;
    std::vector<Diagnosis> findings = reader.SoFar().Finish(XlaDump(), &report.problems);
    const std::lock_guard lock(mutex_);
    for (Diagnosis& finding : findings) {
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

  Readings Finish() { return std::move(readings_); }

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
  FollowSource source(artifact.path, *control);
  ArtifactReader reader(told->engine(), artifact, source, {range, 0, control});
  do {
    while (reader.Next()) told->Tell(reader);
  } while (source.state() == FollowSource::State::kQuiet && !control->stopped());
  Readings readings = reader.Finish();
  if (!source.problem().empty())
    readings.problems.push_back({artifact.path, artifact.member, std::string(source.problem())});
  told->Add(std::move(readings));
  return source.state();
}

}  // namespace

Readings Follow(const Engine& engine, const Options& options, const TextOptions& text, ReadControl* control) {
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
