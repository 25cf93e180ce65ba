#include "cli/kill_evidence.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>

#include "report/failure_view.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

constexpr std::uint64_t kKiB = 1024;

// The number that follows the word `key`.
std::optional<std::uint64_t> ReadNumber(const std::string& path, const std::string& key) {
  std::ifstream file(path);
  for (std::string word; file >> word;) {
    std::uint64_t number = 0;
    if (word == key && file >> number) return number;
  }
  return std::nullopt;
}

// The folder of this process's cgroup (version 2).
std::string CgroupOf(const std::string& root) {
  std::ifstream file(root + "proc/self/cgroup");
  std::string line;
  while (std::getline(file, line) && !line.starts_with("0::")) {
  }
  return root + "sys/fs/cgroup" + line.erase(0, 3);
}

}  // namespace

std::optional<std::uint64_t> OomKills(const std::string& root) {
  return ReadNumber(CgroupOf(root) + "/memory.events", "oom_kill");
}

Kill DescribeKill(const std::optional<std::uint64_t>& kills_before, const std::string& root) {
  Kill kill{"the job was killed by signal 9 (SIGKILL)"};
  std::string& line = kill.line;
  struct rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  const std::uint64_t largest = static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB;
  if (largest > 0) line += "; largest process: " + SizeText(static_cast<double>(largest));
  if (const auto total = ReadNumber(root + "proc/meminfo", "MemTotal:")) {
    line += "; memory of the machine: " + SizeText(static_cast<double>(*total * kKiB));
    kill.by_memory = largest > *total * kKiB / 2;
  }
  if (const auto kills = OomKills(root); kills && kills_before) {
    const std::uint64_t during = *kills - std::min(*kills, *kills_before);
    line += fmt::format("; OOM kills in the cgroup: {}", during);
    kill.by_memory = kill.by_memory || during > 0;
  }
  std::uint64_t limit = 0;
  if (std::ifstream file(CgroupOf(root) + "/memory.max"); file >> limit)  // "max" if there is none
    line += "; memory limit of the cgroup: " + SizeText(static_cast<double>(limit));
  const char* job = std::getenv("SLURM_JOB_ID");
  if (job != nullptr && ParseWholeNumber(job)) line += fmt::format("; Slurm job {}", job);
  return kill;
}

}  // namespace whyoom
