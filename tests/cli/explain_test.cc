// whyoom explain, and commands that reports suggest, which must work as printed.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

namespace fs = std::filesystem;
using nlohmann::json;

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t LinesOf(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

const char* const kRules = R"({"format": "whyoom.rules/1", "failures": [{
  "code": "our.pool", "title": "our pool is full", "category": "Ours", "phase": "run", "about": "It is full.",
  "heads": ["our own pool is full"], "scenarios": [{"id": "a", "title": "at once", "when": "1 > 0", "about": "So it is."}],
  "examples": [{"text": "RuntimeError: our own pool is full"}]}]})";

// The explain commands in a text, without the text around them.
std::vector<std::string> CommandsIn(const std::string& text) {
  std::vector<std::string> commands;
  for (std::size_t at = text.find("whyoom explain"); at != std::string::npos;
       at = text.find("whyoom explain", at + 1)) {
    const std::size_t end = std::min(
        {text.find('\n', at), text.find(" · ", at), text.find('`', at), text.find('<', at), text.find("\"", at)});
    commands.push_back(text.substr(at, end - at));
  }
  return commands;
}

// Runs a command line in a shell.
ProcessResult Type(const std::string& command, const std::string& folder) {
  const std::string program = fs::path(WHYOOM_BINARY).parent_path().string();
  return RunProcess({"/bin/bash", "-c", command}, "", folder, {"PATH=" + program + ":/usr/bin:/bin"});
}

TEST_CASE("explain begins with an overview, and a scenario's page is shorter", "[cli]") {
  const std::string whole = RunWhyoom({"explain", "E1000"}).out;
  const std::size_t scenarios = whole.find("\nScenarios\n");
  const std::size_t table = whole.find("\nRemedies\n");
  REQUIRE(table != std::string::npos);
  CHECK(scenarios < table);
  CHECK(LinesOf(whole) < 4 * 24);  // screens: the code, an example, each scenario in full, the remedies
  CHECK(LinesOf(RunWhyoom({"explain", "E1000.2"}).out) < LinesOf(whole));
  CHECK(Holds(RunWhyoom({"explain", "0101.fragmentation"}).out, "a program could not be loaded"));
}

TEST_CASE("explain shows the steps for one framework, in any spelling", "[cli]") {
  const std::string usual = RunWhyoom({"explain", "donate_buffers"}).out;
  CHECK(Holds(usual, "donate_argnums"));
  CHECK_FALSE(Holds(usual, "torch_xla"));
  CHECK(Holds(usual, "PyTorch/XLA"));
  const std::string torch = RunWhyoom({"explain", "donate_buffers", "--framework", "pytorch_xla"}).out;
  CHECK_FALSE(Holds(torch, "donate_argnums"));
  for (const char* name : {"PyTorch/XLA", "PYTORCH_XLA", "pytorch-xla"})
    CHECK(RunWhyoom({"explain", "donate_buffers", "--framework", name}).out == torch);
  const std::string all = RunWhyoom({"explain", "donate_buffers", "--framework", "all"}).out;
  CHECK(Holds(all, "donate_argnums"));
  CHECK(LinesOf(all) > LinesOf(torch));
  for (const char* alias : {"torch", "pytorch", "torch_xla"})
    CHECK(RunWhyoom({"explain", "donate_buffers", "--framework", alias}).out == torch);
  const ProcessResult wrong = RunWhyoom({"explain", "E1000", "--framework", "pytorch_xlaa"});
  CHECK(wrong.exit_status == 2);
  CHECK(wrong.out.empty());
  CHECK(Holds(wrong.err, "did you mean 'pytorch_xla'?"));
  const std::string hostile = RunWhyoom({"explain", "--framework", "\x1b[31m"}).err;
  CHECK(Holds(hostile, "expected one of"));
  CHECK_FALSE(Holds(hostile, "\x1b"));
}

TEST_CASE("explain rejects formats that it does not support", "[cli]") {
  const ProcessResult sarif = RunWhyoom({"explain", "E1000", "--format", "sarif"});
  CHECK(sarif.exit_status == 2);
  CHECK(Holds(sarif.err, "--format sarif: expected one of text, markdown"));
  const ProcessResult html = RunWhyoom({"explain", "E1000", "--format", "html"});
  CHECK(html.exit_status == 2);
  CHECK(RunWhyoom({"explain", "E1000", "--format", "markdown"}).out.starts_with("# `E1000` "));
  CHECK(Holds(RunWhyoom({"explain", "--format", "markdown"}).out, "- `E1000` compile time"));
  const ScratchFolder scratch;
  const std::string file = scratch.path() + "/e.md";
  const std::string text = RunWhyoom({"explain", "bf16", "--format", "text", "--format", "markdown=" + file}).out;
  CHECK(text == RunWhyoom({"explain", "bf16"}).out);
  CHECK(ReadText(file).starts_with("# "));
}

