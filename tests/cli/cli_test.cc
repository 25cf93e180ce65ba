// The program as a user runs it: arguments, streams and exit status.

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "catch.h"
#include "process.h"

using nlohmann::json;

namespace TEST_FILE {

const std::string kFailure =
    "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 8.00M. That was not possible. There "
    "are 6.43M free.; (0x0x1_HBM0)\n";

std::string CaseLog(const std::string& name) {
  return std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name + "/log";
}

TEST_CASE("the exit status reflects what was found", "[cli]") {
  const ScratchFolder scratch;
  const std::string good = scratch.Write("good.log", "all is well\n");
  const std::string bad = scratch.Write("bad.log", kFailure);
  CHECK(RunWhyoom({good}).exit_status == 0);
  CHECK(RunWhyoom({bad}).exit_status == 1);
  CHECK(RunWhyoom({bad, good}).exit_status == 1);
  CHECK(RunWhyoom({bad, "--exit-zero"}).exit_status == 0);
  CHECK(RunWhyoom({"--no-such-option"}).exit_status == 2);
  CHECK(RunWhyoom({"--format", "yaml", good}).exit_status == 2);
  CHECK(RunWhyoom({"--rules", scratch.path() + "/none.json", good}).exit_status == 2);
  CHECK(RunWhyoom({scratch.path() + "/none.log"}).exit_status == 3);
  CHECK(RunWhyoom({scratch.path() + "/none.log", "--exit-zero"}).exit_status == 0);
}

TEST_CASE("an unreadable input is reported and does not affect the others", "[cli]") {
  const ScratchFolder scratch;
  const std::string bad = scratch.Write("bad.log", kFailure);
  const ProcessResult text = RunWhyoom({scratch.path() + "/none.log", bad});
  CHECK(text.exit_status == 3);
  CHECK(text.out.find("0100") != std::string::npos);
  CHECK(text.out.find("warning: ") != std::string::npos);
  const json report = json::parse(RunWhyoom({"--format", "json", scratch.path() + "/none.log", bad}).out);
  CHECK(report["diagnoses"].size() == 1);
  REQUIRE(report["summary"]["problems"].size() == 1);
  CHECK(report["summary"]["problems"][0]["path"] == scratch.path() + "/none.log");
}

TEST_CASE("an error does not hide a later one with another code", "[cli]") {
  const std::string compile =
      "XlaRuntimeError: RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. "
      "Used 20.00G of 15.75G hbm. Exceeded hbm "
      "capacity by 4.25G.\n";
  const std::string load =
      "XlaRuntimeError: RESOURCE_EXHAUSTED: Error loading program 'jit_b': Attempting to reserve 4.00G at the bottom "
      "of memory. That was not possible. There "
      "are 3.10G free, 0B reserved, and 3.10G reservable.\n";
  const std::string buffer =
      "ValueError: RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate 2.00G. That was not "
      "possible. There are 1.50G free.\n";
  const std::vector<std::pair<std::string, std::string>> texts = {{"E1000", compile}, {"0101", load}, {"0100", buffer}};
  for (const auto& [first_code, first] : texts) {
    for (const auto& [second_code, second] : texts) {
      if (first_code == second_code) continue;
      for (const std::string& between :
           {std::string(), std::string("INFO falling back\n"), std::string("a\nb\nc\nd\ne\nf\ng\nh\ni\n")}) {
        const json report = json::parse(RunWhyoom({"--format", "json"}, first + between + second).out);
        INFO(first_code << " then " << second_code);
        REQUIRE(report["diagnoses"].size() == 2);
        // The first failure in the log is the root cause.
        CHECK(report["diagnoses"][0]["code"] == first_code);
        CHECK(report["diagnoses"][1]["code"] == second_code);
      }
    }
  }
}

TEST_CASE("a message is found in a log that was wrapped at any width to four or more lines", "[cli]") {
  const std::string message =
      "RuntimeError: Resource exhausted: Attempting to allocate 31.06M. That was not possible. There are 58.64M free. "
      "Due to fragmentation, the largest "
      "contiguous region of free memory is 30.56M.; (0x0x0_HBM0)";
  const json plain = json::parse(RunWhyoom({"--format", "json"}, message).out)["diagnoses"];
  REQUIRE(plain.size() == 1);
  for (std::size_t width = 40; 3 * width < message.size(); ++width) {
    std::string cut;
    for (std::size_t at = 0; at < message.size(); at += width) cut += message.substr(at, width) + "\n";
    const json found = json::parse(RunWhyoom({"--format", "json"}, cut).out)["diagnoses"];
    INFO(cut);
    REQUIRE(found.size() == 1);
    CHECK(found[0]["facts"] == plain[0]["facts"]);
    CHECK(found[0]["id"] == plain[0]["id"]);
  }
}

TEST_CASE("memory does not grow with the failures in a log", "[cli]") {
  std::string log;
  for (int i = 0; i < 5000; ++i) {
    log += "RESOURCE_EXHAUSTED: Error allocating device buffer: Attempting to allocate " + std::to_string(i + 10) +
           ".00M. That was not possible. There are 5.00M free.\n";
  }
  const json report = json::parse(RunWhyoom({"--format", "json"}, log).out);
  CHECK(report["diagnoses"].size() == 1000);
  REQUIRE(report["summary"]["problems"].size() == 1);
  CHECK(report["summary"]["problems"][0]["what"].get<std::string>().find("4000 more") != std::string::npos);
}

TEST_CASE("impossible sizes are not printed", "[cli]") {
  for (const char* text :
       {"Error allocating device buffer: Attempting to allocate 5.00G. That was not possible. There are -3.00G free.",
        "Ran out of memory in memory space hbm. Used 999999999E of 15.75G hbm. Exceeded hbm capacity by 999999999E.",
        "Ran out of memory in memory space hbm. Used 17.00G of -15.75G hbm. Exceeded hbm capacity by 1.25G."}) {
    const ProcessResult result = RunWhyoom({}, text);
    CHECK(result.exit_status == 1);
    CHECK(result.out.size() < 20000);
    CHECK(result.out.find("-8.00 EiB") == std::string::npos);
  }
}

TEST_CASE("standard input is read for a dash and for a pipe", "[cli]") {
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"--format", "json", "-"}, {"--format", "json"}}) {
    const ProcessResult result = RunWhyoom(arguments, kFailure);
    CHECK(result.exit_status == 1);
    const json report = json::parse(result.out);
    CHECK(report["diagnoses"][0]["where"]["path"] == "-");
    CHECK(report["diagnoses"][0]["where"]["line"] == 1);
    CHECK(report["summary"]["bytes"] == kFailure.size());
  }
  CHECK(RunWhyoom({}, "").exit_status == 0);
}

