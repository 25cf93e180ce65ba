#include "cli/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "cli/terminal.h"
#include "input/error.h"
#include "report/failure_view.h"
#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::chrono::milliseconds kDelay{500};  // before the line appears
constexpr std::chrono::milliseconds kRedraw{200};
constexpr const char* kClear = "\r\x1b[K";

bool IsWanted(ProgressMode mode) {
  const char* term = std::getenv("TERM");
  const bool is_terminal = isatty(STDERR_FILENO) == 1 && (term == nullptr || std::strcmp(term, "dumb") != 0);
  return mode == ProgressMode::kAlways || (mode == ProgressMode::kAuto && is_terminal);
}

// Not cached, because the window may be resized.
std::size_t Columns() {
  constexpr std::size_t kUsual = 80;
  winsize size{};
  return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : kUsual;
}

// Ignores write errors, which must not end the batch.
void Write(const std::string& text) {
  try {
    WriteOutput(text, "", STDERR_FILENO);
  } catch (const Error&) {
  }
}

}  // namespace

void BatchCounts::Begin(const std::string& path) {
  const std::lock_guard lock(mutex_);
  current_ = path;
}

std::string BatchCounts::Current() const {
  const std::lock_guard lock(mutex_);
  return current_;
}

ProgressMode ProgressOf(const Options& options) {
  return options.quiet && options.progress == ProgressMode::kAuto ? ProgressMode::kNever : options.progress;
}

ProgressBar::ProgressBar(ProgressMode mode, const BatchCounts& counts, const ReadControl& control)
    : mode_(mode), counts_(counts), control_(control) {
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

void ProgressBar::Draw() const {
  const std::size_t columns = Columns() - 1;  // some terminals wrap when the last column is used
  const std::string line = fmt::format(
      "{} of {}{} files · {} · {} · ", counts_.files_done.load(), counts_.files_known.load(), counts_.listed ? "" : "+",
      Counted(counts_.failures, "finding", "findings"), SizeText(static_cast<double>(control_.bytes)));
  const std::size_t width = DisplayWidth(line);
  Write(kClear +
        (width < columns ? line + Shorten(Printable(counts_.Current()), columns - width) : Shorten(line, columns)));
}

void ProgressBar::Show() {
  bool drawn = mode_ == ProgressMode::kAlways;
  if (drawn) Draw();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, drawn ? kRedraw : kDelay, [this] { return ended_; })) {
    Draw();
    drawn = true;
  }
  if (drawn) Write(kClear);
}

}  // namespace whyoom
