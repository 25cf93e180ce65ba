// Secrets in a log or command line appear in no output of whyoom.
#include <sys/stat.h>

#include <string>
#include <vector>

#include "catch.h"
#include "cli/options.h"
#include "process.h"

namespace TEST_FILE {

bool Holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string Replace(std::string text, const std::string& from, const std::string& to) {
  for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size()))
    text.replace(at, from.size(), to);
  return text;
}

// Each contains kMark as the secret, so that even a part of it is noticed in an output.
const std::string kMark = "Zq7xW9";
const std::vector<std::string> kSecrets = {
    "password=" + kMark,
    "DB_PASSWORD=" + kMark + "!",
    "--password " + kMark,
    "passwd: " + kMark,
    "token=" + kMark,
    "HF_TOKEN=" + kMark,
    "--hf-token=" + kMark,
    "'auth_token': '" + kMark + " b'",
    "client_secret=" + kMark,
    "api_key=" + kMark,
    "X-Api-Key: " + kMark,
    "WANDB_API_KEY=" + kMark + "0123456789abcdef0123456789abcdef01",
    "AWS_SECRET_ACCESS_KEY=" + kMark + "/abc+def/0123456789abcdef0123",
    "private_key=" + kMark,
    "session_key=" + kMark,
    "credential=" + kMark,
    "Authorization: Bearer " + kMark + "abcdef",
    "Authorization: Basic " + kMark + "==",
    "Cookie: sid=" + kMark,
    "https://user:" + kMark + "@host/x",
    "https://host/x?X-Goog-Signature=" + kMark,
    "https://host/x?sig=" + kMark,
    "ghp_" + kMark + "0123456789abcdef0123456789abcd",
    "github_pat_" + kMark + "0123456789abcdef",
    "hf_" + kMark + "AbCdEfGhIjKlMnOpQrStUvWxYz12",
    "sk-" + kMark + "0123456789abcdef0123456789",
    "AIza" + kMark + "0123456789abcdef0123456789abc",
    "ya29." + kMark + "0123456789abcdef",
    "xoxb-" + kMark + "-0123456789",
    "glpat-" + kMark + "0123456789abcd",
    "eyJhbGciOiJ." + kMark + "eyJhbGci." + kMark,
};

// A failure with the secret in its message, array name, source, label, program name, process, traceback and a setting
// nearby; and an unknown error.
std::string LogWith(const std::string& secret) {
  const std::string word = Replace(secret, "\"", "");
  std::string log = "XLA_FLAGS=--xla_dump_to=/tmp/x LIBTPU_INIT_ARGS=--xla_y=" + secret + "\n";
  log += "  File \"/home/user/" + word + "/train.py\", line 7, in main\n    run(" + word + ")\n";
  log += ReadText(WHYOOM_SOURCE_DIR "/testdata/cases/compile-padded-points/log");
  log = Replace(log, "pts", "pts " + word);
  log = Replace(log, "Ran out of memory in memory space hbm.", "Ran out of memory in memory space hbm. " + secret);
  log += "\nERROR: the memory pool of worker 3 is exhausted: out of memory with " + secret + " after 7 tries\n";
  log += "RuntimeError: cannot allocate memory for the ring buffer: " + secret + "\n";
  return log;
}

TEST_CASE("no format shows a secret from a log", "[cli][slow]") {
  const ScratchFolder scratch;
  for (const std::string& secret : kSecrets) {
    CAPTURE(secret);
    scratch.Write("a.log", LogWith(secret));
    for (const char* format : {"text", "json", "ndjson", "markdown", "html", "github", "sarif", "junit"}) {
      CAPTURE(format);
      const ProcessResult result = RunWhyoom({"--all", "--format", format, "a.log"}, "", scratch.path());
      CHECK(result.exit_status == 1);
      CHECK(Holds(result.out, "***"));
      CHECK_FALSE(Holds(result.out + result.err, kMark));
    }
    const ProcessResult traced = RunWhyoom({"rules", "trace", "a.log"}, "", scratch.path());
    CHECK_FALSE(Holds(traced.out + traced.err, kMark));
    const ProcessResult compared = RunWhyoom({"diff", "a.log", "a.log"}, "", scratch.path());
    CHECK_FALSE(Holds(compared.out + compared.err, kMark));
  }
}

