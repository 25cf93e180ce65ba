// Any rule file: it loads, or its faults are reported with their positions.
#include <algorithm>

#include "cli/rules_command.h"
#include "fuzz/fuzz.h"
#include "rules/rule_compiler.h"

using namespace whyoom;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = Bytes(data, size);
  // Not loading the built-in data saves most of the time. A file can be valid without it.
  const CompiledRules compiled = CompileRules({}, {{"rules.json", std::string(text)}});
  const std::size_t lines = 1 + static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
  for (const Fault& fault : compiled.faults) {
    Require(!fault.what.empty(), "a fault has a message");
    Require(fault.file == "rules.json" && fault.line <= lines, "a fault is in the file");
  }
  bool ok = true;
  if (compiled.faults.empty()) TestRules(compiled.rules, &ok);
  return 0;
}
