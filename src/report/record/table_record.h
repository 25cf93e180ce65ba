// A table of findings as text, for a batch that goes on another time: unlike a report, nothing is cut and nothing is
// concluded, so that what is read back joins other tables as the table itself would have.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "diagnose/finding_table.h"
#include "rules/rule_set.h"

namespace whyoom {

// One line of ASCII JSON.
std::string PrintTable(const FindingTable& table, const std::string& rules_fingerprint);

// nullopt where the text is not what PrintTable made with the same rule data. The table borrows the rules.
std::optional<FindingTable> ReadTable(std::string_view text, const RuleSet& rules);

}  // namespace whyoom
