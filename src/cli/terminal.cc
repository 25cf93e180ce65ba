#include "cli/terminal.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

bool IsOn(const char* name) { return IsSet(name) && std::strcmp(std::getenv(name), "0") != 0; }

// 0, or the errno of what went wrong.
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

void WriteFile(std::string_view text, const std::string& path, int how) {
  const int file = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | how, 0666);
  const int problem = file < 0 ? errno : WriteAll(file, text);
  if (file >= 0) close(file);
  if (problem != 0) throw Error("cannot write " + Printable(path) + ": " + std::strerror(problem));
}

}  // namespace

bool InputIsTerminal() { return isatty(STDIN_FILENO) == 1; }

bool UseColour(ColorMode mode, bool to_file, int descriptor) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  if (IsSet("NO_COLOR") || to_file) return false;
  if (IsOn("CLICOLOR_FORCE") || IsOn("FORCE_COLOR")) return true;
  const char* term = std::getenv("TERM");
  return isatty(descriptor) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

std::size_t TextWidth(bool to_file, int descriptor) {
  winsize size{};
  if (to_file || isatty(descriptor) != 1 || ioctl(descriptor, TIOCGWINSZ, &size) != 0 || size.ws_col == 0) return 80;
  return std::clamp<std::size_t>(size.ws_col, 60, 120);
}

void WriteOutput(std::string_view text, const std::string& path, int descriptor) {
  if (path.empty()) {
    const int problem = WriteAll(descriptor, text);
    if (problem != 0 && problem != EPIPE) throw Error(std::string("cannot write: ") + std::strerror(problem));
    return;
  }
  WriteFile(text, path, O_TRUNC);
}

void AppendOutput(std::string_view text, const std::string& path) { WriteFile(text, path, O_APPEND); }

void WriteError(std::string_view text) {
  // Messages quote arguments and names of files.
  std::string clean;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    clean += Printable(text.substr(begin, end - begin));
    if (end < text.size()) clean += '\n';
    begin = end + 1;
  }
  WriteAll(STDERR_FILENO, clean);
}

}  // namespace whyoom
