// When a retry of a failed job is known to be useless; in doubt it is not.
#include <csignal>
#include <string>
#include <vector>

#include "catch.h"
#include "diagnose/report.h"
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

bool Fails(const std::vector<Failure>& failures, int exit_status = 1) {
  Report report = MadeReport(failures);
  report.exit_status = exit_status;
  return FailsAgain(report);
}

TEST_CASE("a job will fail again only if all findings will recur", "[diagnose]") {
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

TEST_CASE("a job ended from outside may succeed", "[diagnose]") {
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

TEST_CASE("a failure that the job may have survived did not end it", "[diagnose]") {
  const FailureRule rule = MadeFailure();
  Failure survived = Made(rule, Retry::Answer::kNever);
  survived.may_have_recovered = true;
  CHECK_FALSE(Fails({survived}));
  CHECK_FALSE(Fails({Made(rule, Retry::Answer::kNever), survived}));
}

TEST_CASE("failures that were left out yield no verdict", "[diagnose]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  report.exit_status = 1;
  CHECK(FailsAgain(report));
  report.reports_left_out["T1"] = 1;
  CHECK_FALSE(FailsAgain(report));
}

TEST_CASE("an unknown memory error yields no verdict", "[diagnose]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({Made(rule, Retry::Answer::kNever)});
  report.exit_status = 1;
  CHECK(FailsAgain(report));
  report.problems.push_back(UnknownError(11, "RuntimeError: the arena is out of memory", 1));
  CHECK_FALSE(FailsAgain(report));
}

}  // namespace TEST_FILE
