// Any command line, one argument per line: it is accepted or rejected with a message.
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
  Require(early->exit_status == 0 || early->exit_status == 2, "the status is that of help or of wrong usage");
  Require(!early->text.empty(), "a message is printed");
  return 0;
}
