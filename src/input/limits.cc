#include "input/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <utility>

namespace whyoom {
namespace {

constexpr int kUsualDepth = 2;
constexpr std::uint64_t kDeeperIsLess = 16;
constexpr std::uint64_t kLooks = 32;  // the ratio is checked this many times per Limits::suspicious_bytes

}  // namespace

std::string TimeIsUpText(const Limits& limits) {
  return fmt::format("stopped after {} s (--max-time)", limits.seconds);
}

std::string TooLongText(const Limits& limits) { return TimeIsUpText(limits) + "; the rest was not read"; }

std::string WholeSize(std::uint64_t bytes) {
  constexpr std::array<const char*, 7> kUnits = {"bytes", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  std::size_t unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit + 1 < kUnits.size()) {
    bytes /= 1024;
    ++unit;
  }
  return fmt::format("{} {}", bytes, kUnits[unit]);
}

class Quota::LimitedSource : public ByteSource {
 public:
  LimitedSource(Quota& quota, std::unique_ptr<ByteSource> source, int depth, std::uint64_t cost)
      : quota_(quota),
        source_(std::move(source)),
        given_(quota.given_.at(static_cast<std::size_t>(depth))),
        limited_(depth > 0),
        cost_(cost),
        allowed_(depth > kUsualDepth ? quota.limits_.suspicious_bytes / kDeeperIsLess : quota.limits_.suspicious_bytes),
        step_(std::max<std::uint64_t>(allowed_ / kLooks, 1)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (!problem_.empty() || capacity == 0) return 0;
    if (const std::optional<std::string> why = quota_.WhyStop()) {
      problem_ = *why;
      return 0;
    }
    const std::uint64_t left = limited_ ? Left() : capacity;
    if (left == 0) {
      // An input that ends exactly at the limit has not exceeded it.
      char next;
      if (source_->Read(&next, 1) > 0) problem_ = quota_.reached_ = LimitText();
      return 0;
    }
    const std::size_t got = source_->Read(buffer, static_cast<std::size_t>(std::min<std::uint64_t>(capacity, left)));
    given_ += got;
    return got;
  }

  std::string_view problem() const override { return problem_.empty() ? source_->problem() : problem_; }
  void AddWork(std::uint64_t bytes) override { quota_.looked_at_ += bytes; }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_->RawOffset(offset); }
  bool SeekTo(std::uint64_t offset) override { return source_->SeekTo(offset); }
  int RegularFile() const override {
    return limited_ || quota_.limits_.seconds > 0 ? -1 : source_->RegularFile();  // reading past Read avoids the limits
  }

 private:
  // Checks the ratio only at fixed offsets, so that the sizes of reads do not decide where an input ends.
  std::uint64_t Left() const {
    const std::uint64_t left = quota_.limits_.bytes - std::min(given_, quota_.limits_.bytes);
    if (quota_.limits_.suspicious_ratio == 0 || allowed_ == 0) return left;
    if (given_ > 0 && given_ % step_ == 0 && IsSuspicious()) return 0;
    return std::min(left, step_ - given_ % step_);
  }

  bool IsSuspicious() const {
    const std::uint64_t work = given_ * cost_ + quota_.looked_at_;
    return work >= allowed_ && work / quota_.limits_.suspicious_ratio > quota_.given_[0];
  }

  std::string LimitText() const {
    const Limits& limits = quota_.limits_;
    if (given_ >= limits.bytes)
      return fmt::format("stopped after {} unpacked (--max-bytes); the rest was not read", WholeSize(limits.bytes));
    return fmt::format(
        "stopped: unpacking and searching it takes more than {} times the work expected for its packed size "
        "(--max-bytes lifts this limit); the rest was not read",
        limits.suspicious_ratio);
  }

  Quota& quota_;
  const std::unique_ptr<ByteSource> source_;
  std::uint64_t& given_;
  const bool limited_;
  const std::uint64_t cost_;
  const std::uint64_t allowed_;  // this much work is never suspicious
  const std::uint64_t step_;     // distance between checks of the ratio
  std::string problem_;
};

Quota::Quota(const Limits& limits, const ReadControl* control)
    : limits_(limits), control_(control), given_(static_cast<std::size_t>(std::max(limits.depth, 0)) + 1) {}

bool Quota::TimeIsUp() const {
  if (limits_.seconds <= 0) return false;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= limits_.seconds;
}

std::optional<std::string> Quota::WhyStop() const {
  if (control_ != nullptr && control_->stopped()) return "";
  if (TimeIsUp()) return TooLongText(limits_);
  return std::nullopt;
}

bool Quota::EndsInput(std::string_view problem) const {
  return !problem.empty() && (problem == reached_ || problem == TooLongText(limits_));
}

std::unique_ptr<ByteSource> Quota::Limit(std::unique_ptr<ByteSource> source, int depth, std::uint64_t cost) {
  return std::make_unique<LimitedSource>(*this, std::move(source), depth, cost);
}

}  // namespace whyoom
