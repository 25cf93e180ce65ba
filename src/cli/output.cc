#include "cli/output.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <filesystem>
#include <optional>
#include <system_error>
#include <vector>

#include "input/error.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "text/numbers.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

// The value of an environment variable; empty if it is not set.
std::string_view Variable(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// A number in the environment, else the terminal's own; 0 if there is neither.
std::size_t SizeOf(const char* name, unsigned short winsize::*own, int descriptor) {
  if (const auto number = ParseWholeNumber(Variable(name)); number.value_or(0) > 0) return *number;
  winsize size{};
  return isatty(descriptor) == 1 && ioctl(descriptor, TIOCGWINSZ, &size) == 0 ? size.*own : 0;
}

constexpr std::size_t kUsualRows = 24;

// Whether the descriptor is a terminal that understands escape sequences (not TERM=dumb).
bool MovesCursor(int descriptor) { return isatty(descriptor) == 1 && Variable("TERM") != "dumb"; }

bool UsesColor(When when, bool to_file, int descriptor) {
  if (when != When::kAuto) return when == When::kAlways;
  if (!Variable("NO_COLOR").empty() || to_file) return false;
  const auto is_on = [](std::string_view value) { return !value.empty() && value != "0"; };
  return is_on(Variable("CLICOLOR_FORCE")) || is_on(Variable("FORCE_COLOR")) || MovesCursor(descriptor);
}

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

// The absolute path of a file that does not exist, after links.
std::string TargetOf(fs::path path) {
  while (fs::is_symlink(path)) path = path.parent_path() / fs::read_symlink(path);
  return fs::weakly_canonical(fs::absolute(path));
}

// Throws Error if the file can neither be written nor created, as far as that is known without writing it.
void ThrowIfUnwritable(const std::string& path) {
  struct stat file {};
  const bool exists = stat(path.c_str(), &file) == 0;
  if (!exists && errno != ENOENT) ThrowCannotWrite(path, errno);
  if (exists && S_ISDIR(file.st_mode)) ThrowCannotWrite(path, EISDIR);
  const std::string parent = fs::path(path).parent_path();
  const char* folder = parent.empty() ? "." : parent.c_str();
  if (access(exists ? path.c_str() : folder, exists ? W_OK : W_OK | X_OK) != 0) ThrowCannotWrite(path, errno);
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
  const fs::path whole = path;
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

void ReserveStandardStreams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) >= 0 || errno != EBADF) continue;
    // open() returns the lowest free number: this stream.
    open("/dev/null", (stream == STDIN_FILENO ? O_WRONLY : O_RDONLY) | O_CLOEXEC);
  }
}

bool ShowsProgress(const Options& options) {
  if (options.progress != When::kAuto) return options.progress == When::kAlways;
  return !options.quiet && MovesCursor(STDERR_FILENO);
}

TextOptions StyleOf(const Options& options, bool to_file, int descriptor) {
  TextOptions style;
  const std::size_t columns = to_file ? 0 : SizeOf("COLUMNS", &winsize::ws_col, descriptor);
  if (columns > 0) style.width = std::clamp<std::size_t>(columns, 40, 120);
  const bool is_terminal = !to_file && isatty(descriptor) == 1;
  const std::size_t rows = is_terminal ? SizeOf("LINES", &winsize::ws_row, descriptor) : 0;
  style.rows = is_terminal && rows == 0 ? kUsualRows : rows;
  style.colour = UsesColor(options.color, to_file, descriptor);
  style.detail = options.detail;
  style.notes = !options.quiet;
  return style;
}

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

bool WriteOutput(std::string_view text, const std::string& path, int descriptor) {
  if (!path.empty()) {
    WriteFile(text, path);
    return true;
  }
  const int problem = WriteAll(descriptor, text);
  if (problem != 0 && problem != EPIPE) throw Error(std::string("cannot write: ") + std::strerror(problem));
  return problem == 0;
}

void WriteError(std::string_view text) {
  std::string clean;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    clean += MaskSecrets(Printable(text.substr(begin, end - begin)));
    if (end < text.size()) clean += '\n';
    begin = end + 1;
  }
  WriteAll(STDERR_FILENO, WithoutCommands(std::move(clean)));
}

std::string PrintReport(const Report& report, Format format, const TextOptions& text, const std::string& source_root) {
  std::error_code error;
  switch (format) {
    case Format::kText:
      return PrintText(report, text);
    case Format::kJson:
      return text.detail == Detail::kBrief ? PrintBriefJson(report) : PrintJson(report);
    case Format::kNdjson:
      return PrintNdjson(report);
    case Format::kMarkdown:
      return PrintMarkdown(report);
    case Format::kHtml:
      return PrintHtml(report);
    case Format::kGithub:
      return PrintGithub(report, source_root, text.detail);
    case Format::kSarif:  // code scanning runs in the root of the sources
      return PrintSarif(report, source_root.empty() ? fs::current_path(error).string() : source_root);
    case Format::kJunit:
      return PrintJunit(report);
  }
  return {};
}

void WriteFormats(const Options& options, const PrintFunction& print, int descriptor, const std::string& before) {
  std::exception_ptr problem;
  const auto write = [&](Format format, const std::string& path) {
    const bool to_file = !path.empty();
    try {
      const std::string text = print(format, StyleOf(options, to_file, descriptor));
      WriteOutput(to_file ? text : before + text, path, descriptor);
    } catch (const Error&) {
      problem = std::current_exception();
    }
  };
  if (descriptor >= 0 || !options.output.empty()) write(options.format, options.output);
  if (problem && descriptor >= 0 && !options.output.empty()) write(options.format, "");
  for (const ExtraOutput& extra : options.extra_outputs) write(extra.format, extra.path);
  if (problem) std::rethrow_exception(problem);
}

void WriteReport(const Report& report, const Options& options, int descriptor, const std::string& before) {
  const auto print = [&](Format format, const TextOptions& text) {
    return PrintReport(report, format, text, options.source_root);
  };
  WriteFormats(options, print, descriptor, before);
}

OutputFiles::OutputFiles(const Options& options) {
  std::vector<std::pair<const char*, std::string>> outputs = {{"--output", options.output}};
  for (const ExtraOutput& extra : options.extra_outputs) outputs.emplace_back("--format", extra.path);
  outputs.emplace_back("--patch", options.attempts.patch);
  std::set<std::string> missing;
  for (const auto& [option, path] : outputs) {
    if (path.empty()) continue;
    ThrowIfUnwritable(path);
    const auto file = RegularFile(path);
    const bool is_new = file ? files_.insert(*file).second : fs::exists(path) || missing.insert(TargetOf(path)).second;
    if (!is_new) throw Error(fmt::format("{}: '{}' is already another output", option, Printable(path)));
  }
  for (const std::string& path : options.paths) ThrowIfOutput(path);
  for (const std::string& path : options.rules) ThrowIfOutput(path);
  ThrowIfOutput(options.files_from);
}

void OutputFiles::ThrowIfOutput(const std::string& path) const {
  const auto file = RegularFile(path);
  if (file && files_.contains(*file)) throw Error("output would overwrite an input: " + Printable(path));
}

}  // namespace whyoom
