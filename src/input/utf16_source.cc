#include "input/utf16_source.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

namespace whyoom {
namespace {

constexpr std::size_t kUtf16Block = std::size_t{1} << 16;
constexpr std::size_t kMaxRuns = 200'000;
constexpr std::size_t kLongest = 4;  // bytes of a character, in either encoding
constexpr char32_t kReplacement = 0xFFFD;

// `unit_` is the size of a code unit: 2 or 4 bytes.
class Utf16Source : public ByteSource {
 public:
  Utf16Source(std::unique_ptr<ByteSource> source, ByteOrder order, std::uint8_t unit)
      : source_(std::move(source)),
        order_(order),
        unit_(unit),
        block_(std::make_unique_for_overwrite<char[]>(kUtf16Block)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (spare_given_ == spare_size_ && capacity < kLongest) {
      spare_size_ = Convert(spare_, kLongest);
      spare_given_ = 0;
    }
    if (spare_given_ < spare_size_) {
      const std::size_t count = std::min(capacity, spare_size_ - spare_given_);
      std::memcpy(buffer, spare_ + spare_given_, count);
      spare_given_ += count;
      return count;
    }
    return capacity < kLongest ? 0 : Convert(buffer, capacity);
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
  // Characters one after another that are equally long in both encodings.
  struct Run {
    std::uint64_t given;
    std::uint64_t raw;
    std::uint8_t given_each;
    std::uint8_t raw_each;
  };

  char32_t Unit(std::size_t at) const {
    char32_t unit = 0;
    for (std::size_t i = 0; i < unit_; ++i) {
      const std::size_t place = order_ == ByteOrder::kLittle ? at + unit_ - 1 - i : at + i;
      unit = unit << 8 | static_cast<unsigned char>(block_[place]);
    }
    return unit;
  }

  // Whole characters, at least one unless the text has ended; `capacity` has room for one.
  std::size_t Convert(char* buffer, std::size_t capacity) {
    std::size_t given = 0;
    while (given + kLongest <= capacity) {
      if (end_ - begin_ < kLongest && !source_ended_ && given > 0) break;  // give what there is before waiting for more
      Fill();
      if (end_ - begin_ < unit_) break;
      const std::size_t ascii = ConvertAscii(buffer + given, capacity - given);
      given += ascii;
      if (ascii == 0) given += ConvertOne(buffer + given);
    }
    if (given == 0 && end_ > begin_ && end_ - begin_ < unit_)
      problem_ = unit_ == 2 ? "its UTF-16 text ends in the middle of a character"
                            : "its UTF-32 text ends in the middle of a character";
    return given;
  }

  // Makes sure that a character is in the block as a whole.
  void Fill() {
    while (end_ - begin_ < kLongest && !source_ended_) {
      std::memmove(block_.get(), block_.get() + begin_, end_ - begin_);
      end_ -= begin_;
      begin_ = 0;
      const std::size_t got = source_->Read(block_.get() + end_, kUtf16Block - end_);
      end_ += got;
      source_ended_ = got == 0;
    }
  }

  std::size_t ConvertAscii(char* buffer, std::size_t room) {
    const std::size_t most = std::min(room, (end_ - begin_) / unit_);
    std::size_t count = 0;
    for (; count < most; ++count) {
      const char32_t unit = Unit(begin_ + unit_ * count);
      if (unit >= 0x80) break;
      buffer[count] = static_cast<char>(unit);
    }
    Note(count, 1, unit_);
    return count;
  }

  std::size_t ConvertOne(char* buffer) {
    const char32_t unit = Unit(begin_);
    const bool high = unit >= 0xD800 && unit < 0xDC00;
    const bool low = unit >= 0xDC00 && unit < 0xE000;
    const char32_t next = high && unit_ == 2 && end_ - begin_ >= 4 ? Unit(begin_ + 2) : U'\0';
    const bool pair = next >= 0xDC00 && next < 0xE000;
    char32_t code = unit;
    if (high || low || unit > 0x10FFFF) code = kReplacement;
    if (pair) code = 0x10000 + ((unit & 0x3FF) << 10) + (next & 0x3FF);
    const std::size_t length = EncodeUtf8(code, buffer);
    Note(1, static_cast<std::uint8_t>(length), pair ? 4 : unit_);
    return length;
  }

  // `count` characters were converted.
  void Note(std::size_t count, std::uint8_t given_each, std::uint8_t raw_each) {
    if (count == 0) return;
    const bool goes_on = !runs_.empty() && runs_.back().given_each == given_each && runs_.back().raw_each == raw_each;
    if (!goes_on) {
      if (runs_.size() >= kMaxRuns) ThinOut();
      runs_.push_back({given_, raw_, given_each, raw_each});
    }
    given_ += count * given_each;
    raw_ += count * raw_each;
    begin_ += count * raw_each;
  }

  // Forgets every second run of the older half: memory stays bounded, and old offsets become less exact.
  void ThinOut() {
    const std::size_t half = runs_.size() / 2;
    for (std::size_t i = 1; i < half / 2; ++i) runs_[i] = runs_[2 * i];
    runs_.erase(runs_.begin() + static_cast<std::ptrdiff_t>(half / 2),
                runs_.begin() + static_cast<std::ptrdiff_t>(half));
  }

  std::unique_ptr<ByteSource> source_;
  const ByteOrder order_;
  const std::uint8_t unit_;
  std::unique_ptr<char[]> block_;
  std::size_t begin_ = 0;
  std::size_t end_ = 0;
  bool source_ended_ = false;
  std::uint64_t given_ = 0;
  std::uint64_t raw_ = 0;
  std::vector<Run> runs_;
  char spare_[kLongest] = {};  // a character for who asks for less
  std::size_t spare_size_ = 0;
  std::size_t spare_given_ = 0;
  std::string problem_;
};

}  // namespace

std::size_t EncodeUtf8(char32_t code, char* out) {
  const auto put = [&](std::size_t at, char32_t bits) { out[at] = static_cast<char>(bits); };
  const auto tail = [&](std::size_t at, int shift) { put(at, 0x80 | ((code >> shift) & 0x3F)); };
  if (code < 0x80) {
    put(0, code);
    return 1;
  }
  if (code < 0x800) {
    put(0, 0xC0 | code >> 6);
    tail(1, 0);
    return 2;
  }
  if (code < 0x10000) {
    put(0, 0xE0 | code >> 12);
    tail(1, 6);
    tail(2, 0);
    return 3;
  }
  put(0, 0xF0 | code >> 18);
  tail(1, 12);
  tail(2, 6);
  tail(3, 0);
  return 4;
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

std::unique_ptr<ByteSource> FromUtf16(std::unique_ptr<ByteSource> source, ByteOrder order) {
  return std::make_unique<Utf16Source>(std::move(source), order, std::uint8_t{2});
}

std::unique_ptr<ByteSource> FromUtf32(std::unique_ptr<ByteSource> source, ByteOrder order) {
  return std::make_unique<Utf16Source>(std::move(source), order, std::uint8_t{4});
}

}  // namespace whyoom
