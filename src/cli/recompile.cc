#include "cli/recompile.h"

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
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>
#include <thread>

#include "cli/embedded.h"
#include "input/error.h"
#include "program/xla_dump.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;

// argv[0] of the child; then the interpreter, the script and the request.
constexpr const char* kChildName = "whyoom: compiles";
constexpr auto kPoll = std::chrono::milliseconds(20);

#if defined(__linux__)
// The compile opens no sockets but local ones. What is forbidden fails with an error that the caller can report.
void ForbidNetwork() {
  const scmp_filter_ctx filter = seccomp_init(SCMP_ACT_ALLOW);
  if (filter == nullptr) return;
  const scmp_arg_cmp not_local{0, SCMP_CMP_NE, AF_UNIX, 0};
  seccomp_rule_add_array(filter, SCMP_ACT_ERRNO(EACCES), SCMP_SYS(socket), 1, &not_local);
  seccomp_rule_add(filter, SCMP_ACT_ERRNO(EPERM), SCMP_SYS(ptrace), 0);
  seccomp_load(filter);
  seccomp_release(filter);
}

void GiveUpRights() {
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  const rlimit no_core{0, 0};
  setrlimit(RLIMIT_CORE, &no_core);
  ForbidNetwork();
}
#else
void GiveUpRights() {}
#endif

