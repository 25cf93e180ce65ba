#include "cli/compile_child.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#if defined(__linux__)
#include <seccomp.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#endif

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string_view>
#include <utility>
#include <vector>

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

// Removes paths that depend on the current folder, which may be a stranger's: an empty element stands for it.
std::string AbsolutePaths(std::string_view paths, bool may_be_current) {
  std::string kept;
  while (!paths.empty()) {
    const std::string path(paths.substr(0, paths.find(':')));
    paths.remove_prefix(std::min(path.size() + 1, paths.size()));
    std::error_code ignored;
    if (path.starts_with('/') && (may_be_current || !fs::equivalent(path, ".", ignored)))
      kept += (kept.empty() ? "" : ":") + path;
  }
  return kept;
}

// Python and its packages need these variables. Others may contain credentials.
std::vector<std::string> ChildEnvironment(const fs::path& folder) {
  std::vector<std::string> environment = {"TMPDIR=" + folder.string(), "HOME=" + folder.string(),
                                          "TPU_LOG_DIR=" + folder.string(), "PYTHONDONTWRITEBYTECODE=1"};
  for (const std::string name :
       {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "PYTHONUSERBASE", "VIRTUAL_ENV", "TPU_LIBRARY_PATH"}) {
    const char* value = std::getenv(name.c_str());
    const std::string paths = value == nullptr ? "" : AbsolutePaths(value, name != "PYTHONPATH");
    if (!paths.empty()) environment.push_back(name + "=" + paths);
  }
  // Packages of `pip install --user` are in the home directory, which is not the child's.
  const char* home = std::getenv("HOME");
  if (home != nullptr && std::getenv("PYTHONUSERBASE") == nullptr)
    environment.push_back("PYTHONUSERBASE=" + (fs::path(home) / ".local").string());
  return environment;
}

// Kills a process and its descendants, which may have groups of their own (timeout, setsid).
void KillTree(pid_t pid) {
  kill(pid, SIGSTOP);  // it starts no more
  std::error_code ignored;
  for (const fs::directory_entry& thread : fs::directory_iterator(fmt::format("/proc/{}/task", pid), ignored)) {
    std::ifstream children(thread.path() / "children");
    for (pid_t child = 0; children >> child;) KillTree(child);
  }
  kill(pid, SIGKILL);
}

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

ChildProgram Confined(std::vector<std::string> command, const fs::path& folder) {
  command.insert(command.begin(), kConfinedName);
  return {std::move(command), ChildEnvironment(folder)};
}

ChildProgram Free(std::vector<std::string> command, std::vector<std::string> environment) {
  command.insert(command.begin(), kFreeName);
  return {std::move(command), std::move(environment)};
}

std::string LastLine(const fs::path& file) {
  constexpr std::streamoff kTail = 64 << 10;
  constexpr std::size_t kMostBytes = 300;
  std::ifstream input(file);
  input.seekg(0, std::ios::end);
  input.seekg(std::max<std::streamoff>(0, input.tellg() - kTail));
  std::string last;
  std::string error;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty()) last = line;
    if (line.find("Error") != std::string::npos) error = line;
  }
  return CutBytes(Printable(error.empty() ? last : error), kMostBytes);
}

CompileChild::CompileChild(const ChildProgram& program, const fs::path& output) : output_(output) {
#if defined(__linux__)
  // The child must not read our environment and memory. LeakSanitizer has to.
  if (!kSanitized) prctl(PR_SET_DUMPABLE, 0);
#endif
  const auto pointers = [](const std::vector<std::string>& texts) {
    std::vector<char*> result;
    for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
    result.push_back(nullptr);
    return result;
  };
  posix_spawn_file_actions_t files;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&files);
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C reaches whyoom only, which ends the child
  posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_APPEND, 0600);
  posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
  const int error = posix_spawn(&pid_, "/proc/self/exe", &files, &attributes, pointers(program.arguments).data(),
                                pointers(program.environment).data());
  posix_spawn_file_actions_destroy(&files);
  posix_spawnattr_destroy(&attributes);
  if (error != 0) throw Error(fmt::format("cannot run {}: {}", Printable(program.arguments.at(1)), strerror(error)));
}

CompileChild::~CompileChild() {
  if (pid_ <= 0) return;
  KillTree(pid_);
  kill(-pid_, SIGKILL);
  waitpid(pid_, nullptr, 0);
}

bool CompileChild::HasEnded() {
  constexpr std::uintmax_t kMostOutput = 64 << 20;  // bytes; only the end of the output is of interest
  std::error_code error;
  if (fs::file_size(output_, error) > kMostOutput && !error) fs::resize_file(output_, 0, error);
  if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) {
    kill(-pid_, SIGKILL);  // processes that it left
    pid_ = -1;
  }
  return pid_ <= 0;
}

std::string CompileChild::HowItEnded() const {
  return WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                              : fmt::format("exit status {}", WEXITSTATUS(status_));
}

}  // namespace whyoom
