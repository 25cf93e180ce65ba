// Conventions that users expect of a command line: hints for typos, -o, -q, -v and -h, shorter and longer reports,
// and ignoring failures.
#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <string>
#include <vector>

#include "catch.h"
#include "process.h"

namespace TEST_FILE {

using nlohmann::json;

std::string CaseLog(const std::string& name) {
  return std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name + "/log";
}

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::size_t LinesOf(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t WidestOf(const std::string& text) {
  std::size_t widest = 0;
  std::size_t columns = 0;
  for (const char c : text) {
    if (c == '\n') columns = 0;
    if (c != '\n' && (static_cast<unsigned char>(c) & 0xC0) != 0x80) widest = std::max(widest, ++columns);
  }
  return widest;
}

TEST_CASE("errors for typos suggest the intended word", "[cli]") {
  const ScratchFolder scratch;
  const auto error_of = [&](const std::vector<std::string>& arguments) {
    const ProcessResult result = RunWhyoom(arguments, "", scratch.path());
    CHECK(result.exit_status == 2);
    CHECK(result.out.empty());
    return result.err;
  };
  CHECK(Holds(error_of({"--fromat", "json", "x"}), "--fromat"));
  CHECK(Holds(error_of({"--format", "jsn", "x"}), "--format jsn: expected one of text, json, "));
  CHECK(Holds(error_of({"explian", "E1000"}), "no file or command 'explian', did you mean 'explain'?"));
  CHECK(Holds(error_of({"help"}), "did you mean '--help'?"));
  CHECK(Holds(error_of({"rules", "tset"}), "no file or command 'rules tset', did you mean 'test'?"));
  CHECK(Holds(error_of({"rules"}), "rules: missing command (list, check, "));
  CHECK(Holds(error_of({"rules list"}), "no file or command 'rules list'"));
  CHECK(Holds(error_of({"diff", "a"}), "RUN: At least 2 required"));
  CHECK(Holds(error_of({"run", "--no-dmp", "--", "true"}), "--no-dmp"));
  CHECK(Holds(error_of({"explain", "E100"}), "did you mean 'E1000'?"));
  CHECK(Holds(error_of({"explain", "bf61"}), "did you mean 'bf16'?"));
  CHECK(Holds(error_of({"--framework", "maxtxt", "x"}), "did you mean 'maxtext'? (expected one of "));
  CHECK(Holds(error_of({"--ignore", "E100O", "x"}), "did you mean 'E1000'?"));
  CHECK(Holds(error_of({"gs://b/a b.log"}), "whyoom cannot read remote files; pipe the file in"));
}

TEST_CASE("a file whose name resembles a command is read", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("explian", ReadText(CaseLog("compile-padded-points")));
  CHECK(RunWhyoom({"explian"}, "", scratch.path()).exit_status == 1);
  // A name that resembles no command is a missing file.
  CHECK(RunWhyoom({"gone.log"}, "", scratch.path()).exit_status == 3);
}

TEST_CASE("help fits 80 columns and is short", "[cli]") {
  CHECK(LinesOf(RunWhyoom({"--help"}).out) <= 90);
  for (const std::vector<std::string>& command : {std::vector<std::string>{},
                                                  {"run"},
                                                  {"explain"},
                                                  {"diff"},
                                                  {"try"},
                                                  {"merge"},
                                                  {"rules"},
                                                  {"rules", "test"},
                                                  {"skill"}}) {
    std::vector<std::string> arguments = command;
    arguments.emplace_back("--help");
    const ProcessResult help = RunWhyoom(arguments);
    INFO(help.out);
    CHECK(help.exit_status == 0);
    CHECK(WidestOf(help.out) <= 80);
    arguments.back() = "-h";
    CHECK(RunWhyoom(arguments).out == help.out);
  }
}

TEST_CASE("a text report respects COLUMNS, but not in a file", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = CaseLog("compile-padded-points");
  const std::string usual = RunWhyoom({log}).out;
  CHECK(WidestOf(usual) <= 80);
  CHECK(WidestOf(RunWhyoom({log}, "", ".", {"COLUMNS=110"}).out) > 80);
  for (const char* nothing :
       {"COLUMNS=", "COLUMNS=x", "COLUMNS=-5", "COLUMNS=0", "COLUMNS=80 ", "COLUMNS=99999999999999999999"})
    CHECK(RunWhyoom({log}, "", ".", {nothing}).out == usual);
  RunWhyoom({"-o", "report.txt", log}, "", scratch.path(), {"COLUMNS=110"});
  CHECK(ReadText(scratch.path() + "/report.txt") == usual);
}

// With each line break and its indentation as one blank.
std::string Unwrapped(const std::string& text) { return std::regex_replace(text, std::regex("\\s+"), " "); }

TEST_CASE("--brief prints the first lines of each failure", "[cli]") {
  const ProcessResult one = RunWhyoom({"--brief", CaseLog("compile-padded-points")});
  CHECK(one.exit_status == 1);
  const std::string whole = RunWhyoom({CaseLog("compile-padded-points")}).out;
  const std::size_t reasons = whole.find("\nwhy ");
  REQUIRE(reasons != std::string::npos);
  CHECK(one.out.starts_with(whole.substr(0, reasons)));
  CHECK(Holds(one.out, "do    1  Move tiny dimensions off the last axis"));
  CHECK(LinesOf(one.out) < 10);
}

TEST_CASE("--brief --format json agrees with the full report", "[cli]") {
  const std::string all = std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases";
  const ProcessResult result = RunWhyoom({"--brief", "--format", "json", all});
  const json brief = json::parse(result.out);
  const std::string whole_text = RunWhyoom({"--format", "json", all}).out;
  const json whole = json::parse(whole_text);
  CHECK(result.out.size() * 8 < whole_text.size());
  CHECK(brief["summary"]["diagnoses"] == whole["summary"]["diagnoses"]);
  REQUIRE(brief["diagnoses"].size() == whole["diagnoses"].size());
  for (std::size_t i = 0; i < whole["diagnoses"].size(); ++i) {
    const json& in_short = brief["diagnoses"][i];
    const json& in_full = whole["diagnoses"][i];
    for (const char* key : {"id", "code", "title", "confidence", "retry", "where", "occurrences", "framework"})
      CHECK(in_short.value(key, json()) == in_full.value(key, json()));
    for (const auto& [name, fact] : in_short["facts"].items()) CHECK(fact == in_full["facts"][name]);
    for (std::size_t k = 0; k < in_short["remedies"].size(); ++k) {
      for (const auto& [key, value] : in_short["remedies"][k].items()) {
        if (key != "how") CHECK(value == in_full["remedies"][k][key]);
      }
    }
  }
}

TEST_CASE("--all shows everything that the usual report omits", "[cli]") {
  const std::string log = CaseLog("compile-adam-state");
  const std::string usual = RunWhyoom({log}).out;
  const std::string all = RunWhyoom({"--all", log}).out;
  const json report = json::parse(RunWhyoom({"--format", "json", log}).out);
  CHECK(all.size() > usual.size());
  CHECK_FALSE(Holds(all, "and 1 more"));
  CHECK_FALSE(Holds(all, "\nthen "));
  for (const json& remedy : report["diagnoses"][0]["remedies"]) CHECK(Holds(all, remedy["id"].get<std::string>()));
}

TEST_CASE("on a terminal, --all has at most three screens for a failure and names each remedy", "[cli]") {
  if (!std::filesystem::exists("/usr/bin/script")) return;
  const std::filesystem::path cases = std::filesystem::path(WHYOOM_SOURCE_DIR) / "testdata/cases";
  for (const char* name : {"compile-padded-points", "dump-adam-layers", "dump-unrolled-layers", "neighbour-vmem"}) {
    const std::string inputs = std::filesystem::exists(cases / name / "dump") ? "log --xla-dump dump" : "log";
    const std::string line = "stty rows 24 cols 80; '" WHYOOM_BINARY "' --all " + inputs;
    const std::string text =
        RunProcess({"/usr/bin/script", "-qec", line, "/dev/null"}, "", cases / name, {"TERM=xterm"}).out;
    CAPTURE(text);
    CHECK(LinesOf(text) > 24);
    CHECK(LinesOf(text) <= 3 * 24);
    const json report =
        json::parse(RunProcess({"/bin/sh", "-c", "'" WHYOOM_BINARY "' --format json " + inputs}, "", cases / name).out);
    for (const json& remedy : report["diagnoses"][0]["remedies"]) CHECK(Holds(text, remedy["id"].get<std::string>()));
  }
}

TEST_CASE("a report shows the id of a remedy, and explain accepts it", "[cli]") {
  const std::string text = RunWhyoom({"--all", CaseLog("compile-padded-points")}).out;
  const json report = json::parse(RunWhyoom({"--format", "json", CaseLog("compile-padded-points")}).out);
  const std::string id = report["diagnoses"][0]["remedies"][0]["id"];
  CHECK(Holds(Unwrapped(text), "(" + id + ")"));
  CHECK(RunWhyoom({"explain", id}).exit_status == 0);
}

TEST_CASE("-q prints no notes; the status is the same", "[cli]") {
  const ScratchFolder scratch;
  const std::string healthy = CaseLog("silent-healthy-verbose-compile");
  const ProcessResult quiet = RunWhyoom({"-q", healthy, scratch.path() + "/gone.log"});
  CHECK(quiet.out.empty());
  CHECK(quiet.err.empty());
  CHECK(quiet.exit_status == RunWhyoom({healthy, scratch.path() + "/gone.log"}).exit_status);
  const std::string log = CaseLog("compile-padded-points");
  CHECK(RunWhyoom({"-q", "--format", "json", log}).out == RunWhyoom({"--format", "json", log}).out);
}

TEST_CASE("--framework selects the steps for another framework than the log's", "[cli]") {
  const std::string log = CaseLog("compile-adam-state");
  const json usual = json::parse(RunWhyoom({"--format", "json", log}).out)["diagnoses"][0];
  const json keras = json::parse(RunWhyoom({"--framework", "keras", "--format", "json", log}).out)["diagnoses"][0];
  CHECK(keras["framework"] == "keras");
  CHECK(keras["id"] == usual["id"]);
  CHECK(keras["remedies"] != usual["remedies"]);
  CHECK(Holds(RunWhyoom({"--framework", "Keras", log}).out, " · keras"));
}

TEST_CASE("failures are ignored in every format", "[cli]") {
  const std::vector<std::string> logs = {CaseLog("compile-padded-points"), CaseLog("buffer-fragmented"),
                                         CaseLog("neighbour-vmem")};
  const auto run = [&](std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), logs.begin(), logs.end());
    return RunWhyoom(arguments);
  };
  const auto codes = [&](const std::vector<std::string>& arguments) {
    std::vector<std::string> all = arguments;
    all.insert(all.end(), {"--format", "json"});
    std::string text;
    const ProcessResult result = run(all);
    const json report = json::parse(result.out);
    for (const json& each : report["diagnoses"]) text += each["code"].get<std::string>() + " ";
    CHECK(result.exit_status == (text.empty() ? 0 : 1));
    return text;
  };
  const std::string every = codes({});
  REQUIRE(std::count(every.begin(), every.end(), ' ') == 4);
  CHECK(Holds(every, "0100 "));
  CHECK(Holds(every, "E1000 "));
  CHECK(Holds(codes({"--ignore", "e1000.3"}), "E1000 "));
  CHECK_FALSE(Holds(codes({"--ignore", "E1000.2"}), "E1000 "));
  const std::string all = "E1000,0100,E1001";
  CHECK(codes({"--ignore", all}).empty());
  const json summary = json::parse(run({"--ignore", "E1000", "--format", "json"}).out)["summary"];
  CHECK(summary["ignored"] == 1);
  CHECK(summary["diagnoses"] == 3);
  const std::string note = "Hidden: 4 failures excluded by";
  for (const char* format : {"text", "markdown", "html", "github", "sarif"}) {
    INFO(format);
    const ProcessResult none = run({"--ignore", all, "--format", format});
    CHECK(none.exit_status == 0);
    CHECK(Holds(none.out, note));
    CHECK_FALSE(Holds(none.out, "No out-of-memory"));
  }
  CHECK(Holds(run({"--ignore", all, "--format", "junit"}).out, "name=\"ignored\" value=\"4\""));
}

