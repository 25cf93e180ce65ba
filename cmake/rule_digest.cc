// Run by the build: writes the source of rules/builtin.h, from the rule data that is compiled in.
#include <cstdio>
#include <string>
#include <vector>

#include "rules/rule_set.h"

namespace {

// As a C++ literal; \ooo cannot run into a digit that follows.
std::string Quoted(const std::string& text) {
  std::string quoted = "\"";
  for (const unsigned char c : text) {
    char escaped[8];
    const bool plain = c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '?';
    std::snprintf(escaped, sizeof escaped, plain ? "%c" : "\\%03o", c);
    quoted += escaped;
  }
  return quoted + "\"";
}

}  // namespace

int main() {
  std::vector<whyoom::Fault> faults;
  const whyoom::RuleSet rules = whyoom::RuleSet::Load({}, &faults);
  for (const whyoom::Fault& fault : faults) std::fprintf(stderr, "%s\n", fault.ToString().c_str());
  if (!faults.empty()) return 1;
  std::puts(
      "#include \"rules/builtin.h\"\n\nnamespace whyoom {\n\nconst std::vector<std::string>& BuiltInLiterals() {");
  std::puts("  static const std::vector<std::string> literals = {");
  for (const std::string& literal : rules.literals()) std::printf("      %s,\n", Quoted(literal).c_str());
  std::puts("  };\n  return literals;\n}\n\nconst std::string& BuiltInFingerprint() {");
  std::printf("  static const std::string fingerprint = %s;\n  return fingerprint;\n}\n\n}  // namespace whyoom\n",
              Quoted(rules.fingerprint()).c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}
