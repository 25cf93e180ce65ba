#include "input/utf16_source.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace whyoom {
namespace {

constexpr std::size_t kUtf16Block = std::size_t{1} << 16;
constexpr std::size_t kMaxRuns = 200'000;

bool IsLowSurrogate(char32_t unit) { return unit >= 0xDC00 && unit < 0xE000; }

class WideSource : public ByteSource {
 public:
  WideSource(std::unique_ptr<ByteSource> source, const WideText& wide) : source_(std::move(source)), wide_(wide) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (at_ == text_.size()) Convert();
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
    const auto after = std::upper_bound(runs_.begin(), runs_.end(), offset,
                                        [](std::uint64_t place, const Run& run) { return place < run.given; });
    if (after == runs_.begin()) return source_->RawOffset(offset);
    const Run& run = *std::prev(after);
    const std::uint64_t end = after == runs_.end() ? raw_ : after->raw;
    return source_->RawOffset(std::min(end, run.raw + (offset - run.given) / run.given_each * run.raw_each));
  }

 private:
  // Consecutive characters with the same length in both encodings.
  struct Run {
    std::uint64_t given;
    std::uint64_t raw;
    std::size_t given_each;
    std::size_t raw_each;
  };

  // Reads until there is a complete character or the source ends.
  void Convert() {
    text_.clear();
    at_ = 0;
    while (text_.empty() && !ended_) {
      const std::size_t kept = block_.size();
      block_.resize(kept + kUtf16Block);
      const std::size_t got = source_->Read(block_.data() + kept, kUtf16Block);
      block_.resize(kept + got);
      ended_ = got == 0;
      std::size_t converted = 0;
      while (const std::size_t length = ConvertOne(converted)) converted += length;
      block_.erase(0, converted);
    }
    if (text_.empty() && !block_.empty())
      problem_ = wide_.unit == 2 ? "its UTF-16 text ends in the middle of a character"
                                 : "its UTF-32 text ends in the middle of a character";
  }

  // Appends the character at `at` of the block and returns its length there; 0 if it may be incomplete.
  std::size_t ConvertOne(std::size_t at) {
    const std::size_t held = block_.size() - at;
    if (held < wide_.unit) return 0;
    char32_t code = Unit(at);
    std::size_t length = wide_.unit;
    if (length == 2 && code >= 0xD800 && code < 0xDC00) {
      if (held < 4 && !ended_) return 0;
      if (const char32_t next = held < 4 ? U'\0' : Unit(at + 2); IsLowSurrogate(next)) {
        code = 0x10000 + ((code & 0x3FF) << 10) + (next & 0x3FF);
        length = 4;
      }
    }
    const std::size_t before = text_.size();
    AppendUtf8(code, &text_);
    Note(text_.size() - before, length);
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

  // Records a converted character of these lengths.
  void Note(std::size_t given_each, std::size_t raw_each) {
    const bool continues = !runs_.empty() && runs_.back().given_each == given_each && runs_.back().raw_each == raw_each;
    if (!continues) {
      if (runs_.size() >= kMaxRuns) ThinOut();
      runs_.push_back({given_, raw_, given_each, raw_each});
    }
    given_ += given_each;
    raw_ += raw_each;
  }

  // Drops every second run of the older half, to bound memory; old offsets become less exact.
  void ThinOut() {
    const std::size_t half = runs_.size() / 2;
    for (std::size_t i = 1; i < half / 2; ++i) runs_[i] = runs_[2 * i];
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(half / 2),
                runs_.begin() + static_cast<std::ptrdiff_t>(half));
  }

  const std::unique_ptr<ByteSource> source_;
  const WideText wide_;
  std::string block_;  // not converted yet
  std::string text_;
  std::size_t at_ = 0;  // offset in text_ of the next byte to return
  bool ended_ = false;
  std::uint64_t given_ = 0;
  std::uint64_t raw_ = 0;
  std::vector<Run> runs_;
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
