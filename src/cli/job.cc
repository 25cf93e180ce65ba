#include "cli/job.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pthread.h>
#include <sys/ioctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>
#ifdef __APPLE__
#include <util.h>
#else
#include <pty.h>
#include <sys/prctl.h>
#endif

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <fstream>

#include "input/error.h"
#include "report/failure_view.h"
#include "text/numbers.h"

namespace whyoom {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::size_t kReadAtOnce = std::size_t{64} << 10;
// A pipe or terminal that poll() reports as writable accepts this much without blocking (PIPE_BUF).
constexpr std::size_t kWriteAtOnce = 4096;
constexpr std::size_t kLongestLine = std::size_t{1} << 20;
constexpr std::chrono::milliseconds kSilence{1000};
constexpr std::chrono::milliseconds kGrace{5000};
constexpr std::chrono::milliseconds kMillisecond{1};

constexpr bool IsStop(int signal) { return signal == SIGTSTP || signal == SIGTTIN || signal == SIGTTOU; }

[[noreturn]] void Fail(const char* doing) { throw Error(std::string(doing) + ": " + std::strerror(errno)); }

struct Channel {
  Descriptor our_end;  // whyoom reads the job's output here
  Descriptor job_end;  // the job writes it here
};

Channel MakePipe() {
  int ends[2];
  if (pipe(ends) != 0) Fail("cannot create a pipe");
  for (const int end : ends) fcntl(end, F_SETFD, FD_CLOEXEC);
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

// Makes a pseudo terminal with the settings of `stream` if that is a terminal, else a pipe.
Channel MakeChannel(int stream) {
  termios settings{};
  winsize size{};
  int ours = -1;
  int jobs = -1;
  if (tcgetattr(stream, &settings) != 0) return MakePipe();
  settings.c_oflag &= ~static_cast<tcflag_t>(OPOST);  // the real terminal does the output processing
  ioctl(stream, TIOCGWINSZ, &size);
  if (openpty(&ours, &jobs, nullptr, &settings, &size) != 0) return MakePipe();  // the system has none left
  for (const int end : {ours, jobs}) fcntl(end, F_SETFD, FD_CLOEXEC);
  return {Descriptor(ours), Descriptor(jobs)};
}

bool SameFile(int one, int other) {
  struct stat a {};
  struct stat b {};
  return fstat(one, &a) == 0 && fstat(other, &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

// Passes on one output stream of the job. Never blocks on a slow reader, which may be waiting for the other stream.
class Stream {
 public:
  Stream(Descriptor source, int sink, const std::function<void(std::string_view)>& tee, JobResult* result)
      : source_(std::move(source)), sink_(sink), tee_(tee), result_(result) {}

  bool ended() const { return !source_.is_open() && pending_.empty(); }
  bool pending() const { return !pending_.empty(); }

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

  // Gives a pseudo terminal the size of the terminal.
  void CopyWindowSize() const {
    winsize size{};
    if (ioctl(sink_, TIOCGWINSZ, &size) == 0) ioctl(source_.get(), TIOCSWINSZ, &size);
  }

  void Finish() {
    source_.Close();
    if (!partial_line_.empty()) tee_(partial_line_ + "\n");
  }

 private:
  void Read() {
    buffer_.resize(kReadAtOnce);
    const ssize_t got = read(source_.get(), buffer_.data(), buffer_.size());
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) return;
    if (got <= 0) return source_.Close();  // a pseudo terminal reports EIO if its other side is closed
    pending_ = std::string_view(buffer_).substr(0, static_cast<std::size_t>(got));
    // Passes whole lines to the tee, so that lines of the two streams do not mix.
    const std::size_t end = pending_.rfind('\n') + 1;  // 0 if there is none
    partial_line_ += pending_.substr(0, end);
    if (end > 0 || partial_line_.size() > kLongestLine) {
      tee_(partial_line_);
      partial_line_.clear();
    }
    partial_line_ += pending_.substr(end);
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
      result_->undelivered = std::strerror(errno);
      pending_ = {};
    }
  }

  Descriptor source_;
  const int sink_;
  const std::function<void(std::string_view)>& tee_;
  JobResult* const result_;
  std::string buffer_;
  std::string_view pending_;
  std::string partial_line_;
};

using Streams = std::vector<Stream>;

bool AnyPending(const Streams& streams) {
  return std::any_of(streams.begin(), streams.end(), std::mem_fn(&Stream::pending));
}
bool AllEnded(const Streams& streams) {
  return std::all_of(streams.begin(), streams.end(), std::mem_fn(&Stream::ended));
}

// Waits until a stream or the descriptor is ready, and serves the streams. Returns the result of poll().
int ServeReady(Streams* streams, int descriptor, int timeout) {
  std::vector<pollfd> wanted = {{descriptor, POLLIN, 0}};
  for (const Stream& stream : *streams) wanted.push_back(stream.Wanted());
  const int ready = poll(wanted.data(), wanted.size(), timeout);
  for (std::size_t i = 1; ready > 0 && i < wanted.size(); ++i) {
    if (wanted[i].revents != 0) (*streams)[i - 1].Serve();
  }
  return ready;
}

struct Caught {
  int signal;
  bool child_received_it;  // if the child is in our process group
};

// State of the signal handler. SIGPIPE and SIGXFSZ stay ignored, because our own writes cause them.
std::atomic<int> g_caught{-1};  // write end of a pipe
std::atomic<bool> g_has_child{false};
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<bool>::is_always_lock_free);

void CatchSignal(int signal, siginfo_t* info, void* /*context*/) {
  const int error = errno;
  // Signals from the kernel come from the terminal, which sends them to the whole foreground group.
  const Caught caught{signal, info->si_code > 0 && g_has_child};
  [[maybe_unused]] const ssize_t ignored = write(g_caught, &caught, sizeof caught);
  errno = error;
}

// Stops this process as if the signal had not been caught, so that the kernel decides whether it may stop.
void StopByDefault(int signal) {
  struct sigaction usual {};
  struct sigaction ours {};
  usual.sa_handler = SIG_DFL;
  sigaction(signal, &usual, &ours);
  raise(signal);  // the process stops and continues here
  sigaction(signal, &ours, nullptr);
}

// Sends the caught signals to `child`. Returns whether there were any.
bool ForwardSignals(const JobSignals& signals, pid_t child, const Streams& streams) {
  bool any = false;
  for (Caught caught{}; read(signals.pipe(), &caught, sizeof caught) == sizeof caught; any = true) {
    // The job may have received SIGWINCH before its pseudo terminal had the new size.
    const bool is_resize = caught.signal == SIGWINCH;
    if (is_resize) std::for_each(streams.begin(), streams.end(), std::mem_fn(&Stream::CopyWindowSize));
    const bool is_known = caught.child_received_it && !is_resize && getpgid(child) == getpgrp();
    if (caught.signal != SIGCHLD && !is_known) kill(child, caught.signal);
    if (IsStop(caught.signal)) StopByDefault(caught.signal);
  }
  return any;
}

// Serves the streams and forwards signals until the child and its output have ended (see RunJob). Returns the status
// that waitpid() reports.
int Attend(pid_t child, const JobSignals& signals, Streams* streams) {
  int status = 0;
  std::optional<Clock::time_point> last;  // when to stop reading; nullopt: the child runs
  while (!last || !AllEnded(*streams)) {
    // All output that was read is delivered, even to a slow reader. The timeout ends only the wait for more output.
    int timeout = -1;
    if (last && !AnyPending(*streams)) {
      const Clock::duration left = *last - Clock::now();
      if (left <= Clock::duration::zero()) break;
      // A job that succeeded is not diagnosed, so the rest of its output is not needed.
      timeout = status == 0 ? 0 : static_cast<int>(std::min<Clock::duration>(left, kSilence) / kMillisecond);
    }
    if (ServeReady(streams, last ? -1 : signals.pipe(), timeout) == 0) break;
    if (!last && ForwardSignals(signals, child, *streams) && waitpid(child, &status, WNOHANG) != 0)
      last = Clock::now() + kGrace;
  }
  return status;
}

// Replaces this process, in which signals are blocked, by the command, or writes the errno to `failed`.
[[noreturn]] void ExecJob(const Job& job, int out, int err, int failed, const JobSignals& signals,
                          const sigset_t& mask) {
  for (const auto& [name, value] : job.variables) setenv(name.c_str(), value.c_str(), 1);
  signals.Restore();
  std::signal(SIGXFSZ, SIG_DFL);
  std::signal(SIGPIPE, job.ignore_broken_pipe ? SIG_IGN : SIG_DFL);
  dup2(out, STDOUT_FILENO);
  dup2(err, STDERR_FILENO);
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  execvp(job.command[0].c_str(), Pointers(job.command).data());
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = write(failed, &error, sizeof error);
  _exit(error == ENOENT ? 127 : 126);
}

// Starts the job and returns its process.
pid_t Spawn(const Job& job, int out, int err, const JobSignals& signals, JobResult* result) {
  Channel failed = MakePipe();
  [[maybe_unused]] const pid_t self = getpid();
  sigset_t all;
  sigset_t mask;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &mask);
  const pid_t child = fork();
  if (child == 0) {
#ifdef __linux__
    // If whyoom is killed, kill the job too; otherwise it would continue unseen.
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    if (getppid() != self) _exit(128 + SIGKILL);
#endif
    ExecJob(job, out, err, failed.job_end.get(), signals, mask);
  }
  const int error = errno;
  g_has_child = child > 0;
  sigdelset(&mask, SIGCHLD);  // which our parent may have blocked
  pthread_sigmask(SIG_SETMASK, &mask, nullptr);
  errno = error;
  if (child < 0) Fail("cannot start a process");
  failed.job_end.Close();
  int problem = 0;
  ssize_t got;
  do {
    got = read(failed.our_end.get(), &problem, sizeof problem);
  } while (got < 0 && errno == EINTR);
  if (got == sizeof problem) result->problem = std::strerror(problem);
  return child;
}

