#include "input/byte_source.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <optional>
#include <system_error>
#include <utility>

#include "input/packing.h"

namespace whyoom {
namespace {

class FileSource : public ByteSource {
 public:
  // Follows the file if `quiet` is set; see FollowFile.
  FileSource(std::string path, const Stop* stop, std::optional<std::chrono::milliseconds> quiet)
      : path_(std::move(path)), stop_(stop), quiet_(quiet) {
    Open();
  }
  explicit FileSource(Descriptor file) : file_(std::move(file)) { SeeKind(); }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    constexpr std::size_t kMostOfRead = std::size_t{1} << 30;  // some systems reject larger reads
    const auto begin = std::chrono::steady_clock::now();
    while (!ended_ && capacity > 0) {
      if (stop_ != nullptr && stop_->IsRequested()) {
        End(file_.is_open() ? stop_->Problem() : "the file never appeared");
      } else if (IsReady()) {
        const ssize_t got = read(file_.get(), buffer, std::min(capacity, kMostOfRead));
        if (got > 0 && MayRead({buffer, static_cast<std::size_t>(got)})) return static_cast<std::size_t>(got);
        // Permanently, although a terminal could be read after its end.
        if (got == 0 && !(quiet_ && is_regular_)) End("");
        if (got < 0 && errno != EINTR && errno != EAGAIN && errno != EWOULDBLOCK) End(Failure("cannot read"));
      }
      if (ended_ || !quiet_) continue;
      if (std::chrono::steady_clock::now() - begin >= *quiet_) break;
      if (is_regular_ || !file_.is_open()) poll(nullptr, 0, kWaitMilliseconds);
    }
    return 0;
  }

  bool may_grow() const override { return quiet_ && !ended_; }
  std::string_view problem() const override { return problem_; }

 private:
  // Maximum delay of a stop and of a followed file's bytes. Polling works on every file system; notification does not.
  static constexpr int kWaitMilliseconds = 100;

  void Open() {
    // O_NONBLOCK: opening a named pipe would wait for its writer. It has no effect on regular files.
    file_ = Descriptor(path_ == "-" ? fcntl(STDIN_FILENO, F_DUPFD_CLOEXEC, 0)
                                    : open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK));
    if (!file_.is_open() && !(quiet_ && errno == ENOENT)) End(Failure("cannot open"));
    SeeKind();
  }

  void SeeKind() {
    struct stat status {};
    is_regular_ = fstat(file_.get(), &status) == 0 && S_ISREG(status.st_mode);
  }

  // Waits for a moment. A pipe without a writer so far is neither readable nor at its end.
  bool IsReady() {
    if (!file_.is_open()) Open();
    pollfd input{file_.get(), POLLIN, 0};
    return file_.is_open() && (is_regular_ || poll(&input, 1, stop_ == nullptr ? -1 : kWaitMilliseconds) > 0);
  }

  // Packed bytes cannot be followed.
  bool MayRead(std::string_view bytes) {
    const Packing packing = quiet_ && !began_ ? PackingOf(bytes) : Packing::kNone;
    if (packing != Packing::kNone) End(fmt::format("packed ({}) files cannot be followed", NameOf(packing)));
    began_ = true;
    return !ended_;
  }

  static std::string Failure(const char* doing) {
    return fmt::format("{}: {}", doing, std::generic_category().message(errno));
  }
  void End(std::string problem) {
    problem_ = std::move(problem);
    ended_ = true;
  }

  const std::string path_;
  const Stop* const stop_ = nullptr;
  const std::optional<std::chrono::milliseconds> quiet_;
  Descriptor file_;
  bool is_regular_ = false;
  bool began_ = false;  // some bytes were read
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
  return std::make_unique<FileSource>(path, stop, std::nullopt);
}

std::unique_ptr<ByteSource> FollowFile(const std::string& path, const Stop& stop, std::chrono::milliseconds quiet) {
  return std::make_unique<FileSource>(path, &stop, quiet);
}

std::unique_ptr<ByteSource> OpenDescriptor(Descriptor file) { return std::make_unique<FileSource>(std::move(file)); }

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

std::string ReadBelow(const std::filesystem::path& root, const std::filesystem::path& path, std::size_t most) {
  // Checks the file that was opened, because `path` may be replaced at any time.
  Descriptor file(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode)) return {};
  std::error_code error;
  const auto real = std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(file.get()), error);
  const auto relative = real.lexically_relative(root);
  if (error || real.extension() != path.extension() || relative.empty() || *relative.begin() == "..") return {};
  return ReadUpTo(*OpenDescriptor(std::move(file)), most);
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
