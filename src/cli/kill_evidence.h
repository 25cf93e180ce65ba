// The system's evidence about a job that a signal killed, which writes nothing itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace whyoom {

class KillEvidence {
 public:
  // Remembers the counts before the job. `root` is "/" except in tests.
  explicit KillEvidence(std::string root = "/");

  // What is known of a kill.
  struct Kill {
    std::string line;        // empty if the job was not killed
    bool by_memory = false;  // the kernel counted a kill for lack of memory, or a process used half of the machine's
  };

  // Describes the kill if `exit_status` is that of SIGKILL (137):
  //
  //   the job was killed by signal 9 (SIGKILL); largest process: 30.75 GiB; memory of the machine: 62.80 GiB; OOM kills
  //   in the cgroup: 1; memory limit of the cgroup: 32.00 GiB; Slurm job 4711
  //
  // The sizes are those of getrusage(RUSAGE_CHILDREN) and /proc/meminfo; the rest is from memory.events and memory.max
  // of cgroup v2, and SLURM_JOB_ID. Parts that are unknown are left out. "OOM kills" counts those during the job.
  Kill Describe(int exit_status) const;

  // The files of a cgroup that count kills for lack of memory and contain the memory limit; empty if unknown.
  struct Cgroup {
    std::string events;
    std::string limit;
  };

 private:
  std::optional<std::uint64_t> OomKills() const;

  std::string root_;
  Cgroup cgroup_;
  std::optional<std::uint64_t> kills_before_;
};

}  // namespace whyoom