TEST_CASE("folders are read in a fixed order", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("b/rank1.log", "[rank1] " + kFailure);
  scratch.Write("a/rank0.log", "[rank0] " + kFailure);
  scratch.Write("c/quiet.log", "all is well\n");
  const ProcessResult result = RunWhyoom({"--format", "json", "."}, "", scratch.path());
  const json report = json::parse(result.out);
  REQUIRE(report["diagnoses"].size() == 1);
  CHECK(report["diagnoses"][0]["occurrences"] == 2);
  CHECK(report["diagnoses"][0]["hosts"] == json::array({"rank0", "rank1"}));
  CHECK(report["diagnoses"][0]["where"]["path"] == "./a/rank0.log");
  CHECK(report["summary"]["artifacts"] == 3);
}

TEST_CASE("the JSON contains the documented fields", "[cli]") {
  const json report = json::parse(RunWhyoom({"--format", "json", CaseLog("compile-padded-points")}).out);
  CHECK(report["schema"] == "whyoom.report/1");
  CHECK(report["tool"]["rules"].get<std::string>().size() == 64);
  const json& failure = report["diagnoses"].at(0);
  CHECK(failure["code"] == "E1000");
  CHECK(failure["scenario"]["id"] == "2");
  CHECK(failure["confidence"] == "high");
  CHECK(failure["framework"] == "jax");
  CHECK(failure["facts"]["used_bytes"] == 22301617684);  // 20.77G
  CHECK(failure["facts"]["limit_bytes"] == 16911433728);
  CHECK(failure["facts"]["module"] == "jit_rotate_tracks");
  CHECK(failure["facts"]["chip"] == "v5e");
  const json& row = failure["allocations"].at(0);
  CHECK(row["shape"] == "f32[10889216,4,2]");
  CHECK(row["layout"] == "{1,2,0:T(2,128)}");
  CHECK(row["dtype"] == "f32");
  CHECK(row["padding_factor"] == 32.0);
  const json& remedy = failure["remedies"].at(0);
  for (const char* key :
       {"rank", "id", "title", "section", "safety", "gain", "saves_bytes", "enough", "note", "why", "how", "links"}) {
    INFO(key);
    CHECK(remedy.contains(key));
  }
  // The offset is that of the header.
  const std::string log = ReadText(CaseLog("compile-padded-points"));
  CHECK(log.compare(failure["where"]["offset"].get<std::size_t>(), 18, "RESOURCE_EXHAUSTED") == 0);
}

