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

TEST_CASE("rule files come from the option or else the variable, and the report names all", "[cli]") {
  const ScratchFolder scratch;
  const std::string team = scratch.Write("team.json", Rule("of the team"));
  const std::string chip =
      scratch.Write("chip.json", R"({"format": "whyoom.rules/1", "chips": [{"id": "mine", "limits": ["9G"]}]})");
  const std::string last = scratch.Write("last.json", Rule("of the command"));
  CHECK(TitleIn(Diagnose({})) == "");
  CHECK_FALSE(json::parse(Diagnose({}).out)["tool"].contains("rule_files"));
  const ProcessResult both = Diagnose({}, team + ":" + chip);
  CHECK(TitleIn(both) == "of the team");
  CHECK(json::parse(both.out)["tool"]["rule_files"] == json::array({team, chip}));
  const ProcessResult option = Diagnose({"--rules", last}, team);
  CHECK(TitleIn(option) == "of the command");
  CHECK(json::parse(option.out)["tool"]["rule_files"] == json::array({last}));
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
  const ProcessResult text = RunWhyoom({"rules", "list", more}, "", ".", variable);
  CHECK(text.exit_status == 0);
  CHECK(Holds(text.out, "of ours"));
  CHECK(Holds(text.out, "from " + ours.substr(0, 20)));
  CHECK(Holds(text.out, "disabled by " + more.substr(0, 20)));
  CHECK(RunWhyoom({"rules", "list", "--rules", ours, "--rules", more}).out == text.out);
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
