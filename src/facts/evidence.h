// Facts from the log, each with the place that proves it. Collected without opinion.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/value.h"

namespace whyoom {

struct Place {
  std::uint64_t line = 0;    // 1-based; 0: not in the log (derived)
  std::uint64_t offset = 0;  // bytes from the start of the artifact
};

struct Fact {
  Value value;
  Place place;
};

class Evidence {
 public:
  // Keeps what is there already unless `replace`; a log's first word on a fact is the one nearest to the head.
  void Set(std::string_view name, Value value, Place place, bool replace = false);

  void Remove(std::string_view name);             // nothing happens if it is not known
  const Fact* Find(std::string_view name) const;  // nullptr where not known
  Value Get(std::string_view name) const;         // Unknown where not known
  std::optional<double> Number(std::string_view name) const;
  std::string Text(std::string_view name) const;  // empty where not known
  const std::map<std::string, Fact, std::less<>>& all() const { return facts_; }

  // Adds what only `other` knows.
  void Add(const Evidence& other);

 private:
  std::map<std::string, Fact, std::less<>> facts_;
};

// Whether one of the named facts is known to both and not the same.
bool AreContrary(const Evidence& a, const Evidence& b, const std::vector<std::string>& names);

// Whether a compiler's report counts the temporaries only, because these alone are over the limit: it prints arguments
// and outputs as 0, and what is needed is more than it says.
bool CountsTemporariesOnly(const Evidence& facts);

}  // namespace whyoom
