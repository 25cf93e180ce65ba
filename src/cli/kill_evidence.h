// The system's evidence about a job that a signal killed, which writes nothing itself.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace whyoom {

// How many processes of this cgroup (version 2) the kernel has killed for lack of memory; nullopt if that is unknown.
// `root` is "/" except in tests.
std::optional<std::uint64_t> OomKills(const std::string& root = "/");

// The evidence of a kill.
struct Kill {
  std::string line;
  bool by_memory = false;  // the kernel counted a kill for lack of memory, or a process used half of the machine's
};

// Describes the kill of a job that ended with SIGKILL:
//
//   the job was killed by signal 9 (SIGKILL); largest process: 30.75 GiB; memory of the machine: 62.80 GiB; OOM kills
//   in the cgroup: 1; memory limit of the cgroup: 32.00 GiB; Slurm job 4711
//
// The sizes are those of getrusage(RUSAGE_CHILDREN) and /proc/meminfo; the rest is from memory.events and memory.max
// of cgroup v2, and SLURM_JOB_ID. Parts that are unknown are left out. "OOM kills" counts those since `kills_before`.
Kill DescribeKill(const std::optional<std::uint64_t>& kills_before, const std::string& root = "/");

}  // namespace whyoom
