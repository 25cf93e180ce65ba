// When a retry of a failed job is known to be useless; in doubt it is not.
#include "cli/exit_retry.h"

#include <csignal>
#include <string>
#include <vector>

#include "catch.h"
#include "input/artifact.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

using std::chrono::minutes;
using std::chrono::seconds;

const PrintedLines::Time kBegin{std::chrono::hours{1}};

std::string Lines(std::size_t count) { return std::string(count, '\n'); }

// A failure in lines 7 to 9.
Failure Made(const FailureRule& rule, Retry::Answer answer) {
  Failure failure = MadeFailure(rule);
  failure.retry.answer = answer;
  failure.tally.reports = 1;
  return failure;
}

// The verdict for a job that printed `lines` lines at once and ended.
bool Fails(const std::vector<Failure>& failures, int exit_status = 1, std::size_t lines = 12) {
  PrintedLines printed;
  printed.Add(Lines(lines), kBegin);
  return FailsAgain(MadeReport(failures), exit_status, printed, kBegin);
}

TEST_CASE("a job will fail again only if all findings will recur", "[cli]") {
  const FailureRule rule = MadeFailure();
  const Failure never = Made(rule, Retry::Answer::kNever);
  const Failure maybe = Made(rule, Retry::Answer::kMaybe);
  const Failure unknown = Made(rule, Retry::Answer::kUnknown);
  CHECK(Fails({never}));
  CHECK(Fails({never, never}, 9));
  CHECK_FALSE(Fails({}));
  CHECK_FALSE(Fails({maybe}));
  CHECK_FALSE(Fails({unknown}));
  CHECK_FALSE(Fails({never, maybe}));
  CHECK_FALSE(Fails({unknown, never}));
  CHECK_FALSE(Fails({never}, 0));
}

TEST_CASE("a job ended from outside may succeed", "[cli]") {
  const FailureRule rule = MadeFailure();
  const Failure never = Made(rule, Retry::Answer::kNever);
  for (const int signal : {SIGTERM, SIGKILL, SIGINT, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2, SIGXCPU, 64}) {
    INFO(signal);
    CHECK_FALSE(Fails({never}, 128 + signal));
  }
  for (const int signal : {SIGABRT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGTRAP}) {
    INFO(signal);
    CHECK(Fails({never}, 128 + signal));
  }
  CHECK(Fails({never}, 255));  // sys.exit(-1)
  CHECK(Fails({never}, 128));
}

TEST_CASE("a failure that the job survived did not end it", "[cli]") {
  const FailureRule rule = MadeFailure();
  Failure never = Made(rule, Retry::Answer::kNever);
  CHECK(Fails({never}, 1, 9 + 500));
  CHECK_FALSE(Fails({never}, 1, 9 + 501));

  PrintedLines printed;
  printed.Add(Lines(9), kBegin);
  printed.Add(Lines(1), kBegin + minutes{9});
  CHECK(FailsAgain(MadeReport({never}), 1, printed, kBegin + minutes{9}));
  CHECK_FALSE(FailsAgain(MadeReport({never}), 1, printed, kBegin + minutes{10}));
  // The last report of the failure counts, even if the job survived an earlier one.
  never.tally.reports = 2;
  never.tally.AddPlace(never.where);
  never.tally.AddPlace({never.where.artifact, 10, 10, 99});
  CHECK(FailsAgain(MadeReport({never}), 1, printed, kBegin + minutes{12}));
  CHECK_FALSE(FailsAgain(MadeReport({never}), 1, printed, kBegin + minutes{19}));
}

TEST_CASE("incomplete records of failures yield no verdict", "[cli]") {
  const FailureRule rule = MadeFailure();
  Failure never = Made(rule, Retry::Answer::kNever);
  never.tally.reports = 1000;
  never.tally.AddPlace(never.where);
  CHECK_FALSE(Fails({never}));
  Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  PrintedLines printed;
  printed.Add(Lines(12), kBegin);
  CHECK(FailsAgain(report, 1, printed, kBegin));
  report.reports_left_out["T1"] = 1;
  CHECK_FALSE(FailsAgain(report, 1, printed, kBegin));
}

TEST_CASE("an unknown memory error yields no verdict", "[cli]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  PrintedLines printed;
  printed.Add(Lines(12), kBegin);
  CHECK(FailsAgain(report, 1, printed, kBegin));
  report.problems.push_back(UnknownError(11, "RuntimeError: the arena is out of memory", 1));
  CHECK_FALSE(FailsAgain(report, 1, printed, kBegin));
}

TEST_CASE("a failure followed by further steps did not end the job", "[cli]") {
  const FailureRule rule = MadeFailure();
  const Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  const auto fails = [&](const std::string& line, int times) {
    PrintedLines printed;
    printed.Add(Lines(9), kBegin);
    for (int i = 0; i < times; ++i) {
      const std::string text = line + std::to_string(i) + " loss=" + std::to_string(2.5 / (i + 1)) + "\n";
      printed.Add(text.substr(0, 5), kBegin);  // a pipe may split lines anywhere
      printed.Add(text.substr(5), kBegin);
    }
    return FailsAgain(report, 1, printed, kBegin);
  };
  CHECK(fails("step ", 11));
  CHECK_FALSE(fails("step ", 12));
  CHECK(fails("  File \"a.py\", line ", 100));  // a traceback
  PrintedLines same;
  same.Add(Lines(9), kBegin);
  for (int i = 0; i < 100; ++i) same.Add("the client is shut down\n", kBegin);
  CHECK(FailsAgain(report, 1, same, kBegin));
}

TEST_CASE("lines are counted by time, in bounded memory", "[cli]") {
  PrintedLines printed;
  CHECK(printed.CountBeforeWindow(kBegin) == 0);
  for (int second = 0; second < 3600; ++second) printed.Add("a\nb\nc", kBegin + seconds{second});
  CHECK(printed.count() == 7200);
  const PrintedLines::Time end = kBegin + seconds{3599};
  CHECK(printed.CountBeforeWindow(end) == 2 * 3000);
  CHECK(printed.CountBeforeWindow(end + minutes{5}) == 2 * 3300);
  CHECK(printed.CountBeforeWindow(end + minutes{11}) == 7200);
}

}  // namespace TEST_FILE
