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
std::vector<const Problem*> NotesOnInputs(const Report& report);

// "logs.tar › train.log:41"; without a line number if the entry only counts further errors.
std::string UnknownErrorPlace(const Problem& unknown);

// The text of the line and how often it occurs, or the number of further errors.
std::string UnknownErrorText(const Problem& unknown);

// What formats for CI servers show of an unread input or an unknown error.
struct Remark {
  const char* title;
  const char* level;  // "error", "warning"
  const char* hint = nullptr;
  const Problem* problem = nullptr;  // borrowed; null if the remark only counts others
  std::string place = {};            // empty if it is not about an input
  std::string text = {};

  std::string Sentence() const { return place.empty() ? text : place + ": " + text; }
};
// At most `most` of each kind; the last one counts those that are not shown.
std::vector<Remark> RemarksOf(const Report& report, std::size_t most);

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

// "Hidden: 2 failures excluded by --select or --ignore."; empty if nothing is hidden.
std::string HiddenText(const Report& report);

}  // namespace whyoom
