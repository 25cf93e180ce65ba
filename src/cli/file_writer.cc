#include "cli/file_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <optional>
#include <random>
#include <system_error>
#include <vector>

#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

[[noreturn]] void ThrowCannotWrite(const std::string& path, int problem) {
  throw Error("cannot write " + Printable(path) + ": " + std::strerror(problem));
}

// A FIFO without a reader is an error; waiting for one could take forever.
void WriteInPlace(std::string_view text, const std::string& path) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK | O_TRUNC, 0666);
  int problem = file < 0 ? errno : WriteAll(file, text);
  if (file >= 0 && close(file) != 0 && problem == 0) problem = errno;
  if (problem != 0) ThrowCannotWrite(path, problem);
}

bool IsSameFile(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether the file must keep its inode because it is also reachable by another name.
bool IsShared(const struct stat& file, const std::string& target) {
  struct stat named {};
  return file.st_nlink > 1 || stat(target.c_str(), &named) != 0 || !IsSameFile(file, named);
}

// The standard stream that is redirected to this file, for example by /dev/stdout, or -1.
int StreamTo(const std::string& path) {
  struct stat file {};
  if (stat(path.c_str(), &file) != 0 || !S_ISREG(file.st_mode)) return -1;
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    struct stat opened {};
    const int flags = fcntl(stream, F_GETFL);
    const bool is_written = flags >= 0 && (flags & O_ACCMODE) != O_RDONLY;
    if (is_written && fstat(stream, &opened) == 0 && IsSameFile(file, opened)) return stream;
  }
  return -1;
}

// Returns the stat of the file at `path`, or nullopt if it is not a regular file or cannot be opened for writing. Opens
// the file, because the kernel decides which links of other users may be followed (protected_symlinks).
std::optional<struct stat> WritableFile(const std::string& path) {
  struct stat named {};
  if (stat(path.c_str(), &named) != 0 || !S_ISREG(named.st_mode)) return std::nullopt;  // opening a FIFO would block
  const int file = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat opened {};
  const bool is_same = fstat(file, &opened) == 0 && IsSameFile(named, opened);
  close(file);
  return is_same ? std::optional(opened) : std::nullopt;
}

// Writes a new file and renames it over the old one, with the old owner and permissions. Returns false if that is not
// possible: no file can be created in the folder, ownership cannot be changed, or the file must be written in place.
bool ReplaceFile(std::string_view text, const std::string& path) {
  struct stat itself {};
  const bool is_new = lstat(path.c_str(), &itself) != 0;
  if (is_new && errno != ENOENT) return false;
  const std::optional<struct stat> old = is_new ? std::nullopt : WritableFile(path);
  if (!is_new && !old) return false;
  // A path that does not exist is not resolved. If another process makes it a link now, the link itself is replaced.
  const std::filesystem::path target = is_new ? path : ResolvedPath(path);
  if (old && IsShared(*old, target)) return false;
  std::random_device random;  // so that parallel runs do not use the same name
  const std::string name = fmt::format(".{}.whyoom-{:08x}", target.filename().string(), random());
  const std::string temporary = (target.parent_path() / name).string();
  const int file = open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0 && (errno == ENOSPC || errno == EDQUOT)) ThrowCannotWrite(path, errno);
  if (file < 0) return false;
  const bool is_ours = !old || (fchown(file, old->st_uid, old->st_gid) == 0 && fchmod(file, old->st_mode & 07777) == 0);
  int problem = is_ours ? WriteAll(file, text) : 0;
  if (close(file) != 0 && problem == 0) problem = errno;
  if (is_ours && problem == 0 && std::rename(temporary.c_str(), target.c_str()) == 0) return true;
  unlink(temporary.c_str());
  if (problem != 0) ThrowCannotWrite(path, problem);
  return false;  // for example, a mount point
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
  int problem = 0;
  if (stat(path.c_str(), &file) == 0) {
    if (S_ISDIR(file.st_mode)) problem = EISDIR;
    if (problem == 0 && access(path.c_str(), W_OK) != 0) problem = errno;
  } else if (errno != ENOENT) {
    problem = errno;
  } else {
    const std::filesystem::path folder = std::filesystem::path(ResolvedPath(path)).parent_path();
    if (access(folder.c_str(), W_OK | X_OK) != 0) problem = errno;
  }
  if (problem != 0) ThrowCannotWrite(path, problem);
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

std::string ResolvedPath(const std::string& path) {
  constexpr int kMaxLinks = 40;  // the limit of Linux
  std::error_code error;
  std::filesystem::path name = std::filesystem::absolute(path, error);
  if (error) return path;  // the current folder was removed
  for (int i = 0; i < kMaxLinks && std::filesystem::is_symlink(name, error); ++i)
    name = name.parent_path() / std::filesystem::read_symlink(name, error);
  const std::filesystem::path whole = std::filesystem::weakly_canonical(name, error);
  return (error ? name.lexically_normal() : whole).string();
}

void WriteFile(std::string_view text, const std::string& path) {
  if (const int stream = StreamTo(path); stream >= 0) {
    // Writes to the stream instead of replacing the file, to keep what other processes write to the stream.
    if (const int problem = WriteAll(stream, text)) ThrowCannotWrite(path, problem);
    return;
  }
  if (!ReplaceFile(text, path)) WriteInPlace(text, path);
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
  for (const std::string& path : options.rules) ThrowIfRule(path);
  ThrowIfOutput(options.files_from);
  if (options.resume.empty()) return;
  ThrowIfOutput(options.resume);
  if (names.contains(ResolvedPath(options.resume)))
    throw Error("output would overwrite the journal of --resume: " + Printable(options.resume));
}

// Rule folders are read before outputs are written, so their files are checked here.
void OutputFiles::ThrowIfRule(const std::string& path) const {
  ThrowIfOutput(path);
  if (files_.empty()) return;
  std::error_code error;  // LoadRules reports folders that cannot be listed
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    ThrowIfOutput(entry->path().string());
}

void OutputFiles::ThrowIfOutput(const std::string& path) const {
  if (files_.empty()) return;
  const std::optional<File> file = RegularFile(path);
  if (file && files_.count(*file) > 0) throw Error("output would overwrite an input: " + Printable(path));
}

}  // namespace whyoom
