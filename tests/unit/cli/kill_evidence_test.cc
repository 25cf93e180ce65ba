// The system's evidence about a job that was killed.
#include <string>

#include "catch.h"
#include "cli/job.h"
#include "process.h"

using namespace whyoom;

namespace TEST_FILE {

// Writes what a machine with `total_kib` of memory shows of a job whose cgroup has this limit.
void WriteSystem(const ScratchFolder& root, const std::string& total_kib, const std::string& limit) {
  root.Write("proc/self/cgroup", "0::/job\n");
  root.Write("proc/meminfo", "MemTotal:       " + total_kib + " kB\nMemFree:        7 kB\n");
  root.Write("sys/fs/cgroup/job/memory.events", "low 0\nmax 912\noom 3\noom_kill 2\n");
  root.Write("sys/fs/cgroup/job/memory.max", limit + "\n");
}

TEST_CASE("the cgroup's OOM kills during the job, its limit, and the machine's memory", "[cli]") {
  const ScratchFolder root;
  WriteSystem(root, "1048576", "536870912");
  const std::optional<std::uint64_t> before = OomKills(root.path() + "/");
  root.Write("sys/fs/cgroup/job/memory.events", "low 0\nmax 990\noom 4\noom_kill 3\n");
  const Kill kill = DescribeKill(before, root.path() + "/");
  CHECK(kill.by_memory);
  CHECK(kill.line.find("; memory of the machine: 1.00 GiB; OOM kills in the cgroup: 1; memory limit of the "
                       "cgroup: 512.00 MiB") != std::string::npos);
}

TEST_CASE("a kill without a sign that memory ran out", "[cli]") {
  const ScratchFolder root;
  WriteSystem(root, "1073741824", "max");
  const Kill kill = DescribeKill(OomKills(root.path() + "/"), root.path() + "/");
  CHECK_FALSE(kill.by_memory);
  CHECK(kill.line.find("OOM kills in the cgroup: 0") != std::string::npos);
  CHECK(kill.line.find("limit") == std::string::npos);
}

TEST_CASE("a system that shows nothing", "[cli]") {
  const ScratchFolder root;
  CHECK_FALSE(OomKills(root.path() + "/"));
  CHECK(DescribeKill(std::nullopt, root.path() + "/").line.starts_with("the job was killed by signal 9"));
}

}  // namespace TEST_FILE
