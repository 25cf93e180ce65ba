#include "input/utf16_source.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kUtf16Block = std::size_t{1} << 16;
constexpr std::size_t kMostAnchors = 200'000;

bool IsHighSurrogate(char32_t unit) { return unit >= 0xD800 && unit < 0xDC00; }
bool IsLowSurrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

// iconv would need glibc's conversion modules, which the static program cannot load.
class WideSource : public ByteSource {
 public:
  WideSource(std::unique_ptr<ByteSource> source, const WideText& wide) : source_(std::move(source)), wide_(wide) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    while (at_ == text_.size() && !ended_) Convert();
    const std::size_t count = text_.copy(buffer, capacity, at_);
    at_ += count;
    return count;
  }

  std::string_view problem() const override {
    const std::string_view cause = source_->problem();
    return cause.empty() ? std::string_view(problem_) : cause;
  }

  void AddWork(std::uint64_t bytes) override { source_->AddWork(bytes); }

  std::uint64_t RawOffset(std::uint64_t offset) const override {
    const auto after = std::upper_bound(anchors_.begin(), anchors_.end(), offset,
                                        [](std::uint64_t place, const Anchor& anchor) { return place < anchor.given; });
    if (after == anchors_.begin()) {
      const double ratio = static_cast<double>(after->raw) / static_cast<double>(after->given);
      return source_->RawOffset(static_cast<std::uint64_t>(static_cast<double>(offset) * ratio));
    }
    const Anchor& anchor = *std::prev(after);
    return source_->RawOffset(anchor.raw + (offset - anchor.given) * wide_.unit);
  }

 private:
  // A place in both texts. Only ASCII follows it, up to the next anchor.
  struct Anchor {
    std::uint64_t given = 0;
    std::uint64_t raw = 0;
  };

  // Converts the next block, except for an incomplete character at its end.
  void Convert() {
    const std::size_t kept = block_.size();
    block_.resize(kept + kUtf16Block);
    block_.resize(kept + source_->Read(block_.data() + kept, kUtf16Block));
    ended_ = block_.size() == kept;
    text_.clear();
    at_ = 0;
    std::size_t converted = 0;
    while (const std::size_t length = ConvertOne(converted)) converted += length;
    block_.erase(0, converted);
    if (ended_ && !block_.empty())
      problem_ = "its UTF-" + std::to_string(8 * wide_.unit) + " text ends in the middle of a character";
  }

  // Appends the character at `at` of the block and returns its length there; 0 if it may be incomplete.
  std::size_t ConvertOne(std::size_t at) {
    const std::size_t held = block_.size() - at;
    const bool may_be_pair = wide_.unit == 2 && held >= 2 && IsHighSurrogate(Unit(at));
    if (held < (may_be_pair && !ended_ ? 4 : wide_.unit)) return 0;
    char32_t code = Unit(at);
    std::size_t length = wide_.unit;
    if (may_be_pair && held >= 4 && IsLowSurrogate(Unit(at + 2))) {
      code = 0x10000 + ((code & 0x3FF) << 10) + (Unit(at + 2) & 0x3FF);
      length = 4;
    }
    const std::size_t before = text_.size();
    AppendUtf8(code, &text_);
    end_.given += text_.size() - before;
    end_.raw += length;
    if (code >= 0x80) anchors_.push_back(end_);
    if (anchors_.size() > kMostAnchors) anchors_.pop_front();
    return length;
  }

  char32_t Unit(std::size_t at) const {
    char32_t unit = 0;
    for (std::size_t i = 0; i < wide_.unit; ++i) {
      const std::size_t place = wide_.order == ByteOrder::kLittle ? at + wide_.unit - 1 - i : at + i;
      unit = unit << 8 | static_cast<unsigned char>(block_[place]);
    }
    return unit;
  }

  const std::unique_ptr<ByteSource> source_;
  const WideText wide_;
  std::string block_;  // not converted yet
  std::string text_;
  std::size_t at_ = 0;  // offset in text_ of the next byte to return
  bool ended_ = false;
  Anchor end_;  // of the converted text
  std::deque<Anchor> anchors_ = {{}};
  std::string problem_;
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

std::optional<WideText> WideTextOf(std::string_view beginning) {
  using std::string_view_literals::operator""sv;
  if (beginning.starts_with("\xff\xfe\0\0"sv)) return WideText{4, ByteOrder::kLittle, 4};
  if (beginning.starts_with("\0\0\xfe\xff"sv)) return WideText{4, ByteOrder::kBig, 4};
  if (beginning.starts_with("\xff\xfe"sv)) return WideText{2, ByteOrder::kLittle, 2};
  if (beginning.starts_with("\xfe\xff"sv)) return WideText{2, ByteOrder::kBig, 2};
  constexpr std::size_t kFewest = 16;
  constexpr std::size_t kMost = 128;
  const std::size_t groups = std::min(beginning.size() / 4, kMost);
  std::size_t zeros[4] = {};
  for (std::size_t at = 0; at < 4 * groups; ++at) zeros[at % 4] += beginning[at] == '\0' ? 1 : 0;
  if (groups < kFewest) return std::nullopt;
  const auto few = [&](std::size_t place) { return zeros[place] == 0; };
  const auto most = [&](std::size_t place) { return 10 * zeros[place] >= 9 * groups; };
  if (few(0) && most(1) && zeros[2] == groups && zeros[3] == groups) return WideText{4, ByteOrder::kLittle, 0};
  if (few(3) && most(2) && zeros[1] == groups && zeros[0] == groups) return WideText{4, ByteOrder::kBig, 0};
  if (few(0) && few(2) && most(1) && most(3)) return WideText{2, ByteOrder::kLittle, 0};
  if (few(1) && few(3) && most(0) && most(2)) return WideText{2, ByteOrder::kBig, 0};
  return std::nullopt;
}

std::unique_ptr<ByteSource> FromWideText(std::unique_ptr<ByteSource> source, const WideText& wide) {
  return std::make_unique<WideSource>(std::move(source), wide);
}

}  // namespace whyoom
