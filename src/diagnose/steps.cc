#include "diagnose/steps.h"

#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "rules/name_versions.h"

namespace whyoom {
namespace {

// What is said of a name that is not there: which, of what, and which release the log is of.
class NeedScope : public Scope {
 public:
  NeedScope(const Scope& log, const LackedName& name) : log_(log), need_(*name.need), version_(name.version) {}

  Value Get(std::string_view name) const override {
    if (name == "need.name") return need_.id;
    if (name == "need.package") return need_.package;
    if (name == "need.since") return need_.since;
    if (name == "need.until") return need_.until;
    if (name == "need.version") return version_;
    return log_.Get(name);
  }
  std::size_t row_count() const override { return log_.row_count(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return log_.GetInRow(row, name); }

 private:
  const Scope& log_;
  const NameVersions& need_;
  const std::string& version_;
};

// Why the step cannot be done with the log's releases; empty where it can.
std::string Lacks(const RuleSet& rules, const std::string& step, const Scope& scope,
                  const std::vector<LackedName>& lacked) {
  for (const LackedName& name : lacked) {
    if (!HoldsName(step, name.need->id)) continue;
    const bool is_too_old = !name.need->since.empty() && CompareVersions(name.version, name.need->since) < 0;
    return rules.Say(is_too_old ? "step.too_old" : "step.too_new", NeedScope(scope, name));
  }
  return "";
}

}  // namespace

std::vector<LackedName> LackedNames(const RuleSet& rules, const Scope& scope) {
  std::vector<LackedName> lacked;
  for (const NameVersions& need : rules.name_versions()) {
    const Value version = scope.Get(need.VersionFact());
    const std::string* known = AsText(version);
    if (known != nullptr && need.HoldIn(*known) == false) lacked.push_back({&need, *known});
  }
  return lacked;
}

std::vector<std::string> StepsFor(const RuleSet& rules, const Remedy& remedy, const std::string& framework,
                                  const Scope& scope, const std::vector<LackedName>& lacked) {
  auto steps = remedy.how.find(framework);
  if (steps == remedy.how.end()) steps = remedy.how.find("");
  std::vector<std::string> can;
  std::vector<std::string> cannot;
  if (steps == remedy.how.end()) return can;
  for (const Template& step : steps->second) {
    std::optional<std::string> text = step.Fill(scope);
    if (!text) continue;
    const std::string lacks = Lacks(rules, *text, scope, lacked);
    (lacks.empty() ? can : cannot).push_back(*std::move(text) + (lacks.empty() ? "" : " ") + lacks);
  }
  can.insert(can.end(), std::make_move_iterator(cannot.begin()), std::make_move_iterator(cannot.end()));
  return can;
}

}  // namespace whyoom
