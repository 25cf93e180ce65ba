#include "input/archive/sandboxed_reader.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "input/byte_source.h"

namespace whyoom {
namespace {

using worker::kBlockBytes;
using worker::kControl;
using worker::kInputs;
using worker::Message;
using worker::Received;
using worker::Record;
using worker::Send;
using worker::Shared;
using SteadyClock = std::chrono::steady_clock;

constexpr std::size_t kLongestProblem = 1000;

// Linux kills a worker when the thread that started it ends, so each thread has its own. They are reused because
// starting one takes milliseconds.
std::vector<std::unique_ptr<WorkerProcess>>& IdleWorkers() {
  thread_local std::vector<std::unique_ptr<WorkerProcess>> idle;
  return idle;
}

#if defined(__linux__)
// Sealed, because a worker that truncates the memory would crash this process.
int OpenSharedMemory() {
  Descriptor memory(memfd_create("whyoom archive", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  if (!memory.is_open() || ftruncate(memory.get(), sizeof(Shared)) != 0) return -1;
  return fcntl(memory.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) == 0 ? memory.Release() : -1;
}

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

// Returns an errno value, or 0. `socket` and `memory` are not standard streams, because ReserveStandardStreams occupies
// those.
int Spawn(int socket, int memory, std::string limit, pid_t* pid) {
  posix_spawn_file_actions_t files;
  if (const int error = posix_spawn_file_actions_init(&files)) return error;
  std::string name = worker::kName;
  char* const arguments[] = {name.data(), limit.data(), nullptr};
  int error = posix_spawn_file_actions_adddup2(&files, socket, worker::kSocket);
  if (error == 0) error = posix_spawn_file_actions_adddup2(&files, memory, worker::kMemory);
  if (error == 0) error = posix_spawn(pid, "/proc/self/exe", &files, nullptr, arguments, BareEnvironment().data());
  posix_spawn_file_actions_destroy(&files);
  return error;
}

std::unique_ptr<WorkerProcess> Start(std::size_t limit, std::string* why_not) {
  constexpr int kStartMilliseconds = 30'000;
  const auto fail = [&](const char* why) {
    *why_not =
        fmt::format("cannot start the process that reads archives ({}); --no-sandbox reads them in-process", why);
    return nullptr;
  };
  int ends[2] = {-1, -1};
  if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) != 0) return fail(std::strerror(errno));
  Descriptor own(ends[0]);
  Descriptor other(ends[1]);
  const Descriptor memory(OpenSharedMemory());
  if (!memory.is_open()) return fail(std::strerror(errno));
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, memory.get(), 0);
  if (mapped == MAP_FAILED) return fail(std::strerror(errno));
  pid_t pid = -1;
  const int error = Spawn(other.get(), memory.get(), std::to_string(limit), &pid);
  auto process = std::make_unique<WorkerProcess>(error == 0 ? pid : -1, own.Release(), new (mapped) Shared, limit);
  if (error != 0) return fail(std::strerror(error));
  other.Close();  // so that the end of the worker's socket is detected
  Message ready;
  if (Receive(process->socket(), kStartMilliseconds, &ready) != Received::kMessage)
    return fail("it ended before it was ready");
  return process;
}
#else
std::unique_ptr<WorkerProcess> Start(std::size_t, std::string* why_not) {
  *why_not = "sandboxed reading of archives is not supported on this system; --no-sandbox reads them in-process";
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
  if (Receive(process->socket_, 0, &none) != Received::kNothing) return Start(memory, why_not);  // it was killed
  return process;
}

void WorkerProcess::PutBack(std::unique_ptr<WorkerProcess> process) {
  constexpr int kMostServed = 1000;  // bounds the effects of faults in libarchive, such as leaks
  constexpr std::size_t kMostIdle = 16;
  if (++process->served_ < kMostServed && IdleWorkers().size() < kMostIdle) IdleWorkers().push_back(std::move(process));
}

// Returns the exit status, if it is known.
std::optional<int> WorkerProcess::End() {
  if (socket_ >= 0) close(std::exchange(socket_, -1));
  const pid_t pid = std::exchange(pid_, -1);
  if (pid <= 0) return std::nullopt;
  kill(pid, SIGKILL);  // a process that has exited keeps its status
  int status = 0;
  pid_t ended = -1;
  do ended = waitpid(pid, &status, 0);
  while (ended < 0 && errno == EINTR);
  return ended == pid ? std::optional<int>(status) : std::nullopt;
}

WorkerProcess::~WorkerProcess() {
  End();
  if (shared_ != nullptr) munmap(shared_, sizeof(Shared));
}

std::string WorkerProcess::ExitProblem(Packing packing, bool* may_differ) {
  const std::optional<int> status = End();
  *may_differ = true;
  std::string how;
  if (status && WIFEXITED(*status) && WEXITSTATUS(*status) == worker::kNoMemoryStatus) {
    *may_differ = false;
    return NeedsMore(packing, memory_);
  }
  if (status) {
    how = WIFSIGNALED(*status) ? fmt::format(" (signal {})", WTERMSIG(*status))
                               : fmt::format(" (status {})", WEXITSTATUS(*status));
  }
  return fmt::format("the process that unpacks its {} data ended early{}; the rest was not read", NameOf(packing), how);
}

SandboxedReader::SandboxedReader(std::unique_ptr<WorkerProcess> process, ByteSource& source, Packing packing,
                                 Clock clock)
    : process_(std::move(process)),
      source_(source),
      packing_(packing),
      clock_(std::move(clock)),
      progress_(SteadyClock::now()) {
  process_->shared().unwanted = 0;
  bool sent = Send(process_->socket(), {kControl, static_cast<std::uint32_t>(packing)});
  for (std::uint32_t input = 0; sent && input < kInputs; ++input) sent = FillInput(input);
  if (!sent) FailWorker();
}

// Ends the worker. Reports `problem` for the current member or, between members, for the archive.
void SandboxedReader::End(std::string problem) {
  process_.reset();
  (std::exchange(in_member_, false) ? member_problem_ : problem_) = std::move(problem);
}

// Call if the worker died or sent an invalid message. Returns false.
bool SandboxedReader::FailWorker() {
  End(process_->ExitProblem(packing_, &may_differ_));
  return false;
}

bool SandboxedReader::IsStopped() {
  std::optional<std::string> why = clock_.why_stop();
  if (!why && SteadyClock::now() - progress_ > clock_.patience) {
    may_differ_ = true;
    why = fmt::format("unpacking its {} data stopped because one step takes more than {} s; the rest was not read",
                      NameOf(packing_), std::chrono::duration<double>(clock_.patience).count());
  }
  if (why) End(*std::move(why));
  return why.has_value();
}

bool SandboxedReader::FillInput(std::uint32_t block) {
  const auto begin = SteadyClock::now();
  const std::size_t got = source_.Read(process_->shared().blocks[block].data(), kBlockBytes);
  const auto end = SteadyClock::now();
  progress_ = got > 0 ? end : progress_ + (end - begin);  // do not blame the worker for a slow pipe
  return Send(process_->socket(), {block, static_cast<std::uint32_t>(got)});
}

// Waits for a block of records, and fills input blocks meanwhile.
bool SandboxedReader::NextBlock() {
  constexpr int kPollMilliseconds = 100;  // maximum delay of an interrupt
  if (block_ && !Send(process_->socket(), {*block_, 0})) return FailWorker();
  block_.reset();
  progress_ = SteadyClock::now();
  // Checked before each message, because a compromised worker may send messages forever.
  while (!IsStopped()) {
    Message message;
    const Received received = Receive(process_->socket(), kPollMilliseconds, &message);
    if (received == Received::kNothing) continue;
    if (received == Received::kClosed || message.block >= kControl || message.bytes > kBlockBytes) return FailWorker();
    if (message.block >= kInputs) {
      block_ = message.block;
      held_ = message.bytes;
      used_ = 0;
      return true;
    }
    if (!FillInput(message.block)) return FailWorker();
  }
  return false;
}

// Returns false at the end of the archive, after a stop, and after a failure of the worker.
bool SandboxedReader::NextRecord() {
  if (!process_) return false;
  used_ += std::exchange(left_, 0);
  while (!block_ || used_ == held_) {
    if (!NextBlock()) return false;
  }
  if (held_ - used_ < sizeof(Record)) return FailWorker();
  std::memcpy(&record_, Bytes(), sizeof(Record));
  used_ += sizeof(Record);
  if (record_.bytes > held_ - used_) return FailWorker();
  left_ = record_.bytes;
  return true;
}

std::string SandboxedReader::TakeText(std::size_t count) {
  count = std::min(count, left_);
  std::string text(Bytes(), count);
  used_ += count;
  left_ -= count;
  return text;
}

bool SandboxedReader::Next(ArchiveMember* member) {
  if (in_member_ && process_) process_->shared().unwanted.store(number_, std::memory_order_relaxed);
  in_member_ = false;
  member_problem_.clear();
  left_out_ = 0;
  while (NextRecord()) {
    if (record_.kind == Record::Kind::kMember) {
      ++number_;
      member->name = TakeText(std::min<std::uint64_t>(record_.value, kLongestMemberName));
      member->unreadable = TakeText(kLongestProblem);
      member->has_content = record_.flag != 0;
      in_member_ = member->has_content && member->unreadable.empty();
      return true;
    }
    if (record_.kind == Record::Kind::kEnd) {
      problem_ = TakeText(kLongestProblem);
      WorkerProcess::PutBack(std::move(process_));
    }
  }
  return false;
}

std::size_t SandboxedReader::Read(char* buffer, std::size_t capacity) {
  if (capacity == 0) return 0;
  while (in_member_ && (record_.kind != Record::Kind::kData || left_ == 0)) {
    if (!NextRecord()) {
      in_member_ = false;
    } else if (record_.kind == Record::Kind::kHole) {
      left_out_ += record_.value;
      *buffer = '\0';
      return 1;
    } else if (record_.kind == Record::Kind::kMemberEnd) {
      input_ended_ = record_.flag != 0;
      member_problem_ = TakeText(kLongestProblem);
      in_member_ = false;
    } else if (record_.kind != Record::Kind::kData) {
      FailWorker();
    }
  }
  if (!in_member_) return 0;
  const std::size_t count = std::min(capacity, left_);
  std::memcpy(buffer, Bytes(), count);
  used_ += count;
  left_ -= count;
  return count;
}

}  // namespace whyoom
