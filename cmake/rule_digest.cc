// Build tool: computes the digest of the built-in rules (rules/builtin.h) and prints it as C++ source. It performs the
// start-up work of a run with an empty digest, records what is missing from it, and prints these results. With an
// argument, prints the literals that the prefilter searches for, one per line, for `grep -iF -f` and the fuzzer.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "rules/builtin.h"
#include "rules/rule_loader.h"
#include "rules/rule_set.h"

namespace whyoom {

// Stubs for the functions that the generated file defines.
std::optional<std::vector<std::string>> BuiltInPatternLiterals(std::string_view) { return std::nullopt; }

const RuleDigest& BuiltInDigest() {
  static const RuleDigest none;
  return none;
}

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

void Print(const std::string& line) { std::puts(line.c_str()); }

// An initializer of a std::string_view; the bytes may contain NUL.
std::string ViewOf(std::string_view text) { return "{" + Quoted(text) + ", " + std::to_string(text.size()) + "}"; }

// Prints one literal per line, because compilers warn about very long ones.
void PrintBytes(const std::string& name, std::string_view bytes) {
  constexpr std::size_t kPiece = 4096;
  Print("const char " + name + "[] =");
  for (std::size_t at = 0; at < bytes.size() || at == 0; at += kPiece) Print("    " + Quoted(bytes.substr(at, kPiece)));
  Print("    ;");
}

void PrintPatternLiterals(const std::map<std::string, const Pattern*>& patterns) {
  Print("struct PatternEntry {\n  std::string_view source;\n  std::string_view literals;\n};");
  Print("constexpr PatternEntry kPatterns[] = {");
  for (const auto& [source, pattern] : patterns)
    Print("    {" + ViewOf(source) + ", " + ViewOf(PackTexts(pattern->Literals(kSetLiteral))) + "},");
  Print("};\n\n}  // namespace\n");
  Print("std::optional<std::vector<std::string>> BuiltInPatternLiterals(std::string_view source) {");
  Print("  const auto* const found = std::lower_bound(std::begin(kPatterns), std::end(kPatterns), source,");
  Print("      [](const PatternEntry& entry, std::string_view wanted) { return entry.source < wanted; });");
  Print("  if (found == std::end(kPatterns) || found->source != source) return std::nullopt;");
  Print("  return UnpackTexts(found->literals);\n}\n");
}

// Only rule tests need examples, except that a failure is explained with its first.
void DropExamples(nlohmann::json* entry) {
  const nlohmann::json match =
      entry->contains("code") ? entry->at("examples").value("match", nlohmann::json::array()) : nlohmann::json::array();
  for (const char* key : {"examples", "leaves", "no_match", "logs"}) entry->erase(key);
  if (!match.empty()) (*entry)["examples"]["match"] = {match[0]};
}

template <class Number>
std::string BytesOf(Number number) {
  return std::string(reinterpret_cast<const char*>(&number), sizeof number);
}

std::string SizeOf(std::size_t size) { return BytesOf(static_cast<std::uint32_t>(size)); }

// The format of RuleDigest::data.
std::string PackJson(const nlohmann::json& json) {
  if (json.is_string()) return "s" + SizeOf(json.get<std::string>().size()) + json.get<std::string>();
  if (json.is_number_integer()) return "i" + BytesOf(json.get<std::int64_t>());
  if (json.is_number()) return "d" + BytesOf(json.get<double>());
  if (json.is_boolean()) return json.get<bool>() ? "t" : "f";
  if (json.is_null()) return "n";
  std::string packed;
  for (const auto& [key, value] : json.items())
    packed += (json.is_array() ? "" : SizeOf(key.size()) + key) + PackJson(value);
  return (json.is_array() ? "a" : "o") + SizeOf(packed.size()) + packed;
}

std::string PackedRules() {
  nlohmann::json files = nlohmann::json::object();
  for (const RuleFile& file : RuleSet::BuiltIn()) {
    nlohmann::json data = nlohmann::json::parse(file.text);
    for (auto& [key, section] : data.items()) {
      if (!section.is_array()) continue;
      for (nlohmann::json& entry : section) {
        if (entry.is_object()) DropExamples(&entry);
      }
    }
    files[file.name] = std::move(data);
  }
  return PackJson(files);
}

void PrintDigest(const RuleSet& rules) {
  Print("const RuleDigest& BuiltInDigest() {\n  static const RuleDigest digest = {");
  const auto print = [](const std::vector<std::string>& literals) {
    Print("      UnpackTexts(" + ViewOf(PackTexts(literals)) + "),");
  };
  print(rules.literals());
  Print("      " + std::to_string(rules.trigger_count()) + ",");
  print(rules.sign_literals());
  print(rules.nearby_literals());
  Print("      " + Quoted(rules.fingerprint()) + ",\n      {kRules, sizeof kRules - 1},");
  Print("  };\n  return digest;\n}\n\n}  // namespace whyoom");
}

// The patterns that `read` searches for with a PatternSet.
std::vector<const Pattern*> PatternsInSets(const RuleSet& rules) {
  std::vector<const Pattern*> patterns;
  const auto add = [&](const std::vector<Pattern>& more) {
    for (const Pattern& pattern : more) patterns.push_back(&pattern);
  };
  for (const FailureRule& rule : rules.failures()) {
    for (const HeaderPattern& header : rule.header_patterns) patterns.push_back(&header.pattern);
    add(rule.facts);
  }
  for (const Context& context : rules.contexts()) {
    add(context.patterns);
    if (context.until.ok()) patterns.push_back(&context.until);
  }
  for (const Framework& framework : rules.frameworks()) add(framework.signs);
  for (const Quotation& quotation : rules.quotations())
    patterns.insert(patterns.end(), {&quotation.pattern, &quotation.after});
  for (const CandidateError& candidate : rules.candidate_errors()) patterns.push_back(&candidate.pattern);
  for (const ErrorLine& line : rules.error_lines()) patterns.push_back(&line.pattern);
  for (const ProgressLine& line : rules.progress()) patterns.push_back(&line.pattern);
  return patterns;
}

}  // namespace

int main(int argc, char**) {
  std::vector<Fault> faults;
  const RuleSet rules =
      RuleSetBuilder::Build(RuleSet::SchemaText(), RuleSet::BuiltIn(), {}, &faults, RuleSet::BuiltInData::kTrusted);
  for (const Fault& fault : faults) std::fprintf(stderr, "%s\n", fault.ToString().c_str());
  if (!faults.empty()) return 1;
  if (argc > 1) {
    for (const std::string& literal : rules.literals()) {
      if (std::none_of(literal.begin(), literal.end(), [](unsigned char c) { return c < ' '; })) Print(literal);
    }
    return 0;
  }
  std::map<std::string, const Pattern*> patterns;
  for (const Pattern* pattern : PatternsInSets(rules)) patterns.emplace(pattern->source(), pattern);
  Print("#pragma GCC diagnostic ignored \"-Woverlength-strings\"  // longer than the standard guarantees\n");
  Print("#include \"rules/builtin.h\"\n\n#include <algorithm>\n#include <iterator>\n");
  Print("namespace whyoom {\nnamespace {\n");
  PrintBytes("kRules", PackedRules());
  PrintPatternLiterals(patterns);
  PrintDigest(rules);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
