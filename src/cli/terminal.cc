#include "cli/terminal.h"

#include <fcntl.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "cli/file_writer.h"
#include "input/error.h"
#include "report/layout.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool IsSet(const char* name) {
  const char* value = std::getenv(name);
  return value != nullptr && *value != '\0';
}

constexpr std::size_t kUsualColumns = 80;

// A number in the environment; 0 if there is none.
std::size_t NumberIn(const char* name) {
  std::size_t number = 0;
  const std::string_view text = IsSet(name) ? std::getenv(name) : "";
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc() && end == text.data() + text.size() ? number : 0;
}

winsize SizeOf(int descriptor) {
  winsize size{};
  if (isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0) return size;
  return {};
}

bool IsOn(const char* name) { return IsSet(name) && std::strcmp(std::getenv(name), "0") != 0; }

}  // namespace

bool InputIsTerminal() { return isatty(STDIN_FILENO) == 1; }

bool MovesCursor(int descriptor) {
  const char* term = std::getenv("TERM");
  return isatty(descriptor) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

std::size_t TerminalColumns(int descriptor) {
  const std::size_t columns = SizeOf(descriptor).ws_col;
  return columns > 0 ? columns : kUsualColumns;
}

bool UseColour(ColorMode mode, bool to_file, int descriptor) {
  if (mode != ColorMode::kAuto) return mode == ColorMode::kAlways;
  if (IsSet("NO_COLOR") || to_file) return false;
  return IsOn("CLICOLOR_FORCE") || IsOn("FORCE_COLOR") || MovesCursor(descriptor);
}

std::size_t TextWidth(bool to_file, int descriptor) {
  if (to_file) return kUsualColumns;
  const std::size_t columns = NumberIn("COLUMNS");
  return std::clamp<std::size_t>(columns > 0 ? columns : TerminalColumns(descriptor), 40, 120);
}

std::size_t TerminalRows(int descriptor) {
  constexpr std::size_t kUsualRows = 24;
  if (isatty(descriptor) != 1) return 0;
  if (const std::size_t rows = NumberIn("LINES"); rows > 0) return rows;
  const std::size_t rows = SizeOf(descriptor).ws_row;
  return rows > 0 ? rows : kUsualRows;
}

bool WriteOutput(std::string_view text, const std::string& path, int descriptor) {
  if (!path.empty()) {
    WriteFile(text, path);
    return true;
  }
  const int problem = WriteAll(descriptor, text);
  if (problem != 0 && problem != EPIPE) throw Error(std::string("cannot write: ") + std::strerror(problem));
  return problem == 0;
}

void ReserveStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number: this stream.
    open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

void WriteError(std::string_view text) {
  // Messages may quote arguments, file names and log lines.
  std::string clean;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    clean += MaskSecrets(Printable(text.substr(begin, end - begin)));
    if (end < text.size()) clean += '\n';
    begin = end + 1;
  }
  WriteAll(STDERR_FILENO, WithoutCommands(std::move(clean)));
}

}  // namespace whyoom
