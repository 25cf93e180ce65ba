#include "input/read_ahead.h"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <string>
#include <system_error>
#include <thread>
#include <utility>

namespace whyoom {
namespace {

constexpr std::size_t kBlocks = 4;
constexpr std::size_t kReadBytes = std::size_t{1} << 18;

class ReadAheadSource : public ByteSource {
 public:
  ReadAheadSource(std::unique_ptr<ByteSource> source, std::size_t after) : source_(std::move(source)), after_(after) {}

  ~ReadAheadSource() override {
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      abandoned_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
  }
  ReadAheadSource(const ReadAheadSource&) = delete;
  ReadAheadSource& operator=(const ReadAheadSource&) = delete;

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (!thread_.joinable() && passed_ >= after_) Start();
    if (thread_.joinable()) return Take(buffer, capacity);
    const std::size_t got = source_->Read(buffer, capacity);
    passed_ += got;
    return got;
  }

  std::string_view problem() const override {
    if (!thread_.joinable()) return source_->problem();
    return ended_ ? std::string_view(problem_) : std::string_view();
  }

 private:
  struct Block {
    std::unique_ptr<char[]> bytes = std::make_unique_for_overwrite<char[]>(kReadBytes);
    std::size_t size = 0;
  };

  void Start() {
    try {
      blocks_ = std::make_unique<std::array<Block, kBlocks>>();
      thread_ = std::thread([this] { Work(); });
    } catch (const std::system_error&) {
      after_ = static_cast<std::size_t>(-1);  // where no thread is to be had, this one does all
    }
  }

  // On the thread: fills blocks until the end; an empty block is the end.
  void Work() {
    for (std::size_t at = 0;; at = (at + 1) % kBlocks) {
      {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [this] { return filled_ < kBlocks || abandoned_; });
        if (abandoned_) return;
      }
      Block& block = (*blocks_)[at];
      try {
        block.size = source_->Read(block.bytes.get(), kReadBytes);
      } catch (...) {
        failure_ = std::current_exception();
        block.size = 0;
      }
      const bool end = block.size == 0;
      if (end) problem_ = source_->problem();
      {
        const std::lock_guard<std::mutex> lock(mutex_);
        ++filled_;
      }
      changed_.notify_all();
      if (end) return;
    }
  }

  std::size_t Take(char* buffer, std::size_t capacity) {
    if (ended_ || capacity == 0) return 0;
    {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return filled_ > 0; });
    }
    const Block& block = (*blocks_)[front_];
    if (block.size == 0) {
      ended_ = true;
      if (failure_) std::rethrow_exception(failure_);
      return 0;
    }
    const std::size_t count = std::min(capacity, block.size - taken_);
    std::memcpy(buffer, block.bytes.get() + taken_, count);
    taken_ += count;
    if (taken_ == block.size) Release();
    return count;
  }

  void Release() {
    taken_ = 0;
    front_ = (front_ + 1) % kBlocks;
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      --filled_;
    }
    changed_.notify_all();
  }

  // The thread's alone while it runs; what it leaves there is taken after the block that it left last.
  std::unique_ptr<ByteSource> source_;
  std::string problem_;
  std::exception_ptr failure_;

  std::unique_ptr<std::array<Block, kBlocks>> blocks_;
  std::size_t after_;
  std::size_t passed_ = 0;
  std::size_t front_ = 0;  // the block at hand
  std::size_t taken_ = 0;  // of it
  bool ended_ = false;

  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t filled_ = 0;
  bool abandoned_ = false;
  std::thread thread_;
};

}  // namespace

std::unique_ptr<ByteSource> ReadAhead(std::unique_ptr<ByteSource> source, std::size_t after) {
  return std::make_unique<ReadAheadSource>(std::move(source), after);
}

}  // namespace whyoom
