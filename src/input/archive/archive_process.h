// Processes that read archives for this one. What is in an archive comes from anybody, and what unpacks it was written
// for trusted ones: so it runs where it has no files, no network, no environment and little memory, and where its end
// is the end of nothing else.
#pragma once

#include <sys/types.h>

#include <cstddef>
#include <memory>
#include <string>

#include "input/archive/channel.h"
#include "input/packing.h"

namespace whyoom {

class ArchiveProcess {
 public:
  // One that waits for an archive, used before or new. Null where none can be started, with the reason in `why_not`.
  // `memory` limits what it takes beyond what it needs to run.
  static std::unique_ptr<ArchiveProcess> Get(std::size_t memory, std::string* why_not);

  // To be called of one that waits for an archive again: the next Get may give it.
  static void PutBack(std::unique_ptr<ArchiveProcess> process);

  // Takes over the process, its socket and the mapping of sizeof(Shared) bytes, and ends them with itself.
  ArchiveProcess(pid_t pid, int socket, archive_channel::Shared* shared, std::size_t memory)
      : memory_(memory), pid_(pid), socket_(socket), shared_(shared) {}
  ~ArchiveProcess();
  ArchiveProcess(const ArchiveProcess&) = delete;
  ArchiveProcess& operator=(const ArchiveProcess&) = delete;

  pid_t pid() const { return pid_; }
  int socket() const { return socket_; }
  archive_channel::Shared& shared() { return *shared_; }

  // What is told of one that has gone while it read an archive of this kind. `may_differ` is set to whether the same
  // archive may be read another time: where no limit ended it.
  std::string WhyGone(Packing packing, bool* may_differ);

 private:
  void End();

  const std::size_t memory_;
  pid_t pid_;
  int socket_;
  archive_channel::Shared* const shared_;
  int status_ = 0;
  bool status_known_ = false;  // nobody else waits for the processes that this one starts
  int served_ = 0;
};

}  // namespace whyoom
