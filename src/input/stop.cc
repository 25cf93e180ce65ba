#include "input/stop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "input/limits.h"

namespace whyoom {
namespace {

// Enough for the lines of a few blocks, and short enough for a run to end within a second.
constexpr std::chrono::milliseconds kGrace{250};

}  // namespace

class Stop::Source : public ByteSource {
 public:
  Source(const Stop& stop, std::unique_ptr<ByteSource> source) : stop_(stop), source_(std::move(source)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    return stop_.IsRequested() ? 0 : source_->Read(buffer, capacity);
  }
  std::string_view problem() const override { return source_->problem(); }

 private:
  const Stop& stop_;
  const std::unique_ptr<ByteSource> source_;
};

bool Stop::IsOverdue() const {
  if (!IsRequested()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (!asked_at_) asked_at_ = now;
  return now - *asked_at_ >= kGrace;
}

std::string Stop::Why() const {
  return quota_ && quota_->WhyStop().value_or("") != "" ? TimeIsUpText(quota_->limits()) : "interrupted";
}

std::unique_ptr<ByteSource> Stop::Open(const std::string& path) const {
  return std::make_unique<Source>(*this, OpenFile(path));
}

namespace {

// Maximum delay of an interrupt.
constexpr int kLookMilliseconds = 100;

class StoppableSource : public ByteSource {
 public:
  StoppableSource(std::unique_ptr<ByteSource> source, int descriptor, const ReadControl& control, const Limits& limits)
      : source_(std::move(source)), descriptor_(descriptor), quota_(limits, &control) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    // A pipe without a writer so far is neither readable nor at its end.
    pollfd input{descriptor_, POLLIN, 0};
    while (true) {
      const bool ready = poll(&input, 1, kLookMilliseconds) > 0;
      if (const std::optional<std::string> why = quota_.WhyStop(); why && (why->empty() || !ready)) {
        problem_ = *why;
        return 0;
      }
      if (ready) return source_->Read(buffer, capacity);
    }
  }

  std::string_view problem() const override { return problem_.empty() ? source_->problem() : problem_; }

 private:
  const std::unique_ptr<ByteSource> source_;
  const int descriptor_;
  const Quota quota_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenStoppable(const std::string& path, const ReadControl& control, const Limits& limits,
                                          bool* may_wait) {
  *may_wait = path == "-";
  if (*may_wait) return std::make_unique<StoppableSource>(OpenStandardInput(), STDIN_FILENO, control, limits);
  // O_NONBLOCK: opening a named pipe would wait for its writer. It has no effect on regular files.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return OpenFile(path);  // sets the problem
  std::unique_ptr<ByteSource> source = OpenDescriptor(descriptor);
  struct stat status {};
  *may_wait = source->RegularFile() < 0 && fstat(descriptor, &status) == 0 && !S_ISDIR(status.st_mode);
  if (!*may_wait) return source;
  return std::make_unique<StoppableSource>(std::move(source), descriptor, control, limits);
}

}  // namespace whyoom
