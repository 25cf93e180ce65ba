// The protocol between whyoom and the child process ("worker") that unpacks for it.
//
// Packed files may come from untrusted sources, and decoders have a long history of faults. So they run in a process
// with little memory, a minimal environment and no files or network. Its death affects only the current packed file.
//
// The worker is a newly started copy of the program (posix_spawn), not a fork. A fork would contain whyoom's memory
// (other logs, credentials), and a lock held by another thread at that moment would stay locked in it forever.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "input/archive/unpacker.h"

#if defined(__has_feature)
#define WHYOOM_HAS_FEATURE(feature) __has_feature(feature)
#else
#define WHYOOM_HAS_FEATURE(feature) 0
#endif

namespace whyoom {

// Sanitizers need terabytes of address space and many system calls, so a worker with one is not limited in either.
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
constexpr bool kSanitized = true;
#else
constexpr bool kSanitized = WHYOOM_HAS_FEATURE(address_sanitizer) || WHYOOM_HAS_FEATURE(thread_sanitizer) ||
                            WHYOOM_HAS_FEATURE(memory_sanitizer);
#endif

// Call first in main. If this process was started as a worker, drops all privileges, unpacks until whyoom closes the
// socket, and does not return.
void ServeArchivesIfAsked(int argc, char** argv);

namespace worker {

// argv[0] of a worker; argv[1] is its memory limit in bytes.
constexpr const char* kName = "whyoom: unpacks";

// Exit status of a worker that needs more memory than its limit.
constexpr int kNoMemoryStatus = 12;

// The only descriptor of a worker.
constexpr int kSocket = 0;

// A message is one of these, followed by bytes. whyoom validates everything, because an archive may have compromised
// the worker.
enum class Kind : char {
  // Sent by whyoom. It sends one input after kBegin and one for each kNeed.
  kBegin = 'B',  // starts a packed file; the byte is its Packing
  kInput = 'I',  // the next bytes of the file; none: its end
  // Sent by the worker.
  kReady = 'R',      // once, after it has dropped its privileges
  kNeed = 'N',       // the next input
  kMember = 'M',     // its name
  kData = 'D',       // bytes of the member
  kMemberEnd = 'E',  // the bytes are the problem if it ended early
  kEnd = 'X'         // of the packed file; as kMemberEnd. The worker then waits for the next kBegin.
};

struct Message {
  Kind kind = Kind::kEnd;
  std::string_view bytes;  // valid until the next Receive
};

enum class Received { kMessage, kNothing, kClosed };

// One end of the socket (SOCK_SEQPACKET).
class Channel {
 public:
  static constexpr std::size_t kMostBytes = std::size_t{1} << 16;  // of a message

  explicit Channel(Descriptor socket) : socket_(std::move(socket)) {}
  int socket() const { return socket_.get(); }
  void Close() { socket_.Close(); }

  // Waits for space in the socket if `wait`. Returns false if the other process has closed it, or if it is full: then
  // the other process has stopped reading, because at most one input is in flight.
  bool Send(Kind kind, std::string_view bytes, bool wait = false);

  // Waits up to `milliseconds` for a message; forever if negative. Returns kClosed for a message that is too long.
  Received Receive(int milliseconds, Message* message);

 private:
  Descriptor socket_;
  std::unique_ptr<char[]> buffer_ = std::make_unique_for_overwrite<char[]>(1 + kMostBytes);
};

}  // namespace worker

class WorkerProcess {
 public:
  // Returns an idle or new worker, or null and the reason. `memory` limits its allocations. The calling thread must
  // outlive the worker, and only that thread may use it.
  static std::unique_ptr<WorkerProcess> Get(std::size_t memory, std::string* why_not);

  // Makes an idle worker available to this thread again.
  static void PutBack(std::unique_ptr<WorkerProcess> process);

  // Owns the process.
  WorkerProcess(pid_t pid, Descriptor socket, std::size_t memory)
      : memory_(memory), pid_(pid), channel_(std::move(socket)) {}
  ~WorkerProcess() { End(); }
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  worker::Channel& channel() { return channel_; }

  // Ends the worker. Returns the problem to report if it died while unpacking, and whether a retry may succeed.
  std::string ExitProblem(Packing packing, bool* may_differ);

 private:
  std::optional<int> End();

  const std::size_t memory_;
  pid_t pid_;
  worker::Channel channel_;
  int served_ = 0;
};

// Unpacks in a worker, so that faults cannot harm this process.
class SandboxedReader : public Unpacker {
 public:
  // Borrows `source`, which is at the start of the packed data, and `stop`. A worker that makes no progress for
  // `patience` is ended.
  SandboxedReader(std::unique_ptr<WorkerProcess> process, ByteSource& source, Packing packing, const Stop& stop,
                  std::chrono::milliseconds patience = std::chrono::seconds(20));

  bool Next(std::string* name) override;
  std::size_t Read(char* buffer, std::size_t capacity) override;

 private:
  bool Receive();
  bool SendInput();
  bool FailWorker();
  void End(std::string problem);

  std::unique_ptr<WorkerProcess> process_;  // null after the end
  ByteSource& source_;
  const Packing packing_;
  const Stop& stop_;
  const std::chrono::milliseconds patience_;
  bool source_ended_ = false;
  worker::Message message_;  // the last one received
  bool in_member_ = false;
};

}  // namespace whyoom