TEST_CASE("output does not depend on the environment", "[cli]") {
  const std::string log = CaseLog("compile-unrolled-blocks");
  const std::string plain = RunWhyoom({log}).out;
  CHECK(RunWhyoom({log}, "", "/", {"LC_ALL=tr_TR.UTF-8", "TZ=Asia/Tokyo"}).out == plain);
  CHECK(plain.find('\x1b') == std::string::npos);
  CHECK(RunWhyoom({"--color", "always", log}).out.find('\x1b') != std::string::npos);
  CHECK(RunWhyoom({log}, "", ".", {"FORCE_COLOR=1"}).out.find('\x1b') != std::string::npos);
  CHECK(RunWhyoom({log}, "", ".", {"FORCE_COLOR=1", "NO_COLOR=1"}).out == plain);
}

TEST_CASE("text fits 80 columns", "[cli]") {
  for (const char* name : {"compile-padded-points", "compile-unrolled-blocks", "compile-short-message",
                           "buffer-eight-hosts", "program-too-large"}) {
    const ProcessResult result = RunWhyoom({"log"}, "", std::string(WHYOOM_SOURCE_DIR) + "/testdata/cases/" + name);
    std::size_t begin = 0;
    while (begin < result.out.size()) {
      const std::size_t end = result.out.find('\n', begin);
      const std::string line = result.out.substr(begin, end - begin);
      const auto columns =
          static_cast<std::size_t>(std::count_if(line.begin(), line.end(), [](char c) { return (c & 0xC0) != 0x80; }));
      INFO(line);
      CHECK((columns <= 80 || line.find("http") != std::string::npos));
      begin = end + 1;
    }
  }
}

TEST_CASE("log text cannot control the terminal", "[cli]") {
  const std::string evil =
      "RESOURCE_EXHAUSTED: XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used 20.00G of "
      "15.75G hbm. Exceeded hbm capacity by 4.25G.\n"
      "  Largest program allocations in hbm:\n  1. Size: 9.00G\n     Operator: "
      "op_name=\"jit(f)/\x1b]0;owned\x07/\x1b[2J\xc2\x9b/\xe2\x80\xae"
      "evil\"\n"
      "     Shape: f32[8,8]{1,0:T(8,128)}\n     XLA label: \x1b[31mfusion\n     Allocation type: HLO temp\n";
  const ScratchFolder scratch;
  scratch.Write("evil\x1b[31m.log", evil);
  for (const char* format : {"text", "json"}) {
    const ProcessResult result = RunWhyoom({"--format", format, "."}, "", scratch.path());
    CHECK(result.exit_status == 1);
    for (const char c : result.out) CHECK((static_cast<unsigned char>(c) >= 0x20 || c == '\n'));
    CHECK(result.out.find("\xc2\x9b") == std::string::npos);
    CHECK(result.out.find("\xe2\x80\xae") == std::string::npos);
  }
}