TEST_CASE("commands in a report work as printed", "[cli]") {
  const ScratchFolder scratch;
  fs::create_directory(scratch.path() + "/team's rules");
  scratch.Write("team's rules/pool.json", kRules);
  scratch.Write("-r.json", R"({"format": "whyoom.rules/1"})");
  scratch.Write("our.log", "RuntimeError: our own pool is full\n");
  for (const char* format : {"json", "markdown", "html"}) {
    INFO(format);
    const ProcessResult report =
        RunWhyoom({"--rules", "team's rules", "--rules=-r.json", "--format", format, "our.log"}, "", scratch.path());
    REQUIRE(report.exit_status == 1);
    CHECK(Holds(report.out, "whyoom explain our.pool.a"));
    CHECK(Holds(report.out, "-r.json"));
  }
  const std::string text =
      RunWhyoom({"--all", "--rules", "team's rules", "--rules=-r.json", "our.log"}, "", scratch.path()).out;
  REQUIRE(CommandsIn(text).size() == 1);
  const ProcessResult typed = Type(CommandsIn(text)[0], scratch.path());
  INFO(CommandsIn(text)[0] << "\n" << typed.err);
  CHECK(typed.exit_status == 0);
  CHECK(Holds(typed.out, "our pool is full"));
}

TEST_CASE("a diagnosis shows the steps of the framework of --framework", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/compile-padded-points/log");
  const std::string path = scratch.Write("train.log", log);
  const std::string seen = RunWhyoom({path}).out;
  CHECK(Holds(seen, "NamedSharding"));
  const std::string named = RunWhyoom({"--framework", "PyTorch/XLA", path}).out;
  CHECK_FALSE(Holds(named, "NamedSharding"));
  CHECK(Holds(named, " · pytorch_xla"));
  CHECK(RunWhyoom({"--framework", "jax", path}).out == seen);
  CHECK(RunWhyoom({"--framework", "pytorch_xla", "--follow", "-"}, log).out ==
        RunWhyoom({"--framework", "pytorch_xla", "-"}, log).out);
  const std::string fail = "cat " + path + "; touch " + scratch.path() + "/ran; exit 1";
  CHECK(Holds(RunWhyoom({"run", "--framework", "pytorch_xla", "--", "sh", "-c", fail}).err, " · pytorch_xla"));
  std::filesystem::remove(scratch.path() + "/ran");
  const ProcessResult wrong = RunWhyoom({"run", "--framework", "pytorch_xlaa", "--", "sh", "-c", fail});
  CHECK(wrong.exit_status == 2);
  CHECK(Holds(wrong.err, "did you mean 'pytorch_xla'?"));
  CHECK_FALSE(std::filesystem::exists(scratch.path() + "/ran"));
  CHECK(RunWhyoom({"--framework", "all", path}).exit_status == 2);
}

TEST_CASE("commands in a report name the log's framework", "[cli]") {
  const ScratchFolder scratch;
  const fs::path cases = fs::path(WHYOOM_SOURCE_DIR) / "testdata" / "cases";
  std::set<std::string> named;
  for (const auto& entry : fs::directory_iterator(cases)) {
    const std::string log = (entry.path() / "log").string();
    INFO(log);
    const json report = json::parse(RunWhyoom({"--format", "json", log}).out);
    const std::string text = RunWhyoom({"--all", log}).out;
    if (report["diagnoses"].empty()) continue;
    const std::string framework = report["diagnoses"][0].value("framework", "");
    const bool is_default = framework.empty() || framework == "jax";
    if (!is_default) named.insert(framework);
    // If the log shows no framework, no command names one.
    if (!framework.empty()) CHECK(Holds(text, " --framework " + framework) == !is_default);
    if (framework.empty()) CHECK_FALSE(Holds(text, "whyoom explain E1000 --framework"));
    for (const std::string& command : CommandsIn(text)) CHECK(Type(command, scratch.path()).exit_status == 0);
  }
  CHECK_FALSE(named.empty());
}

}  // namespace TEST_FILE