TEST_CASE("a failure is ignored by its id, at any line, time and host", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = ReadText(CaseLog("buffer-fragmented"));
  const std::string id = json::parse(RunWhyoom({"--format", "json", "-"}, log).out)["diagnoses"][0]["id"];
  std::string moved = "2031-01-02 03:04:05 step 1\nstep 2\n\n";
  std::size_t begin = 0;
  while (begin < log.size()) {
    const std::size_t end = std::min(log.find('\n', begin), log.size() - 1);
    moved += "2031-01-02T03:04:06.789Z other-host-7 [rank3]: " + log.substr(begin, end - begin) + "\n";
    begin = end + 1;
  }
  for (const std::string& text : {log, moved}) {
    const ProcessResult again = RunWhyoom({"--ignore", "0123456789abcdef," + id}, text);
    CHECK(again.exit_status == 0);
    CHECK(Holds(again.out, "Hidden: 1 failure excluded by --ignore."));
  }
  const ProcessResult other = RunWhyoom({"--ignore", id, CaseLog("compile-padded-points")});
  CHECK(other.exit_status == 1);
  CHECK(Holds(other.out, "E1000"));
}

TEST_CASE("failures that parts hide are counted once in the merged report, in any order", "[cli]") {
  const ScratchFolder scratch;
  const std::string padded = CaseLog("compile-padded-points");
  const std::string fragmented = CaseLog("buffer-fragmented");
  const auto part = [&](const std::string& name, std::vector<std::string> arguments) {
    arguments.insert(arguments.end(), {"--format", "ndjson", "-o", name});
    RunWhyoom(arguments, "", scratch.path());
  };
  part("1.ndjson", {"--ignore", "E1000", padded});
  part("2.ndjson", {"--ignore", "E1000", padded, fragmented});
  part("3.ndjson", {"--ignore", "0100,E1000", fragmented, padded});
  const auto summary = [&](const std::vector<std::string>& parts) {
    std::vector<std::string> arguments = {"merge", "--format", "json"};
    arguments.insert(arguments.end(), parts.begin(), parts.end());
    return json::parse(RunWhyoom(arguments, "", scratch.path()).out)["summary"];
  };
  const json forward = summary({"1.ndjson", "2.ndjson", "3.ndjson"});
  CHECK(forward == summary({"3.ndjson", "2.ndjson", "1.ndjson"}));
  CHECK(forward["ignored"] == 1);  // another part reports the other
  CHECK(forward["diagnoses"] == 1);
  CHECK(summary({"1.ndjson", "3.ndjson"})["ignored"] == 2);
  CHECK(RunWhyoom({"merge", "--ignore", "0100", "1.ndjson", "2.ndjson"}, "", scratch.path()).exit_status == 0);
}

