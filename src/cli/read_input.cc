#include "cli/read_input.h"

#include <algorithm>
#include <iterator>
#include <memory>
#include <utility>

#include "cli/stoppable_input.h"
#include "diagnose/artifact_findings.h"
#include "input/members.h"
#include "report/report.h"

namespace whyoom {
namespace {

// An input as the system gives it; notes where the system does not, and ends where reading is to stop: a member after
// member of an archive would be begun else.
class Watched : public ByteSource {
 public:
  Watched(std::unique_ptr<ByteSource> source, const ReadControl* control, bool* failed)
      : source_(std::move(source)), control_(control), failed_(*failed) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (control_ != nullptr && control_->stopped()) return 0;
    const std::size_t got = source_->Read(buffer, capacity);
    if (got == 0 && !source_->problem().empty()) failed_ = true;
    return got;
  }
  bool SeekTo(std::uint64_t offset) override { return source_->SeekTo(offset); }
  std::optional<std::uint64_t> Size() const override { return source_->Size(); }
  int RegularFile() const override { return source_->RegularFile(); }
  std::string_view problem() const override { return source_->problem(); }

 private:
  const std::unique_ptr<ByteSource> source_;
  const ReadControl* const control_;
  bool& failed_;
};

// Sets `stops_itself` for a pipe and the like: what such a one gave until it is stopped is still looked at.
std::unique_ptr<ByteSource> Open(const Artifact& input, const Limits& limits, ReadControl* control, bool* failed,
                                 bool* stops_itself) {
  if (control == nullptr && input.path == "-") return OpenStandardInput();
  if (control == nullptr) return std::make_unique<Watched>(OpenFile(input.path), control, failed);
  std::unique_ptr<ByteSource> source = OpenStoppable(input.path, *control, limits, stops_itself);
  if (*stops_itself) return source;
  return std::make_unique<Watched>(std::move(source), control, failed);
}

}  // namespace

void Readings::Join(Readings other) {
  if (!table) {
    table = std::move(other.table);
  } else if (other.table) {
    table->Join(std::move(*other.table));
  }
  artifacts += other.artifacts;
  retry = retry || other.retry;
  bytes += other.bytes;
  unknown_times += other.unknown_times;
  std::move(other.problems.begin(), other.problems.end(), std::back_inserter(problems));
  problems_left_out += other.problems_left_out;
  BoundProblems(&problems, &problems_left_out);
}

Readings ReadInput(const Engine& engine, const Artifact& input, const ReadSettings& settings, std::size_t threads,
                   ReadControl* control) {
  Readings readings;
  bool stops_itself = false;
  std::unique_ptr<ByteSource> source = Open(input, settings.limits, control, &readings.retry, &stops_itself);
  const auto tell = [&](const Problem& problem) {
    readings.problems.push_back(problem);
    BoundProblems(&readings.problems, &readings.problems_left_out);
  };
  const auto read = [&](const Artifact& artifact, ByteSource& part) {
    // Most logs hold nothing, and then the rules are not asked for.
    std::optional<ArtifactFindings> found;
    TimeFilter filter(settings.range);
    const auto take = [&](std::vector<Draft> drafts, const std::string& framework) {
      filter.Apply(&drafts);
      if (drafts.empty() && !found) return;
      if (!found) found.emplace(engine.rules(), artifact);
      found->Add(std::move(drafts), framework);
    };
    ReadResult result = ReadArtifact(engine, part, take, threads, stops_itself ? nullptr : control);
    if (stops_itself && control != nullptr) control->bytes += result.bytes;
    Readings one;
    if (found) one.table = found->Take();
    filter.Apply(&result.programs);
    if (!result.programs.empty()) {
      if (!one.table) one.table.emplace(engine.rules());
      one.table->programs().AddOf(artifact, std::move(result.programs));
    }
    one.artifacts = 1;
    one.bytes = result.bytes;
    one.unknown_times = filter.unknown();
    if (!result.problem.empty()) tell({artifact.path, artifact.member, result.problem});
    readings.Join(std::move(one));
  };
  ReadMembers(input, std::move(source), settings.limits, read, tell);
  readings.artifacts = std::max<std::uint64_t>(readings.artifacts, 1);
  return readings;
}

}  // namespace whyoom
