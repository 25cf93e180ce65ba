// SARIF for code scanning is valid by its schema, has the right locations, and respects GitHub's limits.
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "clean_text.h"
#include "process.h"
#include "report/formatting.h"
#include "report/printers.h"
#include "unit/report/made_report.h"

using namespace whyoom;
using nlohmann::json;

namespace TEST_FILE {

// Returns the only run of a report.
json RunOf(const Report& report, const std::string& source_root = "") {
  const std::string printed = PrintSarif(report, source_root);
  CHECK(IsClean(printed, "\n"));
  const json log = json::parse(printed);
  REQUIRE(log["runs"].size() == 1);
  return log["runs"][0];
}

json PhysicalLocation(const std::string& uri, int line, bool below_root) {
  json artifact = {{"uri", uri}};
  if (below_root) artifact["uriBaseId"] = "%SRCROOT%";
  return {{"artifactLocation", artifact}, {"region", {{"startLine", line}}}};
}

const json& Notifications(const json& run) { return run["invocations"][0]["toolExecutionNotifications"]; }

TEST_CASE("a diagnosis is a result under a rule that explains it", "[report]") {
  const FailureRule rule = MadeFailure();
  Remedy smaller;
  smaller.id = "smaller";
  smaller.title = "Make it smaller";
  smaller.gain = "Much.";
  Remedy away = smaller;
  away.id = "away";
  away.title = "Take it away";
  Failure failure = MadeFailure(rule);
  RankedRemedy halve;
  halve.rank = 1;
  halve.remedy = &smaller;
  halve.saves_bytes = 1073741824;
  halve.enough = false;
  halve.how = {"Halve it"};
  halve.safety = smaller.safety;
  halve.safe_why = smaller.safe_why;
  failure.remedies.push_back(std::move(halve));
  failure.ruled_out.push_back({&away, "it is needed"});
  for (const char* host : {"rank1", "rank2", "rank3"}) failure.tally.hosts.Add(host);
  const json run = RunOf(MadeReport({failure, MadeFailure(rule, "1123456789abcdef")}));

  CHECK(run["tool"]["driver"]["name"] == "whyoom");
  CHECK(run["tool"]["driver"]["version"] == "1.2.3");
  REQUIRE(run["tool"]["driver"]["rules"].size() == 1);
  const json& described = run["tool"]["driver"]["rules"][0];
  CHECK(described["id"] == "T1.2");
  CHECK(described["shortDescription"]["text"] == "a test – too large");
  CHECK(described["fullDescription"]["text"] == "It is `too_large` by far.");
  CHECK(described["helpUri"] == "https://example.org/t1");
  CHECK(described["help"]["text"] == "It is `too_large` by far.\n\nwhyoom explain T1.2");

  REQUIRE(run["results"].size() == 2);
  const json& result = run["results"][0];
  CHECK(result["ruleId"] == "T1.2");
  CHECK(result["level"] == "error");
  CHECK(result["partialFingerprints"] == json({{"whyoom/v1", "0123456789abcdef"}}));
  CHECK(result["occurrenceCount"] == 4);
  CHECK(result["message"]["text"] ==
        "T1  a test – too large\n    jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB usable (3.0 times)\n"
        "logs/train.log:7 · scenario 2 · reported by 4 processes\n\nMessage in the log\n  out of memory\n\n"
        "do    1  Make it smaller\n         saves about 1.00 GiB · does not fit alone · changes training\n"
        "         → Halve it\n");
}

TEST_CASE("an undecided scenario has a rule of its own", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure open = MadeFailure(rule);
  open.scenario = nullptr;
  open.candidates = {&rule.scenarios.front()};
  const json run = RunOf(MadeReport({MadeFailure(rule), open}));
  CHECK(run["tool"]["driver"]["rules"][0]["id"] == "T1");
  CHECK(run["tool"]["driver"]["rules"][0]["shortDescription"]["text"] == "a test");
}

TEST_CASE("an alert is at the user's line if that is below the sources, else in the log", "[report]") {
  const FailureRule rule = MadeFailure();
  const json log = {{"artifactLocation", {{"uri", "logs/train.log"}}}, {"region", {{"startLine", 7}, {"endLine", 9}}}};
  const auto result = [&](const std::string& source, const std::string& root) {
    Failure failure = MadeFailure(rule);
    SetSource(source, 41, &failure);
    return RunOf(MadeReport({failure}), root)["results"][0];
  };
  for (const auto& [source, root] :
       std::vector<std::pair<std::string, std::string>>{{"src/train.py", ""},
                                                        {"/home/user/job/src/train.py", "/home/user/job"},
                                                        {"/home/user/job/src/train.py", "/home/user/job/"}}) {
    INFO(source << " below " << root);
    const json below = result(source, root);
    CHECK(below["locations"][0]["physicalLocation"] == PhysicalLocation("src/train.py", 41, true));
    CHECK(below["relatedLocations"][0]["physicalLocation"] == log);
  }
  for (const std::string root : {"", "/elsewhere"}) {
    INFO(root);
    const json elsewhere = result("/home/user/job/src/train.py", root);
    CHECK(elsewhere["locations"][0]["physicalLocation"] == log);
    const json source = PhysicalLocation("file:///home/user/job/src/train.py", 41, false);
    CHECK(elsewhere["relatedLocations"][0]["physicalLocation"] == source);
  }
  const json unknown = RunOf(MadeReport({MadeFailure(rule)}))["results"][0];
  CHECK(unknown["locations"][0]["physicalLocation"] == log);
  CHECK_FALSE(unknown.contains("relatedLocations"));
}

TEST_CASE("failures in logs, archives and standard input have locations", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.where = {{"/home/user/job/logs.tar", "a/train.log"}, 7, 7, 0};
  for (const Where& where : {failure.where, Where{{"-", ""}, 3, 3, 0}, Where{{"./a b", ""}, 5, 5, 0}})
    failure.tally.AddPlace(where);
  failure.tally.reports = 3;
  const json result = RunOf(MadeReport({failure}), "/home/user/job")["results"][0];
  CHECK(result["locations"][0]["physicalLocation"] == PhysicalLocation("logs.tar", 7, true));
  CHECK(result["message"]["text"].get<std::string>().find("logs.tar › a/train.log:7") != std::string::npos);
  REQUIRE(result["relatedLocations"].size() == 2);
  CHECK(result["relatedLocations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "-");
  CHECK(result["relatedLocations"][1]["physicalLocation"] == PhysicalLocation("a%20b", 5, false));
}

TEST_CASE("a log outside of the sources is named by its path", "[report]") {
  const FailureRule rule = MadeFailure();
  const auto artifact_of = [&](const std::string& path) {
    Failure failure = MadeFailure(rule);
    failure.where.artifact.path = path;
    const json run = RunOf(MadeReport({failure}), "/home/user/job");
    return run["results"][0]["locations"][0]["physicalLocation"]["artifactLocation"];
  };
  CHECK(artifact_of("/srv/logs/run1/a.log") == json({{"uri", "file:///srv/logs/run1/a.log"}}));
  CHECK(artifact_of("/home/user/job/c.log") == json({{"uri", "c.log"}, {"uriBaseId", "%SRCROOT%"}}));
  CHECK(artifact_of("../../logs/a.log") == json({{"uri", "../../logs/a.log"}}));
}

TEST_CASE("file names become URIs byte for byte", "[report]") {
  CHECK(PathUri("a/b-c_d.e~f") == "a/b-c_d.e~f");
  CHECK(PathUri("/a b#c?d%e") == "file:///a%20b%23c%3Fd%25e");
  CHECK(PathUri("c:/d") == "c%3A/d");  // not a scheme
  CHECK(PathUri("\xc3\xa4\x01\xff\\\n") == "%C3%A4%01%FF%5C%0A");
  CHECK(PathUri("").empty());
}

TEST_CASE("messages contain no placeholders and only our own links", "[report]") {
  CHECK(SarifText("f32[8](x) {0} }") == "f32[8] (x) {{0}} }}");
  CHECK(SarifText("[a](b)[](c)") == "[a] (b)[] (c)");
}

TEST_CASE("log text cannot become markup in SARIF", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({HostileFailure(rule)});
  report.problems = {{kHostileText, kHostileText, kHostileText}, {"", "", kHostileText, true}};
  const json run = RunOf(report, kHostileText);
  const std::string text = run["results"][0]["message"]["text"];
  CHECK(text.find("](") == std::string::npos);
  CHECK(text.find("{{0}}") != std::string::npos);
  const json& result = run["results"][0];
  const auto uri = [](const json& location) -> std::string {
    return location["physicalLocation"]["artifactLocation"]["uri"];
  };
  CHECK(uri(result["locations"][0]).starts_with("%3A%3Aerror%3A%3Ax%20"));         // as in the log, printable
  CHECK(uri(result["relatedLocations"][0]).starts_with("%3A%3Aerror%3A%3Ax%0A"));  // as in the file system
  const std::string allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/%";
  CHECK(uri(result["locations"][0]).find_first_not_of(allowed) == std::string::npos);
  CHECK(uri(result["relatedLocations"][0]).find_first_not_of(allowed) == std::string::npos);
}

TEST_CASE("unread inputs are notifications, and the run fails only if nothing was read", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report = MadeReport({});
  json run = RunOf(report);
  CHECK(run["results"] == json::array());
  CHECK(run["invocations"] == json({{{"executionSuccessful", true}}}));

  report.problems = {{"a.log", "", "no such file"}, {"lists", "", "too many", true}};
  report.problems_left_out = 3;
  run = RunOf(report);
  CHECK(run["invocations"][0]["executionSuccessful"] == true);
  REQUIRE(Notifications(run).size() == 3);
  CHECK(Notifications(run)[0]["level"] == "warning");
  CHECK(Notifications(run)[0]["message"]["text"] == "a.log: no such file");
  CHECK(Notifications(run)[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"] == "a.log");
  CHECK(Notifications(run)[1]["level"] == "warning");
  CHECK_FALSE(Notifications(run)[1].contains("locations"));
  CHECK(Notifications(run)[2]["message"]["text"] == "3 more; --format json lists them");

  report.artifacts = 0;
  CHECK(RunOf(report)["invocations"][0]["executionSuccessful"] == false);
}

TEST_CASE("SARIF respects the limits of code scanning and reports what is left out", "[report]") {
  const FailureRule rule = MadeFailure();
  Report report;
  for (int i = 0; i < 5100; ++i) report.failures.push_back(MadeFailure(rule, std::to_string(i)));
  for (int i = 0; i < 90; ++i)
    report.failures[0].tally.AddPlace({{"a.log", ""}, 10, 10, static_cast<std::uint64_t>(i)});
  const json run = json::parse(PrintSarif(report, ""))["runs"][0];
  CHECK(run["results"].size() == 5000);
  CHECK(run["results"][0]["relatedLocations"].size() == 10);
  CHECK(Notifications(run)[0]["message"]["text"].get<std::string>().starts_with("100 more failures are left out"));
}

TEST_CASE("SARIF of incompressible text is within the size limit", "[report][slow]") {
  const FailureRule rule = MadeFailure();
  Report report;
  std::uint32_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    Failure failure = MadeFailure(rule, std::to_string(i));
    std::string noise;
    for (int j = 0; j < 4000; ++j)
      noise += static_cast<char>('0' + (state = state * 1664525 + 1013904223) % 2654435761 % 75);
    failure.message = noise;
    failure.where.artifact.path = noise;
    report.failures.push_back(failure);
  }
  const ScratchFolder scratch;
  const std::string path = scratch.Write("report.sarif", PrintSarif(report, ""));
  const ProcessResult packed = RunProcess({"/bin/sh", "-c", "gzip -c '" + path + "' | wc -c"});
  REQUIRE(packed.exit_status == 0);
  CHECK(std::stoul(packed.out) > 1'000'000);  // it is indeed incompressible
  CHECK(std::stoul(packed.out) < 10'000'000);
}

}  // namespace TEST_FILE
