#include "input/archive/worker.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>
#if defined(__linux__)
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <string>
#include <utility>

#include "input/archive/unpacker.h"

namespace whyoom {

namespace worker {

#ifndef MSG_NOSIGNAL  // systems without workers
#define MSG_NOSIGNAL 0
#endif

bool Channel::Send(Kind kind, std::string_view bytes, bool wait) {
  iovec parts[] = {{&kind, 1}, {const_cast<char*>(bytes.data()), bytes.size()}};
  msghdr message{};
  message.msg_iov = parts;
  message.msg_iovlen = 2;
  ssize_t sent = -1;
  do sent = sendmsg(socket_.get(), &message, MSG_NOSIGNAL | (wait ? 0 : MSG_DONTWAIT));
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(1 + bytes.size());
}

Received Channel::Receive(int milliseconds, Message* message) {
  const int flags = MSG_TRUNC | (milliseconds < 0 ? 0 : MSG_DONTWAIT);
  for (bool polled = false;; polled = true) {
    const ssize_t got = recv(socket_.get(), buffer_.get(), 1 + kMostBytes, flags);
    if (got > 0 && static_cast<std::size_t>(got) <= 1 + kMostBytes) {
      *message = {static_cast<Kind>(buffer_[0]), {buffer_.get() + 1, static_cast<std::size_t>(got) - 1}};
      return Received::kMessage;
    }
    if (got >= 0) return Received::kClosed;
    if (errno == EINTR) continue;
    if (errno != EAGAIN && errno != EWOULDBLOCK) return Received::kClosed;
    pollfd ready{socket_.get(), POLLIN, 0};
    if (polled || poll(&ready, 1, milliseconds) <= 0) return Received::kNothing;
  }
}

}  // namespace worker

#if defined(__linux__)
namespace {

using worker::Kind;
using worker::Message;

// Unpacks files: acts as the source of their bytes, and sends their members. The process ends when whyoom closes the
// socket.
class Worker : public ByteSource {
 public:
  explicit Worker(std::size_t memory) : memory_(memory) {}

  void Serve() {
    Send(Kind::kReady, {});
    while (true) {
      Message begin;
      do begin = Receive();  // skip inputs of the previous file
      while (begin.kind != Kind::kBegin || begin.bytes.empty());
      input_ = {};
      ended_ = false;
      SendMembers(static_cast<Packing>(begin.bytes[0]));
    }
  }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (input_.empty() && !ended_) {
      Message message;
      do message = Receive();
      while (message.kind != Kind::kInput);
      input_ = message.bytes;
      ended_ = input_.empty();
      if (!ended_) Send(Kind::kNeed, {});  // arrives while this input is unpacked
    }
    const std::size_t count = input_.copy(buffer, capacity);
    input_.remove_prefix(count);
    return count;
  }

 private:
  void SendMembers(Packing packing) {
    const std::unique_ptr<Unpacker> unpacker = OpenUnpacker(*this, packing, memory_);
    for (std::string name; unpacker->Next(&name);) {
      Send(Kind::kMember, name);
      while (const std::size_t got = unpacker->Read(data_.get(), worker::Channel::kMostBytes))
        Send(Kind::kData, {data_.get(), got});
      Send(Kind::kMemberEnd, unpacker->problem());
    }
    Send(Kind::kEnd, unpacker->archive_problem());
  }

  void Send(Kind kind, std::string_view bytes) {
    if (!channel_.Send(kind, bytes.substr(0, worker::Channel::kMostBytes), true)) _exit(0);
  }
  Message Receive() {
    Message message;
    if (channel_.Receive(-1, &message) != worker::Received::kMessage) _exit(0);
    return message;
  }

  const std::size_t memory_;
  worker::Channel channel_{Descriptor(worker::kSocket)};
  const std::unique_ptr<char[]> data_ = std::make_unique_for_overwrite<char[]>(worker::Channel::kMostBytes);
  std::string_view input_;  // in the channel
  bool ended_ = false;      // whether the file's bytes ended
};

// libarchive exits if it cannot allocate a name.
void ExitWithoutMemory() { _exit(worker::kNoMemoryStatus); }

void CloseAllButSocket() {
  static_assert(worker::kSocket == 0);
  if (close_range(1, ~0U, 0) == 0) return;
  // Linux before 5.9.
  const auto most = static_cast<int>(std::min<long>(sysconf(_SC_OPEN_MAX), 1L << 16));
  for (int descriptor = 1; descriptor < most; ++descriptor) close(descriptor);
}

// Calls that are not allowed fail with an error that libraries can report.
void LimitCalls() {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ERRNO(EPERM));
  if (filter == nullptr) return;
  for (const int call : {SCMP_SYS(read),           SCMP_SYS(write),         SCMP_SYS(recvfrom),
                         SCMP_SYS(recvmsg),        SCMP_SYS(recv),          SCMP_SYS(sendto),
                         SCMP_SYS(sendmsg),        SCMP_SYS(send),          SCMP_SYS(munmap),
                         SCMP_SYS(mremap),         SCMP_SYS(brk),           SCMP_SYS(madvise),
                         SCMP_SYS(futex),          SCMP_SYS(futex_time64),  SCMP_SYS(exit),
                         SCMP_SYS(exit_group),     SCMP_SYS(rt_sigreturn),  SCMP_SYS(sigreturn),
                         SCMP_SYS(rt_sigprocmask), SCMP_SYS(clock_gettime), SCMP_SYS(clock_gettime64),
                         SCMP_SYS(gettimeofday),   SCMP_SYS(time),          SCMP_SYS(getrandom),
                         SCMP_SYS(restart_syscall)})
    seccomp_rule_add(filter, SCMP_ACT_ALLOW, call, 0);
  // Memory never becomes executable.
  const scmp_arg_cmp not_executable{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)})
    seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &not_executable);
  seccomp_load(filter);
  seccomp_release(filter);
}

// Drops all privileges: the process can no longer open, start or connect to anything, and can allocate at most `memory`
// more bytes.
void LockDown(std::size_t memory) {
  if (kSanitized) return;
  const auto limit = [](__rlimit_resource resource, rlim_t most) {
    const rlimit both{most, most};
    setrlimit(resource, &both);
  };
  std::size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  const std::size_t used = pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  if (used > 0 && memory < RLIM_INFINITY - used) limit(RLIMIT_AS, used + memory);
  for (const auto resource : {RLIMIT_NOFILE, RLIMIT_FSIZE, RLIMIT_CORE, RLIMIT_NPROC}) limit(resource, 0);
  LimitCalls();
}

}  // namespace

void ServeArchivesIfAsked(int argc, char** argv) {
  if (argc != 2 || std::string_view(argv[0]) != worker::kName) return;
  // A terminal sends these signals to all its processes, but whyoom decides when this one ends.
  sigset_t blocked;
  sigemptyset(&blocked);
  for (const int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) sigaddset(&blocked, number);
  sigprocmask(SIG_SETMASK, &blocked, nullptr);
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  CloseAllButSocket();
  UseUtf8Names();
  std::atexit(ExitWithoutMemory);
  std::set_new_handler(ExitWithoutMemory);
  // Memory that any packed file needs: blocks, tables and the state of decoders.
  constexpr std::size_t kUsualMemory = std::size_t{32} << 20;
  const auto memory = static_cast<std::size_t>(std::strtoull(argv[1], nullptr, 10));
  Worker server(memory);
  LockDown(memory > SIZE_MAX - kUsualMemory ? memory : memory + kUsualMemory);
  server.Serve();
}
#else
void ServeArchivesIfAsked(int, char**) {}
#endif

}  // namespace whyoom
