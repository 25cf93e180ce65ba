// Memory errors that match no rule. All formats list them separately from unread inputs.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "diagnose/report.h"

namespace whyoom {

inline constexpr const char* kUnknownErrors = "Memory errors that match no rule";
inline constexpr const char* kRuleHint =
    "whyoom draws no conclusions from such lines. To report them as a failure, write a rule: `whyoom rules --help` "
    "shows one.";

// The problems of one kind, in report order. Borrows the report.
std::vector<const Problem*> UnknownErrors(const Report& report);
std::vector<const Problem*> UnreadInputs(const Report& report);

// "logs.tar › train.log:41"; without a line number if the entry only counts further errors.
std::string UnknownErrorPlace(const Problem& unknown);

// The text of the line and how often it occurs, or the number of further errors.
std::string UnknownErrorText(const Problem& unknown);

// "logs.tar › train.log: the archive is truncated"; without a place if the problem is not about an input.
std::string ProblemText(const Problem& problem);

// The number of omitted problems of one kind. Problems are omitted from the end of the report, and unknown errors come
// last.
std::uint64_t UnknownErrorsLeftOut(const Report& report);
std::uint64_t UnreadInputsLeftOut(const Report& report);

// The headline if no failure was found: whether anything was read, and whether there are unknown errors.
std::string NothingFoundText(const Report& report);

// True if every input was read completely and no limit was reached.
bool AllRead(const Report& report);

// True if no input could be read at all.
bool NothingRead(const Report& report);

// "Hidden: 2 failures listed in the baseline."; empty if nothing is hidden.
std::string HiddenText(const Report& report);

}  // namespace whyoom
