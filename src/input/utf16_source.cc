#include "input/utf16_source.h"

#include <algorithm>
#include <cstdint>
#include <deque>
#include <iterator>
#include <utility>

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kUtf16Block = std::size_t{1} << 16;
constexpr std::size_t kMostAnchors = 100'000;

// iconv would need glibc's conversion modules, which the static program cannot load.
class Utf16Source : public ByteSource {
 public:
  Utf16Source(std::unique_ptr<ByteSource> source, bool big_endian)
      : source_(std::move(source)), big_endian_(big_endian) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    while (at_ == text_.size() && !ended_) Convert();
    const std::size_t count = text_.copy(buffer, capacity, at_);
    at_ += count;
    return count;
  }

  std::string_view problem() const override {
    const std::string_view cause = source_->problem();
    return cause.empty() && cut_ ? "its UTF-16 text ends in the middle of a character"sv : cause;
  }

  void AddWork(std::uint64_t bytes) override { source_->AddWork(bytes); }

  std::uint64_t RawOffset(std::uint64_t offset) const override {
    const auto after = std::upper_bound(anchors_.begin(), anchors_.end(), offset,
                                        [](std::uint64_t place, const Anchor& anchor) { return place < anchor.given; });
    const Anchor anchor = after == anchors_.begin() ? Anchor() : *std::prev(after);
    return source_->RawOffset(anchor.raw + (offset - anchor.given) * 2);
  }

 private:
  // A place in both texts. Only ASCII follows it, up to the next anchor.
  struct Anchor {
    std::uint64_t given = 0;
    std::uint64_t raw = 0;
  };

  void Convert() {
    text_.clear();
    at_ = 0;
    const std::size_t kept = block_.size();  // half a unit
    block_.resize(kept + kUtf16Block);
    block_.resize(kept + source_->Read(block_.data() + kept, kUtf16Block));
    ended_ = block_.size() == kept;
    cut_ = ended_ && kept > 0;
    std::size_t at = 0;
    for (; at + 2 <= block_.size(); at += 2) {
      const auto byte = [&](std::size_t place) { return static_cast<unsigned char>(block_[place]); };
      AddUnit(static_cast<char32_t>(byte(at + (big_endian_ ? 0 : 1)) << 8 | byte(at + (big_endian_ ? 1 : 0))));
    }
    block_.erase(0, at);
    if (ended_ && high_ != 0) AddCharacter(std::exchange(high_, 0));
  }

  void AddUnit(char32_t unit) {
    const bool is_low = unit >= 0xDC00 && unit < 0xE000;
    if (high_ != 0 && is_low) return AddCharacter(0x10000 + ((std::exchange(high_, 0) & 0x3FF) << 10) + (unit & 0x3FF));
    if (high_ != 0) AddCharacter(std::exchange(high_, 0));
    if (unit >= 0xD800 && unit < 0xDC00) {
      high_ = unit;
    } else {
      AddCharacter(unit);
    }
  }

  void AddCharacter(char32_t code) {
    const std::size_t before = text_.size();
    AppendUtf8(code, &text_);
    end_.given += text_.size() - before;
    end_.raw += code >= 0x10000 ? 4 : 2;
    if (code >= 0x80) anchors_.push_back(end_);
    if (anchors_.size() > kMostAnchors) anchors_.pop_front();
  }

  const std::unique_ptr<ByteSource> source_;
  const bool big_endian_;
  std::string block_;  // not converted yet
  char32_t high_ = 0;  // the first half of a surrogate pair whose second half
                       // follows; 0 if there is none
  std::string text_;
  std::size_t at_ = 0;  // offset in text_ of the next byte to return
  bool ended_ = false;
  bool cut_ = false;  // it ended inside a unit
  Anchor end_;        // of the converted text
  std::deque<Anchor> anchors_;
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

std::optional<Utf16> Utf16Of(std::string_view beginning) {
  if (beginning.starts_with("\xff\xfe")) return Utf16{false, 2};
  if (beginning.starts_with("\xfe\xff")) return Utf16{true, 2};
  constexpr std::size_t kFewest = 32;
  const std::size_t units = std::min<std::size_t>(beginning.size() / 2, 256);
  std::size_t zeros[2] = {};
  for (std::size_t at = 0; at < 2 * units; ++at) zeros[at % 2] += beginning[at] == '\0' ? 1 : 0;
  for (const bool big_endian : {false, true}) {
    const bool most = 10 * zeros[big_endian ? 0 : 1] >= 9 * units;
    if (units >= kFewest && most && zeros[big_endian ? 1 : 0] == 0) return Utf16{big_endian, 0};
  }
  return std::nullopt;
}

std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, bool big_endian) {
  return std::make_unique<Utf16Source>(std::move(source), big_endian);
}

}  // namespace whyoom
