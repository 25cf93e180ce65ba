#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>

#include "cli/output.h"
#include "report/failure_view.h"
#include "report/formatting.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::chrono::milliseconds kDelay{500};  // before the line appears
constexpr std::chrono::milliseconds kRedraw{200};
constexpr const char* kClear = "\r\x1b[K";

}  // namespace

bool ShowsProgress(const Options& options) {
  if (options.progress != When::kAuto) return options.progress == When::kAlways;
  return !options.quiet && MovesCursor(STDERR_FILENO);
}

ProgressBar::ProgressBar(const Options& options, const BatchCounts& counts, const ReadControl& control)
    : counts_(counts), control_(control) {
  const bool at_once = options.progress == When::kAlways;
  if (ShowsProgress(options)) thread_ = std::thread([this, at_once] { Show(at_once); });
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
  const std::string line = fmt::format("{} of {} files · {} · {} · {}", counts_.files_done.load(),
                                       counts_.files_known.load(), Counted(counts_.failures, "finding", "findings"),
                                       SizeText(static_cast<double>(control_.bytes)), Printable(counts_.Current()));
  const std::size_t columns = TerminalColumns(STDERR_FILENO) - 1;  // some terminals wrap when the last column is used
  WriteAll(STDERR_FILENO, kClear + Shorten(line, columns));        // an error must not end the batch
}

void ProgressBar::Show(bool at_once) {
  bool drawn = at_once;
  if (drawn) Draw();
  std::unique_lock lock(mutex_);
  while (!wake_.wait_for(lock, drawn ? kRedraw : kDelay, [this] { return ended_; })) {
    Draw();
    drawn = true;
  }
  if (drawn) WriteAll(STDERR_FILENO, kClear);
}

}  // namespace whyoom
