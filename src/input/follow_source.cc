#include "input/follow_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <system_error>
#include <utility>

#include "input/packing.h"

namespace whyoom {
namespace {

using Clock = std::chrono::steady_clock;

// Maximum delay before a new line is seen. Polling works on every file system; notification does not.
constexpr int kPollMilliseconds = 100;
constexpr std::size_t kBeginning = 256;

}  // namespace

FollowSource::FollowSource(std::string path, const ReadControl& control, std::chrono::milliseconds quiet,
                           const Quota* time)
    : path_(std::move(path)), control_(control), quiet_(quiet), time_(time) {}

// Returns false if there is no file yet or, with a problem, on an error. Does not wait for the writer of a named pipe.
bool FollowSource::Open() {
  descriptor_ = Descriptor(path_ == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                        : open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  if (!descriptor_.is_open()) {
    if (errno != ENOENT && errno != EINTR) problem_ = "cannot open: " + std::generic_category().message(errno);
    return false;
  }
  struct stat status {};
  is_file_ = fstat(descriptor_.get(), &status) == 0 && S_ISREG(status.st_mode) && path_ != "-";
  return true;
}

// Whether the file was truncated. It may have grown again since, but then it begins with other bytes.
bool FollowSource::IsRewritten() const {
  struct stat now {};
  if (fstat(descriptor_.get(), &now) == 0 && static_cast<std::uint64_t>(now.st_size) < given_) return true;
  std::string bytes(beginning_.size(), '\0');
  return pread(descriptor_.get(), bytes.data(), bytes.size(), 0) >= 0 && bytes != beginning_;
}

// Whether the path names another file.
bool FollowSource::IsReplaced() const {
  struct stat open_now {};
  struct stat named_now {};
  // During log rotation there may be no file of this name for a moment, while the old file still grows.
  if (fstat(descriptor_.get(), &open_now) != 0 || stat(path_.c_str(), &named_now) != 0) return false;
  return open_now.st_ino != named_now.st_ino || open_now.st_dev != named_now.st_dev;
}

void FollowSource::Wait() const {
  if (descriptor_.is_open() && !is_file_) {
    pollfd wait{descriptor_.get(), POLLIN, 0};
    poll(&wait, 1, kPollMilliseconds);
  } else {
    const timespec pause{0, kPollMilliseconds * 1000000L};
    nanosleep(&pause, nullptr);
  }
}

std::size_t FollowSource::Read(char* buffer, std::size_t capacity) {
  const Clock::time_point begin = Clock::now();
  if (state_ == State::kReplaced || state_ == State::kEnded) return 0;
  state_ = State::kOpen;
  for (; !control_.stopped(); Wait()) {
    if (time_ != nullptr && time_->TimeIsUp()) {
      problem_ = TooLongText(time_->limits());
      break;
    }
    if (!descriptor_.is_open() && !Open()) {
      if (!problem_.empty()) break;
      continue;
    }
    if (is_file_ && IsRewritten()) {
      state_ = State::kReplaced;
      return 0;
    }
    pollfd input{descriptor_.get(), POLLIN, 0};
    const bool is_ready = is_file_ || poll(&input, 1, 0) != 0;
    // Checked before reading, so that data written before the replacement is not lost.
    const bool replaced = is_file_ && IsReplaced();
    const ssize_t got = is_ready ? read(descriptor_.get(), buffer, capacity) : -1;
    if (got > 0) {
      const auto count = static_cast<std::size_t>(got);
      const Packing packing = given_ == 0 ? PackingOf({buffer, count}) : Packing::kNone;
      if (packing != Packing::kNone) {
        problem_ = "packed (" + std::string(NameOf(packing)) + ") files cannot be followed; leave out --follow";
        break;
      }
      given_ += count;
      beginning_.append(buffer, std::min(count, kBeginning - beginning_.size()));
      reported_quiet_ = false;
      return count;
    }
    if (replaced) {
      state_ = State::kReplaced;
      return 0;
    }
    const bool failed = is_ready && got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK;
    if (failed) problem_ = "cannot read: " + std::generic_category().message(errno);
    if (failed || (is_ready && got == 0 && !is_file_)) break;
    if (!reported_quiet_ && Clock::now() - begin >= quiet_) {
      reported_quiet_ = true;
      state_ = State::kQuiet;
      return 0;
    }
  }
  if (!descriptor_.is_open() && problem_.empty()) problem_ = "the file never appeared";
  state_ = State::kEnded;
  return 0;
}

}  // namespace whyoom
