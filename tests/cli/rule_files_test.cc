// Where rule files come from, which are not trusted, and how a report names them.
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

namespace fs = std::filesystem;
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

// A project with rules, in a git repository.
struct Project {
  Project() {
    fs::create_directories(root() + "/.git");
    fs::create_directories(rules());
    fs::create_directories(root() + "/a/b");
    for (const fs::path& path : {fs::path(root()) / ".whyoom", fs::path(rules())})
      fs::permissions(path, fs::perms(0755));
    Write("ours.json", Rule("of the project"));
  }
  std::string root() const { return scratch.path(); }
  std::string rules() const { return root() + "/.whyoom/rules"; }
  void Write(const std::string& name, const std::string& text) const {
    fs::permissions(scratch.Write(".whyoom/rules/" + name, text), fs::perms(0644));
  }
  // Diagnoses kLog in `folder`.
  ProcessResult Read(const std::vector<std::string>& options = {}, const std::string& folder = "/a/b",
                     const std::vector<std::string>& environment = {}) const {
    std::vector<std::string> arguments = options;
    arguments.insert(arguments.end(), {"--format", "json", "-"});
    return RunWhyoom(arguments, kLog, root() + folder, environment);
  }
  ScratchFolder scratch;
};

std::string TitleIn(const ProcessResult& result) {
  const json report = json::parse(result.out);
  return report["diagnoses"].empty() ? "" : report["diagnoses"][0]["title"].get<std::string>();
}

TEST_CASE("a project's rules are used in all of its folders, and named in the report", "[cli]") {
  const Project project;
  for (const std::string folder : {"", "/a", "/a/b"}) {
    const ProcessResult result = project.Read({}, folder);
    CHECK(TitleIn(result) == "of the project");
    CHECK(result.err == "");
    const json tool = json::parse(result.out)["tool"];
    CHECK(tool["rule_files"] == json::array({".whyoom/rules/ours.json"}));
    CHECK(tool["rules"].get<std::string>().size() == 64);
  }
  CHECK(TitleIn(project.Read({"--no-project-rules"})) == "");
  CHECK_FALSE(json::parse(project.Read({"--no-project-rules"}).out)["tool"].contains("rule_files"));
  fs::create_directories(project.root() + "/a/.git");  // another repository
  CHECK(TitleIn(project.Read({}, "/a/b")) == "");
}

TEST_CASE("later rule files override earlier ones", "[cli]") {
  const Project project;
  const std::string team = project.scratch.Write("team.json", Rule("of the team"));
  const std::string user = project.scratch.Write("user.json", Rule("of the user"));
  const std::string last = project.scratch.Write("last.json", Rule("of the command"));
  const std::vector<std::string> variable = {"WHYOOM_RULES=" + team + "::" + user};
  CHECK(TitleIn(project.Read({}, "/a", {"WHYOOM_RULES=" + team})) == "of the team");
  CHECK(TitleIn(project.Read({}, "/a", variable)) == "of the user");
  const ProcessResult all = project.Read({"--rules", last}, "/a", variable);
  CHECK(TitleIn(all) == "of the command");
  CHECK(json::parse(all.out)["tool"]["rule_files"].size() == 4);
  CHECK(project.Read({}, "/a", {"WHYOOM_RULES=" + project.root() + "/none"}).exit_status == 2);
}

TEST_CASE("a rule file that is named twice is read once", "[cli]") {
  const Project project;
  const std::string own = project.rules() + "/ours.json";
  const ProcessResult result = project.Read({"--rules", own});
  CHECK(json::parse(result.out)["tool"]["rule_files"] == json::array({own}));
  CHECK(RunWhyoom({"rules", "check", own}, "", project.root()).exit_status == 0);
}

