#include "read/traceback.h"

#include <re2/re2.h>

#include "facts/evidence.h"
#include "read/message.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

// Maximum number of lines between a frame and the header in the exception's message, which may be wrapped.
constexpr int kNearHead = 12;

struct Frame {
  std::string path;
  std::int64_t line = 0;
};

bool ReadFrame(const std::string& text, Frame* frame) {
  // Frames as printed by Python, by IPython ("File ~/x.py:41, in f(a)"), and for a notebook cell.
  static const Regex python(R"re(^[ \t|]*File "([^"]+)", line (\d{1,9})(?:, in |$))re");
  static const Regex ipython(R"(^[ \t|]*File (\S+?):(\d{1,9})(?:, in |$))");
  static const Regex cell(R"(^[ \t|]*(Cell In ?\[\d+\]), line (\d{1,9}))");
  return re2::RE2::PartialMatch(text, python, &frame->path, &frame->line) ||
         re2::RE2::PartialMatch(text, ipython, &frame->path, &frame->line) ||
         re2::RE2::PartialMatch(text, cell, &frame->path, &frame->line);
}

// A cheap test: whether any of the expressions above or below can match.
bool MayBelong(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t|+");
  return first != std::string_view::npos && std::string_view("CDEFT").find(text[first]) != std::string_view::npos;
}

}  // namespace

const std::vector<std::string>& Traceback::Openers() {
  // A quote before ", line" may be escaped.
  static const std::vector<std::string> openers = {"traceback (most recent", "\", line ", "file ~/", "file /",
                                                   "cell in"};
  return openers;
}

void Traceback::Feed(const Line& line) {
  static const Regex header(R"(^[ \t|+]*(?:Exception Group )?Traceback \(most recent call last\))");
  ++lines_since_;
  if (taken_) ended_ = true;
  // The source line of a frame and the marks below it are indented.
  const bool indented = line.text.starts_with("    ");
  if (indented && is_user_frame_ && line.text.ends_with(".compile()")) call_->compiles = true;
  if (call_ && lines_since_ > 0) FollowException(line);
  if (!MayBelong(line.text)) return;
  Frame frame;
  if (re2::RE2::PartialMatch(line.text, header)) return Reset();
  if (ReadFrame(line.text, &frame)) {
    // This frame belongs to another traceback, whose header is missing.
    if (lines_since_ > kNearHead || exception_ != Exception::kNone) Reset();
    lines_since_ = 0;
    is_user_frame_ = !IsLibraryPath(frame.path);
    if (is_user_frame_) {
      call_ = UserCall{SourceLineText(frame.path, frame.line), frame.path, {line.number, line.offset}};
    }
  }
}

// Processes a line after the frames: the exception, part of its text, or the first line after it.
void Traceback::FollowException(const Line& line) {
  static const Regex exception(R"(^[ \t|]{0,3}(?:[A-Za-z_]\w*\.)*[A-Z]\w*(?::|$))");
  if (line.text.find_first_not_of(" \t|") == std::string::npos) return;
  static const Regex opening(R"(^[ \t|]*(?:[\w.]+|(?:[\w.]+: ?)+)$)");
  const bool begins = exception_ != Exception::kSaid && re2::RE2::PartialMatch(line.text, exception);
  if (begins || exception_ == Exception::kOpening) {
    if (exception_ == Exception::kNone) is_logged_ = line.logged();
    exception_ = re2::RE2::FullMatch(line.text, opening) ? Exception::kOpening : Exception::kSaid;
  } else if (exception_ == Exception::kSaid) {
    ended_ = ended_ || BeginsMessage(line, is_logged_);
  }
}

std::optional<UserCall> Traceback::user_call() const {
  return lines_since_ <= kNearHead && !ended_ ? call_ : std::nullopt;
}

}  // namespace whyoom
