#include <fmt/format.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "input/archive/worker.h"

namespace whyoom {
namespace {

using worker::Kind;
using worker::Message;
using worker::Received;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kLongestProblem = 1000;

// Linux kills a worker when the thread that started it ends, so each thread has its own. They are reused because
// starting one takes milliseconds.
std::vector<std::unique_ptr<WorkerProcess>>& IdleWorkers() {
  thread_local std::vector<std::unique_ptr<WorkerProcess>> idle;
  return idle;
}

#if defined(__linux__)
// Keeps the variables that the loader, sanitizers and emulators need. None of them contains credentials.
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

// Returns an errno value, or 0. `socket` is not a standard stream, because ReserveStandardStreams occupies those.
int Spawn(int socket, std::string limit, pid_t* pid) {
  posix_spawn_file_actions_t files;
  if (const int error = posix_spawn_file_actions_init(&files)) return error;
  std::string name = worker::kName;
  char* const arguments[] = {name.data(), limit.data(), nullptr};
  int error = posix_spawn_file_actions_adddup2(&files, socket, worker::kSocket);
  if (error == 0) error = posix_spawn(pid, "/proc/self/exe", &files, nullptr, arguments, BareEnvironment().data());
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::unique_ptr<WorkerProcess> Start(std::size_t limit, std::string* why_not) {
  constexpr int kStartMilliseconds = 30'000;
  const auto fail = [&](const char* why) {
    *why_not = fmt::format("cannot start the process that unpacks it ({}); --no-sandbox unpacks in-process", why);
    return nullptr;
  };
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail(std::strerror(errno));
  Descriptor own(ends[0]);
  Descriptor other(ends[1]);
  pid_t pid = -1;
  if (const int error = Spawn(other.get(), std::to_string(limit), &pid)) return fail(std::strerror(error));
  auto process = std::make_unique<WorkerProcess>(pid, std::move(own), limit);
  other.Close();  // so that the end of the worker's socket is detected
  Message ready;
  if (process->channel().Receive(kStartMilliseconds, &ready) != Received::kMessage)
    return fail("it ended before it was ready");
  return process;
}
#else
std::unique_ptr<WorkerProcess> Start(std::size_t, std::string* why_not) {
  *why_not = "sandboxed unpacking is not supported on this system; --no-sandbox unpacks in-process";
  return nullptr;
}
#endif

}  // namespace

std::unique_ptr<WorkerProcess> WorkerProcess::Get(std::size_t memory, std::string* why_not) {
  auto& idle = IdleWorkers();
  const auto found = std::find_if(idle.begin(), idle.end(), [&](const auto& one) { return one->memory_ == memory; });
  if (found == idle.end()) return Start(memory, why_not);
  std::unique_ptr<WorkerProcess> process = std::move(*found);
  idle.erase(found);
  Message none;
  if (process->channel_.Receive(0, &none) != Received::kNothing) return Start(memory, why_not);  // it was killed
  return process;
}

void WorkerProcess::PutBack(std::unique_ptr<WorkerProcess> process) {
  constexpr int kMostServed = 1000;  // bounds the effects of faults in libarchive, such as leaks
  constexpr std::size_t kMostIdle = 16;
  if (++process->served_ < kMostServed && IdleWorkers().size() < kMostIdle) IdleWorkers().push_back(std::move(process));
}

// Returns the exit status, if it is known.
std::optional<int> WorkerProcess::End() {
  channel_.Close();
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return std::nullopt;
  kill(pid, SIGKILL);  // a process that has exited keeps its status
  int status = 0;
  pid_t ended = -1;
  do ended = waitpid(pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == pid ? std::optional<int>(status) : std::nullopt;
}

std::string WorkerProcess::ExitProblem(Packing packing, bool* may_differ) {
  const std::optional<int> status = End();
  const bool no_memory = status && WIFEXITED(*status) && WEXITSTATUS(*status) == worker::kNoMemoryStatus;
  *may_differ = !no_memory;
  if (no_memory) return NeedsMore(packing, memory_);
  const std::string how = !status                ? ""
                          : WIFSIGNALED(*status) ? fmt::format(" (signal {})", WTERMSIG(*status))
                                                 : fmt::format(" (status {})", WEXITSTATUS(*status));
  return fmt::format("the process that unpacks its {} data ended early{}; the rest was not read", NameOf(packing), how);
}

SandboxedReader::SandboxedReader(std::unique_ptr<WorkerProcess> process, ByteSource& source, Packing packing,
                                 const Stop& stop, std::chrono::milliseconds patience)
    : process_(std::move(process)), source_(source), packing_(packing), stop_(stop), patience_(patience) {
  const char kind = static_cast<char>(packing);
  if (!process_->channel().Send(Kind::kBegin, {&kind, 1}) || !SendInput()) FailWorker();
}

// Ends the worker. Reports `problem` for the current member or, between members, for the archive.
void SandboxedReader::End(std::string problem) {
  process_.reset();
  (std::exchange(in_member_, false) ? member_problem_ : archive_problem_) = std::move(problem);
}

// Call if the worker died or sent an invalid message. Returns false.
bool SandboxedReader::FailWorker() {
  End(process_->ExitProblem(packing_, &may_differ_));
  return false;
}

// Returns false if the worker does not read, or requests more than the source has.
bool SandboxedReader::SendInput() {
  if (source_ended_) return false;
  char bytes[worker::Channel::kMostBytes / 2];  // two of them must fit the socket
  const std::size_t got = source_.Read(bytes, sizeof(bytes));
  source_ended_ = got == 0;
  return process_->channel().Send(Kind::kInput, {bytes, got});
}

// Waits for the next message about members, and sends input meanwhile. Returns false after a stop and after a failure
// of the worker.
bool SandboxedReader::Receive() {
  constexpr int kPollMilliseconds = 100;  // maximum delay of an interrupt
  SteadyClock::duration waited{};         // for the worker, not for a slow source
  while (process_) {
    // Checked before each message, because a compromised worker may send messages forever.
    if (stop_.IsRequested()) {
      End(stop_.Problem());
    } else if (waited > patience_) {
      may_differ_ = true;
      End(fmt::format("unpacking its {} data stopped because one step takes more than {} s; the rest was not read",
                      NameOf(packing_), std::chrono::duration<double>(patience_).count()));
    } else {
      const auto begin = SteadyClock::now();
      const Received received = process_->channel().Receive(kPollMilliseconds, &message_);
      waited += SteadyClock::now() - begin;
      if (received == Received::kClosed) return FailWorker();
      if (received == Received::kNothing) continue;
      if (message_.kind != Kind::kNeed) return true;
      if (!SendInput()) return FailWorker();
      waited = {};
    }
  }
  return false;
}

bool SandboxedReader::Next(std::string* name) {
  for (bool skips = std::exchange(in_member_, false); skips && Receive();) skips = message_.kind != Kind::kMemberEnd;
  member_problem_.clear();
  if (!Receive()) return false;
  if (message_.kind == Kind::kMember) {
    *name = message_.bytes.substr(0, kLongestMemberName);
    return in_member_ = true;
  }
  if (message_.kind != Kind::kEnd) return FailWorker();
  archive_problem_ = message_.bytes.substr(0, kLongestProblem);
  WorkerProcess::PutBack(std::move(process_));
  return false;
}

std::size_t SandboxedReader::Read(char* buffer, std::size_t capacity) {
  while (in_member_ && (message_.kind != Kind::kData || message_.bytes.empty())) {
    if (!Receive()) return 0;
    if (message_.kind == Kind::kMemberEnd) {
      member_problem_ = message_.bytes.substr(0, kLongestProblem);
      in_member_ = false;
    } else if (message_.kind != Kind::kData) {
      FailWorker();
    }
  }
  if (!in_member_) return 0;
  const std::size_t count = message_.bytes.copy(buffer, capacity);
  message_.bytes.remove_prefix(count);
  return count;
}

}  // namespace whyoom
