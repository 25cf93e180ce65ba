#include "input/text_lines.h"

#include <algorithm>
#include <cstring>

namespace whyoom {
namespace {

constexpr std::size_t kLineBlock = std::size_t{1} << 17;  // what a processor's cache holds until it is looked at

}  // namespace

TextLines::TextLines(ByteSource& source, std::size_t longest)
    : source_(source), longest_(longest), buffer_(kLineBlock) {}

bool TextLines::Fill() {
  if (at_end_) return false;
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  // Only a long line needs more room than a block.
  if (end_ == buffer_.size()) buffer_.resize(2 * buffer_.size());
  const std::size_t count = source_.Read(buffer_.data() + end_, std::min(buffer_.size() - end_, kLineBlock));
  at_end_ = count == 0;
  end_ += count;
  return count > 0;
}

bool TextLines::Next(std::string_view* line) {
  std::size_t searched = 0;
  while (true) {
    const char* start = buffer_.data() + begin_;
    const std::size_t held = end_ - begin_;
    const void* feed = held > searched ? std::memchr(start + searched, '\n', held - searched) : nullptr;
    const bool whole = feed != nullptr;
    const bool full = !whole && held > longest_;
    if (whole || full || (at_end_ && held > 0)) {
      const std::size_t length = whole ? static_cast<std::size_t>(static_cast<const char*>(feed) - start) : held;
      begin_ += length + (whole ? 1 : 0);
      searched = 0;
      const bool passing_over = cutting_;
      cutting_ = full;
      if (passing_over) continue;
      *line = std::string_view(start, std::min(length, longest_));
      if (line->ends_with('\r')) line->remove_suffix(1);
      return true;
    }
    if (at_end_) return false;
    searched = held;
    Fill();
  }
}

}  // namespace whyoom
