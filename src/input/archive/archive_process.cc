#include "input/archive/archive_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <csignal>
#include <cstring>
#include <deque>
#include <functional>
#include <future>
#include <mutex>
#include <new>
#include <string_view>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#include "input/archive/archive_reader.h"
#include "input/archive/archive_server.h"
#include "input/descriptor.h"

namespace whyoom {
namespace {

using archive_channel::Message;
using archive_channel::Received;
using archive_channel::Shared;

// What an archive has left behind in a process, by its faults or on purpose, is gone after so many.
constexpr int kMostServed = 1000;
// An idle one holds some megabytes.
constexpr std::size_t kMostIdle = 16;

struct Idle {
  std::mutex mutex;
  std::vector<std::unique_ptr<ArchiveProcess>> processes;
};

Idle& TheIdle() {
  static Idle idle;
  return idle;
}

#if defined(__linux__)
// Above those that the process finds open, so that none is overwritten before it is put in its place.
int OutOfTheWay(int descriptor) {
  const int copy = descriptor < 0 ? -1 : fcntl(descriptor, F_DUPFD_CLOEXEC, archive_channel::kMemory + 1);
  const int error = errno;
  if (descriptor >= 0) close(descriptor);
  errno = error;
  return copy;
}

// That cannot be made smaller under those who look at it.
int MakeMemory() {
  const int memory = memfd_create("whyoom archive", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (memory < 0) return -1;
  if (ftruncate(memory, sizeof(Shared)) == 0 && fcntl(memory, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0)
    return memory;
  const int error = errno;
  close(memory);
  errno = error;
  return -1;
}

// What the loader needs where libraries lie in other places, and what sanitizers are told; no credentials.
std::vector<char*> BareEnvironment() {
  std::vector<char*> kept;
  for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
    const std::string_view text(*entry);
    const std::string_view name = text.substr(0, text.find('='));
    if (name == "LD_LIBRARY_PATH" || name.ends_with("SAN_OPTIONS") || name.starts_with("QEMU_")) kept.push_back(*entry);
  }
  kept.push_back(nullptr);
  return kept;
}

// Does what it is given in a thread that lives as long as this process. Linux ends a process that is to end with its
// parent when the thread ends that started it, and those that read inputs come and go.
class Starter {
 public:
  static Starter& The() {
    static auto* const one = new Starter;  // never destroyed, since its thread is not
    return *one;
  }

  // Throws std::system_error where there can be no thread.
  void Do(std::function<void()> work) {
    std::packaged_task<void()> task(std::move(work));
    std::future<void> done = task.get_future();
    {
      const std::lock_guard<std::mutex> lock(mutex_);
      if (!running_) std::thread([this] { Run(); }).detach();
      running_ = true;
      tasks_.push_back(std::move(task));
    }
    changed_.notify_one();
    done.get();
  }

 private:
  [[noreturn]] void Run() {
    while (true) {
      std::unique_lock<std::mutex> lock(mutex_);
      changed_.wait(lock, [this] { return !tasks_.empty(); });
      std::packaged_task<void()> task = std::move(tasks_.front());
      tasks_.pop_front();
      lock.unlock();
      task();
    }
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::packaged_task<void()>> tasks_;
  bool running_ = false;
};

int Spawn(int socket, int memory, std::string limit, pid_t* pid) {
  posix_spawn_file_actions_t files;
  if (const int error = posix_spawn_file_actions_init(&files)) return error;
  posix_spawnattr_t how;
  if (const int error = posix_spawnattr_init(&how)) {
    posix_spawn_file_actions_destroy(&files);
    return error;
  }
  sigset_t none;
  sigemptyset(&none);
  std::string name = kArchiveServerName;
  char* const arguments[] = {name.data(), limit.data(), nullptr};
  std::vector<char*> environment = BareEnvironment();
  int error = posix_spawnattr_setsigmask(&how, &none);
  if (error == 0) error = posix_spawnattr_setflags(&how, POSIX_SPAWN_SETSIGMASK);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&files, socket, archive_channel::kSocket);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&files, memory, archive_channel::kMemory);
  if (error == 0) error = posix_spawn(pid, "/proc/self/exe", &files, &how, arguments, environment.data());
  posix_spawnattr_destroy(&how);
  posix_spawn_file_actions_destroy(&files);
  return error;
}

bool IsReady(int socket) {
  constexpr int kStartMilliseconds = 30'000;  // for a loader that does not come to an end
  Message message;
  return Receive(socket, kStartMilliseconds, &message) == Received::kMessage && message.kind == Message::Kind::kReady;
}

std::unique_ptr<ArchiveProcess> Start(std::size_t limit, std::string* why_not) {
  const auto fail = [&](const char* why) {
    *why_not =
        fmt::format("no process that reads archives can be started ({}); --no-sandbox reads them in this one", why);
    return nullptr;
  };
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail(std::strerror(errno));
  const Descriptor other(OutOfTheWay(ends[1]));
  const int error_of_other = errno;
  // Nor may it stand where somebody closed the standard output.
  Descriptor own(OutOfTheWay(ends[0]));
  if (other.get() < 0 || own.get() < 0) return fail(std::strerror(other.get() < 0 ? error_of_other : errno));
  const Descriptor memory(OutOfTheWay(MakeMemory()));
  if (memory.get() < 0) return fail(std::strerror(errno));
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return fail(std::strerror(errno));
  pid_t pid = -1;
  int error = 0;
  try {
    Starter::The().Do([&] { error = Spawn(other.get(), memory.get(), std::to_string(limit), &pid); });
  } catch (const std::system_error& no_thread) {
    error = no_thread.code().value();
  }
  auto process = std::make_unique<ArchiveProcess>(error == 0 ? pid : -1, own.Release(), new (mapped) Shared, limit);
  if (error != 0) return fail(std::strerror(error));
  if (!IsReady(process->socket())) return fail("it ended before it was ready");
  return process;
}
#else
std::unique_ptr<ArchiveProcess> Start(std::size_t, std::string* why_not) {
  *why_not = "archives cannot be read by a process of their own here; --no-sandbox reads them in this one";
  return nullptr;
}
#endif

}  // namespace

std::unique_ptr<ArchiveProcess> ArchiveProcess::Get(std::size_t memory, std::string* why_not) {
  Idle& idle = TheIdle();
  {
    const std::lock_guard<std::mutex> lock(idle.mutex);
    for (auto one = idle.processes.begin(); one != idle.processes.end(); ++one) {
      if ((*one)->memory_ != memory) continue;
      std::unique_ptr<ArchiveProcess> process = std::move(*one);
      idle.processes.erase(one);
      Message none;
      if (Receive(process->socket_, 0, &none) != Received::kNothingYet) break;  // somebody ended it meanwhile
      ++process->served_;
      return process;
    }
  }
  return Start(memory, why_not);
}

void ArchiveProcess::PutBack(std::unique_ptr<ArchiveProcess> process) {
  if (process->served_ >= kMostServed) return;
  process->shared_->unwanted = 0;
  Idle& idle = TheIdle();
  const std::lock_guard<std::mutex> lock(idle.mutex);
  if (idle.processes.size() < kMostIdle) idle.processes.push_back(std::move(process));
}

void ArchiveProcess::End() {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  if (pid_ > 0) {
    kill(pid_, SIGKILL);  // what has ended by itself keeps its own status
    pid_t ended = -1;
    do ended = waitpid(pid_, &status_, 0);
    while (ended < 0 && errno == EINTR);
    status_known_ = ended == pid_;
    pid_ = -1;
  }
}

ArchiveProcess::~ArchiveProcess() {
  End();
  if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
}

std::string ArchiveProcess::WhyGone(Packing packing, bool* may_differ) {
  End();
  const std::string_view name = NameOf(packing);
  const bool met_a_limit = status_known_ && WIFEXITED(status_) && WEXITSTATUS(status_) == kNoMemoryStatus;
  *may_differ = !met_a_limit;
  if (!status_known_)
    return fmt::format("the process that unpacks its {} data ended early; what follows was not read", name);
  if (WIFEXITED(status_) && WEXITSTATUS(status_) == kNoMemoryStatus) return NeedsMore(packing, memory_);
  const std::string how = WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                                               : fmt::format("status {}", WEXITSTATUS(status_));
  return fmt::format("the process that unpacks its {} data ended early ({}); what follows was not read", name, how);
}

}  // namespace whyoom
