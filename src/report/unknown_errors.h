// Errors about memory that no rule knows, as every format tells them: apart from the inputs that could not be read, and
// with how to make a rule of one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/report.h"

namespace whyoom {

// What is said of them all.
inline constexpr const char* kUnknownErrors = "Errors about memory that no rule knows";
inline constexpr const char* kMakeARule =
    "Nothing is concluded from them. A rule of your own makes a failure of such a line; this prints one to begin with:";

// The problems of a report of one kind or the other, in their order. Borrows the report.
std::vector<const Problem*> UnknownErrors(const Report& report);
std::vector<const Problem*> UnreadInputs(const Report& report);

// "logs.tar › train.log:41"; without a line where several are only counted.
std::string UnknownErrorPlace(const Problem& unknown);

// What the line says and how often, or how many more there are.
std::string UnknownErrorText(const Problem& unknown);

// "whyoom rules new CODE 'the line'", for a shell; empty where there is no line.
std::string RuleCommand(const Problem& unknown);

// How many problems of one kind are left out of the report. They are taken from its end, where the unknown errors
// stand.
std::uint64_t UnknownErrorsLeftOut(const Report& report);
std::uint64_t UnreadInputsLeftOut(const Report& report);

// What is said first where no failure was found: whether anything was read, and whether an error is unknown.
std::string NothingFoundText(const Report& report);

// Whether every input was read whole, and no limit was met.
bool AllRead(const Report& report);

// Whether of all inputs nothing could be read, so that nothing is known of them.
bool NothingRead(const Report& report);

// "Found, but not shown: 2 failures of the baseline."; empty where all that was found is shown.
std::string PassedOverText(const Report& report);

}  // namespace whyoom
