// The output contains whyoom's own workflow commands, and none from a log.
#include <string>
#include <vector>

#include "catch.h"
#include "clean_text.h"
#include "report/printers.h"
#include "runner_model.h"
#include "unit/report/made_report.h"

using namespace whyoom;

namespace TEST_FILE {

std::vector<RunnerCommand> CommandsOf(const Report& report, const std::string& source_root = "") {
  const std::string printed = PrintGithub(report, source_root);
  CHECK(IsClean(printed, "\n"));
  RunnerModel runner;
  std::vector<RunnerCommand> commands = runner.Read(printed);
  CHECK_FALSE(runner.stopped());
  return commands;
}

std::vector<std::string> NamesOf(const std::vector<RunnerCommand>& commands) {
  std::vector<std::string> names;
  for (const RunnerCommand& command : commands) names.push_back(command.name);
  return names;
}

std::size_t CountOf(const std::vector<RunnerCommand>& commands, const std::string& name) {
  std::size_t count = 0;
  for (const RunnerCommand& command : commands) count += command.name == name ? 1 : 0;
  return count;
}

TEST_CASE("the model of the runner finds the commands in hostile text", "[report]") {
  CHECK(NamesOf(RunnerModel().Read("a ::error::x\n  ::error::x\nb ##[Set-Env name=A]c\n::nothing::\n")) ==
        std::vector<std::string>{"error", "set-env"});
  CHECK(NamesOf(RunnerModel().Read("::stop-commands::T\n::error::x\nx ##[t]\n::group::g\n")) ==
        std::vector<std::string>{"group"});
  CHECK(NamesOf(RunnerModel().Read(kHostileText)) == std::vector<std::string>{"error", "set-env"});
}

TEST_CASE("a diagnosis annotates the user's line, and the step's log has the report", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.message = "50 % more,\nor so: it fails";
  SetSource("/home/user/job/a, b: 100%.py", 41, &failure);
  const Report report = MadeReport({failure});
  const std::vector<RunnerCommand> commands = CommandsOf(report, "/home/user/job");
  REQUIRE(NamesOf(commands) == std::vector<std::string>{"error", "group", "endgroup"});
  CHECK(commands[0].properties == std::map<std::string, std::string>{
                                      {"file", "a, b: 100%.py"}, {"line", "41"}, {"title", "T1.2 a test (jit_step)"}});
  CHECK(commands[0].data ==
        "T1  a test – too large\n    jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB usable (3.0 times)\n"
        "logs/train.log:7 · scenario 2\n\nMessage in the log\n  50 % more, or so: it fails\n\n"
        "top       size  what\n      2.00 GiB  a, b: 100%.py:41\n");
  CHECK(commands[1].data == "whyoom: 1 failure in 2 inputs");
  CHECK(PrintGithub(report, "").find("\n" + PrintText(report, TextOptions())) != std::string::npos);
  for (const Detail detail : {Detail::kBrief, Detail::kAll})
    CHECK(PrintGithub(report, "", detail).find("\n" + PrintText(report, {.detail = detail}) + "::") !=
          std::string::npos);
}

TEST_CASE("only files below the sources are annotated", "[report]") {
  const FailureRule rule = MadeFailure();
  const auto properties = [&](const std::string& source, std::int64_t line, const std::string& root) {
    Failure failure = MadeFailure(rule);
    SetSource(source, line, &failure);
    return CommandsOf(MadeReport({failure}), root).at(0).properties;
  };
  CHECK(properties("./src/train.py", 3, "").at("file") == "src/train.py");
  CHECK(properties("/home/user/job/train.py", 3, "").count("file") == 0);
  CHECK(properties("/home/user/job/train.py", 3, "/else").count("file") == 0);
  CHECK(properties("../train.py", 3, "").count("file") == 0);
  CHECK(properties("Cell In[3]", 3, "").count("file") == 0);
  CHECK(properties("train.py", 99999999999, "").count("file") == 0);
  CHECK(CommandsOf(MadeReport({MadeFailure(rule)})).at(0).properties.count("line") == 0);
}

TEST_CASE("log text cannot become a command", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({HostileFailure(rule), MadeFailure(rule)});
  report.problems = {{kHostileText, kHostileText, kHostileText}};
  const std::vector<RunnerCommand> commands = CommandsOf(report, kHostileText);
  CHECK(NamesOf(commands) == std::vector<std::string>{"error", "error", "warning", "group", "endgroup"});
  for (const RunnerCommand& command : commands) {
    for (const auto& [name, value] : command.properties) CHECK((name == "title" || name == "file" || name == "line"));
    CHECK(command.data.find("::error::x\n") == std::string::npos);
  }
}

TEST_CASE("the end token is derived from the report and not contained in it", "[report]") {
  const FailureRule rule = MadeFailure();
  const auto token = [](const std::string& printed) {
    const std::string stop = "::stop-commands::";
    const std::size_t begin = printed.find(stop) + stop.size();
    return printed.substr(begin, printed.find('\n', begin) - begin);
  };
  const std::string one = PrintGithub(MadeReport({MadeFailure(rule)}), "");
  CHECK(one == PrintGithub(MadeReport({MadeFailure(rule)}), ""));
  CHECK(token(one).size() == 64);
  CHECK(one.find(token(one), one.find(token(one)) + 1) == one.find("::" + token(one) + "::\n") + 2);

  // A log that contains the token of the previous report cannot end this one.
  Failure knowing = MadeFailure(rule);
  knowing.message = "##[" + token(one) + "] ::error::x";
  CHECK(token(PrintGithub(MadeReport({knowing}), "")) != token(one));
  CHECK(NamesOf(CommandsOf(MadeReport({knowing}))) == std::vector<std::string>{"error", "group", "endgroup"});
}

TEST_CASE("annotations stay within the limits of a step", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport(std::vector<Failure>(10, MadeFailure(rule)));
  CHECK(CountOf(CommandsOf(report), "error") == 10);
  report.failures.push_back(MadeFailure(rule));
  report.problems = std::vector<Problem>(10, Problem{"a.log", "", "cut short"});
  std::vector<RunnerCommand> commands = CommandsOf(report);
  CHECK(CountOf(commands, "error") == 10);
  CHECK(commands[9].data == "2 more failures: see the report in the log of this step");
  CHECK(CountOf(commands, "warning") == 10);
  CHECK(commands[19].data == "a.log: cut short");
  report.problems_left_out = 7;
  commands = CommandsOf(report);
  CHECK(CountOf(commands, "warning") == 10);
  CHECK(commands[19].data == "8 more; --format json lists them");

  Failure wordy = MadeFailure(rule);
  wordy.message = std::string(100000, '%');
  wordy.facts.Set("module", std::string(100000, 'm'), {}, true);
  wordy.where.artifact.path = std::string(4096, 'p');
  const RunnerCommand command = CommandsOf(MadeReport({wordy})).at(0);
  CHECK(command.data.size() <= 4000);
  CHECK(command.data.find("train.log") == std::string::npos);
  CHECK(command.data.find(":7 · scenario 2") != std::string::npos);
  CHECK(command.properties.at("title").size() <= 255);
}

TEST_CASE("if nothing is found there is a notice, and unread inputs are warnings", "[report]") {
  Report report = MadeReport({});
  std::vector<RunnerCommand> commands = CommandsOf(report);
  REQUIRE(commands.size() == 1);
  CHECK(commands[0].name == "notice");
  CHECK(commands[0].data == "No out-of-memory error found in 2 inputs");
  report.problems = {{"a.log", "", "no such file"}};
  commands = CommandsOf(report);
  CHECK(NamesOf(commands) == std::vector<std::string>{"warning", "notice", "group", "endgroup"});
}

}  // namespace TEST_FILE
