// Layers of rule files: entries that replace, extend and disable others.
#include <algorithm>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
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
  CHECK(set.extra_files == std::vector<std::string>{"a.json", "b.json"});
}

TEST_CASE("disabled entries are removed, and references to them are not faults", "[rules]") {
  RuleSet base;
  CHECK(Load({BaseRules()}, {}, &base) == "");
  RuleSet set;
  CHECK(
      Load(
          {BaseRules()},
          {Disabling(
              R"("remedies/bf16", "contexts/remat", "failures/0100", "quotations/grep", "chips/v5e", "affixes/rank", "frameworks/keras")")},
          &set) == "");
  CHECK(set.FindRemedy("bf16") == nullptr);
  CHECK(set.FindFailure("0100") == nullptr);
  CHECK(set.contexts.empty());
  CHECK(set.quotations.empty());
  CHECK(set.chips.empty());
  CHECK(set.affixes.size() == 1);
  CHECK(set.frameworks.size() == 1);
  CHECK(set.fingerprint != base.fingerprint);
}

TEST_CASE("a file can define a disabled entry again", "[rules]") {
  RuleSet set;
  CHECK(Load({BaseRules()},
             {Disabling(R"("chips/v5e")"), File("top.json", R"("chips": [{"id": "v5e", "limits": ["9G"]}])", 2)},
             &set) == "");
  CHECK(set.chips.size() == 1);
}

TEST_CASE("a wrong name in \"disable\" yields a suggestion", "[rules]") {
  const auto faults = [](const std::string& entry) {
    RuleSet set;
    return Load({BaseRules()}, {Disabling(entry)}, &set);
  };
  CHECK(faults(R"("remedies/bf61")") ==
        "ours.json:1:42: 'remedies/bf61' does not name a built-in entry (did you mean 'remedies/bf16'?)\n");
  for (const char* wrong : {R"("remedes/bf16")", R"("bf16")", R"("failures/E1000/heads/1")", "5"})
    CHECK(faults(wrong).find("does not name a built-in entry") != std::string::npos);
}

TEST_CASE("the list of entries shows their origin and what replaces, extends or disables them", "[rules]") {
  const std::string remedy = BuiltInRules().remedies[0].id;
  const std::string other = BuiltInRules().remedies[1].id;
  const std::string code = BuiltInRules().failures[0].code;
  std::vector<RuleEntry> all;
  AddToBuiltIn({File("ours.json", R"("disable": ["remedies/)" + remedy + R"("], "terms": {"is_ours": "listed > 3"},
            "extensions": [{"extends": ")" +
                                      other + R"(", "how": {}}], "chips": [{"id": ")" + BuiltInRules().chips[0].id +
                                      R"(", "limits": ["9G"]}])")},
               &all);
  const auto find = [&](const std::string& section, const std::string& id) {
    const auto found = std::find_if(all.begin(), all.end(),
                                    [&](const RuleEntry& entry) { return entry.section == section && entry.id == id; });
    REQUIRE(found != all.end());
    return *found;
  };
  const auto changes = [&](const std::string& section, const std::string& id) { return find(section, id).changes; };
  CHECK(changes("remedies", remedy) == std::vector<std::string>{"disabled by ours.json:1:42"});
  CHECK(changes("remedies", other).at(0).starts_with("extended by ours.json:2:"));
  CHECK(changes("terms", "is_ours").at(0).starts_with("from ours.json:1:"));
  CHECK(find("terms", "is_ours").title == "listed > 3");
  CHECK(changes("chips", BuiltInRules().chips[0].id).at(0) == "replaces a built-in entry");
  CHECK(changes("failures", code).empty());
}

}  // namespace TEST_FILE
}  // namespace whyoom
