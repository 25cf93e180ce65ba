// What every format for people shows of a finding, chosen once, so that no two of them call one thing by two names. A
// format only lays it out: it cuts, escapes, wraps and draws. All text is printable, and not yet escaped for any
// markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "diagnose/diagnosis.h"

namespace whyoom {

// FormatSize of any number, also one that no 64 bits hold.
std::string SizeText(double bytes);

// "logs.tar › train.log".
std::string ArtifactText(const Artifact& artifact);

// "logs.tar › train.log:41".
std::string PlaceText(const Where& where);

// A line of an input: "train.log:41"; of a job's output "output line 41 of: python train.py".
std::string LineText(std::string artifact, std::uint64_t line);

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
std::optional<Need> NeedOf(const Diagnosis& finding);

// "5.02 GiB too much"; empty where it is not.
std::string ExcessText(const Need& need);

// "results stay the same"; of what is no cure "finds out more".
std::string SafetyText(const RankedRemedy& ranked);

// "saves about 5.02 GiB"; empty where that is not known or nothing.
std::string SavesText(const RankedRemedy& ranked);
// "should be enough", "not enough alone"; "may be" where the spread leaves it open. Empty where it is not known.
std::string EnoughText(const RankedRemedy& ranked);

// "saves about 5.02 GiB · then needs 10.73 GiB ± 0.4 GiB · should be enough · results stay the same".
std::string EffectText(const RankedRemedy& ranked);

// The same in a report, piece by piece; another remedy goes by its number there: "enough together with remedy 5".
// If the program was searched for a place for the remedy and shows none, the text says so.
std::vector<std::string> EffectTexts(const RankedRemedy& ranked, const Diagnosis& finding);

// Whether the same job can succeed when it is started again, and why: "Starting the same job again will fail the same
// way. …". Empty where nothing is known.
std::string RetryText(const Retry& retry);

// The first sentence of it.
std::string RetryAnswer(const Retry& retry);

// "train.py:41"; empty where the row names no source.
std::string SourceText(const Allocation& row);

// What was diagnosed: "E1000.2"; "E1000" where the log cannot tell which scenario, or there are none. A topic of
// `whyoom explain`.
std::string RuleId(const Diagnosis& finding);

// Behind a code: of a scenario that the log leaves open.
inline constexpr const char* kOpenScenario = ".?";

// The same for an overview: "E1000.?" where the log cannot tell.
std::string ScenarioName(const Diagnosis& finding);

// The scenario in a few words, or the failure where it has none or the log leaves it open.
std::string ScenarioTitle(const Diagnosis& finding);

// "HBM out of memory at compile time – one allocation far too large".
std::string Verdict(const Diagnosis& finding);

// The program that failed, as its log names it; empty where it does not.
std::string ProgramOf(const Diagnosis& finding);

// What to change first: the first remedy that is a cure, else the first. Null where there is none.
const Remedy* FirstRemedy(const Diagnosis& finding);

// "whyoom explain E1000.2 --framework pytorch_xla": says what was diagnosed when it is typed where the report was made,
// with the rule files that were given there, and for the framework of the log where that is not the default one.
std::string ExplainCommand(const Diagnosis& finding);

// Why little can be said for sure: the contradictions, or that only a fragment is there. Empty if neither is so.
std::string CautionText(const Diagnosis& finding);

// What stands above all else that is said of a finding, and in which circumstances it was found.
struct FindingView {
  std::string code;
  std::string title;
  std::string scenario;  // "scenario 2: one allocation far too large", or a sentence on what the log leaves open;
                         // empty where the failure has no scenarios
  std::string caution;   // see CautionText
  std::string place;     // see PlaceText
  std::vector<std::string> names;  // of the module, the program, the device, as far as they are known
  std::string chip;
  std::string framework;
  std::string reporters;  // "reported by about 12 processes"; empty where it was one
};
FindingView ViewOf(const Diagnosis& finding);

// "reported by 12 processes", "reported by about 12000 processes"; empty of one.
std::string ReportersText(const Diagnosis& finding);

// What a list of many failures says of each.
struct FailureRow {
  std::string name;       // see ScenarioName
  std::string title;      // see ScenarioTitle
  std::string program;    // empty where it is not known
  std::string excess;     // "5.02 GiB", "< 5.02 GiB"; empty where it is not over
  double excess_bytes;    // 0 where it is not over
  std::string remedy;     // what to do first; empty where there is nothing
  std::string processes;  // "12", "~1200"
  std::string place;
};
FailureRow RowOf(const Diagnosis& finding);

// "1 input", "2 inputs".
std::string Counted(std::uint64_t count, const char* one, const char* many);

}  // namespace whyoom
