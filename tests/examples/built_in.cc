#include "examples/built_in.h"

#include <algorithm>
#include <stdexcept>

#include "cli/rules_command.h"
#include "rules/rule_reader.h"

namespace whyoom {
namespace {

std::vector<RuleFile> FilesIn(const std::string& folder) {
  std::vector<RuleFile> files = ReadRuleFiles(WHYOOM_SOURCE_DIR "/" + folder);
  for (RuleFile& file : files) {
    file.name = folder + file.name.substr(file.name.rfind('/'));
    file.layer = 0;
  }
  return files;
}

// Examples of an entry in another file: {"of": "contexts/vllm_config", "examples": […], "counterexamples": […]}.
struct MoreExamples {
  std::string of;
  Samples samples;
};

void Describe(auto& v, MoreExamples& more) {
  v.Need("of", more.of);
  v.Samples(more.samples, kUnchecked, false);
}

MoreExamples ReadExamples(const JsonNode& node) {
  RuleReferences references;
  MoreExamples more;
  RuleReader(&references, node).Read(more);
  return more;
}

// Adds samples to an entry, and notes the names of all entries of the section.
class Adder {
 public:
  explicit Adder(const MoreExamples& more) : more_(more), section_(more.of.substr(0, more.of.find('/'))) {}

  void Section(const char* key, auto& entries) {
    if (key != section_) return;
    for (auto& entry : entries) {
      known.push_back(section_ + "/" + IdOf(entry));
      if constexpr (requires { entry.samples; }) {
        if (known.back() != more_.of) continue;
        Append(more_.samples.examples, &entry.samples.examples);
        Append(more_.samples.counterexamples, &entry.samples.counterexamples);
        is_added = true;
      } else {
        is_added = is_added || (section_ == "affixes" && known.back() == more_.of);
      }
    }
  }
  void ByName(const char* /*key*/, auto& /*entries*/) {}
  void Settings(const char* key, auto& /*record*/) { is_added = is_added || key == section_; }

  std::vector<std::string> known;
  bool is_added = false;

 private:
  static void Append(const std::vector<Example>& more, std::vector<Example>* to) {
    to->insert(to->end(), more.begin(), more.end());
  }

  const MoreExamples& more_;
  const std::string section_;
};

}  // namespace

const std::vector<RuleFile>& BuiltInFiles() {
  static const std::vector<RuleFile> files = FilesIn("rules");
  return files;
}

const std::vector<RuleFile>& ExampleFiles() {
  static const std::vector<RuleFile> files = FilesIn("rules/examples");
  return files;
}

std::vector<AffixExample> AffixExamples(const std::vector<RuleFile>& files) {
  std::vector<AffixExample> all;
  const auto add = [&](const std::string& id, const JsonNode& node) {
    MoreExamples more;
    RuleReferences references;
    RuleReader reader(&references, node);
    reader.Samples(more.samples, kUnchecked, false);
    for (const Example& example : more.samples.examples) all.push_back({id, example});
    for (Example& example : more.samples.counterexamples) {
      example.leaves = example.text;
      all.push_back({id, example});
    }
  };
  for (const RuleFile& file : files) {
    const LoadedFile loaded(file);
    for (const JsonNode& node : loaded.root()["affixes"].items()) add(node["id"].Text(), node);
    for (const JsonNode& node : loaded.root()["examples"].items()) {
      const std::string of = node["of"].Text();
      if (of.starts_with("affixes/")) add(of.substr(of.find('/') + 1), node);
      if (of.starts_with("json_logs/")) add(of, node);
    }
  }
  return all;
}

std::string AddExamples(const std::vector<RuleFile>& files, RuleSet* rules) {
  std::string faults;
  for (const RuleFile& file : files) {
    const LoadedFile loaded(file);
    for (const JsonNode& node : loaded.root()["examples"].items()) {
      const MoreExamples more = ReadExamples(node);
      Adder adder(more);
      DescribeSections(adder, *rules);
      const bool is_known = std::find(adder.known.begin(), adder.known.end(), more.of) != adder.known.end();
      if (!adder.is_added && is_known) node["of"].Report("its entries cannot have examples");
      if (!adder.is_added && !is_known)
        node["of"].Report("there is no '" + more.of + "'", DidYouMean(more.of, adder.known));
    }
    for (const Fault& fault : loaded.SortedFaults()) faults += fault.ToString() + "\n";
  }
  return faults;
}

RuleSet RulesOf(const std::vector<RuleFile>& files, const std::vector<RuleFile>& examples) {
  CompiledRules compiled = CompileRules({}, files);
  std::string faults;
  for (const Fault& fault : compiled.faults) faults += fault.ToString() + "\n";
  faults += AddExamples(examples, &compiled.rules);
  if (!faults.empty()) throw std::runtime_error(faults);
  return std::move(compiled.rules);
}

}  // namespace whyoom
