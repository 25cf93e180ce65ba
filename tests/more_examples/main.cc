// Proposes examples for what `whyoom_mutate` finds that nothing would notice:
//
//   whyoom_more_examples [--only TEXT] [--kind pattern|other] [--sample N] [--seed N] [--tries N] [--log FILE]... >
//   proposals.json
//
// What comes out says what the rules do today. Read it before it becomes an example: what is wrong there is a fault of
// the rules that was found. --log: findings of these logs are material, too.
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iostream>
#include <iterator>
#include <string>
#include <thread>
#include <vector>

#include "situations.h"
#include "texts.h"

namespace {

std::string Content(const std::string& path) {
  std::ifstream stream(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>()};
}

std::string SourceAt(const nlohmann::json& file, const std::string& pointer) {
  const nlohmann::json::json_pointer at(pointer);
  return file.contains(at) ? whyoom::JoinedText(file[at]) : "";
}

}  // namespace

int main(int count, char** arguments) {
  using namespace whyoom;
  MutationOptions options;
  options.jobs = std::thread::hardware_concurrency();
  std::size_t tries = 2000;
  std::size_t per_code = 400;
  std::string kind;  // "pattern": these alone; "other": all others
  std::vector<std::string> logs;
  if (count % 2 == 0) {
    std::cerr << "each option takes a value; they stand at the top of main.cc\n";
    return 2;
  }
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string name = arguments[i];
    const std::string value = arguments[i + 1];
    if (name == "--only") options.only = value;
    if (name == "--sample") options.sample = std::stoul(value);
    if (name == "--seed") options.seed = std::stoul(value);
    if (name == "--tries") tries = std::stoul(value);
    if (name == "--jobs") options.jobs = std::stoul(value);
    if (name == "--kind") kind = value;
    if (name == "--pool") per_code = std::stoul(value);
    if (name == "--log") logs.push_back(Content(value));
  }
  std::vector<Fault> faults;
  const RuleSet rules = RuleSet::Load({}, &faults, RuleSet::BuiltInData::kChecked);
  for (const Fault& fault : faults) std::cerr << fault.ToString() << "\n";
  if (!faults.empty()) return 2;
  const bool with_situations = kind != "pattern";
  SituationSearch situations(rules, logs, with_situations ? per_code : 0);
  const Engine engine(rules);
  TextSearch texts(engine);
  std::cerr << "made the pool\n";
  std::vector<nlohmann::json> parsed;
  for (const RuleFile& file : RuleSet::BuiltIn()) parsed.push_back(nlohmann::json::parse(file.text));
  options.notices = [&](const RuleMutant& mutant, const Engine& mutated) {
    if (mutant.kind == RuleMutant::Kind::kWords) return false;
    const RuleOwner owner = OwnerOf(mutant.pointer, parsed[mutant.file]);
    const bool is_text = mutant.kind == RuleMutant::Kind::kCondition || mutant.kind == RuleMutant::Kind::kSentence;
    const std::string instead = is_text && mutant.instead.is_string() ? mutant.instead.get<std::string>() : "";
    const std::string source = SourceAt(parsed[mutant.file], mutant.pointer);
    if (mutant.kind == RuleMutant::Kind::kPattern) {
      if (kind == "other") return true;
      const std::size_t patterns = mutant.pointer.find_last_not_of("/0123456789");
      const std::string key = mutant.pointer.substr(0, patterns + 1);
      return texts.Find(owner, {key.substr(key.rfind('/') + 1), source, mutant.instead.get<std::string>(), mutant.at},
                        mutated);
    }
    return !with_situations || situations.Find(owner, source, instead, mutated.rules(), tries);
  };
  const std::vector<TriedMutant> tried = TryMutants({}, RuleSet::BuiltIn(), RuleSet::BuiltInExamples(), {}, options);
  std::size_t survived = 0;
  for (const TriedMutant& one : tried) {
    if (one.end != TriedMutant::End::kSurvived) continue;
    ++survived;
    std::cerr << RuleSet::BuiltIn()[one.mutant.file].name << one.mutant.pointer << ": " << KindName(one.mutant.kind)
              << ": " << one.mutant.what << "\n";
  }
  std::cerr << survived << " of " << tried.size() << " survive\n";
  nlohmann::ordered_json out = {
      {"format", "whyoom.rules/1"}, {"examples", texts.Found()}, {"situations", nlohmann::ordered_json::array()}};
  for (const auto& [owner, found] : situations.Found()) {
    for (const auto& one : found) out["situations"].push_back(one);
  }
  std::cout << out.dump(1) << "\n";
}