// Forks a process that passes on what child processes of the job print after the job has ended. Their output stays
// open, and whyoom can exit at once. The process begins when the returned descriptor is closed, at the latest when
// whyoom ends, so that the diagnosis comes first.
Descriptor ForkRelay(Channel hold, Streams* streams, const JobSignals& signals) {
  if (AllEnded(*streams)) return Descriptor();
  if (fork() != 0) return std::move(hold.job_end);
  signals.Restore();
  hold.job_end.Close();
  char none;
  while (read(hold.our_end.get(), &none, 1) < 0) {
  }
  while (!AllEnded(*streams)) ServeReady(streams, -1, -1);
  _exit(0);
}

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

std::vector<char*> Pointers(const std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (const std::string& text : texts) pointers.push_back(const_cast<char*>(text.c_str()));
  pointers.push_back(nullptr);
  return pointers;
}

JobSignals::JobSignals() {
  Channel caught = MakePipe();
  for (const Descriptor* end : {&caught.our_end, &caught.job_end}) fcntl(end->get(), F_SETFL, O_NONBLOCK);
  pipe_ = std::move(caught.our_end);
  g_has_child = false;
  g_caught = caught.job_end.Release();
  for (int signal = 1; signal < NSIG; ++signal) {
    struct sigaction before {};
    struct sigaction ours {};
    if (sigaction(signal, nullptr, &before) != 0) continue;
    if (before.sa_handler != SIG_DFL && signal != SIGCHLD && signal != SIGWINCH) continue;
    const bool is_fault = signal == SIGSEGV || signal == SIGBUS || signal == SIGFPE || signal == SIGILL;
    ours.sa_sigaction = CatchSignal;
    ours.sa_flags = SA_SIGINFO | SA_RESTART | SA_NOCLDSTOP | (is_fault ? SA_RESETHAND : 0);  // our own happens again
    sigfillset(&ours.sa_mask);
    if (sigaction(signal, &ours, nullptr) == 0) before_.emplace_back(signal, before);  // not SIGKILL and the like
  }
}

