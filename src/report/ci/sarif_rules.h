// The rules of a SARIF run: what each code and scenario that occurs in a report means, from the rule data.
#pragma once

#include <cstddef>
#include <map>
#include <string>

#include "report/record/report_json.h"
#include "report/report.h"

namespace whyoom {

class SarifRules {
 public:
  // Borrows the report, which knows the remedies of what it holds.
  explicit SarifRules(const Report& report);

  // The index of the rule that `finding` falls under, which is added where it is new.
  std::size_t IndexOf(const Finding& finding);

  Json Take() { return std::move(rules_); }

 private:
  Json Describe(const Finding& finding) const;
  std::string Help(const Finding& finding, bool markdown) const;

  std::map<std::string, const Remedy*> remedies_;  // by id
  std::map<std::string, std::size_t> index_;       // by id of the rule
  Json rules_ = Json::array();
};

}  // namespace whyoom
