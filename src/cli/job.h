// Runs a command with its output passed through, as if it had been started without us.
//
// - Standard input, process group, session and controlling terminal stay the job's own: typing, Ctrl-C, Ctrl-Z, job
//   control and /dev/tty need no help of ours, and a signal to the whole group reaches the job as it always did.
// - Only standard output and standard error are taken: where ours is a terminal, the job gets a pseudo terminal of the
//   same size and settings for it, which alters no byte, else a pipe. Where both of ours are the same file, both of the
//   job's are the same, too, and their order is kept.
//   What is lost against script(1), which puts the job into a session of its own: a program that changes the settings
//   of its terminal through its standard output (curses) changes those of the pseudo terminal. What is won: nothing
//   that is typed ahead is eaten, Ctrl-Z works, and a job in the background stays in the background.
// - Signals to this process alone are forwarded. One that the terminal sent to the whole group is not sent twice.
#pragma once

#include <csignal>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {

struct Job {
  std::vector<std::string> command;      // looked up in PATH; not empty
  std::vector<std::string> environment;  // "NAME=value", all of it
  bool ignore_broken_pipe = false;       // start it with SIGPIPE ignored
};

struct JobResult {
  int exit_status = 0;              // as a shell tells it: 128 + the signal, 127 not found, 126 cannot be run
  std::string problem;              // why it could not be started; empty where it ran
  bool line_open = false;           // the last line passed on had no line feed
  std::uint64_t undelivered = 0;    // bytes that could not be written (a full disk; a reader that went away is none)
  std::string undelivered_because;  // of the first of them
};

// Catches what is to be forwarded, for as long as it lives; those signals that this process was started to ignore stay
// ignored. One that comes before the job is there is kept for it; one after its end is dropped, so that what was made
// for the job can be cleared away. One object at a time.
class JobSignals {
 public:
  JobSignals();
  ~JobSignals() { Restore(); }
  JobSignals(const JobSignals&) = delete;
  JobSignals& operator=(const JobSignals&) = delete;

  // Handles them as before this object was.
  void Restore() const;

  const sigset_t& caught() const { return caught_; }

 private:
  void Catch(int signal);

  std::vector<std::pair<int, struct sigaction>> before_;
  sigset_t caught_;
};

// Runs `job` to its end. `tee` gets what it prints, both streams as one, whole lines in the order of arrival (only
// lines beyond 1 MiB come in pieces), from the calling thread; it may wait. Processes that outlive the job and hold its
// output do not: what is there is passed on, then they are waited for for a second of silence, 5 seconds in all.
// Throws Error where the system has no pipe or process left. Not to be called from two threads at once.
JobResult RunJob(const Job& job, const JobSignals& signals, const std::function<void(std::string_view)>& tee);

}  // namespace whyoom
