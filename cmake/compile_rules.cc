// Build tool: compiles the rule files given as arguments to the image that the program contains (rules/rule_image.h),
// and prints it as C++ source. With --literals before the files, prints the literals that the prefilter searches for,
// one per line, for `grep -iF -f` and the fuzzer.
#include <algorithm>
#include <cstdio>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_image.h"
#include "rules/rule_set.h"

namespace whyoom {

// A stub for the function that the generated file defines.
const RuleImage& BuiltInImage() {
  static const RuleImage none;
  return none;
}

}  // namespace whyoom

namespace {

using namespace whyoom;

void Print(const std::string& line) { std::puts(line.c_str()); }

// A C++ literal. Octal escapes have three digits, so a following digit cannot extend them.
std::string Quoted(std::string_view text) {
  std::string quoted = "\"";
  for (const unsigned char c : text) {
    char escaped[8];
    const bool plain = c >= 0x20 && c < 0x7F && c != '"' && c != '\\' && c != '?';
    std::snprintf(escaped, sizeof escaped, plain ? "%c" : "\\%03o", c);
    quoted += escaped;
  }
  return quoted + "\"";
}

// Prints one literal per line, because compilers warn about very long ones.
void PrintBytes(const std::string& name, std::string_view bytes) {
  constexpr std::size_t kPiece = 4096;
  Print("const char " + name + "[] =");
  for (std::size_t at = 0; at < bytes.size() || at == 0; at += kPiece) Print("    " + Quoted(bytes.substr(at, kPiece)));
  Print("    ;");
}

void PrintImage(const RuleSet& rules) {
  Print("#pragma GCC diagnostic ignored \"-Woverlength-strings\"  // longer than the standard guarantees\n");
  Print("#include \"rules/rule_image.h\"\n\nnamespace whyoom {\nnamespace {\n");
  PrintBytes("kRules", PackRules(rules.data()));
  PrintBytes("kLiterals", PackTexts(rules.literals()));
  PrintBytes("kSigns", PackTexts(rules.sign_literals()));
  PrintBytes("kNearby", PackTexts(rules.nearby_literals()));
  Print("\n}  // namespace\n\nconst RuleImage& BuiltInImage() {\n  static const RuleImage image = {");
  Print("      UnpackTexts({kLiterals, sizeof kLiterals - 1}), " + std::to_string(rules.trigger_count()) + ",");
  Print("      UnpackTexts({kSigns, sizeof kSigns - 1}), UnpackTexts({kNearby, sizeof kNearby - 1}),");
  Print("      " + Quoted(rules.fingerprint()) + ", {kRules, sizeof kRules - 1}};");
  Print("  return image;\n}\n\n}  // namespace whyoom");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  const bool prints_literals = !paths.empty() && paths[0] == "--literals";
  if (prints_literals) paths.erase(paths.begin());
  std::vector<RuleFile> files;
  for (const std::string& path : paths) {
    for (RuleFile& file : RuleSet::ReadFiles(path)) {
      file.layer = 0;
      files.push_back(std::move(file));
    }
  }
  std::vector<Fault> faults;
  const RuleSet rules = RuleSet::Compile({}, files, &faults);
  for (const Fault& fault : faults) std::fprintf(stderr, "%s\n", fault.ToString().c_str());
  if (!faults.empty()) return 1;
  if (!prints_literals) PrintImage(rules);
  for (const std::string& literal : rules.literals()) {
    const bool is_printed = std::none_of(literal.begin(), literal.end(), [](unsigned char c) { return c < ' '; });
    if (prints_literals && is_printed) Print(literal);
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
