#include "cli/batch.h"

#include <algorithm>
#include <condition_variable>
#include <deque>
#include <exception>
#include <iterator>
#include <mutex>
#include <thread>
#include <utility>

namespace whyoom {
namespace {

// Inputs that wait; each is a path, so that millions of them are not held.
constexpr std::size_t kMostWaiting = 4096;
// Inputs taken at once: small files are read in less time than two threads need to hand one over.
constexpr std::size_t kMostTaken = 32;

}  // namespace

struct Batch::Queue {
  std::mutex mutex;
  std::condition_variable not_empty;
  std::condition_variable not_full;
  std::deque<Artifact> waiting;
  bool closed = false;
  std::size_t busy = 0;  // threads that read
  std::exception_ptr error;
  Readings readings;  // of the threads that are done
  std::vector<std::thread> threads;

  void Close(bool drop) {
    {
      const std::lock_guard lock(mutex);
      closed = true;
      if (drop) waiting.clear();
    }
    not_empty.notify_all();
    not_full.notify_all();
    for (std::thread& thread : threads) thread.join();
    threads.clear();
  }
};

Batch::Batch(std::size_t jobs, Reader reader)
    : jobs_(std::max<std::size_t>(jobs, 1)),
      read_(std::move(reader)),
      queue_(jobs_ > 1 ? std::make_unique<Queue>() : nullptr) {}

Batch::~Batch() {
  if (queue_ != nullptr) queue_->Close(true);
}

void Batch::Add(Artifact input) {
  if (queue_ == nullptr) {
    readings_.Join(read_(input, 0));
    return;
  }
  Queue& queue = *queue_;
  std::unique_lock lock(queue.mutex);
  queue.not_full.wait(lock, [&] { return queue.waiting.size() < kMostWaiting || queue.error; });
  if (queue.error) std::rethrow_exception(queue.error);
  queue.waiting.push_back(std::move(input));
  const std::size_t idle = queue.threads.size() - queue.busy;
  if (queue.threads.size() < jobs_ && idle < queue.waiting.size()) queue.threads.emplace_back([this] { Work(); });
  lock.unlock();
  queue.not_empty.notify_one();
}

void Batch::Work() {
  Queue& queue = *queue_;
  Readings mine;
  std::vector<Artifact> inputs;
  std::unique_lock lock(queue.mutex);
  try {
    while (true) {
      queue.not_empty.wait(lock, [&] { return queue.closed || !queue.waiting.empty(); });
      if (queue.waiting.empty() || queue.error) break;
      // Not more than a fair share, or the last thread would read long after the others.
      const std::size_t share = std::clamp<std::size_t>(queue.waiting.size() / (2 * jobs_), 1, kMostTaken);
      inputs.assign(std::make_move_iterator(queue.waiting.begin()),
                    std::make_move_iterator(queue.waiting.begin() + static_cast<std::ptrdiff_t>(share)));
      queue.waiting.erase(queue.waiting.begin(), queue.waiting.begin() + static_cast<std::ptrdiff_t>(share));
      ++queue.busy;
      // A thread that waits for hits of a large file leaves its place to one that searches the blocks.
      const std::size_t idle = jobs_ - std::min(jobs_, queue.busy + queue.waiting.size());
      const std::size_t searchers = idle == 0 ? 0 : idle + 1;
      lock.unlock();
      queue.not_full.notify_one();
      for (const Artifact& input : inputs) mine.Join(read_(input, searchers));
      lock.lock();
      --queue.busy;
    }
    queue.readings.Join(std::move(mine));
  } catch (...) {
    if (!lock.owns_lock()) lock.lock();
    queue.error = std::current_exception();
    queue.waiting.clear();
    queue.not_full.notify_all();
  }
}

Readings Batch::Finish() {
  if (queue_ == nullptr) return std::move(readings_);
  queue_->Close(false);
  if (queue_->error) std::rethrow_exception(queue_->error);
  return std::move(queue_->readings);
}

}  // namespace whyoom