TEST_CASE("ndjson of a log with secrets merges to the same bytes", "[cli]") {
  const ScratchFolder scratch;
  std::string log;
  for (const std::string& secret : kSecrets) log += LogWith(secret);
  scratch.Write("a.log", log);
  scratch.Write("whole", RunWhyoom({"--format", "ndjson", "a.log"}, "", scratch.path()).out);
  CHECK(RunWhyoom({"merge", "--format", "ndjson", "whole"}, "", scratch.path()).out ==
        ReadText(scratch.path() + "/whole"));
}

TEST_CASE("a job is named only by its program and its first path", "[cli]") {
  const ScratchFolder scratch;
  scratch.Write("job.sh", "cat '" WHYOOM_SOURCE_DIR "/testdata/cases/compile-padded-points/log' >&2; exit 1\n");
  const std::string secret = "TOKEN=" + kMark;
  const std::vector<std::pair<std::vector<std::string>, std::string>> cases = {
      {{"sh", "job.sh", "--token", kMark, "x.y"}, "sh job.sh ..."},
      {{"/bin/sh", "./job.sh"}, "sh ./job.sh"},
      {{"sh", "-c", secret + " . ./job.sh"}, "sh ..."},
      {{"env", secret, "sh", "job.sh"}, "env job.sh"},
      {{"sh", "-c", "shift; . ./job.sh", "--api-key", kMark + ".py", "job.sh"}, "sh job.sh"},
  };
  for (const auto& [command, name] : cases) {
    CAPTURE(name);
    for (const char* format : {"text", "json", "ndjson", "markdown", "html", "github", "sarif", "junit"}) {
      CAPTURE(format);
      std::vector<std::string> arguments = {"run", "--format", format, "--output", "out", "--"};
      arguments.insert(arguments.end(), command.begin(), command.end());
      const ProcessResult result = RunWhyoom(arguments, "", scratch.path());
      CHECK(result.exit_status == 1);
      const std::string out = ReadText(scratch.path() + "/out");
      CHECK_FALSE(Holds(out + result.err, kMark));
      if (format == std::string("text")) CHECK(Holds(out, "output line 41 of: " + name + " "));
      if (format == std::string("json")) CHECK(Holds(out, "\"path\": \"run: " + name + "\""));
    }
  }
}

TEST_CASE("endless lists and inputs are rejected", "[cli]") {
  const ScratchFolder scratch;
  const auto ends_with_2 = [&](const std::vector<std::string>& arguments, const std::string& error) {
    const ProcessResult result = RunWhyoom(arguments, "", scratch.path());
    CHECK(result.exit_status == 2);
    CHECK(Holds(result.err, error));
  };
  for (const std::vector<std::string>& arguments :
       {std::vector<std::string>{"/dev/zero"}, {"merge", "/dev/zero"}, {"rules", "trace", "/dev/zero"}}) {
    const ProcessResult result = RunWhyoom(arguments, "", scratch.path());
    CHECK(result.exit_status == 3);
    CHECK(Holds(result.out + result.err, "device with endless output"));
  }
}

TEST_CASE("no output line is a command for a CI server", "[cli][slow]") {
  const ScratchFolder scratch;
  for (const std::string command :
       {"::error::x", "::set-output name=a::b", "##teamcity[buildStop]", "##[error]x", "##vso[task.complete]x",
        "section_start:1:x", "travis_fold:start:x", "--- x", "+++ x", "~~~ x", "^^^ +++"}) {
    CAPTURE(command);
    const std::string unknown = command + " ERROR: the memory pool of the ring is exhausted: out of memory\n";
    scratch.Write(command, unknown + ReadText(WHYOOM_SOURCE_DIR "/testdata/cases/compile-padded-points/log"));
    scratch.Write("unknown", unknown);
    for (const char* format : {"text", "markdown", "junit"}) {
      for (const std::string& input : {"./" + command, command, std::string("unknown")}) {
        const ProcessResult result = RunWhyoom({"--format", format, "--", input}, "", scratch.path());
        const std::string all = "\n" + result.out + "\n" + result.err;
        for (const std::string blanks : {"\n", "\n ", "\n  ", "\n    "}) CHECK_FALSE(Holds(all, blanks + command));
        if (command.starts_with("##") && format != std::string("junit")) CHECK_FALSE(Holds(all, command));
      }
    }
  }
}

}  // namespace TEST_FILE
