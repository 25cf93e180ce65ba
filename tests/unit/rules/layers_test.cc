// Layers of rule files: entries that replace, extend and disable others.
#include <algorithm>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "rules/rule_set.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

RuleFile File(const std::string& name, const std::string& sections, int layer = 1) {
  RuleFile file;
  file.name = name;
  file.text = R"({"format": "whyoom.rules/1", )" + sections + "}";
  file.layer = layer;
  return file;
}

RuleFile Disabling(const std::string& entries, int layer = 1) {
  return File("ours.json", R"("disable": [)" + entries + "]", layer);
}

TEST_CASE("a file can replace entries of lower layers but not of its own", "[rules]") {
  const std::string chip = R"("chips": [{"id": "v5e", "limits": ["9G"]}])";
  RuleSet set;
  CHECK(Load({BaseRules()}, {File("a.json", chip), File("b.json", chip, 2)}, &set) == "");
  CHECK(Load({BaseRules()}, {File("a.json", chip), File("b.json", chip)}, &set).find("is already in use") !=
        std::string::npos);
  CHECK(set.extra_files() == std::vector<std::string>{"a.json", "b.json"});
}

TEST_CASE("disabled entries are removed, and references to them are not faults", "[rules]") {
  RuleSet base;
  CHECK(Load({BaseRules()}, {}, &base) == "");
  RuleSet set;
  CHECK(Load({BaseRules()},
             {Disabling(R"("remedies/bf16", "contexts/remat", "failures/0100", "failures/HbmOom/heads/name",
                           "quotations/grep", "chips/v5e", "affixes/rank", "frameworks/keras")")},
             &set) == "");
  CHECK(set.FindRemedy("bf16") == nullptr);
  CHECK(set.FindRemedy("shard")->with.empty());
  CHECK(set.FindFailure("0100") == nullptr);
  const FailureRule& failure = *set.FindFailure("E1000");
  CHECK(failure.absorbed_by.empty());
  CHECK(failure.contexts.empty());
  CHECK(failure.header_patterns.size() == base.FindFailure("E1000")->header_patterns.size() - 1);
  CHECK(failure.scenarios[0].remedies.size() == 1);
  CHECK(set.contexts().empty());
  CHECK(set.quotations().empty());
  CHECK(set.chips().empty());
  CHECK(set.prefixes_and_suffixes().size() == 1);
  CHECK(set.frameworks().size() == 1);
  CHECK(set.fingerprint() != base.fingerprint());
}

TEST_CASE("a higher layer can restore an entry that a lower one disabled", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()},
             {Disabling(R"("chips/v5e")"), File("top.json", R"("chips": [{"id": "v5e", "limits": ["9G"]}])", 2)},
             &set) == "");
  CHECK(set.chips().size() == 1);
}

TEST_CASE("a wrong name in \"disable\" yields a suggestion", "[rules]") {
  const auto faults = [](const std::string& entry) {
    RuleSet set;
    return Load({BaseRules()}, {Disabling(entry)}, &set);
  };
  CHECK(faults(R"("remedies/bf61")").find("in the remedies of lower layers (did you mean 'bf16'?)") !=
        std::string::npos);
  CHECK(faults(R"("remedes/bf16")").find("(did you mean 'remedies'?)") != std::string::npos);
  CHECK(faults(R"("bf16")").find("(write SECTION/ID") != std::string::npos);
  CHECK(faults(R"("failures/E1000/heads/usd")").find("has no head 'usd' (did you mean 'used'?)") != std::string::npos);
  CHECK(faults("5").find("expected a text") != std::string::npos);
}

TEST_CASE("the list of entries shows their origin and what replaces, extends or disables them", "[rules]") {
  const std::string remedy = BuiltInRules().remedies()[0].id;
  const std::string other = BuiltInRules().remedies()[1].id;
  const std::string code = BuiltInRules().failures()[0].code;
  const std::vector<RuleEntry> all = ListRuleEntries(
      {File("ours.json", R"("disable": ["remedies/)" + remedy + R"("], "terms": {"is_ours": "listed > 3"},
            "extensions": [{"extends": ")" +
                             other + R"(", "how": {}}], "chips": [{"id": ")" + BuiltInRules().chips()[0].id +
                             R"(", "limits": ["9G"]}])")});
  const auto find = [&](const std::string& section, const std::string& id) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const RuleEntry& entry) { return entry.section == section && entry.id == id; });
    REQUIRE(found != all.end());
    return *found;
  };
  CHECK(find("remedies", remedy).disabled_by.starts_with("ours.json:1:"));
  CHECK(find("remedies", remedy).built_in);
  CHECK(find("remedies", other).extended_by.size() == 1);
  CHECK_FALSE(find("terms", "is_ours").built_in);
  CHECK(find("terms", "is_ours").title == "listed > 3");
  CHECK(find("chips", BuiltInRules().chips()[0].id).replaces.at(0) == "the built-in rules");
  CHECK(find("failures", code).disabled_by.empty());
  CHECK(find("failures", code).place == "the built-in rules");
}

}  // namespace TEST_FILE
}  // namespace whyoom
