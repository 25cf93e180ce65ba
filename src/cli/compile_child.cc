#include <unistd.h>
#if defined(__linux__)
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#endif

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <string_view>

#include "cli/job.h"
#include "cli/try_command.h"
#include "input/archive/worker.h"
#include "input/error.h"

namespace whyoom {
namespace {

// argv[0] of a child that is confined or not; its command follows.
constexpr const char* kConfinedName = "whyoom: compiles";
constexpr const char* kFreeName = "whyoom: runs";

#if defined(__linux__)
// Only local sockets remain. Other calls fail with an error that Python can report.
void Confine() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  close_range(3, ~0U, 0);
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) _exit(1);
  const scmp_arg_cmp not_local{0, SCMP_CMP_NE, AF_UNIX, 0};
  seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, &not_local);
  for (const int call :
       {SCMP_SYS(io_uring_setup), SCMP_SYS(ptrace), SCMP_SYS(process_vm_readv), SCMP_SYS(process_vm_writev)})
    seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), call, 0);
  if (seccomp_load(filter) != 0) _exit(1);
  seccomp_release(filter);
}
#endif

// Replaces this process by the command, which ends when the parent ends.
[[noreturn]] void Become(char** command) {
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  execvp(command[0], command);
  std::fprintf(stderr, "cannot run %s: %s\n", command[0], strerror(errno));
  _exit(127);
}

}  // namespace

void BecomeCompileIfAsked(int argc, char** argv) {
  const std::string_view name = argv[0] == nullptr ? "" : argv[0];
  if (argc < 2 || (name != kConfinedName && name != kFreeName)) return;
#if defined(__linux__)
  if (name == kConfinedName) Confine();
#endif
  Become(argv + 1);
}

pid_t StartFree(const std::vector<std::string>& command) {
#if defined(__linux__)
  if (!kSanitized) prctl(PR_SET_DUMPABLE, 0);  // a confined process must not read our environment; LeakSanitizer has to
#endif
  const pid_t child = fork();
  if (child == 0) Become(Pointers(command).data());
  if (child < 0) throw Error(std::string("cannot start a process: ") + strerror(errno));
  return child;
}

}  // namespace whyoom
