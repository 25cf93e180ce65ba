// Reads an archive in a worker process (worker.h), as ArchiveReader does, so that faults cannot harm this process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "input/archive/archive_reader.h"
#include "input/archive/worker.h"
#include "input/byte_source.h"
#include "input/packing.h"

namespace whyoom {

class WorkerProcess {
 public:
  // Returns an idle or new worker, or null and the reason. `memory` limits its allocations. The calling thread must
  // outlive the worker, and only that thread may call Get and PutBack for it. Another thread may read a member.
  static std::unique_ptr<WorkerProcess> Get(std::size_t memory, std::string* why_not);

  // Makes an idle worker available to this thread again.
  static void PutBack(std::unique_ptr<WorkerProcess> process);

  // Owns the process, the socket and the mapping of sizeof(Shared) bytes.
  WorkerProcess(pid_t pid, int socket, worker::Shared* shared, std::size_t memory)
      : memory_(memory), pid_(pid), socket_(socket), shared_(shared) {}
  ~WorkerProcess();
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }
  worker::Shared& shared() { return *shared_; }

  // Ends the worker. Returns the problem to report if it died while reading an archive, and whether a retry may
  // succeed.
  std::string ExitProblem(Packing packing, bool* may_differ);

 private:
  std::optional<int> End();

  const std::size_t memory_;
  pid_t pid_;
  int socket_;
  worker::Shared* const shared_;
  int served_ = 0;
};

class SandboxedReader : public MemberReader {
 public:
  struct Clock {
    // Called repeatedly while the worker works. A returned text ends the archive; unless it is empty, it is reported.
    std::function<std::optional<std::string>()> why_stop;
    // A worker that makes no progress for this long is ended.
    std::chrono::milliseconds patience = std::chrono::seconds(20);
  };

  // Borrows `source`, which is at the start of the archive and is read by the thread that calls this reader.
  SandboxedReader(std::unique_ptr<WorkerProcess> process, ByteSource& source, Packing packing, Clock clock);
  SandboxedReader(const SandboxedReader&) = delete;
  SandboxedReader& operator=(const SandboxedReader&) = delete;

  bool Next(ArchiveMember* member) override;
  std::size_t Read(char* buffer, std::size_t capacity) override;

 private:
  bool NextRecord();
  bool NextBlock();
  bool FillInput(std::uint32_t block);
  const char* Bytes() { return process_->shared().blocks[*block_].data() + used_; }
  std::string TakeText(std::size_t count);
  bool IsStopped();
  bool FailWorker();
  void End(std::string problem);

  std::unique_ptr<WorkerProcess> process_;  // null after the archive has ended
  ByteSource& source_;
  const Packing packing_;
  const Clock clock_;
  std::chrono::steady_clock::time_point progress_;  // when the worker last made progress

  std::optional<std::uint32_t> block_;  // being read
  std::size_t used_ = 0;                // bytes of the block read so far
  std::size_t held_ = 0;
  worker::Record record_;
  std::size_t left_ = 0;      // unread bytes of the record
  std::uint64_t number_ = 0;  // of the current member
  bool in_member_ = false;
};

}  // namespace whyoom
