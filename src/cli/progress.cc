#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <utility>
#include <vector>

#include "cli/terminal.h"
#include "input/error.h"
#include "report/layout.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::chrono::milliseconds kDelay{500};  // before a bar appears
constexpr std::chrono::milliseconds kRedraw{100};
constexpr double kFirstGuess = 1;  // seconds before the first estimate of the time left
constexpr std::size_t kBarColumns = 20;
constexpr const char* kClear = "\r\x1b[K";

bool ErrorIsTerminal() {
  const char* term = std::getenv("TERM");
  return isatty(STDERR_FILENO) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
}

// Not cached, because the window may be resized.
std::size_t Columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

std::string Size(double bytes) { return FormatSize(ClampToBytes(bytes)); }

// Two units at most: "12 s", "3 min 20 s", "5 h 10 min", "2 d 3 h".
std::string Duration(double seconds) {
  const auto whole = static_cast<std::int64_t>(std::ceil(std::clamp(seconds, 0.0, 1e12)));
  if (whole < 60) return fmt::format("{} s", whole);
  if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
  if (whole < 86400) return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
  return fmt::format("{} d {} h", whole / 86400, whole % 86400 / 3600);
}

// Ignores write errors, which must not end the batch.
void Write(const std::string& text) {
  try {
    WriteOutput(text, "", STDERR_FILENO);
  } catch (const Error&) {
  }
}

}  // namespace

ProgressState StateOf(const BatchCounts& counts, std::uint64_t bytes, double seconds) {
  ProgressState state;
  state.files_done = counts.files_done;
  state.listed = counts.listed;
  state.files_known = counts.files_known;
  state.bytes = bytes;
  state.failures = counts.failures;
  state.seconds = seconds;
  if (!state.listed || counts.size_unknown) return state;
  const auto size_done = static_cast<double>(counts.size_done);
  const auto bytes_done = static_cast<double>(counts.bytes_done);
  const double waiting = static_cast<double>(counts.size_known) - size_done - static_cast<double>(counts.size_reused);
  // Compressed files yield more bytes than their size; assume the same ratio for files that are being read.
  const double unpacking = size_done > 0 && bytes_done > 0 ? bytes_done / size_done : 1;
  const double begun = std::max(0.0, static_cast<double>(bytes) - bytes_done) / unpacking;
  const double left = std::max(0.0, waiting - begun);
  const double read = size_done + std::min(begun, std::max(0.0, waiting));
  if (counts.size_known == 0) return state;
  state.part_done = std::clamp(1 - left / static_cast<double>(counts.size_known), 0.0, 1.0);
  if (read > 0 && seconds >= kFirstGuess) state.seconds_left = left * seconds / read;
  return state;
}

std::string ProgressText(const ProgressState& state, std::size_t columns) {
  std::vector<std::string> parts;  // most important first
  parts.push_back(fmt::format("{} of {}{} files", state.files_done, state.files_known, state.listed ? "" : "+"));
  parts.push_back(state.failures == 1 ? "1 finding" : fmt::format("{} findings", state.failures));
  if (state.seconds_left) parts.push_back(Duration(*state.seconds_left) + " left");
  parts.push_back(Size(static_cast<double>(state.bytes)));
  if (state.seconds >= kFirstGuess) parts.push_back(Size(static_cast<double>(state.bytes) / state.seconds) + "/s");
  std::string line;
  std::size_t width = 0;
  for (const std::string& part : parts) {
    const std::string piece = (line.empty() ? "" : " · ") + part;
    if (width + DisplayWidth(piece) > columns) return line;
    line += piece;
    width += DisplayWidth(piece);
  }
  if (state.part_done && width + kBarColumns + 1 <= columns)
    return Fit(Bar(*state.part_done, 1, kBarColumns), kBarColumns) + " " + line;
  return line;
}

bool ProgressBar::IsWanted(ProgressMode mode) {
  return mode == ProgressMode::kAlways || (mode == ProgressMode::kAuto && ErrorIsTerminal());
}

ProgressMode ProgressOf(const Options& options) {
  return options.quiet && options.progress == ProgressMode::kAuto ? ProgressMode::kNever : options.progress;
}

BarLine BatchProgress(const BatchCounts& counts, const ReadControl& control) {
  const auto now = [&counts, &control, start = std::chrono::steady_clock::now()] {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
    return StateOf(counts, control.bytes, passed.count());
  };
  return [now](std::size_t columns) { return ProgressText(now(), columns); };
}

ProgressBar::ProgressBar(ProgressMode mode, BarLine line) : mode_(mode), line_(std::move(line)) {
  if (IsWanted(mode)) thread_ = std::thread([this] { Show(); });
}

ProgressBar::~ProgressBar() {
  if (!thread_.joinable()) return;
  {
    const std::lock_guard lock(mutex_);
    ended_ = true;
  }
  wake_.notify_all();
  thread_.join();
}

void ProgressBar::Show() {
  // Leaves the last column free, because some terminals wrap when it is used.
  const auto draw = [this] { Write(kClear + line_(Columns() - 1)); };
  bool drawn = mode_ == ProgressMode::kAlways;
  if (drawn) draw();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, drawn ? kRedraw : kDelay, [this] { return ended_; })) {
    draw();
    drawn = true;
  }
  if (drawn) Write(kClear);
}

}  // namespace whyoom
