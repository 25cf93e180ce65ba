// Run by the build: writes the source of rules/builtin.h and input/stored_searches.h, from the rule data that is
// compiled in. What is to be stored is found out by doing what a run does: what it asks for and does not get, a run
// would have to make.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "input/search_database.h"
#include "input/stored_searches.h"
#include "read/engine.h"
#include "rules/builtin.h"
#include "rules/first_bytes.h"
#include "rules/rule_set.h"

namespace whyoom {
namespace {

std::vector<std::vector<std::string>>& AskedSearches() {
  static std::vector<std::vector<std::string>> searches;
  return searches;
}

std::vector<std::string>& AskedPatterns() {
  static std::vector<std::string> regexes;
  return regexes;
}

template <typename One>
void Remember(const One& one, std::vector<One>* all) {
  if (std::find(all->begin(), all->end(), one) == all->end()) all->push_back(one);
}

}  // namespace

// What the program has from the file that is written here.
std::vector<std::string_view> FindStored(const std::vector<std::string>& literals) {
  if (!literals.empty()) Remember(literals, &AskedSearches());
  return {};
}

const std::vector<std::string>* BuiltInPatternLiterals(std::string_view regex) {
  Remember(std::string(regex), &AskedPatterns());
  return nullptr;
}

const RuleDigest& BuiltInDigest() {
  static const RuleDigest none;
  return none;
}

}  // namespace whyoom

