// Any command line: it is understood, or told what is wrong. One argument a line.
#include "cli/options.h"

#include <sstream>

#include "fuzz/fuzz.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream lines{std::string(Bytes(data, size))};
  std::vector<std::string> arguments;
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  Options options;
  const std::optional<EarlyExit> early = ParseOptions(arguments, &options);
  if (!early) return 0;
  Require(early->exit_status == 0 || early->exit_status == 2, "help, or wrong usage");
  Require(!early->text.empty(), "something is said");
  return 0;
}
