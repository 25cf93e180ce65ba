#include "cli/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <optional>
#include <utility>

#include "input/byte_source.h"
#include "input/error.h"

#ifdef __APPLE__
extern char** environ;  // not declared in its unistd.h
#endif

namespace whyoom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
// A pipe or terminal that poll() reports as writable accepts this much without blocking (PIPE_BUF).
constexpr std::size_t kWriteAtOnce = 4096;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kSilence{1000};
constexpr std::chrono::milliseconds kGrace{5000};
constexpr std::size_t kMostInPipe = std::size_t{1} << 20;  // the most that the job can leave in a pipe

constexpr bool IsStop(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

[[noreturn]] void Fail(const char* doing) { throw Error(std::string(doing) + ": " + std::strerror(errno)); }

// State of the signal handlers. SIGPIPE and SIGXFSZ stay ignored, because our own writes cause them. Spawn blocks their
// signals while it starts the job.
struct {
  std::atomic<pid_t> child{0};
  std::atomic<int> early{0};  // the first signal before there was a child; -1: there has been a child
  std::atomic<int> wake{-1};  // write end of a pipe
  std::array<std::atomic<int>, 3> pty{0, 0, 0};  // by stream: the pseudo terminal whose size follows ours
} g_signal_state;
static_assert(std::atomic<int>::is_always_lock_free);

void CopyWindowSizes() {
  for (const int stream : {STDOUT_FILENO, STDERR_FILENO}) {
    winsize size{};
    const int pty = g_signal_state.pty[static_cast<std::size_t>(stream)];
    if (pty > 0 && ioctl(stream, TIOCGWINSZ, &size) == 0) ioctl(pty, TIOCSWINSZ, &size);
  }
}

// Stops this process as if the signal had not been caught, so that the kernel decides whether it may stop.
void StopByDefault(int signal) {
  struct sigaction usual {};
  struct sigaction ours {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, &ours);
  sigset_t stop;
  sigset_t before;
  sigemptyset(&stop);
  sigaddset(&stop, signal);
  raise(signal);
  pthread_sigmask(SIG_UNBLOCK, &stop, &before);  // the process stops and continues here
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  sigaction(signal, &ours, nullptr);
}

void OnSignal(int signal, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  const pid_t child = g_signal_state.child;
  if (signal == SIGCHLD) {
    const char byte = 0;
    [[maybe_unused]] const ssize_t ignored = write(g_signal_state.wake, &byte, 1);
  } else if (signal == SIGWINCH) {
    // The job may have received the signal before its pseudo terminal had the new size.
    CopyWindowSizes();
    if (child > 0) kill(child, signal);
  } else if (info->si_pid == getpid() && info->si_code <= 0) {
    // abort(), which ends this process after the handler returns
  } else if (info->si_code > 0 && (signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL)) {
    std::signal(signal, SIG_DFL);  // our own fault, which happens again
  } else {
    // Signals from the kernel come from the terminal, which sends them to the whole foreground group.
    const bool job_received_it = info->si_code > 0 && getpgid(child) == getpgrp();
    int none = 0;
    if (child > 0 && !job_received_it) kill(child, signal);
    if (child == 0 && !IsStop(signal) && signal != SIGCONT) g_signal_state.early.compare_exchange_strong(none, signal);
    if (IsStop(signal)) StopByDefault(signal);
  }
  errno = error;
}

struct Channel {
  Descriptor our_end;  // whyoom reads the job's output here
  Descriptor job_end;  // the job writes it here
};

Channel MakePipe(int flags = O_CLOEXEC) {
  int ends[2];
#ifdef __APPLE__
  if (pipe(ends) != 0) Fail("cannot create a pipe");
  for (const int end : ends) {
    if ((flags & O_CLOEXEC) != 0) fcntl(end, F_SETFD, FD_CLOEXEC);
    if ((flags & O_NONBLOCK) != 0) fcntl(end, F_SETFL, fcntl(end, F_GETFL) | O_NONBLOCK);
  }
#else
  if (pipe2(ends, flags) != 0) Fail("cannot create a pipe");
#endif
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Makes a pseudo terminal with the settings of `stream`; nullopt if the system has none left.
std::optional<Channel> MakePseudoTerminal(int stream) {
  Channel pty;
  pty.our_end = Descriptor(posix_openpt(O_RDWR | O_NOCTTY));
  char name[128];
  if (!pty.our_end.is_open() || fcntl(pty.our_end.get(), F_SETFD, FD_CLOEXEC) != 0 || grantpt(pty.our_end.get()) != 0 ||
      unlockpt(pty.our_end.get()) != 0 || ptsname_r(pty.our_end.get(), name, sizeof name) != 0)
    return std::nullopt;
  pty.job_end = Descriptor(open(name, O_RDWR | O_NOCTTY | O_CLOEXEC));
  termios settings{};
  if (!pty.job_end.is_open() || tcgetattr(stream, &settings) != 0) return std::nullopt;
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // the real terminal does the output processing
  winsize size{};
  if (tcsetattr(pty.job_end.get(), TCSANOW, &settings) != 0) return std::nullopt;
  if (ioctl(stream, TIOCGWINSZ, &size) == 0) ioctl(pty.job_end.get(), TIOCSWINSZ, &size);
  g_signal_state.pty[static_cast<std::size_t>(stream)] = pty.our_end.get();
  return pty;
}

bool SameFile(int one, int other) {
  struct stat a {};
  struct stat b {};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Splits the output into whole lines, so that lines of the two streams do not mix.
class LineTee {
 public:
  explicit LineTee(const std::function<void(std::string_view)>& tee) : tee_(tee) {}

  void Add(std::string_view bytes) {
    const std::size_t end = bytes.rfind('\n') + 1;  // 0 if there is none
    if (end > 0) {
      Emit(bytes.substr(0, end));
      bytes.remove_prefix(end);
    }
    partial_line_.append(bytes);
    if (partial_line_.size() > kLongestLine) Emit({});
  }
  void Finish() {
    if (!partial_line_.empty()) Emit("\n");
  }

 private:
  void Emit(std::string_view rest) {
    if (!partial_line_.empty()) tee_(partial_line_);
    if (!rest.empty()) tee_(rest);
    partial_line_.clear();
  }

  const std::function<void(std::string_view)>& tee_;
  std::string partial_line_;
};

// Passes on one output stream of the job. Never blocks on a slow reader, which may be waiting for the other stream.
class Stream {
 public:
  Stream(Descriptor source, int sink, const std::function<void(std::string_view)>& tee, JobResult* result)
      : source_(std::move(source)), sink_(sink), tee_(tee), result_(result) {}

  bool ended() const { return !source_.is_open() && pending_.empty(); }
  bool pending() const { return !pending_.empty(); }
  int source() const { return source_.get(); }  // negative: closed
  int sink() const { return sink_; }
  std::size_t bytes_read() const { return bytes_read_; }

  pollfd Wanted() const {
    if (pending()) return {sink_, POLLOUT, 0};
    return {source_.get(), POLLIN, 0};  // poll() skips negative descriptors
  }

  void Serve() {
    if (pending()) {
      Write();
    } else {
      Read();
    }
  }

  void Finish() {
    source_.Close();
    tee_.Finish();
  }

 private:
  void Read() {
    buffer_.resize(kReadAtOnce);
    const ssize_t got = read(source_.get(), buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) {  // a pseudo terminal reports EIO if its other side is closed
      source_.Close();
      return;
    }
    pending_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
    bytes_read_ += pending_.size();
    tee_.Add(pending_);
  }

  void Write() {
    const ssize_t written = write(sink_, pending_.data(), std::min(pending_.size(), kWriteAtOnce));
    if (written > 0) {
      result_->line_open = pending_[static_cast<std::size_t>(written) - 1] != '\n';
      pending_.remove_prefix(static_cast<std::size_t>(written));
    } else if (written < 0 && (errno == EPIPE || errno == EIO)) {
      // The reader is gone. Let the job notice that, as it would without whyoom.
      pending_ = {};
      source_.Close();
    } else if (written < 0 && errno != EINTR && errno != EAGAIN) {
      if (result_->undelivered_bytes == 0) result_->undelivered_reason = std::strerror(errno);
      result_->undelivered_bytes += pending_.size();
      pending_ = {};
    }
  }

  Descriptor source_;
  const int sink_;
  LineTee tee_;
  JobResult* const result_;
  std::string buffer_;
  std::string_view pending_;
  std::size_t bytes_read_ = 0;
};

// Replaces this process by the command, or writes the errno to `failed`. Makes only system calls, because a lock that
// another thread held during fork(), for example in malloc(), would stay locked here.
[[noreturn]] void ExecJob(const Job& job, char* const* argv, char* const* environment, int out, int err, int failed,
                          const JobSignals& signals, const sigset_t& mask, pid_t parent) {
  signals.Restore();
  std::signal(SIGXFSZ, SIG_DFL);
  std::signal(SIGPIPE, job.ignore_broken_pipe ? SIG_IGN : SIG_DFL);
#ifdef __linux__
  // If whyoom is killed, kill the job too; otherwise it would continue unseen.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (getppid() != parent) _exit(128 + SIGKILL);
#endif
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
#ifdef __APPLE__
  environ = const_cast<char**>(environment);
  execvp(argv[0], argv);
#else
  execvpe(argv[0], argv, environment);
#endif
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = write(failed, &error, sizeof error);
  _exit(error == ENOENT ? 127 : 126);
}

void Spawn(const Job& job, int out, int err, const JobSignals& signals, JobResult* result) {
  std::vector<char*> argv = Pointers(job.command);
  std::vector<char*> environment = Pointers(job.environment);
  Channel rule = MakePipe();
  const pid_t self = getpid();
  sigset_t mask;
  pthread_sigmask(SIG_BLOCK, &signals.caught(), &mask);
  const pid_t child = fork();
  if (child == 0) {
    ExecJob(job, argv.data(), environment.data(), out, err, rule.job_end.get(), signals, mask, self);
  }
  const int error = errno;
  g_signal_state.child = std::max(child, 0);
  const int early = g_signal_state.early.exchange(-1);
  if (child > 0 && early > 0) kill(child, early);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  sigset_t end;  // SIGCHLD, which our parent may have blocked
  sigemptyset(&end);
  sigaddset(&end, SIGCHLD);
  pthread_sigmask(SIG_UNBLOCK, &end, nullptr);
  errno = error;
  if (child < 0) Fail("cannot start a process");
  rule.job_end.Close();
  int problem = 0;
  ssize_t got;
  do {
    got = read(rule.our_end.get(), &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof problem) result->problem = std::strerror(problem);
}

// Returns whether the job has ended. If so, it no longer receives signals, and `result` contains its status.
bool Reap(JobResult* result) {
  siginfo_t info{};
  if (waitid(P_PID, static_cast<id_t>(g_signal_state.child.load()), &info, WEXITED | WNOHANG | WNOWAIT) == 0 &&
      info.si_pid == 0)
    return false;
  const pid_t child = g_signal_state.child.exchange(0);  // before the system can reuse its number
  int status = 0;
  waitpid(child, &status, 0);
  result->exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  return true;
}

int Milliseconds(Clock::duration duration) {
  return static_cast<int>(
      std::max<std::int64_t>(0, std::chrono::duration_cast<std::chrono::milliseconds>(duration).count()));
}

void Relay(std::vector<Stream>* streams, int wake, JobResult* result) {
  std::optional<Clock::time_point> end;  // when the job ended
  std::size_t read_by_end = 0;
  const auto read_so_far = [&] {
    std::size_t bytes = 0;
    for (const Stream& stream : *streams) bytes += stream.bytes_read();
    return bytes;
  };
  const auto all = [&](auto holds) { return std::all_of(streams->begin(), streams->end(), holds); };
  while (!end || !all([](const Stream& stream) { return stream.ended(); })) {
    std::vector<pollfd> wanted = {{wake, POLLIN, 0}};
    for (const Stream& stream : *streams) wanted.push_back(stream.Wanted());
    // All output that was read is delivered, even to a slow reader. The timeout ends only the wait for more output.
    const bool nothing_pending = all([](const Stream& stream) { return !stream.pending(); });
    int timeout = -1;
    // A job that succeeded is not diagnosed, so the rest of its output is not needed.
    const Clock::duration silence = result->exit_status == 0 ? Clock::duration::zero() : kSilence;
    if (end && nothing_pending)
      timeout = Milliseconds(std::min<Clock::duration>(silence, *end + kGrace - Clock::now()));
    const int ready = poll(wanted.data(), wanted.size(), timeout);
    if (ready < 0) continue;
    if (end && nothing_pending && (ready == 0 || (timeout == 0 && read_so_far() - read_by_end > kMostInPipe))) break;
    for (std::size_t i = 0; i < streams->size(); ++i) {
      if (wanted[i + 1].revents != 0) (*streams)[i].Serve();
    }
    if (wanted[0].revents != 0) {
      std::array<char, 64> bytes;
      while (read(wake, bytes.data(), bytes.size()) > 0) {
      }
      if (!end && Reap(result)) {
        end = Clock::now();
        read_by_end = read_so_far();
      }
    }
  }
}

// Reads once and writes everything. Returns false at the end of the input, or if the output is closed.
bool PassOn(int from, int to) {
  std::array<char, kWriteAtOnce> buffer;
  const ssize_t got = read(from, buffer.data(), buffer.size());
  for (ssize_t done = 0; done < got;) {
    const ssize_t written = write(to, buffer.data() + done, static_cast<std::size_t>(got - done));
    if (written < 0 && errno != EINTR && errno != EAGAIN) return false;
    done += std::max<ssize_t>(written, 0);
  }
  return got > 0;
}

// Forks a process that passes on what child processes of the job print after the job has ended. Their output stays
// open, and whyoom can exit at once. The process begins when the returned descriptor is closed, at the latest when
// whyoom ends, so that the diagnosis comes first. It may only make system calls.
Descriptor ForkRelay(Channel hold, const std::vector<Stream>& streams, const JobSignals& signals) {
  std::array<pollfd, 2> wanted = {{{-1, POLLIN, 0}, {-1, POLLIN, 0}}};
  for (std::size_t i = 0; i < streams.size(); ++i) wanted[i].fd = streams[i].source();
  const auto is_open = [](const pollfd& one) { return one.fd >= 0; };
  if (std::none_of(wanted.begin(), wanted.end(), is_open)) return Descriptor();
  if (fork() != 0) return std::move(hold.job_end);
  signals.Restore();
  hold.job_end.Close();
  char none;
  while (read(hold.our_end.get(), &none, 1) < 0) {
  }
  while (std::any_of(wanted.begin(), wanted.end(), is_open)) {
    if (poll(wanted.data(), wanted.size(), -1) < 0) continue;
    for (std::size_t i = 0; i < streams.size(); ++i) {
      if (wanted[i].revents == 0 || PassOn(wanted[i].fd, streams[i].sink())) continue;
      close(wanted[i].fd);
      wanted[i].fd = -1;
    }
  }
  _exit(0);
}

Channel MakeChannel(int stream) {
  if (isatty(stream) == 1) {
    if (std::optional<Channel> pty = MakePseudoTerminal(stream)) return std::move(*pty);
  }
  return MakePipe();
}

}  // namespace

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> EnvironmentWith(const std::map<std::string, std::string>& variables) {
  std::vector<std::string> environment;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view text = *entry;
    if (variables.count(std::string(text.substr(0, text.find('=')))) == 0) environment.emplace_back(text);
  }
  for (const auto& [name, value] : variables) environment.push_back(fmt::format("{}={}", name, value));
  return environment;
}

JobSignals::JobSignals() {
  g_signal_state.early = 0;
  sigemptyset(&caught_);
  for (int signal = 1; signal < NSIG; ++signal) Catch(signal);
}

void JobSignals::Restore() const {
  for (const auto& [signal, before] : before_) sigaction(signal, &before, nullptr);
}

void JobSignals::Catch(int signal) {
  struct sigaction before {};
  if (sigaction(signal, nullptr, &before) != 0) return;
  if (before.sa_handler != SIG_DFL && signal != SIGCHLD && signal != SIGWINCH) return;
  struct sigaction ours {};
  ours.sa_sigaction = OnSignal;
  ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP;
  sigfillset(&ours.sa_mask);
  if (sigaction(signal, &ours, nullptr) != 0) return;  // SIGKILL, SIGSTOP, those of the C library
  sigaddset(&caught_, signal);
  before_.emplace_back(signal, before);
}

std::optional<int> RunApart(const std::function<int()>& work) {
  Channel answer;
  pid_t child = -1;
  try {
    answer = MakePipe();
    child = fork();
  } catch (const Error&) {  // too many files are open
  }
  if (child < 0) return work();
  if (child == 0) {
    const int result = work();
    [[maybe_unused]] const ssize_t ignored = write(answer.job_end.get(), &result, sizeof result);
    _exit(0);
  }
  g_signal_state.child = child;
  answer.job_end.Close();
  int result = 0;
  ssize_t got;
  do {
    got = read(answer.our_end.get(), &result, sizeof result);
  } while (got < 0 && errno == EINTR);
  g_signal_state.child = 0;
  waitpid(child, nullptr, 0);
  return got == sizeof result ? std::optional(result) : std::nullopt;
}

JobResult RunJob(const Job& job, const JobSignals& signals, const std::function<void(std::string_view)>& tee) {
  JobResult result;
  Channel wake = MakePipe(O_CLOEXEC | O_NONBLOCK);
  g_signal_state.wake = wake.job_end.get();
  const bool as_one = SameFile(STDOUT_FILENO, STDERR_FILENO);
  Channel hold = MakePipe();
  Channel out = MakeChannel(STDOUT_FILENO);
  Channel err;
  if (!as_one) err = MakeChannel(STDERR_FILENO);
  Spawn(job, out.job_end.get(), as_one ? out.job_end.get() : err.job_end.get(), signals, &result);
  out.job_end.Close();
  err.job_end.Close();
  std::vector<Stream> streams;
  streams.emplace_back(std::move(out.our_end), STDOUT_FILENO, tee, &result);
  if (!as_one) streams.emplace_back(std::move(err.our_end), STDERR_FILENO, tee, &result);
  Relay(&streams, wake.our_end.get(), &result);
  result.relay = ForkRelay(std::move(hold), streams, signals);
  for (std::atomic<int>& pty : g_signal_state.pty) pty = 0;
  g_signal_state.wake = -1;
  for (Stream& stream : streams) stream.Finish();
  return result;
}

}  // namespace whyoom
