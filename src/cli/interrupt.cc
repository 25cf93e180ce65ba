#include "cli/interrupt.h"

#include <array>
#include <csignal>

namespace whyoom {
namespace {

constexpr std::array kSignals = {SIGINT, SIGTERM, SIGHUP};

// What the handler needs.
struct {
  std::atomic<std::atomic<bool>*> stop{nullptr};
  std::atomic<int> signal{0};
} g_interrupt;
static_assert(std::atomic<bool>::is_always_lock_free && std::atomic<int>::is_always_lock_free &&
              std::atomic<std::atomic<bool>*>::is_always_lock_free);

std::array<struct sigaction, kSignals.size()> g_before;

void OnSignal(int signal) {
  int none = 0;
  g_interrupt.signal.compare_exchange_strong(none, signal);
  if (std::atomic<bool>* stop = g_interrupt.stop) *stop = true;
  // Whoever asks a second time, by whatever signal, does not want to wait.
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
}

}  // namespace

Interrupt::Interrupt(std::atomic<bool>* stop) {
  g_interrupt.signal = 0;
  g_interrupt.stop = stop;
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &g_before[i]);
  struct sigaction ours {};
  ours.sa_handler = OnSignal;
  ours.sa_flags = SA_RESTART;
  for (const int signal : kSignals) sigaddset(&ours.sa_mask, signal);
  for (std::size_t i = 0; i < kSignals.size(); ++i) {
    if (g_before[i].sa_handler != SIG_IGN) sigaction(kSignals[i], &ours, nullptr);
  }
}

Interrupt::~Interrupt() {
  for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &g_before[i], nullptr);
  g_interrupt.stop = nullptr;
}

int Interrupt::signal() const { return g_interrupt.signal; }

}  // namespace whyoom
