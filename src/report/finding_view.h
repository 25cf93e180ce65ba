// What every format for people says of a finding, so that no two of them call one thing by two names. All text is
// printable, and not yet escaped for any markup.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "diagnose/finding.h"

namespace whyoom {

std::optional<double> NumberFact(const Finding& finding, std::string_view name);
std::optional<std::string> TextFact(const Finding& finding, std::string_view name);

// FormatSize of any number, also one that no 64 bits hold.
std::string SizeText(double bytes);

// "logs.tar › train.log".
std::string ArtifactText(const Artifact& artifact);

// "scenario 2: one allocation far too large"; where the log cannot tell, a sentence on what it leaves open; empty where
// the failure has no scenarios.
std::string ScenarioText(const Finding& finding);

// What was needed and what there was, in bytes.
struct Need {
  double need = 0;
  double have = 0;
  double excess = 0;      // as printed or from a dump, where it is: the others are rounded
  bool at_most = false;   // it is less than that; sizes are rounded
  const char* need_word;  // "needed", "asked for"
  const char* have_word;  // "usable", "free", "free in one piece"
};

// nullopt where one of them is not known or no memory has that much.
std::optional<Need> NeedOf(const Finding& finding);

// "5.02 GiB too much"; empty where it is not.
std::string ExcessText(const Need& need);

std::string SafetyText(const std::string& safety);

// "saves about 5.02 GiB".
std::string SavesText(const RankedRemedy& ranked);
// " ± 0.4 GiB", how far off what is then needed may be; empty where it is not worth a figure.
std::string SpreadText(const RankedRemedy& ranked);

// "should be enough", "not enough alone"; "may be" where the spread leaves it open. Empty where it is not known.
std::string VerdictText(const RankedRemedy& ranked);

// "saves about 5.02 GiB · then needs 10.73 GiB ± 0.4 GiB · should be enough · results stay the same".
std::string EffectText(const RankedRemedy& ranked);

// What is not worth trying, each reason once: "Cast, donate (it saves nothing)".
std::vector<std::string> RuledOutTexts(const Finding& finding);

// Whether one remedy covers the excess alone, so that the remedy itself says as much as the sum.
bool IsOneRemedy(const Budget& budget);

// "5.02 GiB over: …", with the remedies that are estimated to cover it.
std::string BudgetText(const Budget& budget);

// Rows of one size and shape, which are one line for people: a deep model has dozens.
struct AllocationGroup {
  const Allocation* first;  // borrowed from the finding
  std::string shape;        // without layout, as the log has it
  std::size_t count;
};

// The largest first; rows below a mebibyte, and of more different ones than a compiler lists the last, are left out.
std::vector<AllocationGroup> GroupsOf(const Finding& finding);

// "train.py:41"; empty where the row names no source.
std::string SourceText(const Allocation& row);

// Where the same failure was reported beside `where`: "line 90" in the same artifact, else "b.log:7".
std::vector<std::string> AlsoTexts(const Finding& finding);

// What was diagnosed: "E1000.2"; "E1000" where the log cannot tell which scenario, or there are none. A topic of
// `whyoom explain`.
std::string RuleId(const Finding& finding);

// "whyoom explain E1000.2".
std::string ExplainCommand(const Finding& finding);

// "1 input", "2 inputs".
std::string Counted(std::uint64_t count, const char* one, const char* many);

}  // namespace whyoom
