// Any command line, one argument per line: it is accepted or rejected with a message, and it can be completed.
#include "cli/options.h"

#include <sstream>

#include "cli/complete.h"
#include "fuzz/fuzz.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  std::istringstream lines{std::string(Bytes(data, size))};
  std::vector<std::string> arguments;
  for (std::string line; std::getline(lines, line);) arguments.push_back(line);
  const Completion completion = CompleteLine(arguments, {[] {
                                                           return std::vector<Word>{{"E1000", "a code"}};
                                                         },
                                                         [] {
                                                           return std::vector<Word>{{"jax", "JAX"}};
                                                         }});
  for (const Word& word : completion.words)
    Require(arguments.empty() || word.text.rfind(arguments.back(), 0) == 0,
            "each suggestion begins with the last word");
  Require(completion.fill != Completion::Fill::kJob || completion.job_begin < arguments.size(),
          "the job begins within the arguments");
  Options options;
  const std::optional<EarlyExit> early = ParseOptions(arguments, &options);
  if (!early) return 0;
  Require(early->exit_status == 0 || early->exit_status == 2, "the status is that of help or of wrong usage");
  Require(!early->text.empty(), "a message is printed");
  return 0;
}
