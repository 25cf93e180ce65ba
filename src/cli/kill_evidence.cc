#include "cli/kill_evidence.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <utility>

#include "report/failure_view.h"

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

// The cgroup (version 2) of this process.
KillEvidence::Cgroup CgroupOf(const std::string& root) {
  std::ifstream file(root + "proc/self/cgroup");
  for (std::string line; std::getline(file, line);) {
    if (!line.starts_with("0::")) continue;
    const std::string folder = root + "sys/fs/cgroup" + line.substr(3);
    return {folder + "/memory.events", folder + "/memory.max"};
  }
  return {};
}

std::uint64_t LargestProcess() {
  struct rusage usage = {};
  return getrusage(RUSAGE_CHILDREN, &usage) == 0 ? static_cast<std::uint64_t>(usage.ru_maxrss) * kKiB : 0;
}

}  // namespace

KillEvidence::KillEvidence(std::string root)
    : root_(std::move(root)), cgroup_(CgroupOf(root_)), kills_before_(OomKills()) {}

std::optional<std::uint64_t> KillEvidence::OomKills() const {
  return cgroup_.events.empty() ? std::nullopt : ReadNumber(cgroup_.events, "oom_kill");
}

KillEvidence::Kill KillEvidence::Describe(int exit_status) const {
  if (exit_status != 128 + SIGKILL) return {};
  Kill kill{"the job was killed by signal 9 (SIGKILL)"};
  std::string& line = kill.line;
  const std::uint64_t largest = LargestProcess();
  if (largest > 0) line += "; largest process: " + SizeText(static_cast<double>(largest));
  if (const auto total = ReadNumber(root_ + "proc/meminfo", "MemTotal:")) {
    line += "; memory of the machine: " + SizeText(static_cast<double>(*total * kKiB));
    kill.by_memory = largest > *total * kKiB / 2;
  }
  if (const auto kills = OomKills(); kills && kills_before_) {
    const std::uint64_t during = *kills - std::min(*kills, *kills_before_);
    line += fmt::format("; OOM kills in the cgroup: {}", during);
    kill.by_memory = kill.by_memory || during > 0;
  }
  std::uint64_t limit = 0;
  if (std::ifstream file(cgroup_.limit); file >> limit)  // "max" if there is none
    line += "; memory limit of the cgroup: " + SizeText(static_cast<double>(limit));
  const char* job = std::getenv("SLURM_JOB_ID");
  const bool is_number =
      job != nullptr && *job != 0 && std::string(job).find_first_not_of("0123456789") == std::string::npos;
  if (is_number) line += fmt::format("; Slurm job {}", job);
  return kill;
}

}  // namespace whyoom
