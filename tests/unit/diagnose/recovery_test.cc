// Whether a job went on after a failure. The logs are in testdata/recovery.txt.
#include <fstream>
#include <regex>
#include <string>
#include <vector>

#include "catch.h"
#include "unit/diagnose/diagnose_log.h"

using namespace whyoom;

namespace TEST_FILE {

struct Case {
  std::string name;
  std::uint64_t line = 0;  // 0: died
  std::string log;
};

std::string Expand(std::string line) {
  const std::string exhausted = "RESOURCE_EXHAUSTED: ";
  line = std::regex_replace(line, std::regex("@C"),
                            exhausted +
                                "XLA:TPU compile permanent error. Ran out of memory in memory space hbm. Used "
                                "22.89G of 15.75G hbm. Exceeded hbm capacity by 7.14G.");
  return std::regex_replace(line, std::regex("@R"),
                            exhausted +
                                "Error allocating device buffer: Attempting to allocate 2.00G. That was not "
                                "possible. There are 1.50G free.; (0x0x0_HBM0)");
}

std::vector<Case> Cases() {
  std::vector<Case> cases;
  std::ifstream file(WHYOOM_SOURCE_DIR "/testdata/recovery.txt");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("== ")) {
      const std::size_t colon = line.rfind(": ");
      const std::string verdict = line.substr(colon + 2);
      cases.push_back({line.substr(3, colon - 3), verdict == "died" ? 0 : std::stoull(verdict), ""});
    } else if (!cases.empty()) {
      cases.back().log += Expand(line) + "\n";
    }
  }
  return cases;
}

TEST_CASE("only lines of the same process show that it went on", "[diagnose]") {
  const std::vector<Case> cases = Cases();
  CHECK(cases.size() >= 40);
  for (const Case& one : cases) {
    INFO(one.name + "\n" + one.log);
    const Failure failure = Diagnose(one.log);
    CHECK((failure.recovered ? failure.recovered->line : 0) == one.line);
    if (one.line > 0) CHECK(failure.retry.answer == Retry::Answer::kUnknown);
  }
}

// The reader skips most lines of a log.
TEST_CASE("signs are found directly after the failure and at the end of a large log", "[diagnose]") {
  const std::string rule = Expand("XlaRuntimeError: @R\n");
  std::string quiet;
  for (int i = 0; i < 20'000; ++i) quiet += "nothing to see here " + std::to_string(i % 10) + "\n";
  const std::string steps = "step 1 loss 2.3\nstep 2 loss 2.2\n";
  CHECK(Diagnose(quiet + rule + steps + quiet).recovered.value().line == 20'003);
  CHECK(Diagnose(rule + quiet + steps).recovered.value().line == 20'003);
  CHECK_FALSE(Diagnose(steps + quiet + rule + quiet).recovered);
  CHECK_FALSE(Diagnose(rule + steps + quiet + rule + quiet).recovered);
}

}  // namespace TEST_FILE
