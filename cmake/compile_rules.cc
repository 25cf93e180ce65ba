// Build tool: compiles the rule files given as arguments to the image that the program contains (rules/rule_image.h),
// and prints it as C++ source. With --literals before the files, prints the literals that the prefilter searches for,
// one per line, for `grep -iF -f` and the fuzzer.
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_compiler.h"
#include "rules/rule_image.h"

namespace whyoom {

// A stub for the function that the generated file defines.
std::string_view BuiltInImage() { return {}; }

}  // namespace whyoom

namespace {

using namespace whyoom;

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
void PrintImage(std::string_view image) {
  constexpr std::size_t kPiece = 4096;
  std::puts("#pragma GCC diagnostic ignored \"-Woverlength-strings\"  // longer than the standard guarantees\n");
  std::puts("#include \"rules/rule_image.h\"\n\nnamespace whyoom {\n\nstd::string_view BuiltInImage() {");
  std::puts("  static constexpr char kImage[] =");
  for (std::size_t at = 0; at < image.size(); at += kPiece)
    std::printf("      %s\n", Quoted(image.substr(at, kPiece)).c_str());
  std::puts("      ;\n  return {kImage, sizeof kImage - 1};\n}\n\n}  // namespace whyoom");
}

}  // namespace

int main(int argc, char** argv) {
  std::vector<std::string> paths(argv + 1, argv + argc);
  const bool prints_literals = !paths.empty() && paths[0] == "--literals";
  if (prints_literals) paths.erase(paths.begin());
  std::vector<RuleFile> files;
  for (const std::string& path : paths) {
    std::ifstream stream(path, std::ios::binary);
    files.push_back({path, {std::istreambuf_iterator<char>(stream), {}}, "", 0});
  }
  const CompiledRules compiled = CompileRules({}, files);
  for (const Fault& fault : compiled.faults) std::fprintf(stderr, "%s\n", fault.ToString().c_str());
  if (!compiled.faults.empty()) return 1;
  if (!prints_literals) PrintImage(PackRules(compiled.rules));
  for (const std::string& literal : compiled.rules.literals) {
    const bool is_printed = std::none_of(literal.begin(), literal.end(), [](unsigned char c) { return c < ' '; });
    if (prints_literals && is_printed) std::puts(literal.c_str());
  }
  return std::fflush(stdout) == 0 ? 0 : 1;
}
