#include "input/archive/worker.h"

#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
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
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "input/archive/archive_reader.h"

namespace whyoom {

namespace worker {

#ifndef MSG_NOSIGNAL  // systems without workers
#define MSG_NOSIGNAL 0
#endif

bool Send(int socket, const Message& message) {
  ssize_t sent = -1;
  do sent = send(socket, &message, sizeof(message), MSG_NOSIGNAL | MSG_DONTWAIT);
  while (sent < 0 && errno == EINTR);
  return sent == static_cast<ssize_t>(sizeof(message));
}

Received Receive(int socket, int milliseconds, Message* message) {
  pollfd ready{socket, POLLIN, 0};
  const int polled = milliseconds < 0 ? 1 : poll(&ready, 1, milliseconds);
  if (polled == 0 || (polled < 0 && errno == EINTR)) return Received::kNothing;
  ssize_t got = -1;
  do got = recv(socket, message, sizeof(*message), 0);
  while (got < 0 && errno == EINTR);
  return got == static_cast<ssize_t>(sizeof(*message)) ? Received::kMessage : Received::kClosed;
}

}  // namespace worker

#if defined(__linux__)
namespace {

using worker::kBlockBytes;
using worker::kBlocks;
using worker::kControl;
using worker::kInputs;
using worker::Message;
using worker::Record;
using worker::Send;
using worker::Shared;

// Reads an archive: acts as the source of the archive's bytes, and writes records of its members.
class Worker : public ByteSource {
 public:
  Worker(Shared& shared, std::size_t memory) : shared_(shared), memory_(memory) {}

  void ReadArchive() {
    Message begin;
    do begin = Receive();  // skip messages about the previous archive
    while (begin.block != kControl);
    ArchiveReader reader(*this, static_cast<Packing>(begin.bytes), memory_);
    ArchiveMember member;
    for (std::uint64_t number = 1; reader.Next(&member); ++number) {
      Add({Record::Kind::kMember, 0, member.name.size(), member.has_content}, member.name + member.unreadable);
      if (member.has_content && member.unreadable.empty()) SendContent(reader, number);
    }
    Add({Record::Kind::kEnd}, reader.problem());
    Flush();
  }

  std::size_t Read(char* buffer, std::size_t capacity) override {
    if (read_ == held_ && !NextInput()) return 0;
    const std::size_t count = std::min(capacity, held_ - read_);
    std::memcpy(buffer, shared_.blocks[input_].data() + read_, count);
    read_ += count;
    return count;
  }

 private:
  void SendContent(ArchiveReader& reader, std::uint64_t number) {
    constexpr std::size_t kLeast = 1024;  // minimum output size of a record
    while (shared_.unwanted.load(std::memory_order_relaxed) != number && reader.HasPiece()) {
      char* const to = Room(kLeast);
      const std::uint64_t left_out = reader.left_out();
      const std::size_t count = reader.Read(to, kBlockBytes - written_ - sizeof(Record));
      const std::uint64_t hole = reader.left_out() - left_out;
      Finish({hole > 0 ? Record::Kind::kHole : Record::Kind::kData, static_cast<std::uint32_t>(count), hole});
    }
    Add({Record::Kind::kMemberEnd, 0, 0, reader.input_ended()}, reader.member_problem());
  }

  // Returns where to write the next record's bytes; there is space for at least `count`.
  char* Room(std::size_t count) {
    if (kBlockBytes - written_ < sizeof(Record) + count) Flush();
    Await(output_);
    return shared_.blocks[output_].data() + written_ + sizeof(Record);
  }

  void Finish(const Record& record) {
    std::memcpy(shared_.blocks[output_].data() + written_, &record, sizeof(record));
    written_ += sizeof(record) + record.bytes;
  }

  void Add(Record record, std::string_view text) {
    text = text.substr(0, kBlockBytes - sizeof(Record));
    text.copy(Room(text.size()), text.size());
    record.bytes = static_cast<std::uint32_t>(text.size());
    Finish(record);
  }

  void Flush() {
    if (written_ == 0) return;
    Give(output_, std::exchange(written_, 0));
    if (++output_ == kBlocks) output_ = kInputs;
  }

  bool NextInput() {
    if (ended_) return false;
    if (held_ > 0) {
      Give(input_, 0);
      input_ = (input_ + 1) % kInputs;
    }
    if (!owned_[input_]) Flush();  // the next input may take a while
    read_ = 0;
    held_ = Await(input_);
    ended_ = held_ == 0;
    return !ended_;
  }

  void Give(std::uint32_t block, std::size_t bytes) {
    owned_[block].reset();
    if (!Send(worker::kSocket, {block, static_cast<std::uint32_t>(bytes)})) _exit(0);
  }

  // Waits until the worker owns the block. Returns the number of bytes that whyoom put into it.
  std::size_t Await(std::uint32_t block) {
    while (!owned_[block]) {
      const Message message = Receive();
      if (message.block < kBlocks) owned_[message.block] = std::min<std::size_t>(message.bytes, kBlockBytes);
    }
    return *owned_[block];
  }

  // The process ends when whyoom closes the socket.
  static Message Receive() {
    Message message;
    if (worker::Receive(worker::kSocket, -1, &message) != worker::Received::kMessage) _exit(0);
    return message;
  }

  Shared& shared_;
  const std::size_t memory_;
  std::array<std::optional<std::size_t>, kBlocks> owned_ = {{{}, {}, 0, 0, 0, 0}};  // blocks, with the bytes in them
  std::uint32_t input_ = 0;                                                         // block being read
  std::size_t held_ = 0;                                                            // bytes in it
  std::size_t read_ = 0;                                                            // bytes of it read so far
  bool ended_ = false;                                                              // whether the archive's bytes ended
  std::uint32_t output_ = kInputs;                                                  // block being written
  std::size_t written_ = 0;                                                         // bytes in it
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
  void* const mapped = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED, worker::kMemory, 0);
  if (mapped == MAP_FAILED) _exit(1);
  CloseAllButSocket();
  ArchiveReader::UseUtf8Names();
  std::atexit(ExitWithoutMemory);
  std::set_new_handler(ExitWithoutMemory);
  // Memory that libarchive needs for any archive: its blocks, tables and decoder state.
  constexpr std::size_t kUsualMemory = std::size_t{32} << 20;
  const auto memory = static_cast<std::size_t>(std::strtoull(argv[1], nullptr, 10));
  LockDown(memory > SIZE_MAX - kUsualMemory ? memory : memory + kUsualMemory);
  if (!Send(worker::kSocket, {kControl, 0})) _exit(0);
  while (true) Worker(*static_cast<Shared*>(mapped), memory).ReadArchive();
}
#else
void ServeArchivesIfAsked(int, char**) {}
#endif

}  // namespace whyoom
