#include "input/stop.h"

#include <utility>

namespace whyoom {
namespace {

// Enough for the lines of a few blocks; with it a run still ends within a second.
constexpr std::chrono::milliseconds kGrace{250};

}  // namespace

class Stop::Source : public ByteSource {
 public:
  Source(const Stop& stop, std::unique_ptr<ByteSource> source) : stop_(stop), source_(std::move(source)) {}

  std::size_t Read(char* buffer, std::size_t capacity) override {
    return stop_.IsAsked() ? 0 : source_->Read(buffer, capacity);
  }
  std::string_view problem() const override { return source_->problem(); }

 private:
  const Stop& stop_;
  const std::unique_ptr<ByteSource> source_;
};

bool Stop::IsOverdue() const {
  if (!IsAsked()) return false;
  const auto now = std::chrono::steady_clock::now();
  if (!asked_at_) asked_at_ = now;
  return now - *asked_at_ >= kGrace;
}

std::string Stop::Why() const {
  return quota_ && !IsSignalled() && quota_->TimeIsUp() ? TimeIsUpText(quota_->limits()) : "interrupted";
}

std::unique_ptr<ByteSource> Stop::Open(const std::string& path) const {
  return std::make_unique<Source>(*this, OpenFile(path));
}

}  // namespace whyoom
