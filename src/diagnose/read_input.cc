#include "diagnose/read_input.h"

#include <algorithm>
#include <memory>
#include <utility>

#include "input/artifact.h"
#include "input/members.h"
#include "input/stop.h"

namespace whyoom {
namespace {

// Ends the input at a stop request, so that no further archive member is started. Sets `failed` if the system prevents
// reading.
class InterruptibleSource : public ByteSource {
 public:
  InterruptibleSource(std::unique_ptr<ByteSource> source, const ReadControl* control, bool* failed)
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

// Sets `stops_itself` for pipes and other blocking inputs: what they returned before the stop is still processed.
std::unique_ptr<ByteSource> Open(const Artifact& input, const Limits& limits, ReadControl* control, bool* failed,
                                 bool* stops_itself) {
  if (control == nullptr && input.path == "-") return OpenStandardInput();
  if (control == nullptr) return std::make_unique<InterruptibleSource>(OpenFile(input.path), control, failed);
  std::unique_ptr<ByteSource> source = OpenStoppable(input.path, *control, limits, stops_itself);
  if (*stops_itself) return source;
  return std::make_unique<InterruptibleSource>(std::move(source), control, failed);
}

}  // namespace

Readings ReadInput(const Engine& engine, const Artifact& input, const Limits& limits, const ReadOptions& options) {
  return ReadInput(input, limits, options,
                   [&](const Artifact& artifact, ByteSource& part, const ReadOptions& settings) {
                     return ReadArtifact(engine, artifact, part, settings);
                   });
}

Readings ReadInput(const Artifact& input, const Limits& limits, const ReadOptions& options,
                   const ArtifactRead& read_artifact) {
  Readings readings;
  ReadOptions settings = options;
  const Stop stop(options.control, limits);
  settings.stop = &stop;
  bool stops_itself = false;
  std::unique_ptr<ByteSource> source = Open(input, limits, options.control, &readings.retry, &stops_itself);
  if (stops_itself) settings.control = nullptr;  // process what it returned before the stop
  const auto add_problem = [&](const Problem& problem) {
    readings.problems.push_back(problem);
    BoundProblems(&readings.problems, &readings.problems_left_out);
  };
  const auto read = [&](const Artifact& artifact, ByteSource& part) {
    Readings one = read_artifact(artifact, part, settings);
    if (stops_itself) options.control->bytes += one.bytes;
    readings.Join(std::move(one));
  };
  ReadMembers(input, std::move(source), limits, read, add_problem, {options.control, &readings.retry});
  readings.artifacts = std::max<std::uint64_t>(readings.artifacts, 1);
  return readings;
}

}  // namespace whyoom
