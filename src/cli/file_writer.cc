#include "cli/file_writer.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
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

// Returns an errno.
int WriteAndClose(int file, std::string_view text) {
  const int problem = WriteAll(file, text);
  return close(file) != 0 && problem == 0 ? errno : problem;
}

void WriteInPlace(std::string_view text, const std::string& path, int how) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  const int problem = file < 0 ? errno : WriteAndClose(file, text);
  if (problem != 0) ThrowCannotWrite(path, problem);
}

bool IsSameFile(const struct stat& one, const struct stat& other) {
  return one.st_dev == other.st_dev && one.st_ino == other.st_ino;
}

// Whether others may know the file by something else than this name, so that it must stay the same one.
bool IsShared(const struct stat& file, const std::string& target) {
  struct stat named {};
  return file.st_nlink > 1 || stat(target.c_str(), &named) != 0 || !IsSameFile(file, named);
}

// The standard stream that goes to this very file, as /dev/stdout does; -1: none.
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

// The file that `path` leads to, as far as the system lets it be followed and written; nothing where it does not, or
// where that is no regular file. Which of other users' links may be followed is the system's to say (protected_symlinks
// of Linux), so it is asked by opening the file, and never worked out from where the link leads.
std::optional<struct stat> WritableFile(const std::string& path) {
  struct stat named {};
  if (stat(path.c_str(), &named) != 0 || !S_ISREG(named.st_mode)) return std::nullopt;  // to open a pipe would wait
  const int file = open(path.c_str(), O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  struct stat opened {};
  const bool is_same = fstat(file, &opened) == 0 && IsSameFile(named, opened);
  close(file);
  return is_same ? std::optional(opened) : std::nullopt;
}

// Puts a whole new file in the place of the old one, which stays where there is no room for it, and has its owner and
// rights. False where that cannot be done: there is no place for a second file beside it, it may not be given away, or
// `path` names something that is no file, must stay the one that it is, or is the system's to judge.
bool ReplaceFile(std::string_view text, const std::string& path) {
  struct stat itself {};
  const bool is_new = lstat(path.c_str(), &itself) != 0;
  if (is_new && errno != ENOENT) return false;
  const std::optional<struct stat> old = is_new ? std::nullopt : WritableFile(path);
  if (!is_new && !old) return false;
  // What is new is no link, and if it becomes one now, that is what is replaced.
  const std::filesystem::path target = is_new ? path : FinalName(path);
  if (old && IsShared(*old, target)) return false;
  std::random_device random;  // nobody else's file, nor that of a run beside this one
  const std::string name = fmt::format(".{}.whyoom-{:08x}", target.filename().string(), random());
  const std::string beside = (target.parent_path() / name).string();
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return false;
  if (old && (fchown(file, old->st_uid, old->st_gid) != 0 || fchmod(file, old->st_mode & 07777) != 0)) {
    close(file);
    unlink(beside.c_str());
    return false;
  }
  const int problem = WriteAndClose(file, text);
  if (problem == 0 && std::rename(beside.c_str(), target.c_str()) == 0) return true;
  unlink(beside.c_str());
  if (problem != 0) ThrowCannotWrite(path, problem);
  return false;  // a mount point, for one
}

using File = std::pair<unsigned long long, unsigned long long>;

// Nothing for what is not there, and for devices and pipes, which hold nothing to lose.
std::optional<File> RegularFile(const std::string& path) {
  struct stat status {};
  if (path.empty() || stat(path.c_str(), &status) != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return File(status.st_dev, status.st_ino);
}

}  // namespace

int WriteAll(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {  // a pipe that somebody made non-blocking
      pollfd ready{descriptor, POLLOUT, 0};
      poll(&ready, 1, -1);
      continue;
    }
    if (written < 0) return errno;
    text.remove_prefix(static_cast<std::size_t>(written));
  }
  return 0;
}

std::string FinalName(const std::string& path) {
  constexpr int kMostLinks = 40;  // as many as Linux follows
  std::error_code error;
  std::filesystem::path name = std::filesystem::absolute(path, error);
  if (error) return path;  // there is no current folder
  for (int i = 0; i < kMostLinks && std::filesystem::is_symlink(name, error); ++i)
    name = name.parent_path() / std::filesystem::read_symlink(name, error);
  const std::filesystem::path whole = std::filesystem::weakly_canonical(name, error);
  return (error ? name.lexically_normal() : whole).string();
}

void WriteFile(std::string_view text, const std::string& path) {
  if (const int stream = StreamTo(path); stream >= 0) {
    // What others write there stays, before and behind it.
    if (const int problem = WriteAll(stream, text)) ThrowCannotWrite(path, problem);
    return;
  }
  if (!ReplaceFile(text, path)) WriteInPlace(text, path, O_TRUNC);
}

void AppendToFile(std::string_view text, const std::string& path) { WriteInPlace(text, path, O_APPEND); }

OutputFiles::OutputFiles(const Options& options) {
  std::vector<std::string> outputs;
  if (!options.output.empty()) outputs.push_back(options.output);
  for (const ExtraOutput& extra : options.extra_outputs) outputs.push_back(extra.path);
  if (!options.write_baseline.empty()) outputs.push_back(options.write_baseline);
  if (const char* summary = std::getenv("GITHUB_STEP_SUMMARY"); options.step_summary && summary != nullptr)
    outputs.emplace_back(summary);
  std::set<std::string> names;
  for (const std::string& output : outputs) {
    const std::optional<File> file = RegularFile(output);
    std::error_code error;
    if (!file && std::filesystem::exists(output, error)) continue;
    if (!names.insert(FinalName(output)).second || (file && !files_.insert(*file).second))
      throw Error("two reports for one file: " + Printable(output));
  }
  for (const std::string& path : options.paths) ThrowIfOutput(path);
  for (const std::string& path : options.rules) ThrowIfRule(path);
  ThrowIfOutput(options.files_from);
  if (options.baseline != options.write_baseline) ThrowIfOutput(options.baseline);  // adding to one is no loss
  if (options.resume.empty()) return;
  ThrowIfOutput(options.resume);
  if (names.contains(FinalName(options.resume)))
    throw Error("a report would overwrite the journal of --resume: " + Printable(options.resume));
}

// A folder of them is read whole, before anything is written.
void OutputFiles::ThrowIfRule(const std::string& path) const {
  ThrowIfOutput(path);
  if (files_.empty()) return;
  std::error_code error;  // what cannot be listed is told by who reads it
  for (std::filesystem::directory_iterator entry(path, error), end; !error && entry != end; entry.increment(error))
    ThrowIfOutput(entry->path().string());
}

void OutputFiles::ThrowIfOutput(const std::string& path) const {
  if (files_.empty()) return;
  const std::optional<File> file = RegularFile(path);
  if (file && files_.count(*file) > 0) throw Error("a report would overwrite what is read: " + Printable(path));
}

}  // namespace whyoom
