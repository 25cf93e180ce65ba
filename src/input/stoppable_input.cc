#include "input/stoppable_input.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <utility>

#include "input/quota.h"

namespace whyoom {
namespace {

// How long an interrupt may have to wait.
constexpr int kLookMilliseconds = 100;

class StoppableSource : public ByteSource {
 public:
  StoppableSource(std::unique_ptr<ByteSource> source, int descriptor, const ReadControl& control, const Limits& limits)
      : source_(std::move(source)), descriptor_(descriptor), control_(control), quota_(limits) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    // A pipe that nobody has written to yet is neither readable nor at its end.
    pollfd input{descriptor_, POLLIN, 0};
    while (!control_.stopped() && poll(&input, 1, kLookMilliseconds) <= 0) {
      if (!quota_.TimeIsUp()) continue;
      problem_ = TooLongText(quota_.limits());
      return 0;
    }
    return control_.stopped() ? 0 : source_->Read(buffer, capacity);
  }

  std::string_view problem() const override { return problem_.empty() ? source_->problem() : problem_; }

 private:
  const std::unique_ptr<ByteSource> source_;
  const int descriptor_;
  const ReadControl& control_;
  const Quota quota_;
  std::string problem_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenStoppable(const std::string& path, const ReadControl& control, const Limits& limits,
                                          bool* may_wait) {
  *may_wait = path == "-";
  if (*may_wait) return std::make_unique<StoppableSource>(OpenStandardInput(), STDIN_FILENO, control, limits);
  // To open a named pipe would wait for its writer. Regular files do not know the difference.
  const int descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
  if (descriptor < 0) return OpenFile(path);  // says why
  std::unique_ptr<ByteSource> source = OpenDescriptor(descriptor);
  struct stat status {};
  *may_wait = fstat(descriptor, &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode);
  if (!*may_wait) return source;
  return std::make_unique<StoppableSource>(std::move(source), descriptor, control, limits);
}

}  // namespace whyoom
