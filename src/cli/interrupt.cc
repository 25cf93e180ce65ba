#include "cli/interrupt.h"

#include <array>
#include <csignal>
#include <cstdint>
#include <ctime>

namespace whyoom {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// State for the signal handler.
struct {
  std::atomic<std::atomic<bool>*> stop{nullptr};
  std::atomic<int> signal{0};
  std::atomic<std::int64_t> at{0};  // time of the first signal, in milliseconds of the monotonic clock; 0: none yet
} g_interrupt;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<std::atomic<bool>*>::is_always_lock_free && std::atomic<std::int64_t>::is_always_lock_free);

// timeout(1) and others signal a process and, right after, its group: count both as one request.
constexpr std::int64_t kOneRequest = 300;  // milliseconds

std::int64_t Now() {
  struct timespec now {};
  clock_gettime(CLOCK_MONOTONIC, &now);  // async-signal-safe
  return std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1000000;
}

std::array<struct sigaction, kSignals.size()> g_before;

void RestoreHandlers() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
}

void OnSignal(int signal) {
  const std::int64_t now = Now();
  std::int64_t first = 0;
  // Two threads may receive the two signals of one request at once: only an atomic exchange distinguishes them.
  if (g_interrupt.at.compare_exchange_strong(first, now)) {
    g_interrupt.signal = signal;
    if (std::atomic<bool>* stop = g_interrupt.stop) *stop = true;
    return;
  }
  if (now - first < kOneRequest) return;
  // A second request ends the process immediately.
  RestoreHandlers();
  raise(signal);  // delivered when this function returns
}

}  // namespace

Interrupt::Interrupt(std::atomic<bool>* stop) {
  g_interrupt.signal = 0;
  g_interrupt.at = 0;
  g_interrupt.stop = stop;
  struct sigaction ours {};
  ours.sa_handler = OnSignal;
  ours.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaddset(&ours.sa_mask, signal);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    sigaction(kSignals[i], nullptr, &g_before[i]);
    if (g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &ours, nullptr);
  }
}

Interrupt::~Interrupt() {
  RestoreHandlers();
  g_interrupt.stop = nullptr;
}

int Interrupt::signal() const { return g_interrupt.signal; }

}  // namespace whyoom