TEST_CASE("explain accepts codes, scenarios, sections and remedies", "[cli]") {
  for (const char* topic :
       {"E1000", "e1000", "CompileTimeHbmOom", "E1000.1", "E1000.1.sparsecore", "E1000.2", "E1000.3", "E1000.3.C",
        "E1000.3.c", "0100", "E0100", "0100.fragmentation", "0101.true_oom", "E1001", "tpu.vmem", "donate_buffers"}) {
    INFO(topic);
    const ProcessResult result = RunWhyoom({"explain", topic});
    CHECK(result.exit_status == 0);
    CHECK(result.out.size() > 100);
  }
  const ProcessResult section = RunWhyoom({"explain", "E1000.3.C"});
  CHECK(section.out.find("align_dims") != std::string::npos);
  CHECK(section.out.find("donate_buffers") == std::string::npos);
  const ProcessResult unknown = RunWhyoom({"explain", "E100O"});
  CHECK(unknown.exit_status == 2);
  CHECK(unknown.err.find("did you mean 'E1000'") != std::string::npos);
  CHECK(RunWhyoom({"explain"}).out.find("E1000") != std::string::npos);
}

TEST_CASE("rules can be listed, checked, tested and extended", "[cli]") {
  const ScratchFolder scratch;
  CHECK(RunWhyoom({"rules", "check"}).exit_status == 0);
  CHECK(RunWhyoom({"rules", "test"}).exit_status == 0);
  CHECK(RunWhyoom({"rules", "list"}).out.find("E1000") != std::string::npos);
  CHECK_NOTHROW(json::parse(RunWhyoom({"rules", "schema"}).out));

  const std::string rule =
      R"({"format": "whyoom.rules/1", "failures": [{"code": "X1", "title": "a new failure", "category": "New", "phase": "run",
    "about": ["new"], "links": [{"title": "page", "url": "https://example.org/x1"}], "heads": ["flux capacitor drained to %{size:need_bytes}"],
    "examples": [{"text": ["flux capacitor drained to 3.00G"], "facts": {"need_bytes": 3221225472}}], "counterexamples": []}]})";
  const std::string file = scratch.Write("x1.json", rule);
  CHECK(RunWhyoom({"rules", "test", file}).exit_status == 0);
  const ProcessResult found =
      RunWhyoom({"--format", "json", "--rules", file, "-"}, "ERROR flux capacitor drained to 1.00G\n");
  CHECK(found.exit_status == 1);
  CHECK(json::parse(found.out)["diagnoses"][0]["code"] == "X1");

  std::string wrong = rule;
  wrong.replace(wrong.find("3221225472"), 10, "1");
  const ProcessResult failing = RunWhyoom({"rules", "test", scratch.Write("wrong.json", wrong)});
  CHECK(failing.exit_status == 1);
  CHECK(failing.out.find("1 failed") != std::string::npos);

  std::string broken = rule;
  broken.replace(broken.find("\"heads\""), 7, "\"heds\"");
  const std::string broken_file = scratch.Write("broken.json", broken);
  const ProcessResult faults = RunWhyoom({"rules", "check", broken_file});
  CHECK(faults.exit_status == 2);
  CHECK(faults.out.find("broken.json:2:") != std::string::npos);
  CHECK(faults.out.find("heads") != std::string::npos);
  CHECK(RunWhyoom({"--rules", broken_file, "-"}, kFailure).exit_status == 2);
}

TEST_CASE("a closed pipe is not an error", "[cli]") {
  const std::string command =
      std::string(WHYOOM_BINARY) + " " + CaseLog("compile-padded-points") + " | true; exit ${PIPESTATUS[0]}";
  const ProcessResult result = RunProcess({"/bin/bash", "-c", command});
  CHECK(result.exit_status == 1);
  CHECK(result.err.empty());
}

TEST_CASE("--output writes a file", "[cli]") {
  const ScratchFolder scratch;
  const std::string target = scratch.path() + "/report.json";
  const ProcessResult result = RunWhyoom({"--format", "json", "--output", target, "-"}, kFailure);
  CHECK(result.exit_status == 1);
  CHECK(result.out.empty());
  CHECK(json::parse(ReadText(target))["diagnoses"].size() == 1);
  CHECK(RunWhyoom({"--output", scratch.path() + "/no/such/folder/file", "-"}, kFailure).exit_status == 2);
}

}  // namespace TEST_FILE
