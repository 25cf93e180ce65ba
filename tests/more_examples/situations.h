// Looks for situations that tell a set of rules from a mutant of it.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "diagnose/situation.h"
#include "mutation/rule_mutation.h"

namespace whyoom {

class SituationSearch {
 public:
  // Borrows the rules. What the findings of `logs` hold, and of the rules' own examples, is what situations are made
  // of.
  SituationSearch(const RuleSet& rules, const std::vector<std::string>& logs, std::size_t per_code);

  // Whether one is found, or one that was found before will do. `source` is the text that the mutant changes, whose
  // names and figures are tried first, `instead` what it makes of it, if that is a text, too. From any thread.
  bool Find(const RuleOwner& owner, const std::string& source, const std::string& instead, const RuleSet& mutated,
            std::size_t tries);

  // All that were found, as a rule file has them, by their owners.
  std::map<std::string, nlohmann::ordered_json> Found() const;

 private:
  struct Known {
    Situation situation;
    std::string concluded;
  };
  struct Accepted {
    std::string owner;
    Situation situation;  // with what it expects
  };
  using Random = std::mt19937_64;

  // What a text of the rules speaks of.
  struct Focus {
    std::vector<std::string> names;
    std::vector<double> figures;
    std::vector<std::string> texts;
    bool of_framework = false;
    bool of_rows = false;
  };

  void AddSeeds(const RuleSet& rules, const std::string& log);
  std::vector<std::string> CodesOf(const RuleOwner& owner) const;
  std::string Conclude(const RuleSet& rules, const Situation& situation) const;
  bool Differ(const Situation& situation, const RuleSet& mutated) const;
  Situation Changed(Situation situation, const Focus& focus, Random* random) const;
  void ChangeFact(const std::string& name, const Focus& focus, Situation* situation, Random* random) const;
  void ChangeRow(const Focus& focus, Situation* situation, Random* random) const;
  Situation Smallest(Situation situation, const RuleSet& mutated) const;
  void Accept(const RuleOwner& owner, Situation situation, const RuleSet& mutated);
  Focus FocusOn(const std::string& source) const;
  class RuleText;
  static std::vector<Situation> Border(const Situation& one, const Situation& other, const RuleText& text);

  const RuleSet& rules_;
  std::map<std::string, std::vector<Known>> pools_;           // by code
  std::map<std::string, std::size_t> seeds_;                  // by code, how many of the pool were read
  std::map<std::string, std::vector<Value>> values_;          // of facts
  std::map<std::string, std::vector<std::string>> facts_of_;  // by code
  std::vector<std::map<std::string, Value>> rows_;
  std::map<std::string, std::string> terms_;
  Terms compiled_terms_;
  mutable std::mutex mutex_;
  std::vector<Accepted> accepted_;
};

}  // namespace whyoom
