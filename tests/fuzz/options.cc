// Any command line, one argument per line: it is accepted or rejected with a message.
#include "cli/options.h"

#include <sstream>

#include "fuzz/fuzz.h"
#include "input/error.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream lines{std::string(Bytes(data, size))};
  std::vector<std::string> arguments;
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  Options options;
  try {
    const std::optional<std::string> text = ParseOptions(arguments, &options);
    Require(!text || !text->empty(), "--help and --version print a text");
  } catch (const Error& error) {
    Require(*error.what() != '\0', "a message is printed");
  }
  return 0;
}
