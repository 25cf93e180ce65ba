#include "input/follow_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <system_error>
#include <utility>

#include "input/packing.h"

namespace whyoom {
namespace {

// Maximum delay before a new line is seen. Polling works on every file system; notification does not.
constexpr int kPollMilliseconds = 100;

}  // namespace

void FollowSource::End(std::string problem) {
  problem_ = std::move(problem);
  ended_ = true;
}

// Opens the file if it exists. Waits a moment for a pipe.
bool FollowSource::IsReady() {
  if (!file_.is_open()) {
    file_ = Descriptor(path_ == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file_.is_open() && errno != ENOENT && errno != EINTR)
      End("cannot open: " + std::generic_category().message(errno));
    struct stat status {};
    may_grow_ = file_.is_open() && fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
  }
  pollfd input{file_.get(), POLLIN, 0};
  return file_.is_open() && (may_grow_ || poll(&input, 1, kPollMilliseconds) > 0);
}

std::size_t FollowSource::Read(char* buffer, std::size_t capacity) {
  const auto begin = std::chrono::steady_clock::now();
  while (!ended_) {
    if (stop_.IsRequested()) {
      End(file_.is_open() ? stop_.Problem() : "the file never appeared");
    } else if (IsReady()) {
      const ssize_t got = read(file_.get(), buffer, capacity);
      reported_quiet_ = reported_quiet_ && got <= 0;
      const Packing packing = got > 0 && !began_ ? PackingOf({buffer, static_cast<std::size_t>(got)}) : Packing::kNone;
      began_ = began_ || got > 0;
      if (packing != Packing::kNone) {
        End(fmt::format("packed ({}) files cannot be followed", NameOf(packing)));
        break;
      }
      if (got > 0) return static_cast<std::size_t>(got);
      if (got == 0 && !may_grow_) End("");
      if (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK)
        End("cannot read: " + std::generic_category().message(errno));
    }
    if (!ended_ && !reported_quiet_ && std::chrono::steady_clock::now() - begin >= quiet_) {
      reported_quiet_ = true;
      break;
    }
    if (!ended_ && (may_grow_ || !file_.is_open())) poll(nullptr, 0, kPollMilliseconds);
  }
  return 0;
}

}  // namespace whyoom