JobSignals::~JobSignals() {
  Restore();
  close(g_caught.exchange(-1));
}

void JobSignals::Restore(bool only_stops) const {
  for (const auto& [signal, before] : before_) {
    if (!only_stops || IsStop(signal)) sigaction(signal, &before, nullptr);
  }
}

std::optional<int> RunApart(const JobSignals& signals, const std::function<int()>& work) {
  const pid_t child = fork();
  if (child < 0) return work();
  if (child == 0) {
    signals.Restore(true);
    g_caught = -1;  // ignores the other signals
    _exit(work());
  }
  Streams none;
  const int status = Attend(child, signals, &none);
  return WIFEXITED(status) ? std::optional(WEXITSTATUS(status)) : std::nullopt;
}

JobResult RunJob(const Job& job, const JobSignals& signals, const std::function<void(std::string_view)>& tee) {
  JobResult result;
  const bool as_one = SameFile(STDOUT_FILENO, STDERR_FILENO);
  Channel hold = MakePipe();
  Channel out = MakeChannel(STDOUT_FILENO);
  Channel err;
  if (!as_one) err = MakeChannel(STDERR_FILENO);
  const pid_t child = Spawn(job, out.job_end.get(), (as_one ? out : err).job_end.get(), signals, &result);
  out.job_end.Close();
  err.job_end.Close();
  Streams streams;
  streams.emplace_back(std::move(out.our_end), STDOUT_FILENO, tee, &result);
  if (!as_one) streams.emplace_back(std::move(err.our_end), STDERR_FILENO, tee, &result);
  const int status = Attend(child, signals, &streams);
  result.exit_status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
  result.relay = ForkRelay(std::move(hold), &streams, signals);
  for (Stream& stream : streams) stream.Finish();
  return result;
}

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