TEST_CASE("untrusted rules are ignored with a warning", "[cli]") {
  const auto expect_ignored = [](const Project& project, const std::string& why) {
    const ProcessResult result = project.Read();
    CHECK(result.exit_status == 0);
    CHECK(TitleIn(result) == "");
    CHECK(Holds(result.err, "ignored the project's rules"));
    CHECK(Holds(result.err, why));
  };
  SECTION("a file writable by others") {
    const Project project;
    fs::permissions(project.rules() + "/ours.json", fs::perms(0646));
    expect_ignored(project, "ours.json: writable by others");
  }
  SECTION("a folder writable by others") {
    const Project project;
    fs::permissions(project.rules(), fs::perms(0777));
    expect_ignored(project, "rules: writable by others");
  }
  SECTION("the outer folder") {
    const Project project;
    fs::permissions(project.root() + "/.whyoom", fs::perms(0757));
    expect_ignored(project, ".whyoom: writable by others");
  }
  SECTION("a link") {
    const Project project;
    fs::rename(project.rules(), project.root() + "/elsewhere");
    fs::create_directory_symlink(project.root() + "/elsewhere", project.rules());
    expect_ignored(project, "not a folder, or a symbolic link");
  }
  SECTION("a file that is a link") {
    const Project project;
    fs::create_symlink(project.rules() + "/ours.json", project.rules() + "/more.json");
    expect_ignored(project, "more.json: not a folder, or a symbolic link");
  }
  SECTION("a file of another user") {
    const Project project;
    if (geteuid() != 0 || chown((project.rules() + "/ours.json").c_str(), 12345, 12345) != 0) return;
    expect_ignored(project, "owned by another user (12345)");
  }
}

TEST_CASE("every format names the rule files", "[cli]") {
  const Project project;
  for (const std::string format : {"text", "json", "ndjson", "markdown", "html", "sarif", "junit"}) {
    const ProcessResult result = RunWhyoom({"--format", format, "-"}, kLog, project.root());
    CAPTURE(format);
    CHECK(Holds(result.out, ".whyoom/rules/ours.json"));
  }
}

TEST_CASE("faulty project rules do not prevent a job from running", "[cli]") {
  const Project project;
  project.Write("ours.json", "{");
  const ProcessResult run = RunWhyoom({"run", "--", "/bin/echo", "done"}, "", project.root());
  CHECK(run.exit_status == 0);
  CHECK(run.out == "done\n");
  CHECK(Holds(run.err, "ours.json"));
  CHECK(project.Read().exit_status == 2);
  const std::string named = project.rules() + "/ours.json";
  CHECK(RunWhyoom({"run", "--rules", named, "--", "/bin/echo", "done"}, "", project.root()).exit_status == 2);
}

TEST_CASE("the rule file in the help is valid", "[cli]") {
  const Project project;
  const std::string help = RunWhyoom({"rules", "--help"}, "").out;
  const std::size_t begin = help.find("{\"format\"");
  REQUIRE(begin != std::string::npos);
  const std::string file = project.scratch.Write("help.json", help.substr(begin));
  const ProcessResult check = RunWhyoom({"rules", "check", file}, "");
  INFO(check.out);
  CHECK(check.exit_status == 0);
}

TEST_CASE("rules list shows the origin of entries, by section", "[cli]") {
  const Project project;
  const std::string more = project.scratch.Write(
      "more.json",
      R"({"format": "whyoom.rules/1", "disable": ["failures/gpu.oom"], "chips": [{"id": "mine", "limits": ["9G"]}]})");
  const ProcessResult text = RunWhyoom({"rules", "list", "chips", "failures", more}, "", project.root());
  CHECK(text.exit_status == 0);
  CHECK(Holds(text.out, "of the project"));
  CHECK(Holds(text.out, "from .whyoom/rules/ours.json:1:"));
  CHECK(Holds(text.out, "disabled by " + more.substr(0, 20)));
  CHECK(text.out.find("remedies") == std::string::npos);
  const ProcessResult same = RunWhyoom({"rules", "list", "chips", "failures", "--rules", more}, "", project.root());
  CHECK(same.out == text.out);
  const json list =
      json::parse(RunWhyoom({"rules", "list", "--format", "json", "chips", more}, "", project.root()).out);
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
