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

namespace {

std::string TooManyBytesText(const Limits& limits) {
  return fmt::format("stopped after {} unpacked (--max-bytes); the rest was not read", WholeSize(limits.bytes));
}

std::string SuspiciousText(const Limits& limits) {
  return fmt::format(
      "stopped: unpacking and searching it takes more than {} times the work expected for its packed size "
      "(--max-bytes lifts this limit); the rest was not read",
      limits.suspicious_ratio);
}

}  // namespace

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
    if (quota_.IsStopped()) return 0;
    if (quota_.TimeIsUp()) return Stop(TooLongText(quota_.limits_));
    const std::uint64_t given = given_;
    const std::uint64_t left = limited_ ? LeftAfter(given) : capacity;
    if (left == 0) {
      // An input that ends exactly at the limit has not exceeded it.
      char next;
      if (source_->Read(&next, 1) == 0) return 0;
      return Stop(given >= quota_.limits_.bytes ? TooManyBytesText(quota_.limits_) : SuspiciousText(quota_.limits_));
    }
    const std::size_t got = source_->Read(buffer, static_cast<std::size_t>(std::min<std::uint64_t>(capacity, left)));
    given_ += got;
    return got;
  }

  std::string_view problem() const override { return problem_.empty() ? source_->problem() : problem_; }
  void AddWork(std::uint64_t bytes) override {
    looked_at_ = true;
    quota_.looked_at_ += bytes;
  }
  std::uint64_t RawOffset(std::uint64_t offset) const override { return source_->RawOffset(offset); }
  std::optional<std::uint64_t> Size() const override { return source_->Size(); }
  bool SeekTo(std::uint64_t offset) override { return source_->SeekTo(offset); }

 private:
  // Checks the ratio only at fixed offsets, because the read-ahead of other sources must not decide where an input
  // ends.
  std::uint64_t LeftAfter(std::uint64_t given) const {
    const std::uint64_t left = quota_.limits_.bytes - std::min(given, quota_.limits_.bytes);
    if (quota_.limits_.suspicious_ratio == 0 || allowed_ == 0) return left;
    if (given > 0 && given % step_ == 0 && IsSuspicious(given)) return 0;
    return std::min(left, step_ - given % step_);
  }

  // Work on lines counts only if this source's own lines were examined; otherwise it would depend on timing.
  bool IsSuspicious(std::uint64_t given) const {
    const std::uint64_t work = given * cost_ + (looked_at_ ? quota_.looked_at_.load() : 0);
    return work >= allowed_ && work / quota_.limits_.suspicious_ratio > quota_.given_[0];
  }

  std::size_t Stop(std::string why) {
    problem_ = std::move(why);
    return 0;
  }

  Quota& quota_;
  std::unique_ptr<ByteSource> source_;
  std::atomic<std::uint64_t>& given_;
  const bool limited_;
  const std::uint64_t cost_;
  const std::uint64_t allowed_;  // this much work is never suspicious
  const std::uint64_t step_;     // distance between checks of the ratio
  bool looked_at_ = false;
  std::string problem_;
};

Quota::Quota(const Limits& limits, const ReadControl* control)
    : limits_(limits), control_(control), given_(static_cast<std::size_t>(std::max(limits.depth, 0)) + 1) {}

bool Quota::EndsInput(std::string_view problem) const {
  return !problem.empty() && (problem == TooManyBytesText(limits_) || problem == SuspiciousText(limits_) ||
                              problem == TooLongText(limits_));
}

bool Quota::IsTimeLimit(std::string_view problem) const { return !problem.empty() && problem == TooLongText(limits_); }

std::unique_ptr<ByteSource> Quota::Limit(std::unique_ptr<ByteSource> source, int depth, std::uint64_t cost) {
  return std::make_unique<LimitedSource>(*this, std::move(source), depth, cost);
}

bool Quota::TimeIsUp() const {
  if (limits_.seconds <= 0) return false;
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count() >= limits_.seconds;
}

}  // namespace whyoom
