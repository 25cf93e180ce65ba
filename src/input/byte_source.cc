#include "input/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace whyoom {
namespace {

class FileSource : public ByteSource {
 public:
  // `error` is the error code of opening the file.
  FileSource(Descriptor file, const Stop* stop, int error) : file_(std::move(file)), stop_(stop) {
    struct stat status {};
    if (!file_.is_open()) End("cannot open", error);
    may_wait_ = fstat(file_.get(), &status) != 0 || !S_ISREG(status.st_mode);
  }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    constexpr std::size_t kMostOfRead = std::size_t{1} << 30;  // some systems reject larger reads
    while (!ended_ && capacity > 0) {
      if (stop_ != nullptr && stop_->IsRequested()) {
        problem_ = stop_->Problem();
        ended_ = true;
      } else if (IsReady()) {
        const ssize_t got = read(file_.get(), buffer, std::min(capacity, kMostOfRead));
        if (got > 0) return static_cast<std::size_t>(got);
        ended_ = got == 0;  // permanently, although a terminal could be read after its end
        if (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) End("cannot read", errno);
      }
    }
    return 0;
  }

  std::string_view problem() const override { return problem_; }

 private:
  // Waits for a moment. A pipe without a writer so far is neither readable nor at its end.
  bool IsReady() const {
    constexpr int kWaitMilliseconds = 100;  // the maximum delay of a stop
    pollfd input{file_.get(), POLLIN, 0};
    return !may_wait_ || poll(&input, 1, stop_ == nullptr ? -1 : kWaitMilliseconds) > 0;
  }

  void End(const char* doing, int error) {
    problem_ = std::string(doing) + ": " + std::generic_category().message(error);
    ended_ = true;
  }

  const Descriptor file_;
  const Stop* const stop_;
  bool may_wait_ = false;
  bool ended_ = false;
  std::string problem_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::size_t chunk) : bytes_(bytes), chunk_(std::max<std::size_t>(chunk, 1)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t count = bytes_.copy(buffer, std::min(capacity, chunk_));
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
  const std::size_t chunk_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenFile(const std::string& path, const Stop* stop) {
  // O_NONBLOCK: opening a named pipe would wait for its writer. It has no effect on regular files.
  Descriptor file(path == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                              : open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
  return std::make_unique<FileSource>(std::move(file), stop, errno);
}

std::unique_ptr<ByteSource> OpenDescriptor(Descriptor file, const Stop* stop) {
  return std::make_unique<FileSource>(std::move(file), stop, EBADF);
}

std::unique_ptr<ByteSource> OpenMemory(std::string_view bytes, std::size_t chunk) {
  return std::make_unique<MemorySource>(bytes, chunk);
}

std::string ReadUpTo(ByteSource& source, std::size_t most) {
  constexpr std::size_t kBlock = std::size_t{64} << 10;
  std::string bytes;
  std::size_t held = 0;
  while (held < most) {
    if (held == bytes.size()) bytes.resize(std::min(most, std::max(kBlock, 2 * held)));
    const std::size_t got = source.Read(bytes.data() + held, bytes.size() - held);
    if (got == 0) break;
    held += got;
  }
  bytes.resize(held);
  return bytes;
}

bool TextLines::Next(std::string_view* line) {
  constexpr std::size_t kBlock = std::size_t{1} << 17;  // fits a core's cache
  std::size_t feed = std::string::npos;
  for (std::size_t searched = begin_; (feed = buffer_.find('\n', searched)) == std::string::npos && !at_end_;) {
    buffer_.erase(0, std::exchange(begin_, 0));
    buffer_.resize(std::min(buffer_.size(), longest_ + 1));  // the rest of a line that is too long is dropped
    searched = buffer_.size();
    buffer_.resize(searched + kBlock);
    buffer_.resize(searched + source_.Read(buffer_.data() + searched, kBlock));
    at_end_ = buffer_.size() == searched;
  }
  if (begin_ == buffer_.size()) return false;
  const std::size_t end = std::min(feed, buffer_.size());
  *line = std::string_view(buffer_).substr(begin_, std::min(end - begin_, longest_));
  begin_ = std::min(end + 1, buffer_.size());
  if (line->ends_with('\r')) line->remove_suffix(1);
  return true;
}

}  // namespace whyoom
