#include "input/packing.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

namespace whyoom {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::size_t kPeeked = 512;

class PeekedSource : public ByteSource {
 public:
  PeekedSource(std::unique_ptr<ByteSource> source, std::string beginning)
      : source_(std::move(source)), beginning_(std::move(beginning)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (given_ == beginning_.size()) return source_->Read(buffer, capacity);
    const std::size_t count = std::min(capacity, beginning_.size() - given_);
    std::memcpy(buffer, beginning_.data() + given_, count);
    given_ += count;
    return count;
  }

  bool SeekTo(std::uint64_t offset) override {
    if (!source_->SeekTo(offset)) return false;
    given_ = beginning_.size();
    return true;
  }

  int RegularFile() const override { return source_->RegularFile(); }

  std::string_view problem() const override { return source_->problem(); }

 private:
  std::unique_ptr<ByteSource> source_;
  std::string beginning_;
  std::size_t given_ = 0;
};

}  // namespace

std::string_view PackingOf(std::string_view beginning) {
  // Magic numbers: RFC 1952, RFC 8878, and the formats' own descriptions.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 8> kMagic = {{
      {"\x1f\x8b\x08"sv, "gzip"},
      {"\x28\xb5\x2f\xfd"sv, "zstd"},
      {"\xfd"
       "7zXZ\0"sv,
       "xz"},
      {"BZh91AY&SY"sv, "bzip2"},
      {"\x04\x22\x4d\x18"sv, "lz4"},
      {"PK\x03\x04"sv, "zip"},
      {"7z\xbc\xaf\x27\x1c"sv, "7z"},
      {"!<arch>\n"sv, "ar"},
  }};
  for (const auto& [magic, name] : kMagic) {
    if (beginning.starts_with(magic)) return name;
  }
  return {};
}

std::unique_ptr<ByteSource> Peek(std::unique_ptr<ByteSource> source, std::string* beginning) {
  std::string bytes(kPeeked, '\0');
  std::size_t held = 0;
  while (held < kPeeked) {
    const std::size_t count = source->Read(bytes.data() + held, kPeeked - held);
    if (count == 0) break;
    held += count;
  }
  bytes.resize(held);
  *beginning = bytes;
  return std::make_unique<PeekedSource>(std::move(source), std::move(bytes));
}

}  // namespace whyoom
