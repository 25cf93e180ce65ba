#include "text/record_joiner.h"

#include <string_view>
#include <utility>

namespace whyoom {
namespace {

// What is larger is no log record.
constexpr std::size_t kLongestRecordLines = 4096;
constexpr std::size_t kLongestRecord = std::size_t{1} << 20;
constexpr std::size_t kMostIndent = 16;

// A line that holds nothing but `bracket` and perhaps a comma: the width of its indentation, else npos.
std::size_t IndentOf(std::string_view line, char bracket) {
  const std::size_t indent = line.find_first_not_of(' ');
  if (indent == std::string_view::npos || indent > kMostIndent || line[indent] != bracket)
    return std::string_view::npos;
  const std::string_view rest = line.substr(indent + 1);
  return rest.empty() || rest == "," || rest == "\r" || rest == ",\r" ? indent : std::string_view::npos;
}

}  // namespace

void RecordJoiner::Open(const RawLine& raw, std::size_t indent) {
  bytes_ = raw.bytes;
  first_ = raw;
  lines_ = 1;
  indent_ = indent;
}

void RecordJoiner::Flush(const Sink& sink) {
  if (!open()) return;
  lines_ = 0;
  first_.bytes = bytes_;
  sink(first_);
}

void RecordJoiner::Feed(const RawLine& raw, const Sink& sink) {
  if (raw.after_gap) Flush(sink);
  const std::size_t opens = raw.cut ? std::string_view::npos : IndentOf(raw.bytes, '{');
  if (opens != std::string_view::npos) {
    // An object in an array stands for itself, whatever the array is in.
    Flush(sink);
    return Open(raw, opens);
  }
  if (!open()) return sink(raw);
  bytes_ += '\n';
  bytes_ += raw.bytes;
  first_.open_end = raw.open_end;
  ++lines_;
  const bool closed = IndentOf(raw.bytes, '}') == indent_;
  if (closed || raw.cut || lines_ >= kLongestRecordLines || bytes_.size() >= kLongestRecord) Flush(sink);
}

}  // namespace whyoom
