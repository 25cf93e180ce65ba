#include "input/byte_source.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

namespace whyoom {
namespace {

// Some systems reject larger reads.
constexpr std::size_t kMostOfRead = std::size_t{1} << 30;

std::string FailureRule(const char* doing, int error) {
  return std::string(doing) + ": " + std::generic_category().message(error);
}

bool IsRegular(int descriptor) {
  struct stat status;
  return descriptor >= 0 && fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode);
}

class DescriptorSource : public ByteSource {
 public:
  DescriptorSource(int descriptor, bool owned, std::string problem)
      : descriptor_(descriptor),
        owned_(owned),
        regular_(owned && IsRegular(descriptor)),
        ended_(descriptor < 0),
        problem_(std::move(problem)) {}
  ~DescriptorSource() override {
    if (owned_ && descriptor_ >= 0) close(descriptor_);
  }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    while (!ended_ && capacity > 0) {
      const ssize_t got = read(descriptor_, buffer, std::min(capacity, kMostOfRead));
      if (got > 0) return static_cast<std::size_t>(got);
      if (got < 0 && errno == EINTR) continue;
      if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
        // Another process that shares standard input may have made it non-blocking.
        pollfd wait{descriptor_, POLLIN, 0};
        poll(&wait, 1, -1);
        continue;
      }
      if (got < 0) problem_ = FailureRule("cannot read", errno);
      ended_ = true;  // permanently, although a terminal could be read after its end
    }
    return 0;
  }

  // Standard input may be at any offset of its file.
  int RegularFile() const override { return regular_ ? descriptor_ : -1; }

  std::string_view problem() const override { return problem_; }

  bool SeekTo(std::uint64_t offset) override {
    if (!regular_ || lseek(descriptor_, static_cast<off_t>(offset), SEEK_SET) < 0) return false;
    ended_ = false;
    return true;
  }

 private:
  const int descriptor_;
  const bool owned_;
  const bool regular_;
  bool ended_;
  std::string problem_;
};

class MemorySource : public ByteSource {
 public:
  MemorySource(std::string_view bytes, std::size_t chunk) : bytes_(bytes), chunk_(std::max<std::size_t>(chunk, 1)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t count = std::min({capacity, chunk_, bytes_.size()});
    if (count > 0) std::memcpy(buffer, bytes_.data(), count);
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
  const std::size_t chunk_;
};

}  // namespace

std::unique_ptr<ByteSource> OpenFile(const std::string& path) {
  int descriptor;
  do {
    descriptor = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY);
  } while (descriptor < 0 && errno == EINTR);
  if (descriptor < 0) return std::make_unique<DescriptorSource>(-1, false, FailureRule("cannot open", errno));
  return OpenDescriptor(descriptor);
}

bool IsEndlessDevice(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0 || !S_ISCHR(status.st_mode)) return false;
  for (const char* endless : {"/dev/zero", "/dev/full", "/dev/random", "/dev/urandom"}) {
    struct stat device {};
    if (stat(endless, &device) == 0 && S_ISCHR(device.st_mode) && device.st_rdev == status.st_rdev) return true;
  }
  return false;
}

std::unique_ptr<ByteSource> OpenDescriptor(int descriptor) {
  return std::make_unique<DescriptorSource>(descriptor, true, "");
}

std::unique_ptr<ByteSource> OpenStandardInput() { return std::make_unique<DescriptorSource>(STDIN_FILENO, false, ""); }

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

std::size_t PeekedSource::Read(char* buffer, std::size_t capacity) {
  if (given_ == beginning_.size()) return source_->Read(buffer, capacity);
  const std::size_t count = beginning_.copy(buffer, capacity, given_);
  given_ += count;
  return count;
}

bool PeekedSource::SeekTo(std::uint64_t offset) {
  if (RegularFile() < 0 || !source_->SeekTo(offset)) return false;
  given_ = beginning_.size();
  return true;
}

void TextLines::Fill() {
  constexpr std::size_t kLineBlock = std::size_t{1} << 17;  // fits a core's cache
  buffer_.erase(0, begin_);
  begin_ = 0;
  const std::size_t held = buffer_.size();
  buffer_.resize(held + kLineBlock);
  buffer_.resize(held + source_.Read(buffer_.data() + held, kLineBlock));
  at_end_ = buffer_.size() == held;
}

bool TextLines::Next(std::string_view* line) {
  std::size_t searched = 0;  // bytes without a line break
  while (true) {
    const std::string_view held = std::string_view(buffer_).substr(begin_);
    const std::size_t feed = held.find('\n', searched);
    const bool full = feed == std::string_view::npos && held.size() > longest_;
    if (feed == std::string_view::npos && !full && !at_end_) {
      searched = held.size();
      Fill();
      continue;
    }
    const std::size_t length = std::min(feed, held.size());
    if (length == 0 && feed != 0) return false;
    begin_ = std::min(begin_ + length + 1, buffer_.size());
    searched = 0;
    if (std::exchange(cutting_, full)) continue;
    *line = held.substr(0, std::min(length, longest_));
    if (line->ends_with('\r')) line->remove_suffix(1);
    return true;
  }
}

}  // namespace whyoom
