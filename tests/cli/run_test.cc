// whyoom run: the job behaves as it would without whyoom, and a failure is explained.

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <thread>
#include <vector>

#include "catch.h"
#include "cli/dump_folder.h"
#include "input/archive/worker.h"
#include "process.h"

using nlohmann::json;
namespace fs = std::filesystem;

namespace TEST_FILE {

const std::string kPointsLog = std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/compile-padded-points/log";
const std::string kPrintLog = "cat '" + kPointsLog + "' >&2; exit 1";

ProcessResult RunShell(const std::string& script, std::vector<std::string> options = {}, const std::string& input = "",
                       const std::vector<std::string>& environment = {"XLA_FLAGS="}) {
  options.insert(options.begin(), "run");
  options.insert(options.end(), {"--", "/bin/sh", "-c", script});
  return RunWhyoom(options, input, ".", environment);
}

// Runs a command line in a terminal of 33 rows and 77 columns.
std::string InTerminal(const std::string& line, const std::string& folder) {
  const std::string script = "stty rows 33 cols 77; " + line;
  return RunProcess({"/usr/bin/script", "-qec", script, "/dev/null"}, "", folder).out;
}

bool HasScript() {
  if (access("/usr/bin/script", X_OK) == 0) return true;
  WARN("script(1) is missing: terminals are not tested");
  return false;
}

std::string Without(std::string text, char left_out) {
  text.erase(std::remove(text.begin(), text.end(), left_out), text.end());
  return text;
}

void WaitForFile(const std::string& path) {
  for (int i = 0; i < 1000 && !fs::exists(path); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  REQUIRE(fs::exists(path));
}

// Starts whyoom without waiting for it, with output in `folder`/out and err.
pid_t Start(const std::string& folder, const std::string& script) {
  const pid_t child = fork();
  REQUIRE(child >= 0);
  if (child == 0) {
    // The kernel only stops groups whose leader's parent is in the same session.
    setpgid(0, 0);
    const std::string shell =
        "exec '" WHYOOM_BINARY "' run -- /bin/sh -c '" + script + "' >'" + folder + "/out' 2>'" + folder + "/err'";
    execl("/bin/sh", "sh", "-c", shell.c_str(), nullptr);
    _exit(127);
  }
  return child;
}

int ExitStatus(pid_t child, rusage* used = nullptr) {
  int status = 0;
  rusage ignored;
  REQUIRE(wait4(child, &status, 0, used == nullptr ? &ignored : used) == child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST_CASE("run returns the job's exit status", "[cli]") {
  CHECK(RunShell("exit 0").exit_status == 0);
  CHECK(RunShell("exit 1").exit_status == 1);
  CHECK(RunShell("exit 77").exit_status == 77);
  CHECK(RunShell("kill -KILL $$").exit_status == 137);
  CHECK(RunShell("kill -SEGV $$").exit_status == 139);

  const ProcessResult missing = RunWhyoom({"run", "--", "/no/such/program"});
  CHECK(missing.exit_status == 127);
  CHECK(missing.err == "whyoom: cannot run /no/such/program: No such file or directory\n");
  CHECK(RunWhyoom({"run", "no-such-program-anywhere"}).exit_status == 127);
  const ScratchFolder scratch;
  const std::string text = scratch.Write("text", "no program");
  CHECK(RunWhyoom({"run", "--", text}).exit_status == 126);
  CHECK(RunWhyoom({"run", "--", scratch.path()}).exit_status == 126);
}

TEST_CASE("run parses its own options and passes on the job's", "[cli]") {
  CHECK(RunWhyoom({"run", "--", "echo", "--format", "x", "--", "y"}).out == "--format x -- y\n");
  CHECK(RunWhyoom({"run", "echo", "--no-dump", "-x"}).out == "--no-dump -x\n");
  CHECK(RunWhyoom({"run", "--format", "json", "--no-dump", "echo", "--format"}).out == "--format\n");
  CHECK(RunWhyoom({"run", "--format=json", "echo", "x"}).out == "x\n");
  CHECK(RunWhyoom({"run", "--", "--no-dump"}).exit_status == 127);
  const ProcessResult nothing = RunWhyoom({"run", "--no-dump", "--"});
  CHECK(nothing.exit_status == 2);
  CHECK(nothing.err.find("missing command") != std::string::npos);
  CHECK(RunWhyoom({"run"}).exit_status == 2);
  CHECK(RunWhyoom({"run", "--no-such-option", "--", "true"}).exit_status == 2);
  CHECK(RunWhyoom({"run", "--rules", "/no/such/rules.json", "--", "echo", "started"}).out.empty());
  const ProcessResult help = RunWhyoom({"run", "--help"});
  CHECK(help.exit_status == 0);
  CHECK(help.out.find("--no-dump") != std::string::npos);
}

TEST_CASE("run passes input and output through, byte for byte", "[cli]") {
  std::string bytes;
  for (int i = 0; i < 300000; ++i) bytes += static_cast<char>(i * 7 % 256);
  bytes += "no line feed at the end";
  const ScratchFolder scratch;
  const std::string file = scratch.Write("bytes", bytes);
  const ProcessResult printed = RunShell("cat '" + file + "'; cat '" + file + "' >&2");
  CHECK(printed.exit_status == 0);
  CHECK((printed.out == bytes));
  CHECK((printed.err == bytes));
  CHECK((RunWhyoom({"run", "cat"}, bytes).out == bytes));

  const ProcessResult turns =
      RunShell("i=0; while [ $i -lt 200 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done; printf end");
  CHECK(turns.out.find("out 0\nout 1\nout 2\n") == 0);
  CHECK(turns.out.substr(turns.out.size() - 11) == "out 199\nend");
  CHECK(turns.err.find("err 0\nerr 1\nerr 2\n") == 0);
}

TEST_CASE("run keeps the order of two streams with the same destination", "[cli]") {
  std::string expected;
  for (int i = 0; i < 500; ++i) expected += "out " + std::to_string(i) + "\nerr " + std::to_string(i) + "\n";
  const std::string script = "i=0; while [ $i -lt 500 ]; do echo out $i; echo err $i >&2; i=$((i+1)); done";
  const ProcessResult result = RunProcess({"/bin/sh", "-c", "'" WHYOOM_BINARY "' run -- sh -c '" + script + "' 2>&1"});
  CHECK(result.out == expected);
}

TEST_CASE("run passes output through immediately", "[cli]") {
  const ScratchFolder scratch;
  const std::string go = scratch.path() + "/go";
  const pid_t child = Start(scratch.path(), "printf early; while ! [ -e \"" + go + "\" ]; do sleep 0.02; done");
  for (int i = 0; i < 1000; ++i) {
    if (fs::exists(scratch.path() + "/out") && fs::file_size(scratch.path() + "/out") > 0) break;
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(ReadText(scratch.path() + "/out") == "early");
  scratch.Write("go", "");
  CHECK(ExitStatus(child) == 0);
}

TEST_CASE("run explains a failure on standard error, and is silent otherwise", "[cli]") {
  const std::string log = ReadText(kPointsLog);
  const ProcessResult failed = RunShell(kPrintLog);
  CHECK(failed.exit_status == 1);
  CHECK(failed.out.empty());
  REQUIRE(failed.err.substr(0, log.size()) == log);
  const std::string failure = failed.err.substr(log.size());
  CHECK(failure.substr(0, 7) == "\nE1000 ");
  CHECK(failure.find("output line 41 of: sh ") != std::string::npos);
  CHECK(failure.find("Move tiny dimensions off the last axis") != std::string::npos);
  CHECK(failure.find('\x1b') == std::string::npos);

  const ProcessResult passed = RunShell("cat '" + kPointsLog + "' >&2");
  CHECK(passed.exit_status == 0);
  CHECK(passed.err == log);
  CHECK(RunShell("echo something else >&2; exit 3").err == "something else\n");
  // Also from standard output, with an incomplete last line.
  CHECK(RunShell("printf '%s' \"$(cat '" + kPointsLog + "')\"; exit 9").err.find("E1000") != std::string::npos);
}

TEST_CASE("run separates the lines of two streams that print parts of lines", "[cli]") {
  const std::string half =
      "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was ";
  const std::string rest = "not possible. There are 6.43M free.; (0x0x1_HBM0)";
  const ProcessResult result =
      RunShell("printf '%s' '" + half + "' >&2; sleep 0.1; printf 'step 1: '; sleep 0.1; echo '" + rest +
                   "' >&2; echo loss; exit 1",
               {"--format", "json"});
  CHECK(result.out == "step 1: loss\n");
  const std::size_t report = result.err.find("{\n");
  REQUIRE(report != std::string::npos);
  CHECK(json::parse(result.err.substr(report))["diagnoses"][0]["facts"]["free_bytes"].is_number());
}

TEST_CASE("run writes the report of a failed job to --output", "[cli]") {
  const ScratchFolder scratch;
  const std::string target = scratch.path() + "/report.json";
  const std::vector<std::string> options = {"--format", "json", "--output", target};
  const ProcessResult failed = RunShell(kPrintLog, options);
  CHECK(failed.exit_status == 1);
  CHECK(failed.err == ReadText(kPointsLog));
  const json report = json::parse(ReadText(target));
  CHECK(report["diagnoses"].at(0)["code"] == "E1000");
  CHECK(report["diagnoses"][0]["where"]["line"] == 41);
  CHECK(report["diagnoses"][0]["where"]["path"] == "run: sh ...");
  CHECK(report["summary"]["bytes"] == ReadText(kPointsLog).size());
  RunShell("exit 4", options);
  CHECK(json::parse(ReadText(target))["diagnoses"].empty());
  CHECK(json::parse(ReadText(target))["run"] == json({{"exit_status", 4}}));
  // A job that succeeded leaves a record, which `whyoom diff` accepts as evidence, and prints nothing more.
  CHECK(RunShell("exit 0", options).err.empty());
  CHECK(json::parse(ReadText(target))["run"] == json({{"exit_status", 0}}));
  CHECK(RunShell("exit 0", {"--format", "markdown=" + target}).err.empty());
  CHECK(ReadText(target).find("No out-of-memory error found") != std::string::npos);
}

TEST_CASE("run does not start a job whose report could not be written", "[cli]") {
  const ScratchFolder scratch;
  const std::string missing = scratch.path() + "/no/report";
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--output", missing}, {"--format", "json=" + missing}, {"--output", scratch.path()}}) {
    const ProcessResult result = RunShell("echo started", options);
    INFO(options.back());
    CHECK(result.exit_status == 2);
    CHECK(result.out.empty());
    CHECK(result.err.find("whyoom: ") == 0);
  }
  CHECK_FALSE(fs::exists(missing));
}

TEST_CASE("run prints a report that cannot be written, and keeps the exit status", "[cli]") {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path() + "/gone");
  const std::string gone = scratch.path() + "/gone/report";
  const std::string job = "rm -r '" + scratch.path() + "/gone'; cat '" + kPointsLog + "' >&2; exit 9";
  for (const std::vector<std::string>& options : std::vector<std::vector<std::string>>{
           {"--output", gone}, {"--format", "json=" + gone}, {"--output", "/dev/full", "--format", "json=/dev/full"}}) {
    fs::create_directory(scratch.path() + "/gone");
    const ProcessResult result = RunShell(job, options);
    INFO(options[1]);
    CHECK(result.exit_status == 9);
    CHECK(result.err.find("whyoom: cannot write " + (options.size() > 2 ? "/dev/full" : gone)) != std::string::npos);
    CHECK(result.err.find("1000") != std::string::npos);
  }
  CHECK(RunShell(kPrintLog, {"--output", "/dev/full", "--exit-retry", "42"}).exit_status == 42);
  const ProcessResult file = RunWhyoom({"--output", "/dev/full", kPointsLog});
  CHECK(file.exit_status == 2);
  CHECK(file.out.find("E1000") == 0);
}

TEST_CASE("run adds a dump folder to XLA_FLAGS and changes nothing else", "[cli]") {
  const ScratchFolder scratch;
  const std::string show = "printf '[%s]' \"$XLA_FLAGS\"; printf %s \"${LIBTPU_INIT_ARGS-unset}\"";
  const auto flags = [&](const std::string& set, const std::vector<std::string>& options = {}) {
    const std::string out = RunShell(show, options, "", {"TMPDIR=" + scratch.path(), "XLA_FLAGS=" + set}).out;
    CHECK(out.substr(out.rfind(']') + 1) == "unset");
    return out.substr(1, out.rfind(']') - 1);
  };
  const std::string added = "--xla_dump_to=" + scratch.path() + "/whyoom-dump-";
  CHECK(flags("").substr(0, added.size()) == added);
  const std::string set = "  --xla_a=\"x y\"  --xla_b ";
  CHECK(flags(set).substr(0, set.size() + 1 + added.size()) == set + " " + added);
  CHECK(flags(set, {"--no-dump"}) == set);
  for (const std::string users :
       {"--xla_dump_to=/d --xla_b", "--xla_b --xla_dump_to /d", "--xla_dump_to=", "/a/flag/file"})
    CHECK(flags(users) == users);
  CHECK(fs::is_empty(scratch.path()));

  const ProcessResult unset = RunProcess({"/usr/bin/env", "-u", "XLA_FLAGS", WHYOOM_BINARY, "run", "--no-dump", "--",
                                          "/bin/sh", "-c", "echo ${XLA_FLAGS-unset}"});
  CHECK(unset.out == "unset\n");
}

TEST_CASE("the value of --xla_dump_to is parsed as XLA does", "[cli]") {
  using whyoom::DumpFlag;
  CHECK_FALSE(DumpFlag(""));
  CHECK_FALSE(DumpFlag("--xla_dump_to_not=/a --other='--xla_dump_to=/b'"));
  CHECK(DumpFlag("--xla_dump_to=/a") == "/a");
  CHECK(DumpFlag("--x\t--xla_dump_to=/a\n--y") == "/a");
  CHECK(DumpFlag("--xla_dump_to=\"/a b\" --y") == "/a b");
  CHECK(DumpFlag("--xla_dump_to='/a b'") == "/a b");
  CHECK(DumpFlag("--xla_dump_to=/a --xla_dump_to=/b") == "/b");
  CHECK(DumpFlag("--xla_dump_to /a") == "/a");
  CHECK(DumpFlag("--xla_dump_to") == "");
}

TEST_CASE("run reads the dump, and removes only its own folder", "[cli]") {
  const std::string dumped = std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/dump-padded-points";
  if (!fs::exists(dumped + "/log")) {
    WARN("no case with a dump");
    return;
  }
  const ScratchFolder scratch;
  const std::string users = scratch.path() + "/users";
  fs::create_directory(users);
  const std::string job = "for flag in $XLA_FLAGS; do folder=${flag#--xla_dump_to=}; done; find '" + dumped +
                          "' -name 'module_*' -exec cp {} \"$folder\" \\; ; cat '" + dumped + "/log' >&2; exit 1";
  const auto rows = [](const std::string& err) {
    return json::parse(err.substr(err.find("{\n")))["diagnoses"].at(0)["allocations"].size();
  };
  const std::string in_scratch = "TMPDIR=" + scratch.path();
  const auto entries = [&] { return std::distance(fs::directory_iterator(scratch.path()), fs::directory_iterator()); };

  CHECK(rows(RunShell(job, {"--format", "json"}, "", {in_scratch, "XLA_FLAGS="}).err) > 0);
  CHECK(entries() == 1);
  CHECK(rows(RunShell(job, {"--format", "json"}, "", {in_scratch, "XLA_FLAGS=--xla_dump_to=" + users}).err) > 0);
  CHECK(entries() == 1);
  CHECK_FALSE(fs::is_empty(users));
  // The dump of an earlier run is not used.
  for (const auto& file : fs::directory_iterator(users))
    fs::last_write_time(file, fs::file_time_type::clock::now() - std::chrono::hours(1));
  CHECK(rows(RunShell("cat '" + dumped + "/log' >&2; exit 1", {"--format", "json"}, "",
                      {in_scratch, "XLA_FLAGS=--xla_dump_to=" + users})
                 .err) == 0);
}

TEST_CASE("run does not suggest itself if the job wrote no dump", "[cli]") {
  const std::string job =
      "cat '" + std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/compile-short-message/log' >&2; exit 1";
  const ProcessResult result = RunShell(job, {}, "", {"XLA_FLAGS="});
  CHECK(result.err.find("This run wrote no dump") != std::string::npos);
  CHECK(result.err.find("Start the job with whyoom run") == std::string::npos);
  const ScratchFolder scratch;
  const ProcessResult named = RunWhyoom(
      {"--xla-dump", scratch.path(), std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/compile-short-message/log"});
  CHECK(named.out.find("This run wrote no dump") != std::string::npos);
}

TEST_CASE("the job of run still has a terminal", "[cli]") {
  if (!HasScript()) return;
  const ScratchFolder scratch;
  scratch.Write(
      "show.sh",
      "for i in 0 1 2; do [ -t $i ] && echo terminal $i; done; stty size; stty size <&1; printf 'a\\nb\\n'\n");
  CHECK(InTerminal("'" WHYOOM_BINARY "' run -- sh show.sh", scratch.path()) ==
        InTerminal("sh show.sh", scratch.path()));
  CHECK(Without(InTerminal("'" WHYOOM_BINARY "' run -- sh show.sh", scratch.path()), '\r') ==
        "terminal 0\nterminal 1\nterminal 2\n33 77\n33 77\na\nb\n");
  InTerminal("'" WHYOOM_BINARY "' run -- sh show.sh 2>err >out", scratch.path());
  CHECK(ReadText(scratch.path() + "/out").find("terminal 0\n33 77\n") == 0);
  InTerminal("'" WHYOOM_BINARY "' run -- sh show.sh >out", scratch.path());
  CHECK(ReadText(scratch.path() + "/out").find("terminal 0\nterminal 2\n") == 0);
  // The diagnosis has the width and colors of the terminal.
  scratch.Write("fail.sh", kPrintLog);
  const std::string failure =
      InTerminal("TERM=xterm '" WHYOOM_BINARY "' run -- sh fail.sh; echo status $?", scratch.path());
  CHECK(failure.find("\x1b[") != std::string::npos);
  CHECK(failure.find("status 1\r\n") != std::string::npos);
}

TEST_CASE("Ctrl-C in a terminal reaches the job once", "[cli]") {
  if (!HasScript()) return;
  const ScratchFolder scratch;
  // The job and the typing script wait for each other's files, for at most 30 seconds, so that a slow machine changes
  // nothing. The typing script ends last, because script(1) ends with its input. The shell that starts whyoom receives
  // the Ctrl-C too. It has a trap, because Ctrl-C would end dash; the job does not inherit the trap.
  const std::string wait =
      "wait_for() { n=0; while ! [ -e \"$1\" ] && [ $n -lt 600 ]; do sleep 0.05; n=$((n + 1)); done; }; ";
  scratch.Write("job.sh", wait +
                              "trap 'echo interrupted; : >got' INT; echo ready; : >ready; wait_for go; "
                              "echo line: \"$(head -n 1)\"; exit 5\n");
  const std::string typing = wait +
                             "{ wait_for ready; sleep 0.2; printf '\\003'; wait_for got; sleep 0.3; : >go; echo typed; "
                             "wait_for done; sleep 0.2; }";
  const ProcessResult result = RunProcess({"/bin/sh", "-c",
                                           typing + " | script -qec \"trap : INT; '" WHYOOM_BINARY
                                                    "' run -- sh job.sh; echo status \\$?; : >done\" /dev/null"},
                                          "", scratch.path());
  const std::string out = Without(result.out, '\r');
  INFO(out);
  const std::size_t first = out.find("interrupted\n");
  REQUIRE(first != std::string::npos);
  CHECK(out.find("interrupted\n", first + 1) == std::string::npos);
  CHECK(out.find("line: typed\n") != std::string::npos);
  CHECK(out.find("status 5\n") != std::string::npos);
}

TEST_CASE("run forwards signals", "[cli]") {
  for (const auto& [signal, name] :
       {std::pair(SIGTERM, "TERM"), std::pair(SIGINT, "INT"), std::pair(SIGHUP, "HUP"), std::pair(SIGUSR1, "USR1"),
        std::pair(SIGUSR2, "USR2"), std::pair(SIGQUIT, "QUIT"), std::pair(SIGXCPU, "XCPU"), std::pair(SIGALRM, "ALRM"),
        std::pair(SIGVTALRM, "VTALRM"), std::pair(SIGPROF, "PROF"), std::pair(SIGSYS, "SYS"), std::pair(SIGIO, "IO"),
        std::pair(SIGABRT, "ABRT"), std::pair(64, "64")}) {
    const ScratchFolder scratch;
    INFO(name);
    const std::string ready = scratch.path() + "/ready";
    const pid_t child = Start(scratch.path(), "trap \"echo got it; exit 7\" " + std::string(name) + "; : >\"" + ready +
                                                  "\"; while :; do sleep 0.02; done");
    WaitForFile(ready);
    kill(child, signal);
    CHECK(ExitStatus(child) == 7);
    CHECK(ReadText(scratch.path() + "/out") == "got it\n");
  }
  const ScratchFolder scratch;
  const pid_t child = Start(scratch.path(), ": >\"" + scratch.path() + "/ready\"; exec sleep 60");
  WaitForFile(scratch.path() + "/ready");
  kill(child, SIGTERM);
  CHECK(ExitStatus(child) == 128 + SIGTERM);
}

TEST_CASE("run stops and continues together with its job", "[cli]") {
  const ScratchFolder scratch;
  const pid_t child =
      Start(scratch.path(), "echo $$ >\"" + scratch.path() + "/pid\"; trap \"echo continued; exit 6\" CONT; : >\"" +
                                scratch.path() + "/ready\"; while :; do sleep 0.02; done");
  WaitForFile(scratch.path() + "/ready");
  const std::string stat = "/proc/" + Without(ReadText(scratch.path() + "/pid"), '\n') + "/stat";
  kill(child, SIGTSTP);
  int status = 0;
  REQUIRE(waitpid(child, &status, WUNTRACED) == child);
  CHECK(WIFSTOPPED(status));
  // The job received the signal too; the kernel decides when it takes effect.
  bool stopped = false;
  for (int i = 0; i < 500 && !stopped; ++i) {
    stopped = ReadText(stat).find(") T ") != std::string::npos;
    if (!stopped) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
  CHECK(stopped);
  kill(child, SIGCONT);
  CHECK(ExitStatus(child) == 6);
  CHECK(ReadText(scratch.path() + "/out") == "continued\n");
}

TEST_CASE("ignored signals stay ignored for the job", "[cli]") {
  const std::string script = "trap '' HUP PIPE; exec '" WHYOOM_BINARY "' run -- sh -c 'grep SigIgn /proc/$$/status'";
  const std::string out = RunProcess({"/bin/sh", "-c", script}).out;
  const std::string direct =
      RunProcess({"/bin/sh", "-c", "trap '' HUP PIPE; exec sh -c 'grep SigIgn /proc/$$/status'"}).out;
  CHECK(out == direct);
  CHECK(RunShell("grep SigIgn /proc/$$/status").out ==
        RunProcess({"/bin/sh", "-c", "grep SigIgn /proc/$$/status"}).out);
}

TEST_CASE("closing the output ends the job as it would without whyoom", "[cli]") {
  const std::string line = "'" WHYOOM_BINARY "' run -- yes | head -n 1; echo ${PIPESTATUS[0]}";
  const ProcessResult result = RunProcess({"/bin/bash", "-c", line});
  CHECK(result.out == "y\n141\n");
  CHECK(result.err.empty());
}

TEST_CASE("processes that outlive the job do not delay run", "[cli]") {
  const auto start = std::chrono::steady_clock::now();
  const ScratchFolder scratch;
  CHECK(ExitStatus(Start(scratch.path(), "sleep 30 & echo done; exit 3")) == 3);
  CHECK(ExitStatus(Start(scratch.path(), "(for i in $(seq 99); do echo again; sleep 0.1; done) & exit 4")) == 4);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(15));
}

TEST_CASE("processes that a job leaves keep their output and are not waited for", "[cli]") {
  for (const char* status : {"0", "3"}) {
    const ScratchFolder scratch;
    const std::string job =
        "(while ! [ -e go ]; do sleep 0.02; done; echo late; echo later; : >done) & exit " + std::string(status);
    const std::string script = "cd '" + scratch.path() + "'; '" WHYOOM_BINARY "' run -- sh -c '" + job +
                               "' >out; echo $?; : >go; n=0; while ! [ -e done ] && [ $n -lt 600 ]; do sleep 0.05; "
                               "n=$((n + 1)); done; sleep 0.2; cat out";
    CHECK(RunProcess({"/bin/sh", "-c", script}).out == status + std::string("\nlate\nlater\n"));
  }
}

TEST_CASE("what processes print after a failed job follows the report", "[cli]") {
  const ScratchFolder scratch;
  Start(scratch.path(),
        "(sleep 0.2; cat " + kPointsLog + "; sleep 1.3; echo late; : >" + scratch.path() + "/done) & exit 3");
  WaitForFile(scratch.path() + "/done");
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  const std::string out = ReadText(scratch.path() + "/out");
  CHECK(out.substr(out.size() - 5) == "late\n");
}

TEST_CASE("only the first and last lines of a long output are kept in memory", "[cli]") {
  if (whyoom::kSanitized) return;  // AddressSanitizer keeps freed memory
  const auto most_memory = [](const std::string& script, std::size_t expected) {
    const ScratchFolder scratch;
    rusage used{};
    const pid_t child = Start(scratch.path(), script);
    CHECK(ExitStatus(child, &used) == 1);
    CHECK(fs::file_size(scratch.path() + "/out") == expected);
    return used.ru_maxrss;  // KiB
  };
  const std::string line = "step 1 of a long job that prints figures now and then";
  constexpr long kKept = 64 * 1024;  // KiB, see JobLog
  const std::size_t most = 200'000'000;
  const long small = most_memory("echo; exit 1", 1);
  const long large = most_memory("yes " + line + " | head -c " + std::to_string(most) + "; exit 1", most);
  const long one_line = most_memory("tr \"\\\\000\" x </dev/zero | head -c " + std::to_string(most) + "; exit 1", most);
  CHECK(large < small + kKept + 32 * 1024);
  CHECK(one_line < small + kKept + 32 * 1024);
}

// Reading this output takes far longer than printing it.
std::string PrintSlowToRead(int megabytes) {
  return "yes RESOURCE_EXHAUSTED HBM memory allocate out of Ran out of | head -c " + std::to_string(megabytes) +
         "000000; touch printed; ";
}

TEST_CASE("the job's output is read only after a failure", "[cli]") {
  const auto seconds = [](int status) {
    const ScratchFolder scratch;
    rusage used{};
    CHECK(ExitStatus(Start(scratch.path(),
                           "cd " + scratch.path() + "; " + PrintSlowToRead(10) + "exit " + std::to_string(status)),
                     &used) == status);
    return static_cast<double>(used.ru_utime.tv_sec) + static_cast<double>(used.ru_utime.tv_usec) / 1e6;
  };
  CHECK(2 * seconds(0) < seconds(1));
}

TEST_CASE("run returns the job's status even if the diagnosis is killed", "[cli]") {
  const ScratchFolder scratch;
  const pid_t child = Start(scratch.path(), "cd " + scratch.path() + "; " + PrintSlowToRead(60) + "exit 5");
  WaitForFile(scratch.path() + "/printed");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // otherwise the job would be killed
  const std::string pid = std::to_string(child);
  kill(std::stoi(ReadText("/proc/" + pid + "/task/" + pid + "/children")), SIGKILL);
  CHECK(ExitStatus(child) == 5);
  CHECK(ReadText(scratch.path() + "/err").find("whyoom: the diagnosis crashed or was killed\n") != std::string::npos);
}

TEST_CASE("after a failure a signal stops reading, and run returns the job's status", "[cli]") {
  const ScratchFolder scratch;
  const pid_t child =
      Start(scratch.path(), "cat " + kPointsLog + " >&2; cd " + scratch.path() + "; " + PrintSlowToRead(60) + "exit 5");
  WaitForFile(scratch.path() + "/printed");
  std::this_thread::sleep_for(std::chrono::milliseconds(500));  // otherwise the job would receive the signal
  const auto sent = std::chrono::steady_clock::now();
  kill(child, SIGTERM);
  CHECK(ExitStatus(child) == 5);
  CHECK(std::chrono::steady_clock::now() - sent < std::chrono::seconds(3));  // one second on an idle machine
  const std::string err = ReadText(scratch.path() + "/err");
  CHECK(err.find("interrupted; the rest was not read") != std::string::npos);
  CHECK(err.find("E1000") != std::string::npos);  // failures so far
}

}  // namespace TEST_FILE
