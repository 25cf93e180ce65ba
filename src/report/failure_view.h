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

// The remedy with this id; nullptr if the failure does not list it.
const RankedRemedy* FindRemedy(const Failure& failure, const std::string& id);

// What to correct before the remedies: a mistake that the failure names and that none of them corrects. Empty if there
// is none.
std::string MistakeHint(const Failure& failure);

// The compile in which this remedy and the first of its enough_with fit together; nullptr if there is none.
const CompiledAttempt* CompiledPair(const RankedRemedy& ranked, const Failure& failure);

// "needs 10.73 GiB ± 0.4 GiB with 4 micro-batches: should fit · same results, slower". Another remedy is named by its
// number: "fits together with remedy 5". If a dump was available but gave no estimate, the effect is unknown.
std::string EffectText(const RankedRemedy& ranked, const Failure& failure);
// Its parts: "10.73 GiB ± 0.4 GiB", or "saves about 5.02 GiB" if only that is known, else empty; " with 4
// micro-batches", empty if the estimate assumes no number; "same results, slower".
std::string MemoryText(const RankedRemedy& ranked);
std::string PartsText(const RankedRemedy& ranked);
std::string SafetyText(const RankedRemedy& ranked);

// Whether a retry can succeed, and why: "A retry will fail the same way. …". Empty if both are unknown.
std::string RetryText(const Retry& retry);

// The diagnosis as a topic of `whyoom explain`: "E1000.2", or "E1000" if there are no scenarios or the log does not
// decide.
std::string RuleId(const Failure& failure);

// Suffix of a code if the log does not decide the scenario.
inline constexpr const char* kUndecidedSuffix = ".?";

// RuleId for overviews: "E1000.?" if the log does not decide the scenario.
std::string ScenarioName(const Failure& failure);

// "HBM out of memory at compile time – one allocation far too large".
std::string Verdict(const Failure& failure);

// The name of the failed program; empty if the log does not name it.
std::string ProgramOf(const Failure& failure);

// "whyoom explain E1000.2 --framework pytorch_xla": explains the diagnosis, if run in the folder where the report was
// made. Includes the rule files that were given, and the log's framework if it is not the default.
std::string ExplainCommand(const Failure& failure);

// The command to type next, and what it does.
struct NextStep {
  std::string command;
  std::string purpose;
};
NextStep NextOf(const Failure& failure);

// A failure's row in a list of many.
struct FailureRow {
  std::string name;       // see ScenarioName
  std::string program;    // empty if unknown
  std::string excess;     // "5.02 GiB", "< 5.02 GiB"; empty if there is none
  double excess_bytes;    // 0 if there is none
  std::string remedy;     // the first remedy; empty if there is none
  std::string processes;  // "12", "~1200"
  std::string place;
};
FailureRow RowOf(const Failure& failure);

// A place in the user's sources.
struct SourcePlace {
  std::string path;       // as in the log, printable
  std::int64_t line = 1;  // 1-based
};

// Returns the first of the user's lines that the report shows. If it shows none, the line that makes the largest
// allocation. If the log does not name that line, or the line is in a library, returns the innermost call outside
// libraries in the traceback above the failure. Returns nullopt if neither is known.
std::optional<SourcePlace> UserSource(const Failure& failure);

// Returns `path` relative to `root` if the file is in that folder; returns a relative path without "./". Returns
// nullopt for other paths, for paths that start with "..", and for names that are not files ("Cell In[3]").
std::optional<std::string> RelativeTo(const std::string& root, const std::string& path);

// "1 input", "2 inputs".
std::string Counted(std::uint64_t count, const char* one, const char* many);

}  // namespace whyoom
