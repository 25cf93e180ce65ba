// Failures named on a command line: "E1000,tpu.*,0101.fragmentation".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "diagnose/diagnosis.h"
#include "rules/rule_set.h"

namespace whyoom {

class Selection {
 public:
  // Of nothing.
  Selection() = default;

  // Each of `names` is a code or alias ("E1000", "E0100"), with a scenario ("E1000.3"), which means what lies below it,
  // too ("E1000.1" also "E1000.1.sparsecore"), or with ".?": where the log leaves the scenario open, as reports name
  // it; what is none of these is a pattern with * and ?, or the begin of names. Letter case does not matter. Throws
  // Error, which begins with `option`, where one names nothing that the rules know.
  Selection(const std::string& option, const std::vector<std::string>& names, const RuleSet& rules);

  bool empty() const { return names_.empty(); }

  // Whether a failure is one of those. Where the log leaves its scenario open: whether it is, whichever it was.
  bool Holds(const Diagnosis& finding) const;

  // The same, but whether it may be one of those.
  bool MayHold(const Diagnosis& finding) const;

 private:
  struct Name {
    std::string text;    // in small letters
    bool exact = false;  // a name that the rules know, so that it is no begin of another
  };
  bool Meets(const std::string& known) const;
  bool IsOpenOf(const Diagnosis& finding) const;
  bool MeetsScenario(const Failure& failure, const Scenario* scenario) const;

  std::vector<Name> names_;
};

// Whether `text` is what `pattern` says, in which * stands for any characters and ? for one.
bool MatchesGlob(std::string_view pattern, std::string_view text);

}  // namespace whyoom
