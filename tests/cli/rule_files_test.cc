// Where rule files come from, and how a report names them.
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

using nlohmann::json;

const std::string kLog = "the flux pool of ours is full: 2.00G\n";

// A failure that matches kLog, with this title.
std::string Rule(const std::string& title) {
  return R"({"format": "whyoom.rules/1", "failures": [{"code": "flux", "title": ")" + title +
         R"(", "category": "Ours", "phase": "run", "heads": ["the flux pool of ours is full"],
         "examples": [{"text": "the flux pool of ours is full: 2.00G"}]}]})";
}

bool Holds(const std::string& text, const std::string& part) {
  UNSCOPED_INFO(text);
  return text.find(part) != std::string::npos;
}

std::string TitleIn(const ProcessResult& result) {
  const json report = json::parse(result.out);
  return report["diagnoses"].empty() ? "" : report["diagnoses"][0]["title"].get<std::string>();
}

ProcessResult Diagnose(const std::vector<std::string>& options, const std::string& variable = "") {
  std::vector<std::string> arguments = options;
  arguments.insert(arguments.end(), {"--format", "json", "-"});
  return RunWhyoom(arguments, kLog, ".", {"WHYOOM_RULES=" + variable});
}

TEST_CASE("later rule files override earlier ones, and the report names all", "[cli]") {
  const ScratchFolder scratch;
  const std::string team = scratch.Write("team.json", Rule("of the team"));
  const std::string user = scratch.Write("user.json", Rule("of the user"));
  const std::string last = scratch.Write("last.json", Rule("of the command"));
  CHECK(TitleIn(Diagnose({})) == "");
  CHECK_FALSE(json::parse(Diagnose({}).out)["tool"].contains("rule_files"));
  CHECK(TitleIn(Diagnose({}, team)) == "of the team");
  CHECK(TitleIn(Diagnose({}, team + "::" + user)) == "of the user");
  const ProcessResult all = Diagnose({"--rules", last}, team + ":" + user);
  CHECK(TitleIn(all) == "of the command");
  CHECK(json::parse(all.out)["tool"]["rule_files"] == json::array({team, user, last}));
  CHECK(Diagnose({}, scratch.path() + "/none").exit_status == 2);
}

TEST_CASE("every format names the rule files", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("ours.json", Rule("of ours"));
  for (const std::string format : {"text", "json", "ndjson", "markdown", "html", "sarif", "junit"}) {
    const ProcessResult result = RunWhyoom({"--rules", "ours.json", "--format", format, "-"}, kLog, scratch.path());
    CAPTURE(format);
    CHECK(Holds(result.out, "ours.json"));
  }
}

TEST_CASE("faulty files of WHYOOM_RULES do not prevent a job from running", "[cli]") {
  const ScratchFolder scratch;
  const std::string faulty = scratch.Write("ours.json", "{");
  const ProcessResult run = RunWhyoom({"run", "--", "/bin/echo", "done"}, "", ".", {"WHYOOM_RULES=" + faulty});
  CHECK(run.exit_status == 0);
  CHECK(run.out == "done\n");
  CHECK(Holds(run.err, "ours.json"));
  CHECK(Diagnose({}, faulty).exit_status == 2);
  CHECK(RunWhyoom({"run", "--rules", faulty, "--", "/bin/echo", "done"}).exit_status == 2);
}

TEST_CASE("the rule file in the help is valid", "[cli]") {
  const ScratchFolder scratch;
  const std::string help = RunWhyoom({"rules", "--help"}, "").out;
  const std::size_t begin = help.find("{\"format\"");
  REQUIRE(begin != std::string::npos);
  const std::string file = scratch.Write("help.json", help.substr(begin));
  const ProcessResult check = RunWhyoom({"rules", "check", file}, "");
  INFO(check.out);
  CHECK(check.exit_status == 0);
}

TEST_CASE("rules list shows the origin of entries, by section", "[cli]") {
  const ScratchFolder scratch;
  const std::string ours = scratch.Write("ours.json", Rule("of ours"));
  const std::vector<std::string> variable = {"WHYOOM_RULES=" + ours};
  const std::string more = scratch.Write(
      "more.json",
      R"({"format": "whyoom.rules/1", "disable": ["failures/gpu.oom"], "chips": [{"id": "mine", "limits": ["9G"]}]})");
  const ProcessResult text = RunWhyoom({"rules", "list", "chips", "failures", more}, "", ".", variable);
  CHECK(text.exit_status == 0);
  CHECK(Holds(text.out, "of ours"));
  CHECK(Holds(text.out, "from " + ours.substr(0, 20)));
  CHECK(Holds(text.out, "disabled by " + more.substr(0, 20)));
  CHECK(text.out.find("remedies") == std::string::npos);
  const ProcessResult same = RunWhyoom({"rules", "list", "chips", "failures", "--rules", more}, "", ".", variable);
  CHECK(same.out == text.out);
  const json list = json::parse(RunWhyoom({"rules", "list", "--format", "json", "chips", more}, "", ".", variable).out);
  bool found = false;
  for (const json& entry : list["entries"]) {
    CHECK(entry["section"] == "chips");
    found = found || (entry["id"] == "mine" && Holds(entry["changes"].dump(), "from " + more));
  }
  CHECK(found);
}

TEST_CASE("a faulty rule file yields status 2", "[cli]") {
  const ScratchFolder scratch;
  const std::string file =
      scratch.Write("bad.json", R"({"format": "whyoom.rules/1", "disable": ["remedies/nothing"]})");
  for (const std::vector<std::string>& arguments : std::vector<std::vector<std::string>>{
           {"rules", "check", file}, {"rules", "test", file}, {"rules", "list", file}, {"--rules", file, "-"}}) {
    const ProcessResult result = RunWhyoom(arguments, "x\n");
    CHECK(result.exit_status == 2);
    CHECK(Holds(result.out + result.err, "bad.json:1:42: 'remedies/nothing' does not name a built-in entry"));
  }
}

}  // namespace TEST_FILE