namespace {

using namespace whyoom;

// Shorter ones are in most lines.
constexpr std::size_t kAffixLiteral = 3;

// As a C++ literal; \ooo cannot run into a digit that follows.
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

// Lines of a literal each: compilers warn of very long ones.
void PrintBytes(const std::string& name, std::string_view bytes) {
  constexpr std::size_t kPiece = 4096;
  Print("const char " + name + "[] =");
  for (std::size_t at = 0; at < bytes.size() || at == 0; at += kPiece) Print("    " + Quoted(bytes.substr(at, kPiece)));
  Print("    ;");
}

std::string ListOf(const std::vector<std::string>& texts) {
  std::string list;
  for (const std::string& text : texts) list += "\n          " + Quoted(text) + ",";
  return "{" + list + "}";
}

// The fastest first. Not for the machine that builds: the same sources are to give the same program.
std::vector<std::string> MakeSearches(const std::vector<std::string>& literals) {
  std::vector<std::string> made;
  for (const auto machine : {SearchDatabase::Machine::kUsual, SearchDatabase::Machine::kAny})
    made.push_back(SearchDatabase::OfLiterals(literals, machine).Save());
  return made;
}

void PrintSearches() {
  std::string entries;
  for (const std::vector<std::string>& literals : AskedSearches()) {
    std::string made;
    for (const std::string& bytes : MakeSearches(literals)) {
      const std::string name = "kSearch" + std::to_string(entries.size() + made.size());
      PrintBytes(name, bytes);
      made += "{" + name + ", sizeof " + name + " - 1}, ";
    }
    entries += "      {" + ListOf(literals) + ", {" + made + "}},\n";
  }
  Print("\nstruct Stored {\n  std::vector<std::string_view> literals;\n  std::vector<std::string_view> made;\n};\n");
  Print("}  // namespace\n");
  Print("std::vector<std::string_view> FindStored(const std::vector<std::string>& literals) {");
  Print("  static const std::vector<Stored> all = {\n" + entries + "  };");
  Print("  for (const Stored& stored : all) {");
  Print("    if (std::equal(stored.literals.begin(), stored.literals.end(), literals.begin(), literals.end()))");
  Print("      return stored.made;\n  }\n  return {};\n}\n");
}

void PrintPatternLiterals(const std::map<std::string, const Pattern*>& patterns) {
  Print("const std::vector<std::string>* BuiltInPatternLiterals(std::string_view regex) {");
  Print("  static const std::unordered_map<std::string_view, std::vector<std::string>> literals = {");
  for (const std::string& regex : AskedPatterns()) {
    std::string all;
    for (const std::string& literal : patterns.at(regex)->Literals(kSetLiteral)) all += Quoted(literal) + ", ";
    Print("      {" + Quoted(regex) + ", {" + all + "}},");
  }
  Print("  };\n  const auto found = literals.find(regex);");
  Print("  return found == literals.end() ? nullptr : &found->second;\n}\n");
}

// Examples are for who tries rules.
void DropExamples(nlohmann::json* entry) {
  for (const char* key : {"examples", "leaves", "no_match", "logs"}) entry->erase(key);
}

std::vector<Affix> WithSigns(std::vector<Affix> affixes) {
  for (Affix& affix : affixes) {
    std::vector<SyntaxFault> faults;
    affix.signs = {FirstBytes(affix.pattern), Pattern::Compile(affix.pattern, &faults).Literals(kAffixLiteral)};
  }
  return affixes;
}

void AddSigns(const std::vector<Affix>& affixes, nlohmann::json* entry) {
  for (const Affix& affix : affixes) {
    if (affix.id != entry->at("id")) continue;
    (*entry)[kAffixSigns] = {{"first_bytes", affix.signs->first_bytes.to_string()},
                             {"literals", affix.signs->literals}};
  }
}

std::string PackedRules(const std::vector<Affix>& affixes) {
  nlohmann::json files = nlohmann::json::object();
  for (const RuleFile& file : RuleSet::BuiltIn()) {
    nlohmann::json data = nlohmann::json::parse(file.text);
    for (auto& [key, section] : data.items()) {
      if (!section.is_array()) continue;
      for (nlohmann::json& entry : section) {
        if (entry.is_object()) DropExamples(&entry);
      }
    }
    if (data.contains("affixes")) {
      for (nlohmann::json& entry : data["affixes"]) AddSigns(affixes, &entry);
    }
    files[file.name] = std::move(data);
  }
  const std::vector<std::uint8_t> packed = nlohmann::json::to_msgpack(files);
  return std::string(packed.begin(), packed.end());
}

void PrintDigest(const RuleSet& rules) {
  Print("const RuleDigest& BuiltInDigest() {\n  static const RuleDigest digest = {");
  for (const std::vector<std::string>* literals : {&rules.literals(), &rules.sign_literals(), &rules.nearby_literals()})
    Print("      " + ListOf(*literals) + ",");
  Print("      " + Quoted(rules.fingerprint()) + ",\n      {kRules, sizeof kRules - 1},");
  Print("  };\n  return digest;\n}\n\n}  // namespace whyoom");
}

}  // namespace

int main() {
  std::vector<Fault> faults;
  const RuleSet rules = RuleSet::Load({}, &faults);
  for (const Fault& fault : faults) std::fprintf(stderr, "%s\n", fault.ToString().c_str());
  if (!faults.empty()) return 1;
  const Engine engine(rules);
  const std::vector<Affix> affixes = WithSigns(rules.affixes());
  const Normalizer normalizer(affixes, rules.json_keys());  // asks for the search of their literals
  std::map<std::string, const Pattern*> patterns;
  for (const PatternSet* set : engine.PreparedSets()) {
    for (const Pattern* pattern : set->patterns()) patterns.emplace(pattern->regex(), pattern);
  }
  Print(
      "#pragma GCC diagnostic ignored \"-Woverlength-strings\"  // what the standard asks of all compilers is less\n");
  Print(
      "#include \"rules/builtin.h\"\n\n#include <algorithm>\n#include <unordered_map>\n\n#include "
      "\"input/stored_searches.h\"\n");
  Print("namespace whyoom {\nnamespace {\n");
  PrintBytes("kRules", PackedRules(affixes));
  PrintSearches();
  PrintPatternLiterals(patterns);
  PrintDigest(rules);
  return std::fflush(stdout) == 0 ? 0 : 1;
}
