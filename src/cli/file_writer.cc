#include "cli/file_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

[[noreturn]] void ThrowCannotWrite(const std::string& path, int problem) {
  throw Error("cannot write " + Printable(path) + ": " + std::strerror(problem));
}

using File = std::pair<unsigned long long, unsigned long long>;

// Returns nullopt if there is no such file, or if it is a device or pipe, which has no content to lose.
std::optional<File> RegularFile(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return File(status.st_dev, status.st_ino);
}

// Throws Error if the file can neither be written nor created, as far as that is known without writing it.
void ThrowIfUnwritable(const std::string& path) {
  struct stat file {};
  const bool exists = stat(path.c_str(), &file) == 0;
  if (!exists && errno != ENOENT) ThrowCannotWrite(path, errno);
  if (exists && S_ISDIR(file.st_mode)) ThrowCannotWrite(path, EISDIR);
  const std::string parent = std::filesystem::path(path).parent_path();
  const char* folder = parent.empty() ? "." : parent.c_str();
  if (access(exists ? path.c_str() : folder, exists ? W_OK : W_OK | X_OK) != 0) ThrowCannotWrite(path, errno);
}

// Without symbolic links, as far as the path exists.
std::string ResolvedPath(const std::string& path) {
  std::error_code error;
  return std::filesystem::weakly_canonical(std::filesystem::absolute(path, error), error).string();
}

// Writes a new file beside `path` and renames it, so that the old one is replaced as a whole. Returns false if it must
// be written in place: it is a link or device, has another name or owner, or its folder does not allow a new file.
bool ReplaceFile(std::string_view text, const std::string& path) {
  struct stat old {};
  const bool exists = lstat(path.c_str(), &old) == 0;
  if (!exists && errno != ENOENT) return false;
  if (exists &&
      (!S_ISREG(old.st_mode) || old.st_nlink > 1 || old.st_uid != geteuid() || access(path.c_str(), W_OK) != 0))
    return false;
  const std::filesystem::path whole = path;
  const std::string part =
      (whole.parent_path() / fmt::format(".{}.whyoom-{}", whole.filename().string(), getpid())).string();
  const int file = open(part.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  if (file < 0) return false;
  const bool is_alike = !exists || (fchown(file, -1, old.st_gid) == 0 && fchmod(file, old.st_mode & 07777) == 0);
  int problem = is_alike ? WriteAll(file, text) : 0;
  if (close(file) != 0 && problem == 0) problem = errno;
  if (is_alike && problem == 0 && rename(part.c_str(), path.c_str()) == 0) return true;
  unlink(part.c_str());
  if (problem != 0) ThrowCannotWrite(path, problem);
  return false;
}

}  // namespace

int WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {  // a non-blocking pipe
      pollfd ready{descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

void WriteFile(std::string_view text, const std::string& path) {
  if (ReplaceFile(text, path)) return;
  // If /dev/stdout is a file, opening it again would overwrite what other processes write to it.
  const int stream = path == "/dev/stdout" ? STDOUT_FILENO : path == "/dev/stderr" ? STDERR_FILENO : -1;
  constexpr int kHow = O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NONBLOCK;  // a FIFO without a reader is an error
  const int file = stream >= 0 ? dup(stream) : open(path.c_str(), kHow, 0666);
  int problem = file < 0 ? errno : WriteAll(file, text);
  if (file >= 0 && close(file) != 0 && problem == 0) problem = errno;
  if (problem != 0) ThrowCannotWrite(path, problem);
}

OutputFiles::OutputFiles(const Options& options) {
  std::vector<std::string> outputs;
  if (!options.output.empty()) outputs.push_back(options.output);
  for (const ExtraOutput& extra : options.extra_outputs) outputs.push_back(extra.path);
  std::set<std::string> names;
  for (const std::string& output : outputs) {
    ThrowIfUnwritable(output);
    const std::optional<File> file = RegularFile(output);
    std::error_code error;
    if (!file && std::filesystem::exists(output, error)) continue;
    if (!names.insert(ResolvedPath(output)).second || (file && !files_.insert(*file).second))
      throw Error("two outputs for the same file: " + Printable(output));
  }
  for (const std::string& path : options.paths) ThrowIfOutput(path);
  for (const std::string& path : options.rules) ThrowIfOutput(path);
  ThrowIfOutput(options.files_from);
  if (options.resume.empty()) return;
  ThrowIfOutput(options.resume);
  if (names.contains(ResolvedPath(options.resume)))
    throw Error("output would overwrite the journal of --resume: " + Printable(options.resume));
}

void OutputFiles::ThrowIfOutput(const std::string& path) const {
  if (files_.empty()) return;
  const std::optional<File> file = RegularFile(path);
  if (file && files_.count(*file) > 0) throw Error("output would overwrite an input: " + Printable(path));
}

}  // namespace whyoom
