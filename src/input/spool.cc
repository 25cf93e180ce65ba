#include "input/spool.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <system_error>

#include "input/quota.h"

namespace whyoom {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 17;

// Sets errno where it fails.
bool WriteAll(int descriptor, const char* bytes, std::size_t size) {
  while (size > 0) {
    const ssize_t written = write(descriptor, bytes, size);
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    bytes += written;
    size -= static_cast<std::size_t>(written);
  }
  return true;
}

std::unique_ptr<ByteSource> CannotKeep(int error, std::string* problem) {
  *problem = "cannot put it into a temporary file: " + std::generic_category().message(error);
  return nullptr;
}

}  // namespace

std::unique_ptr<ByteSource> Spool(ByteSource& source, std::uint64_t most, std::string* problem) {
  std::FILE* file = std::tmpfile();  // it has lost its name already
  if (file == nullptr) return CannotKeep(errno, problem);
  const int descriptor = fcntl(fileno(file), F_DUPFD_CLOEXEC, 0);
  const int error = errno;
  std::fclose(file);
  if (descriptor < 0) return CannotKeep(error, problem);
  std::unique_ptr<ByteSource> kept = OpenDescriptor(descriptor);
  const auto block = std::make_unique_for_overwrite<char[]>(kBlock);
  std::uint64_t size = 0;
  while (const std::size_t got = source.Read(block.get(), kBlock)) {
    size += got;
    if (size > most) {
      *problem =
          fmt::format("it is larger than {}; a 7z of that size is read only as a file of its own", WholeSize(most));
      return nullptr;
    }
    if (!WriteAll(descriptor, block.get(), got)) return CannotKeep(errno, problem);
  }
  // The offset is the descriptor's, so the source has not noticed that it moved.
  if (lseek(descriptor, 0, SEEK_SET) < 0) return CannotKeep(errno, problem);
  return kept;
}

}  // namespace whyoom
