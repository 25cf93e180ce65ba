// The report must not depend on how the bytes of a log arrive, nor on the prefilter, which skips most of them.

#include <algorithm>
#include <filesystem>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include "catch.h"
#include "diagnose/failure_table.h"
#include "diagnose/read_input.h"
#include "process.h"
#include "read/engine.h"
#include "report/printers.h"

namespace whyoom {
namespace TEST_FILE {

const std::vector<std::string>& CaseLogs() {
  static const std::vector<std::string> logs = [] {
    std::vector<std::string> paths;
    for (const auto& entry : std::filesystem::directory_iterator(WHYOOM_SOURCE_DIR "/testdata/cases"))
      paths.push_back(entry.path() / "log");
    std::sort(paths.begin(), paths.end());
    std::vector<std::string> texts;
    for (const std::string& path : paths) texts.push_back(ReadText(path));
    return texts;
  }();
  return logs;
}

// All cases in one log, far enough apart that lines between them are skipped. Longer than a block, so that block
// boundaries fall anywhere.
std::string LongLog(std::mt19937* random) {
  std::vector<std::string> cases = CaseLogs();
  std::shuffle(cases.begin(), cases.end(), *random);
  std::string log;
  for (const std::string& text : cases) {
    for (std::size_t end = log.size() + 20000 + (*random)() % 200000; log.size() < end;)
      log += "step " + std::to_string((*random)()) + " loss " + std::string((*random)() % 90, '7') + "\n";
    log += text;
  }
  return log;
}

const Engine& TheEngine() {
  static const RuleSet rules = RuleSource().rules();
  static const Engine engine(rules);
  return engine;
}

// Returns bytes in chunks of random sizes, most of them small.
class RandomChunks : public ByteSource {
 public:
  RandomChunks(std::string_view bytes, std::uint32_t seed) : bytes_(bytes), random_(seed) {}
  std::size_t Read(char* buffer, std::size_t capacity) override {
    const std::size_t most = std::size_t{1} << random_() % 17;
    const std::size_t count = bytes_.copy(buffer, std::min(capacity, 1 + random_() % most));
    bytes_.remove_prefix(count);
    return count;
  }

 private:
  std::string_view bytes_;
  std::mt19937 random_;
};

std::string ReportOf(ByteSource& source) {
  return PrintJson(MakeReport("", ReadArtifact(TheEngine(), {"log", ""}, source)));
}

TEST_CASE("the report does not depend on the chunks of a source", "[cli]") {
  std::mt19937 random(20261122);
  std::vector<std::string> logs = CaseLogs();
  for (int i = 0; i < 3; ++i) logs.push_back(LongLog(&random));
  for (const std::string& log : logs) {
    INFO(log.substr(0, 300));
    const std::string whole = ReportOf(*OpenMemory(log));
    for (const std::size_t chunk : {1, 2, 3, 7, 4096}) {
      CAPTURE(chunk);
      CHECK((ReportOf(*OpenMemory(log, chunk)) == whole));
    }
    for (int round = 0; round < 3; ++round) {
      const std::uint32_t seed = static_cast<std::uint32_t>(random());
      CAPTURE(seed);
      RandomChunks chunks(log, seed);
      CHECK((ReportOf(chunks) == whole));
    }
  }
}

TEST_CASE("the report does not depend on the chunks of a pipe", "[cli]") {
  std::mt19937 random(20261123);
  const std::vector<std::string> arguments = {WHYOOM_BINARY, "--format", "json"};
  for (const std::string& log : CaseLogs()) {
    const ProcessResult whole = RunProcess(arguments, log);
    for (const std::size_t most : {3, 700, 20000}) {
      std::vector<std::string> pieces;
      for (std::size_t at = 0; at < log.size(); at += pieces.back().size())
        pieces.push_back(log.substr(at, 1 + random() % most));
      const ProcessResult result = RunFedInPieces(arguments, pieces);
      INFO(log.substr(0, 300));
      CAPTURE(most);
      CHECK(result.exit_status == whole.exit_status);
      CHECK((result.out == whole.out));
    }
  }
}

TEST_CASE("a large file yields the same report with any -j and through a pipe", "[cli]") {
  std::mt19937 random(20261124);
  std::string log;  // large enough that several threads search it
  while (log.size() < (std::size_t{20} << 20)) log += LongLog(&random);
  const ScratchFolder scratch;
  scratch.Write("job.log", log);
  const auto read = [&](const std::string& jobs) {
    return RunProcess({WHYOOM_BINARY, "--format", "json", "-j", jobs, "job.log"}, "", scratch.path()).out;
  };
  const std::string alone = read("1");
  CHECK(alone.find("\"code\": \"E1000\"") != std::string::npos);
  for (const char* jobs : {"2", "3", "8"}) {
    CAPTURE(jobs);
    CHECK((read(jobs) == alone));
  }
  std::string piped = RunProcess({WHYOOM_BINARY, "--format", "json"}, log).out;
  for (std::size_t at = piped.find("\"path\": \"-\""); at != std::string::npos; at = piped.find("\"path\": \"-\"", at))
    piped.replace(at, 11, "\"path\": \"job.log\"");
  CHECK((piped == alone));
}

// Reads every line, as if there were no prefilter.
std::string ReportOfEachLine(const std::string& log) {
  LineReader reader(TheEngine());
  ArtifactFailures found(TheEngine(), {"log", ""});
  const auto take = [&] {
    if (std::vector<Failure> more = reader.Take(); !more.empty()) found.Add(std::move(more), reader.framework());
  };
  RawLine line;
  for (std::size_t at = 0; at < log.size(); at += line.bytes.size() + 1) {
    ++line.number;
    line.offset = at;
    line.bytes = std::string_view(log).substr(at, log.find('\n', at) - at);
    reader.Feed(line);
    take();
  }
  reader.Pause();
  take();
  ReadEnd end = reader.Finish();
  end.bytes = log.size();
  return PrintJson(MakeReport("", found.Finish(std::move(end))));
}

// Removes the times, because the prefilter may skip the line with the last timestamp before a failure.
std::string WithoutTimes(const std::string& report) {
  std::string kept;
  std::istringstream lines(report);
  for (std::string line; std::getline(lines, line);) {
    if (line.find("\"first_time\": ") == line.npos && line.find("\"last_time\": ") == line.npos) kept += line + '\n';
  }
  return kept;
}

TEST_CASE("skipped lines do not change the report", "[cli]") {
  for (const std::string& log : CaseLogs()) {
    INFO(log.substr(0, 300));
    CHECK(WithoutTimes(ReportOf(*OpenMemory(log))) == WithoutTimes(ReportOfEachLine(log)));
  }
}

}  // namespace TEST_FILE
}  // namespace whyoom
