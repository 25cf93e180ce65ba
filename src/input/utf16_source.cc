#include "input/utf16_source.h"

#include <algorithm>
#include <utility>

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

bool IsSurrogate(char32_t unit, char32_t first) { return unit >= first && unit < first + 0x400; }
constexpr char32_t kHigh = 0xD800;
constexpr char32_t kLow = 0xDC00;

// iconv would need glibc's conversion modules, which the static program cannot load.
class Utf16Source : public ByteSource {
 public:
  Utf16Source(std::unique_ptr<ByteSource> source, bool big_endian)
      : source_(std::move(source)), high_byte_(big_endian ? 0 : 1) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    while (at_ == text_.size() && !ended_) Convert();
    const std::size_t count = text_.copy(buffer, capacity, at_);
    at_ += count;
    return count;
  }

  std::string_view problem() const override {
    const std::string_view cause = source_->problem();
    return cause.empty() && ended_ && !block_.empty() ? "its UTF-16 text ends in the middle of a character"sv : cause;
  }

  void AddWork(std::uint64_t bytes) override { source_->AddWork(bytes); }

 private:
  char32_t UnitAt(std::size_t at) const {
    const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(block_[place]); };
    return static_cast<char32_t>(byte(at + high_byte_) << 8 | byte(at + 1 - high_byte_));
  }

  void Convert() {
    constexpr std::size_t kBlock = std::size_t{1} << 16;
    text_.clear();
    const std::size_t kept = block_.size();
    block_.resize(kept + kBlock);
    block_.resize(kept + source_->Read(block_.data() + kept, kBlock));
    ended_ = block_.size() == kept;
    at_ = 0;
    std::size_t at = 0;
    while (at + 2 <= block_.size()) {
      char32_t code = UnitAt(at);
      const bool is_high = IsSurrogate(code, kHigh);
      if (is_high && at + 4 > block_.size() && !ended_) break;
      at += 2;
      if (is_high && at + 2 <= block_.size() && IsSurrogate(UnitAt(at), kLow)) {
        code = 0x10000 + ((code - kHigh) << 10) + (UnitAt(at) - kLow);
        at += 2;
      }
      AppendUtf8(code, &text_);
    }
    block_.erase(0, at);
  }

  const std::unique_ptr<ByteSource> source_;
  const std::size_t high_byte_;  // its place in a unit
  std::string block_;            // not converted yet
  std::string text_;
  std::size_t at_ = 0;  // offset in text_ of the next byte to return
  bool ended_ = false;
};

}  // namespace

void AppendUtf8(char32_t code, std::string* text) {
  if (code > 0x10FFFF || (code >= 0xD800 && code < 0xE000)) code = kReplacement;
  const auto add = [&](char32_t byte) { text->push_back(static_cast<char>(byte)); };
  const auto add_tail = [&](int shift) { add(0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) return add(code);
  if (code < 0x800) {
    add(0xC0 | code >> 6);
  } else if (code < 0x10000) {
    add(0xE0 | code >> 12);
    add_tail(6);
  } else {
    add(0xF0 | code >> 18);
    add_tail(12);
    add_tail(6);
  }
  add_tail(0);
}

std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, std::string_view beginning) {
  const bool big_endian = beginning.starts_with("\xfe\xff");
  if (!big_endian && !beginning.starts_with("\xff\xfe")) return source;
  return std::make_unique<Utf16Source>(std::move(source), big_endian);
}

}  // namespace whyoom
