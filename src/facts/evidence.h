// Facts from a log, each with the place that proves it, or from a dump. Readers collect facts and draw no conclusions.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/rule_set.h"
#include "rules/value.h"

namespace whyoom {

struct Place {
  std::uint64_t line = 0;    // 1-based; 0 for a fact that is derived or from a dump
  std::uint64_t offset = 0;  // bytes from the start of the artifact
};

struct Fact {
  Value value;
  Place place;
};

class Evidence {
 public:
  // Keeps an existing fact unless `replace` is true: the first value found is nearest to the header. Ignores an unknown
  // value.
  void Set(std::string_view name, Value value, Place place, bool replace = false);

  void Remove(std::string_view name);             // does nothing if there is no such fact
  const Fact* Find(std::string_view name) const;  // nullptr if not known
  Value Get(std::string_view name) const;         // Unknown if not known
  std::optional<double> Number(std::string_view name) const;
  std::string Text(std::string_view name) const;  // empty if not known or not a text
  const std::map<std::string, Fact, std::less<>>& all() const { return facts_; }

  // Adds the facts of `other` that are missing here, or all if `replace` is true.
  void Add(const Evidence& other, bool replace = false);

  void MaskSecrets();

 private:
  std::map<std::string, Fact, std::less<>> facts_;
};

// Derives facts by the formulas of the rule data, in list order. A formula can use the facts that were read, which
// `read` contains, and those that earlier formulas derived. Returns only the derived facts; their `place` is empty.
Evidence Derive(const std::vector<DerivedFact>& derived, const Scope& read);

// Whether any of the named facts is known in both, with different values.
bool Contradict(const Evidence& a, const Evidence& b, const std::vector<std::string>& names);

// Whether a compiler's report counts only the temporaries, because they alone exceed the limit. Such a report prints
// arguments and outputs as 0, so the program needs more than the report states.
bool CountsTemporariesOnly(const Evidence& facts);

}  // namespace whyoom
