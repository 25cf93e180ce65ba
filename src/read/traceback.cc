#include "read/traceback.h"

#include <re2/re2.h>

#include "read/message.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

// Maximum number of lines between a frame and the header in the exception's message, which may be wrapped.
constexpr int kNearHead = 12;

}  // namespace

const std::vector<std::string>& Traceback::Openers() {
  // A quote before ", line" may be escaped.
  static const std::vector<std::string> openers = {"traceback (most recent", "\", line ", "file ~/", "file /",
                                                   "cell in"};
  return openers;
}

void Traceback::Feed(const Line& line) {
  static const Regex header(R"(^[ \t|+]*(?:Exception Group )?Traceback \(most recent call last\))");
  // As printed by Python, by IPython ("File ~/x.py:41, in f(a)"), and for a notebook cell.
  static const Regex frame(
      R"re(^[ \t|]*(?:File "([^"]+)", line |File (\S+?):|(Cell In ?\[\d+\]), line )(\d{1,9})(?:, in |$))re");
  ++lines_since_;
  if (taken_) ended_ = true;
  // The source line of a frame and the marks below it are indented.
  const bool indented = line.text.starts_with("    ");
  if (indented && is_user_frame_ && line.text.ends_with(".compile()")) call_->compiles = true;
  if (call_ && lines_since_ > 0) FollowException(line);
  if (re2::RE2::PartialMatch(line.text, header)) return Reset();
  std::string python, ipython, cell;
  std::int64_t number = 0;
  if (!re2::RE2::PartialMatch(line.text, frame, &python, &ipython, &cell, &number)) return;
  // This frame belongs to another traceback, whose header is missing.
  if (lines_since_ > kNearHead || in_exception_) Reset();
  lines_since_ = 0;
  const std::string path = python + ipython + cell;
  is_user_frame_ = !IsLibraryPath(path);
  if (is_user_frame_) call_ = UserCall{SourceLineText(path, number), path, {line.number, line.offset}};
}

// Processes a line after the frames: the exception, part of its text, or the first line after it.
void Traceback::FollowException(const Line& line) {
  static const Regex exception(R"(^[ \t|]{0,3}(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::|$))");
  static const Regex without_text(R"(^[ \t|]*(?:[\w.]+|(?:[\w.]+: ?)+)$)");
  if (IsBlank(line.text)) return;
  if (awaits_text_ || (!in_exception_ && re2::RE2::PartialMatch(line.text, exception))) {
    in_exception_ = true;
    awaits_text_ = re2::RE2::FullMatch(line.text, without_text);
    is_logged_ = line.logged();
  } else if (in_exception_) {
    ended_ = ended_ || BeginsMessage(line, is_logged_);
  }
}

std::optional<UserCall> Traceback::user_call() const {
  return lines_since_ <= kNearHead && !ended_ ? call_ : std::nullopt;
}

}  // namespace whyoom