TEST_CASE("run reports a missing XLA dump once", "[cli]") {
  const ScratchFolder scratch;
  const std::string line =
      "echo 'jax.errors.JaxRuntimeError: RESOURCE_EXHAUSTED: E1000: CompileTimeHbmOom: Ran out of memory in memory "
      "space "
      "hbm. Used 18.20G of 15.75G hbm. Exceeded hbm capacity by 2.45G.'; exit 1";
  const ProcessResult run = RunWhyoom({"run", "--", "sh", "-c", line}, "", scratch.path());
  CHECK(Holds(run.err, "→ This run wrote no dump."));
  CHECK(run.err.find("no dump") == run.err.rfind("no dump"));
  CHECK(!Holds(run.err, "warning:"));
}

TEST_CASE("run returns the job's exit status, whatever failures are hidden", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = CaseLog("compile-padded-points");
  const std::string job = "cat '" + log + "'; exit 7";
  const ProcessResult shown = RunWhyoom({"run", "--", "sh", "-c", job}, "", scratch.path());
  CHECK(shown.exit_status == 7);
  CHECK(Holds(shown.err, "E1000"));
  const ProcessResult ignored = RunWhyoom({"run", "--ignore", "E1000", "--", "sh", "-c", job}, "", scratch.path());
  CHECK(ignored.exit_status == 7);
  CHECK(ignored.err.empty());
  const ProcessResult brief = RunWhyoom({"run", "--brief", "-q", "--", "sh", "-c", job}, "", scratch.path());
  CHECK(brief.exit_status == 7);
  CHECK(Holds(brief.err, "E1000  compile time"));
  CHECK(RunWhyoom({"run", "--ignore", "E9", "--", "true"}, "", scratch.path()).exit_status == 2);
}

