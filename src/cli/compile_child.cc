#include "cli/compile_child.h"

#include <fmt/format.h>
#include <spawn.h>
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
#include <cstdlib>
#include <cstring>
#include <string_view>
#include <vector>

#include "cli/job.h"
#include "input/archive/worker.h"
#include "input/error.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;

// argv[0] of a child that is confined or not; its command follows.
constexpr const char* kConfinedName = "whyoom: compiles";
constexpr const char* kFreeName = "whyoom: runs";

#if defined(__linux__)
// Only local sockets remain. Other calls fail with an error that Python can report.
void ForbidNetwork() {
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

void DropPrivileges() {
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  close_range(3, ~0U, 0);
  ForbidNetwork();
}
#else
void DropPrivileges() {}
#endif

}  // namespace

void BecomeCompileIfAsked(int argc, char** argv) {
  const std::string_view name = argv[0] == nullptr ? "" : argv[0];
  if (argc < 2 || (name != kConfinedName && name != kFreeName)) return;
#if defined(__linux__)
  prctl(PR_SET_PDEATHSIG, SIGKILL);
#endif
  if (name == kConfinedName) DropPrivileges();
  execvp(argv[1], argv + 1);
  std::fprintf(stderr, "cannot run %s: %s\n", argv[1], strerror(errno));
  _exit(127);
}

PrivateFolder::PrivateFolder() {
  std::error_code error;
  const fs::path parent = fs::temp_directory_path(error);
  if (error) throw Error("cannot create a temporary folder: TMPDIR names no folder");
  std::string name = (fs::absolute(parent) / "whyoom-try-XXXXXX").string();
  if (name.find(':') != std::string::npos)
    throw Error("cannot use the temporary folder " + Printable(name) + ": PYTHONPATH cannot name a path with ':'");
  if (mkdtemp(name.data()) == nullptr)
    throw Error(fmt::format("cannot create {}: {}", Printable(name), strerror(errno)));
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

pid_t StartFree(std::vector<std::string> command) {
  command.insert(command.begin(), kFreeName);
#if defined(__linux__)
  if (!kSanitized) prctl(PR_SET_DUMPABLE, 0);  // a confined process must not read our environment; LeakSanitizer has to
#endif
  pid_t child = -1;
  const int error = posix_spawn(&child, "/proc/self/exe", nullptr, nullptr, Pointers(command).data(), environ);
  if (error != 0) throw Error(fmt::format("cannot run {}: {}", Printable(command[1]), strerror(error)));
  return child;
}

}  // namespace whyoom
