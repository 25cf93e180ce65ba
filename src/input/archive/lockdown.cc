#include "input/archive/lockdown.h"

#if defined(__linux__)
#include <errno.h>
#include <seccomp.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <initializer_list>
#endif

namespace whyoom {

#if defined(__linux__)
namespace {

void Bound(__rlimit_resource resource, rlim_t most) {
  const rlimit limit{most, most};
  setrlimit(resource, &limit);
}

// Addresses that this process uses now; 0 where that is not known.
std::size_t AddressSpace() {
  unsigned long pages = 0;
  FILE* const file = fopen("/proc/self/statm", "re");
  if (file == nullptr) return 0;
  if (fscanf(file, "%lu", &pages) != 1) pages = 0;
  fclose(file);
  return pages * static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
}

// What is not allowed fails, as on a system that does not have it, so that a library can say so.
void AllowCalls() {
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
  // No memory is ever code.
  const scmp_arg_cmp not_executable{2, SCMP_CMP_MASKED_EQ, PROT_EXEC, 0};
  for (const int call : {SCMP_SYS(mmap), SCMP_SYS(mmap2), SCMP_SYS(mprotect)})
    seccomp_rule_add_array(filter, SCMP_ACT_ALLOW, call, 1, &not_executable);
  seccomp_load(filter);
  seccomp_release(filter);
}

}  // namespace

void EndWithParent() { prctl(PR_SET_PDEATHSIG, SIGKILL); }

void CloseAllBut(int descriptor) {
  const auto kept = static_cast<unsigned>(descriptor);
  if ((kept == 0 || close_range(0, kept - 1, 0) == 0) && close_range(kept + 1, ~0U, 0) == 0) return;
  // Linux before 5.9.
  const auto most = static_cast<int>(std::min<long>(sysconf(_SC_OPEN_MAX), 1L << 16));
  for (int one = 0; one < most; ++one) {
    if (one != descriptor) close(one);
  }
}

void LockDown(std::size_t memory) {
  if (kSanitized) return;
  if (const std::size_t now = AddressSpace(); now > 0 && memory < RLIM_INFINITY - now) Bound(RLIMIT_AS, now + memory);
  Bound(RLIMIT_NOFILE, 0);
  Bound(RLIMIT_FSIZE, 0);
  Bound(RLIMIT_CORE, 0);
  Bound(RLIMIT_NPROC, 0);
  AllowCalls();
}
#else
void EndWithParent() {}
void CloseAllBut(int) {}
void LockDown(std::size_t) {}
#endif

}  // namespace whyoom