TEST_CASE("a report on unreadable inputs does not claim that nothing was found", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("a.log.gz", std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03", 10));
  for (const char* format : {"text", "markdown", "github"}) {
    INFO(format);
    const ProcessResult result = RunWhyoom({"--format", format, "a.log.gz"}, "", scratch.path());
    CHECK(result.exit_status == 3);
    CHECK_FALSE(Holds(result.out, "No out-of-memory error found in"));
  }
}

TEST_CASE("the error for a message given as a name suggests a command", "[cli]") {
  const ScratchFolder scratch;
  const std::string message = "RESOURCE_EXHAUSTED: Ran out of memory in memory space hbm.";
  CHECK(Holds(RunWhyoom({message}, "", scratch.path()).out, "to read a message from a pipe"));
}

TEST_CASE("an option without a value after = does not take the next argument", "[cli]") {
  const ScratchFolder scratch;
  const std::string log = scratch.Write("a.log", "a log to keep\n");
  for (const char* option : {"--output=", "--source-root=", "--tried="}) {
    const ProcessResult result = RunWhyoom({option, log});
    CHECK(result.exit_status == 2);
    CHECK(result.err.starts_with(std::string("whyoom: missing value: ") + option));
  }
  CHECK(ReadText(log) == "a log to keep\n");
  CHECK(RunWhyoom({"run", "--", "echo", "--output="}).out == "--output=\n");  // an argument of the job
}

}  // namespace TEST_FILE
