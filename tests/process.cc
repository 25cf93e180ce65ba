#include "process.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <thread>

#include "catch.h"

namespace {

struct Pipe {
  int read_end = -1;
  int write_end = -1;
  Pipe() {
    int ends[2];
    REQUIRE(pipe2(ends, O_CLOEXEC) == 0);
    read_end = ends[0];
    write_end = ends[1];
  }
};

[[noreturn]] void Exec(const std::vector<std::string>& arguments, const std::string& folder,
                       const std::vector<std::string>& environment) {
  for (const char* name : {"NO_COLOR", "CLICOLOR_FORCE", "FORCE_COLOR", "COLUMNS"}) unsetenv(name);
  for (const std::string& setting : environment) putenv(strdup(setting.c_str()));
  std::vector<char*> argv;
  for (const std::string& argument : arguments) argv.push_back(const_cast<char*>(argument.c_str()));
  argv.push_back(nullptr);
  if (chdir(folder.c_str()) == 0) execv(argv[0], argv.data());
  _exit(127);
}

// A started program with the other ends of its streams.
struct Child {
  Pipe in, out, err;
  pid_t pid = -1;

  Child(const std::vector<std::string>& arguments, const std::string& folder,
        const std::vector<std::string>& environment) {
    std::signal(SIGPIPE, SIG_IGN);
    pid = fork();
    REQUIRE(pid >= 0);
    if (pid == 0) {
      std::signal(SIGPIPE, SIG_DFL);
      dup2(in.read_end, STDIN_FILENO);
      dup2(out.write_end, STDOUT_FILENO);
      dup2(err.write_end, STDERR_FILENO);
      Exec(arguments, folder, environment);
    }
    close(in.read_end);
    close(out.write_end);
    close(err.write_end);
  }

  int Wait() const {
    int status = 0;
    waitpid(pid, &status, 0);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
};

// Waits until the pipe is empty or has no reader.
void WaitUntilRead(int write_end) {
  int left = 0;
  while (ioctl(write_end, FIONREAD, &left) == 0 && left > 0) {
    pollfd fd = {write_end, 0, 0};
    if (poll(&fd, 1, 0) > 0 && (fd.revents & POLLERR) != 0) return;
    sched_yield();
  }
}

// Writes and reads at the same time, so that neither side blocks the other.
void Exchange(int to_child, const std::string& input, int out, int err, ProcessResult* result) {
  std::size_t sent = 0;
  fcntl(to_child, F_SETFL, O_NONBLOCK);
  std::array<char, 65536> buffer;
  while (out >= 0 || err >= 0) {
    if (to_child >= 0 && sent == input.size()) {
      close(to_child);
      to_child = -1;
    }
    std::array<pollfd, 3> fds = {{{to_child, POLLOUT, 0}, {out, POLLIN, 0}, {err, POLLIN, 0}}};
    poll(fds.data(), fds.size(), -1);
    if (to_child >= 0 && fds[0].revents != 0) {
      const ssize_t n = write(to_child, input.data() + sent, input.size() - sent);
      if (n > 0) sent += static_cast<std::size_t>(n);
      if (n < 0) sent = input.size();  // the program stopped reading
    }
    for (const auto& [fd, text, at] : {std::tuple(&out, &result->out, 1), std::tuple(&err, &result->err, 2)}) {
      if (*fd < 0 || fds[static_cast<std::size_t>(at)].revents == 0) continue;
      const ssize_t n = read(*fd, buffer.data(), buffer.size());
      if (n > 0) {
        text->append(buffer.data(), static_cast<std::size_t>(n));
      } else {
        close(*fd);
        *fd = -1;
      }
    }
  }
  if (to_child >= 0) close(to_child);
}

}  // namespace

ProcessResult RunProcess(const std::vector<std::string>& arguments, const std::string& input, const std::string& folder,
                         const std::vector<std::string>& environment) {
  const Child child(arguments, folder, environment);
  ProcessResult result;
  Exchange(child.in.write_end, input, child.out.read_end, child.err.read_end, &result);
  result.exit_status = child.Wait();
  return result;
}

ProcessResult RunFedInPieces(const std::vector<std::string>& arguments, const std::vector<std::string>& pieces) {
  const Child child(arguments, ".", {});
  for (const std::string& piece : pieces) {
    REQUIRE(write(child.in.write_end, piece.data(), piece.size()) == static_cast<ssize_t>(piece.size()));
    WaitUntilRead(child.in.write_end);
  }
  ProcessResult result;
  Exchange(child.in.write_end, "", child.out.read_end, child.err.read_end, &result);
  result.exit_status = child.Wait();
  return result;
}

ProcessResult RunAndSignal(const std::vector<std::string>& arguments, const std::string& input,
                           const std::string& folder, int signal, std::chrono::milliseconds after) {
  const Child child(arguments, folder, {});
  REQUIRE(write(child.in.write_end, input.data(), input.size()) == static_cast<ssize_t>(input.size()));
  WaitUntilRead(child.in.write_end);
  std::this_thread::sleep_for(after);
  kill(child.pid, signal);
  ProcessResult result;
  Exchange(-1, "", child.out.read_end, child.err.read_end, &result);
  close(child.in.write_end);
  result.exit_status = child.Wait();
  return result;
}

ProcessResult RunWhyoom(std::vector<std::string> arguments, const std::string& input, const std::string& folder,
                        const std::vector<std::string>& environment) {
  arguments.insert(arguments.begin(), WHYOOM_BINARY);
  return RunProcess(arguments, input, folder, environment);
}

std::string ReadText(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  INFO(path);
  REQUIRE(file.good());
  std::stringstream text;
  text << file.rdbuf();
  return text.str();
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "whyoom-test-XXXXXX").string();
  REQUIRE(mkdtemp(name.data()) != nullptr);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::string ScratchFolder::Write(const std::string& name, const std::string& text) const {
  const std::filesystem::path path = std::filesystem::path(path_) / name;
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << text;
  return path.string();
}
