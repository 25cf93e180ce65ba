// The summary of a whole report: how often each failure occurs, which remedies rank first most often, and the problems
// by kind. All formats list memory errors that match no rule separately from unread inputs.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "diagnose/report.h"
#include "text/timestamp.h"

namespace whyoom {

struct Share {
  std::string title;              // of the scenario or remedy; empty if the name is enough
  std::uint64_t failures = 0;     // number of different failures
  std::uint64_t occurrences = 0;  // how often they were reported, see Tally::occurrences
};

struct Summary {
  std::uint64_t artifacts = 0;  // as in the report
  std::uint64_t bytes = 0;
  std::uint64_t failures = 0;
  std::uint64_t occurrences = 0;
  std::uint64_t problems = 0;
  std::uint64_t programs = 0;
  std::map<std::string, std::uint64_t> by_code;  // number of different failures
  std::map<std::string, Share> by_scenario;      // see ScenarioName in failure_view.h
  std::map<std::string, Share> by_remedy;        // id of the first remedy
  std::optional<Timestamp> first_time;           // of any report
  std::optional<Timestamp> last_time;
};

// All but the numbers of inputs, bytes and problems is computed from the failures alone.
Summary Summarize(const Report& report);

inline constexpr const char* kUnknownErrors = "Memory errors that match no rule";
inline constexpr const char* kRuleHint =
    "whyoom draws no conclusions from such lines. To report them as a failure, write a rule: `whyoom rules --help` "
    "shows one.";

// In report order. The numbers are of problems that the report omits.
struct ProblemsByKind {
  std::vector<const Problem*> unknown;  // memory errors that match no rule
  std::vector<const Problem*> unread;   // inputs that were not read completely, and limits of the report
  std::vector<const Problem*> notes;    // on inputs
  std::uint64_t unknown_left_out = 0;
  std::uint64_t unread_left_out = 0;

  // Borrows the report.
  explicit ProblemsByKind(const Report& report);
};

// "logs.tar › train.log:41"; without a line number if the entry only counts further errors.
std::string UnknownErrorPlace(const Problem& unknown);

// The text of the line and how often it occurs, or the number of further errors.
std::string UnknownErrorText(const Problem& unknown);

// An unread input or an unknown error, as formats for CI servers show it.
struct Remark {
  bool is_unknown = false;           // a memory error that matches no rule
  const Problem* problem = nullptr;  // borrowed; null if the remark only counts others
  std::string place;                 // empty if it is not about an input
  std::string text;

  std::string Sentence() const { return place.empty() ? text : place + ": " + text; }
};
// At most `most` of each kind; the last one counts those that are not shown.
std::vector<Remark> RemarksOf(const Report& report, std::size_t most);

// The headline if no failure was found: whether anything was read, and whether there are unknown errors.
std::string NothingFoundText(const Report& report);

// True if every input was read completely and no limit was reached.
bool AllRead(const std::vector<Problem>& problems);

// True if no input could be read at all.
bool NothingRead(const Report& report);

// "Hidden: 2 failures excluded by --ignore."; empty if nothing is hidden.
std::string HiddenText(const Report& report);

}  // namespace whyoom