// A folder that only this user can read, removed with the object.
class PrivateFolder {
 public:
  PrivateFolder() {
    std::string name = (fs::temp_directory_path() / "whyoom-try-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error("cannot make a temporary folder: " + std::string(strerror(errno)));
    path_ = name;
  }
  ~PrivateFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

// What Python and its packages need. The rest may contain credentials.
std::vector<std::string> ChildEnvironment(const fs::path& folder) {
  std::vector<std::string> environment = {"TMPDIR=" + folder.string(), "HOME=" + folder.string(),
                                          "TPU_SKIP_MDS_QUERY=1", "PYTHONDONTWRITEBYTECODE=1", "JAX_PLATFORMS=cpu"};
  for (const char* name : {"PATH", "LD_LIBRARY_PATH", "PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "TPU_LIBRARY_PATH"}) {
    if (const char* value = std::getenv(name)) environment.push_back(std::string(name) + "=" + value);
  }
  return environment;
}

std::uint64_t MemoryOf(pid_t pid) {
  std::uint64_t pages = 0;
  std::ifstream("/proc/" + std::to_string(pid) + "/statm") >> pages >> pages;
  return pages * static_cast<std::uint64_t>(sysconf(_SC_PAGESIZE));
}

// A running child; killed with the object.
class Child {
 public:
  Child(const std::string& python, const fs::path& folder) {
    const std::string script = (folder / "recompile.py").string();
    const std::string request = (folder / "request.json").string();
    const std::string output = (folder / "output.txt").string();
    std::array<const char*, 5> arguments = {kChildName, python.c_str(), script.c_str(), request.c_str(), nullptr};
    std::vector<std::string> environment = ChildEnvironment(folder);
    std::vector<char*> variables;
    for (std::string& variable : environment) variables.push_back(variable.data());
    variables.push_back(nullptr);
    posix_spawn_file_actions_t files;
    posix_spawnattr_t attributes;
    posix_spawn_file_actions_init(&files);
    posix_spawnattr_init(&attributes);
    posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);  // Ctrl-C is for whyoom, which ends the child
    posix_spawn_file_actions_addopen(&files, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&files, STDOUT_FILENO, output.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0600);
    posix_spawn_file_actions_adddup2(&files, STDOUT_FILENO, STDERR_FILENO);
    const int error = posix_spawn(&pid_, "/proc/self/exe", &files, &attributes, const_cast<char**>(arguments.data()),
                                  variables.data());
    posix_spawn_file_actions_destroy(&files);
    posix_spawnattr_destroy(&attributes);
    if (error != 0) throw Error(fmt::format("cannot start a compile: {}", strerror(error)));
  }
  ~Child() {
    if (pid_ <= 0) return;
    kill(-pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;

  bool HasEnded() {
    if (pid_ > 0 && waitpid(pid_, &status_, WNOHANG) == pid_) pid_ = -1;
    return pid_ <= 0;
  }
  // "signal 9", "exit status 1".
  std::string HowItEnded() const {
    return WIFSIGNALED(status_) ? fmt::format("signal {}", WTERMSIG(status_))
                                : fmt::format("exit status {}", WEXITSTATUS(status_));
  }
  std::uint64_t memory() const { return MemoryOf(pid_); }

 private:
  pid_t pid_ = -1;
  int status_ = 0;
};

// The compiler writes this file after those that contain the need.
bool HasAssignedBuffers(const fs::path& dump) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(dump, ignored)) {
    if (entry.path().filename().string().ends_with("after_optimizations.txt")) return true;
  }
  return false;
}

std::string LastLine(const fs::path& file) {
  std::ifstream input(file);
  std::string last;
  for (std::string line; std::getline(input, line);) {
    if (!line.empty()) last = line;
  }
  return CutBytes(Printable(last), 300);
}

nlohmann::json ReadResult(const fs::path& folder) {
  std::ifstream input(folder / "result.json");
  return nlohmann::json::parse(input, nullptr, false);
}

ModuleValue ToValue(const nlohmann::json& json) {
  ModuleValue value;
  value.name = json.value("name", "");
  value.dtype = json.value("dtype", "");
  value.dims = json.value("dims", std::vector<std::int64_t>());
  value.donated = json.value("donated", false);
  if (json.contains("splits") && json["splits"].is_array())
    value.splits = json["splits"].get<std::vector<std::vector<std::string>>>();
  return value;
}

nlohmann::json ToJson(const std::map<std::size_t, Split>& splits) {
  nlohmann::json json = nlohmann::json::object();
  for (const auto& [index, split] : splits)
    json[std::to_string(index)] = nlohmann::json::array({split.first, split.second});
  return json;
}

nlohmann::json RequestOf(const std::string& module, const fs::path& folder) {
  return {{"module", fs::absolute(module).string()}, {"result", (folder / "result.json").string()}};
}

void Prepare(const fs::path& folder, const nlohmann::json& request) {
  std::ofstream(folder / "recompile.py") << RecompileScript();
  std::ofstream(folder / "request.json") << request.dump();
}

std::int64_t BitsOf(const std::string& dtype) {
  if (dtype.starts_with("complex")) return dtype.find("64") != std::string::npos ? 128 : 64;
  const std::size_t digit = dtype.find_first_of("0123456789");
  const std::int64_t bits = digit == std::string::npos ? 8 : std::atoi(dtype.c_str() + digit);
  return bits == 1 ? 8 : bits;
}

}  // namespace

void BecomeCompileIfAsked(int argc, char** argv) {
  if (argc != 4 || std::string_view(argv[0]) != kChildName) return;
  GiveUpRights();
  execlp(argv[1], argv[1], argv[2], argv[3], nullptr);
  std::fprintf(stderr, "cannot run %s: %s\n", argv[1], strerror(errno));
  _exit(127);
}

std::int64_t ModuleValue::bytes() const {
  std::int64_t bits = BitsOf(dtype);
  for (const std::int64_t dim : dims) bits *= dim;
  return bits / 8;
}

void ModuleChange::Add(const ModuleChange& other) {
  options.insert(other.options.begin(), other.options.end());
  if (fitting_level.empty()) fitting_level = other.fitting_level;
  donated.insert(donated.end(), other.donated.begin(), other.donated.end());
  split_arguments.insert(other.split_arguments.begin(), other.split_arguments.end());
  split_results.insert(other.split_results.begin(), other.split_results.end());
}

ModuleDescription Recompiler::Describe() const {
  const PrivateFolder folder;
  Prepare(folder.path(), RequestOf(module_, folder.path()));
  Child child(python_, folder.path());
  const Clock::time_point begin = Clock::now();
  while (!child.HasEnded()) {
    if (control_.stopped()) throw Error("interrupted");
    if (Clock::now() - begin > limits_.time) throw Error(python_ + " did not answer in time");
    std::this_thread::sleep_for(kPoll);
  }
  const nlohmann::json result = ReadResult(folder.path());
  if (!result.is_object())
    throw Error(fmt::format("{}: {} ({})", python_, LastLine(folder.path() / "output.txt"), child.HowItEnded()));
  if (result.contains("error")) {
    const std::string what = Printable(result.value("error", ""));
    if (result.value("missing", false))
      throw Error(fmt::format("{}: {} (install it: {} -m pip install jax libtpu; or name another Python by --python)",
                              python_, what, python_));
    throw Error(what);
  }
  ModuleDescription description;
  description.jax = result.value("jax", "");
  description.compiler = result.value("compiler", "");
  description.mesh = result.value("mesh", std::map<std::string, std::int64_t>());
  for (const nlohmann::json& value : result["arguments"]) description.arguments.push_back(ToValue(value));
  for (const nlohmann::json& value : result["results"]) description.results.push_back(ToValue(value));
  return description;
}

CompileResult Recompiler::Compile(const ModuleChange& change) const {
  const PrivateFolder folder;
  const fs::path dump = folder.path() / "dump";
  fs::create_directory(dump);
  nlohmann::json request = RequestOf(module_, folder.path());
  request["dump_to"] = dump.string();
  request["options"] = change.options;
  request["fitting"] = change.fitting_level;
  request["donate"] = change.donated;
  request["shard"] = ToJson(change.split_arguments);
  request["shard_results"] = ToJson(change.split_results);
  Prepare(folder.path(), request);
  CompileResult result;
  const Clock::time_point begin = Clock::now();
  bool ended = false;
  {
    Child child(python_, folder.path());
    while (!ended && (limits_.whole || !HasAssignedBuffers(dump))) {
      if (control_.stopped()) result.problem = "interrupted";
      if (Clock::now() - begin > limits_.time)
        result.problem = fmt::format("not done after {} s", limits_.time.count());
      if (limits_.memory > 0 && child.memory() > limits_.memory) result.problem = "needs more memory than --memory";
      if (!result.problem.empty()) return result;
      std::this_thread::sleep_for(kPoll);
      ended = child.HasEnded();
    }
    if (ended && !fs::exists(folder.path() / "result.json"))
      result.problem = LastLine(folder.path() / "output.txt") + " (" + child.HowItEnded() + ")";
  }
  result.seconds = std::chrono::duration<double>(Clock::now() - begin).count();
  XlaDump files;
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(dump)) files.AddFile(entry.path().string());
  Problem problem;
  if (const std::optional<DumpReading> reading = files.ReadAny("", &problem)) {
    if (const std::optional<double> need = reading->facts.Number("need_bytes"))
      result.need_bytes = static_cast<std::int64_t>(*need);
  }
  const nlohmann::json outcome = ReadResult(folder.path());
  if (!result.need_bytes && outcome.is_object() && outcome.contains("error")) result.problem = outcome["error"];
  if (limits_.whole && outcome.is_object() && !outcome.value("fits", false))
    result.problem = outcome.value("error", "");
  result.problem = CutBytes(Printable(result.problem.substr(0, result.problem.find('\n'))), 300);
  if (!result.need_bytes && result.problem.empty()) result.problem = "the compiler wrote no buffer assignment";
  return result;
}

}  // namespace whyoom
