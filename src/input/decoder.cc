#include "input/decoder.h"

#include <fmt/format.h>

#include <utility>

#include "input/quota.h"

namespace whyoom {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 16;

}  // namespace

Decoder::Decoder(std::unique_ptr<ByteSource> packed, std::string_view name) : packed_(std::move(packed)), name_(name) {}

std::size_t Decoder::Read(char* buffer, std::size_t capacity) {
  if (ended_ || capacity == 0) return 0;
  const std::size_t got = Decode(buffer, capacity);
  if (got == 0) ended_ = true;
  return got;
}

std::string_view Decoder::problem() const {
  const std::string_view cause = packed_->problem();
  return cause.empty() ? std::string_view(problem_) : cause;
}

std::string_view Decoder::Packed() {
  if (begin_ == end_) {
    if (block_ == nullptr) block_ = std::make_unique_for_overwrite<char[]>(kBlock);
    begin_ = 0;
    end_ = packed_->Read(block_.get(), kBlock);
  }
  return {block_.get() + begin_, end_ - begin_};
}

std::size_t Decoder::Fail(std::string problem) {
  problem_ = std::move(problem);
  ended_ = true;
  return 0;
}

std::size_t Decoder::FailDamaged(std::string_view how) {
  return Fail(
      fmt::format("its {} data is damaged{}{}; what follows was not read", name_, how.empty() ? "" : ": ", how));
}

std::size_t Decoder::FailTruncated() { return Fail(fmt::format("its {} data ends too early", name_)); }

std::size_t Decoder::FailTrailing() {
  return Fail(fmt::format("other bytes follow its {} data and were not read", name_));
}

std::size_t Decoder::FailMemory(std::uint64_t needed, std::size_t limit) {
  return Fail(TooMuchMemory(name_, needed, limit));
}

std::string TooMuchMemory(std::string_view name, std::uint64_t needed, std::size_t limit) {
  constexpr std::uint64_t kMiB = std::uint64_t{1} << 20;
  const std::string amount = needed > 0 ? fmt::format("{} MiB", needed / kMiB + (needed % kMiB > 0 ? 1 : 0)) : "memory";
  return fmt::format("unpacking its {} data needs {}, more than {} (--max-memory); it was not read", name, amount,
                     WholeSize(limit));
}

}  // namespace whyoom
