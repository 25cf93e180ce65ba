// When a retry of a failed job is known to be useless; in doubt it is not.
#include <csignal>
#include <string>
#include <vector>

#include "catch.h"
#include "cli/run_context.h"
#include "input/artifact.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

// A failure in lines 7 to 9.
Failure Made(const FailureRule& rule, Retry::Answer answer) {
  Failure failure = MadeFailure(rule);
  failure.retry.answer = answer;
  failure.tally.reports = 1;
  return failure;
}

// The verdict for a job that printed `lines` lines.
bool Fails(const std::vector<Failure>& failures, int exit_status = 1, std::uint64_t lines = 12) {
  return FailsAgain(MadeReport(failures), exit_status, lines, std::chrono::seconds{5});
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
  // The last report of the failure counts, even if the job survived an earlier one.
  never.tally.reports = 2;
  never.tally.AddPlace(never.where);
  never.tally.AddPlace({never.where.artifact, 100, 100, 999});
  CHECK(Fails({never}, 1, 600));
  CHECK_FALSE(Fails({never}, 1, 601));
}

TEST_CASE("a job that went on in silence did not end by the failure", "[cli]") {
  const FailureRule rule = MadeFailure();
  const Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  CHECK(FailsAgain(report, 1, 12, std::chrono::minutes{10}));
  CHECK_FALSE(FailsAgain(report, 1, 12, std::chrono::seconds{601}));
}

TEST_CASE("incomplete records of failures yield no verdict", "[cli]") {
  const FailureRule rule = MadeFailure();
  Failure never = Made(rule, Retry::Answer::kNever);
  never.tally.reports = 1000;
  never.tally.AddPlace(never.where);
  CHECK_FALSE(Fails({never}));
  Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  CHECK(FailsAgain(report, 1, 12, std::chrono::seconds{0}));
  report.reports_left_out["T1"] = 1;
  CHECK_FALSE(FailsAgain(report, 1, 12, std::chrono::seconds{0}));
}

TEST_CASE("an unknown memory error yields no verdict", "[cli]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  CHECK(FailsAgain(report, 1, 12, std::chrono::seconds{0}));
  report.problems.push_back(UnknownError(11, "RuntimeError: the arena is out of memory", 1));
  CHECK_FALSE(FailsAgain(report, 1, 12, std::chrono::seconds{0}));
}

}  // namespace TEST_FILE
