// A team can extend existing failures and remedies in a few lines.
#include <algorithm>
#include <string>

#include "catch.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

RuleFile File(const std::string& extensions) {
  return {"ours.json", R"({"format": "whyoom.rules/1", "extensions": [)" + extensions + "]}"};
}

const FailureRule& E1000(const RuleSet& set) { return *set.FindFailure("E1000"); }

TEST_CASE("an extension adds a header with its example and keeps everything else", "[rules]") {
  RuleSet base;
  CHECK(Load({BaseRules()}, {}, &base) == "");
  RuleSet set;
  CHECK(Load({BaseRules()}, {File(R"({"extends": "E1000",
                       "heads": [{"pattern": "launcher: program needs %{size:used_bytes} of memory"}],
                       "examples": [{"text": "launcher: program needs 2G of memory"}]})")},
             &set) == "");
  CHECK(E1000(set).header_patterns.size() == E1000(base).header_patterns.size() + 1);
  CHECK(E1000(set).samples.examples.size() == E1000(base).samples.examples.size() + 1);
  CHECK(E1000(set).title == E1000(base).title);
  CHECK(set.fingerprint != base.fingerprint);
  const auto& literals = set.literals;
  CHECK(std::any_of(literals.begin(), literals.end(),
                    [](const std::string& literal) { return literal.find("launcher") != std::string::npos; }));
}

TEST_CASE("an extension replaces what is no list", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()}, {File(R"({"extends": "E1000", "title": "Other"}, {"extends": "shard", "cost": 3})")},
             &set) == "");
  CHECK(E1000(set).title == "Other");
  CHECK(set.FindRemedy("shard")->cost == 3);
}

TEST_CASE("an extension adds a remedy to every scenario", "[rules]") {
  RuleSet base;
  CHECK(Load({BaseRules()}, {}, &base) == "");
  const std::string remedy = base.remedies[0].id;
  RuleSet set;
  CHECK(
      Load({BaseRules()},
           {File(R"({"extends": "E1000", "remedies": [{"id": ")" + remedy + R"(", "section": "ours", "prior": 1}]})")},
           &set) == "");
  CHECK(E1000(set).remedies.back().section == "ours");
  REQUIRE_FALSE(E1000(set).scenarios.empty());
  for (const Scenario& scenario : E1000(set).scenarios) CHECK(scenario.remedies.back().section == "ours");
}

TEST_CASE("an extension puts its steps before those of the remedy", "[rules]") {
  RuleSet base;
  CHECK(Load({BaseRules()}, {}, &base) == "");
  const std::string remedy = base.remedies[0].id;
  RuleSet set;
  CHECK(Load({BaseRules()},
             {File(R"({"extends": ")" + remedy + R"(", "how": {"jax": ["Ours.", "Then."], "keras": ["Theirs."]}})")},
             &set) == "");
  const auto& how = set.FindRemedy(remedy)->how;
  CHECK(how.at("jax").size() == base.FindRemedy(remedy)->how.at("jax").size() + 2);
  CHECK(how.at("jax")[0].text.source() == "Ours.");
  CHECK(how.at("jax")[1].text.source() == "Then.");
  CHECK(how.at("keras")[0].text.source() == "Theirs.");
}

TEST_CASE("invalid extensions are reported with their location", "[rules]") {
  const auto faults = [](const std::string& extension) {
    RuleSet set;
    return Load({BaseRules()}, {File(extension)}, &set);
  };
  CHECK(faults(R"({"extends": "E1001x", "why": []})").find("'extends' names no failure or remedy: 'E1001x'") !=
        std::string::npos);
  for (const char* wrong : {"5", R"({"why": []})", R"(["E1000"])"})
    CHECK(faults(wrong).find("'extends' names no failure or remedy: ''") != std::string::npos);
  CHECK(faults(R"({"extends": "E1000", "code": "E9"})").find("cannot change a code") != std::string::npos);
  CHECK(faults(R"({"extends": "E1000", "how": {"jax": ["No."]}})").find("unknown key 'how'") != std::string::npos);
  CHECK(faults(R"({"extends": "shard", "how": {"kears": ["No."]}})")
            .find("unknown framework 'kears' (did you mean 'keras'?)") != std::string::npos);
  CHECK(faults(R"({"extends": "E1000", "heads": [{"pattern": "abc"}]})").find("literal") != std::string::npos);
  CHECK(faults(R"({"extends": "E1000", "why": [{"text": "{no_such_fact}"}]})").find("no_such_fact") !=
        std::string::npos);
}

}  // namespace TEST_FILE
}  // namespace whyoom
