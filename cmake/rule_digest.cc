// Run by the build: writes the source of rules/builtin.h, from the rule data that is compiled in.
#include <cstdio>
#include <string>
#include <vector>

#include "rules/builtin.h"
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

// Those of the sets that a log is looked through for.
std::vector<const whyoom::Pattern*> SetPatterns(const whyoom::RuleSet& rules) {
  std::vector<const whyoom::Pattern*> patterns;
  for (const whyoom::Failure& failure : rules.failures()) {
    for (const whyoom::Head& head : failure.heads) patterns.push_back(&head.pattern);
  }
  for (const whyoom::Context& context : rules.contexts()) {
    for (const whyoom::Pattern& pattern : context.patterns) patterns.push_back(&pattern);
    patterns.push_back(&context.until);
  }
  for (const whyoom::Framework& framework : rules.frameworks()) {
    for (const whyoom::Pattern& sign : framework.signs) patterns.push_back(&sign);
  }
  for (const whyoom::Suspect& suspect : rules.suspects()) patterns.push_back(&suspect.pattern);
  for (const whyoom::Quotation& quotation : rules.quotations()) patterns.push_back(&quotation.pattern);
  return patterns;
}

void PrintSetLiterals(const whyoom::RuleSet& rules) {
  std::puts("const std::vector<std::string>* BuiltInPatternLiterals(std::string_view regex) {");
  std::puts("  static const std::unordered_map<std::string_view, std::vector<std::string>> literals = {");
  for (const whyoom::Pattern* pattern : SetPatterns(rules)) {
    if (!pattern->ok()) continue;
    std::printf("      {%s, {", Quoted(pattern->regex()).c_str());
    for (const std::string& literal : pattern->Literals(whyoom::kSetLiteral))
      std::printf("%s, ", Quoted(literal).c_str());
    std::puts("}},");
  }
  std::puts("  };\n  const auto found = literals.find(regex);");
  std::puts("  return found == literals.end() ? nullptr : &found->second;\n}\n");
}

}  // namespace

int main() {
  std::vector<whyoom::Fault> faults;
  const whyoom::RuleSet rules = whyoom::RuleSet::Load({}, &faults);
  for (const whyoom::Fault& fault : faults) std::fprintf(stderr, "%s\n", fault.ToString().c_str());
  if (!faults.empty()) return 1;
  std::puts(
      "#include \"rules/builtin.h\"\n\n#include <unordered_map>\n\nnamespace whyoom {\n\nconst "
      "std::vector<std::string>& BuiltInLiterals() {");
  std::puts("  static const std::vector<std::string> literals = {");
  for (const std::string& literal : rules.literals()) std::printf("      %s,\n", Quoted(literal).c_str());
  std::puts("  };\n  return literals;\n}\n");
  PrintSetLiterals(rules);
  std::puts("const std::string& BuiltInFingerprint() {");
  std::printf("  static const std::string fingerprint = %s;\n  return fingerprint;\n}\n\n}  // namespace whyoom\n",
              Quoted(rules.fingerprint()).c_str());
  return std::fflush(stdout) == 0 ? 0 : 1;
}
