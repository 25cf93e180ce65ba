#include "cli/file_writer.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Returns an errno.
int WriteAndClose(int file, std::string_view text) {
  const int problem = WriteAll(file, text);
  return close(file) != 0 && problem == 0 ? errno : problem;
}

void WriteInPlace(std::string_view text, const std::string& path, int how) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  const int problem = file < 0 ? errno : WriteAndClose(file, text);
  if (problem != 0) throw Error("cannot write " + Printable(path) + ": " + std::strerror(problem));
}

// Puts a whole new file in the place of the old one, which stays where there is no room for it, and has its owner and
// rights. False where there is no place for a second file beside it, or `path` names none that can be replaced.
bool ReplaceFile(std::string_view text, const std::string& path) {
  struct stat old {};
  const bool is_there = stat(path.c_str(), &old) == 0;
  if (is_there && !S_ISREG(old.st_mode)) return false;
  const std::filesystem::path target(FinalName(path));
  const std::string beside = (target.parent_path() / ("." + target.filename().string() + ".whyoom-part")).string();
  unlink(beside.c_str());  // of a run that was killed
  const int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
  if (file < 0) return false;
  if (is_there) {
    // Who may not give files away keeps what is written in the old one.
    const bool is_same = fchown(file, old.st_uid, old.st_gid) == 0 && fchmod(file, old.st_mode & 07777) == 0;
    if (!is_same || old.st_nlink > 1 || access(path.c_str(), W_OK) != 0) {
      close(file);
      unlink(beside.c_str());
      return false;
    }
  }
  int problem = WriteAndClose(file, text);
  if (problem == 0 && std::rename(beside.c_str(), target.c_str()) != 0) problem = errno;
  if (problem == 0) return true;
  unlink(beside.c_str());
  throw Error("cannot write " + Printable(path) + ": " + std::strerror(problem));
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
  if (!ReplaceFile(text, path)) WriteInPlace(text, path, O_TRUNC);
}

void AppendToFile(std::string_view text, const std::string& path) { WriteInPlace(text, path, O_APPEND); }

}  // namespace whyoom
