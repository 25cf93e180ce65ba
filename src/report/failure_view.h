// The texts that all formats for people show for a failure, so that they use the same words. Formats only cut, escape,
// wrap and draw. All text is printable, and not escaped for any markup.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/failure.h"

namespace whyoom {

// FormatSize for any number, even one that exceeds 64 bits.
std::string SizeText(double bytes);

// "logs.tar › train.log".
std::string ArtifactText(const Artifact& artifact);

// "my-rules.json and 3 more", for a sentence; empty if there are none.
std::string RuleFilesPhrase(const std::vector<std::string>& files);

// "logs.tar › train.log:41".
std::string PlaceText(const Where& where);

// The job whose output has this path: "python train.py"; empty if it is another input.
std::string JobIn(const std::string& path);

// The line of an input, "train.log:41", or of a job's output, "output line 41 of: python train.py".
std::string LineText(std::string artifact, std::uint64_t line);

// The memory that was needed and available, in bytes.
struct Need {
  double need = 0;
  double have = 0;
  double excess = 0;      // exact if the log or dump states it; `need` and `have` are rounded
  bool at_most = false;   // `excess` is an upper bound, because the sizes are rounded
  bool at_least = false;  // `need` includes only the temporaries
  const char* need_word;  // "needed", "asked for"
  const char* have_word;  // "usable", "free", "free in one piece"
};

// Returns nullopt if the need or the available memory is unknown, or larger than any memory can be.
std::optional<Need> NeedOf(const Failure& failure);

// "jit_step needs 20.77 GiB, 5.02 GiB over the 15.75 GiB of v5e"; empty if the need is unknown.
std::string NeedText(const Failure& failure);

// "results stay the same"; "diagnostic only" for a remedy that saves nothing itself.
std::string SafetyText(const RankedRemedy& ranked);

// The smallest need first; attempts without one last.
std::vector<CompiledAttempt> SortedByNeed(std::vector<CompiledAttempt> attempts);

// Whether the program fits with the change: "yes", "no", "worse" (needs more than unchanged), "failed", "unknown"
// (without a limit).
std::string AttemptText(const Failure& failure, const CompiledAttempt& attempt);

// "Compiled with libtpu 0.0.52, without a TPU. Unchanged, the program needs 16.77 GiB, as reported." The failure must
// have a recompilation.
std::string RecompilationText(const Failure& failure);

// The compile in which this remedy and the first of its enough_with fit together; nullptr if there is none.
const CompiledAttempt* CompiledPair(const RankedRemedy& ranked, const Failure& failure);

// "saves about 5.02 GiB"; empty if unknown or zero.
std::string SavesText(const RankedRemedy& ranked);
// "should fit", "does not fit alone"; with "may" if the error of the estimate permits both. Empty if unknown.
std::string EnoughText(const RankedRemedy& ranked);

// "needs 10.73 GiB ± 0.4 GiB with 4 micro-batches: should fit · same results, slower". Another remedy is named by its
// number: "fits together with remedy 5". If a dump was available but gave no estimate, the effect is unknown.
std::string EffectText(const RankedRemedy& ranked, const Failure& failure);

// "The job went on after this failure, as line 41 shows: step 12 loss 2.3"; empty if nothing shows that it did.
std::string RecoveredText(const Failure& failure);

// Whether a retry can succeed, and why: "A retry will fail the same way. …". Empty if both are unknown.
std::string RetryText(const Retry& retry);

// "train.py:41"; empty if the row names no source file.
std::string SourceText(const Allocation& row);

// The diagnosis as a topic of `whyoom explain`: "E1000.2", or "E1000" if there are no scenarios or the log does not
// decide.
std::string RuleId(const Failure& failure);

// Suffix of a code if the log does not decide the scenario.
inline constexpr const char* kUndecidedSuffix = ".?";

// RuleId for overviews: "E1000.?" if the log does not decide the scenario.
std::string ScenarioName(const Failure& failure);

// The title of the scenario; of the failure if it has no scenarios or the log does not decide.
std::string ScenarioTitle(const Failure& failure);

// "HBM out of memory at compile time – one allocation far too large".
std::string Verdict(const Failure& failure);

// The name of the failed program; empty if the log does not name it.
std::string ProgramOf(const Failure& failure);

// The remedy that every report and overview calls the first one. Null if there are none.
const Remedy* FirstRemedy(const Failure& failure);

// "whyoom explain E1000.2 --framework pytorch_xla": explains the diagnosis, if run in the folder where the report was
// made. Includes the rule files that were given, and the log's framework if it is not the default.
std::string ExplainCommand(const Failure& failure);

// The command to type next, and what it does.
struct NextStep {
  std::string command;
  std::string purpose;
};
NextStep NextOf(const Failure& failure);

// Why the diagnosis is uncertain: contradictions, or only a fragment of the message. Empty if neither applies.
std::string CautionText(const Failure& failure);

// "reported by 12 processes", "reported by about 12000 processes"; empty for one.
std::string ProcessesText(const Failure& failure);

// What a list of many failures shows for one of them.
struct FailureRow {
  std::string name;       // see ScenarioName
  std::string title;      // see ScenarioTitle
  std::string program;    // empty if unknown
  std::string excess;     // "5.02 GiB", "< 5.02 GiB"; empty if there is none
  double excess_bytes;    // 0 if there is none
  std::string remedy;     // the first remedy; empty if there is none
  std::string processes;  // "12", "~1200"
  std::string place;
};
FailureRow RowOf(const Failure& failure);

// "1 input", "2 inputs".
std::string Counted(std::uint64_t count, const char* one, const char* many);

}  // namespace whyoom
