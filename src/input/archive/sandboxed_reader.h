// Unpacks in a worker process (worker.h), so that faults cannot harm this process.
#pragma once

#include <sys/types.h>

#include <chrono>
#include <cstddef>
#include <memory>
#include <optional>
#include <string>

#include "input/archive/unpacker.h"
#include "input/archive/worker.h"

namespace whyoom {

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

class SandboxedReader : public Unpacker {
 public:
  // Borrows `source`, which is at the start of the packed data, and `quota`, which may stop the reader. A worker that
  // makes no progress for `patience` is ended.
  SandboxedReader(std::unique_ptr<WorkerProcess> process, ByteSource& source, Packing packing, const Quota& quota,
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
  const Quota& quota_;
  const std::chrono::milliseconds patience_;
  bool source_ended_ = false;
  worker::Message message_;  // the last one received
  bool in_member_ = false;
};

}  // namespace whyoom
