// The output formats.
#pragma once

#include <cstddef>
#include <string>

#include "diagnose/report.h"
#include "report/command_documents.h"
#include "report/document.h"
#include "rules/rule_set.h"

namespace whyoom {

// How much to print of each failure: the usual first blocks, only its headline, or everything.
enum class Detail { kUsual, kBrief, kAll };

struct TextOptions {
  std::size_t width = 80;  // columns
  std::size_t rows = 0;    // of the terminal, which a single failure should fit; 0: not a terminal
  bool colour = false;     // ANSI colours, the only control characters in the output
  Detail detail = Detail::kUsual;
  bool notes = true;  // also print notes: on unread inputs, unknown errors, or that nothing was found
};

// Plain text: the verdict first, then the reasons, then what to do.
std::string PrintText(const Report& report, const TextOptions& options);

// The first blocks of a failure, with default options.
std::string PrintFailure(const Failure& failure);

// The same in a few long lines of at most 4000 bytes, for an annotation next to a line of code or an alert.
std::string PrintShort(const Failure& failure);

std::string PrintBlocks(const doc::Blocks& blocks, const TextOptions& options);

// Workflow commands of GitHub Actions (docs.github.com, "Workflow commands for GitHub Actions"): an annotation for each
// diagnosis, then the report as text in a folded group. An annotation names the line of the user's code if it is known
// and below `source_root` (if that is empty: if it is relative). Log text cannot become a command. GitHub shows ten
// errors and ten warnings per step; the last one reports how many more there are.
std::string PrintGithub(const Report& report, const std::string& source_root, Detail detail = Detail::kUsual);

// A single page without external resources: resources/page.html with the report's JSON in it, which the page's script
// draws, and the text report for readers without scripts. Its content security policy forbids fetching. Bounded: if the
// details of all failures do not fit, the less frequent ones have one reason and one remedy.
std::string PrintHtml(const Report& report);

// JUnit XML 1.0 in UTF-8, in the form that Jenkins (junit-10.xsd of its xUnit plugin) and GitLab read. Each diagnosis
// is a failed test with the report as text, each unread input a test with an error, each unknown error a skipped test.
// If there are none, one test passes, because servers treat a report without tests as a failure. For diagnoses, class
// names are codes with scenarios, and test names contain the id, so servers can track a failure.
std::string PrintJunit(const Report& report);

// GitHub accepts 65536 characters in an issue or comment. This limit leaves some for the user's own text.
inline constexpr std::size_t kMostOfIssue = 60000;

// GitHub-flavoured Markdown for an issue or a CI job summary: the verdict first, details folded. With more than three
// failures, an overview comes first and each failure is folded. To stay within `most_bytes`, omits folded sections from
// the end, then whole failures; the text reports what was omitted.
std::string PrintMarkdown(const Report& report, std::size_t most_bytes = kMostOfIssue);
std::string PrintMarkdownPage(const doc::Blocks& blocks);

// SARIF 2.1.0 for code scanning, within GitHub's limits. Each diagnosis is a result, at the line of the user's code if
// it is known, else at its place in the log. Each code and scenario that occurs is a rule. Unread inputs, unknown
// errors and omissions are notifications. `executionSuccessful` is false only if nothing was read, because code
// scanning rejects all results of an unsuccessful run. `source_root`, the folder of the sources, is the base %SRCROOT%.
// The diagnosis id is the partial fingerprint "whyoom/v1".
std::string PrintSarif(const Report& report, const std::string& source_root);

// One JSON object. docs/report.schema.json describes it and the lines of PrintNdjson.
std::string PrintJson(const Report& report);

// --brief: a short report, one line per diagnosis, for readers that pay for each word, such as language models.
// See BriefRecord (record/describe.h).
std::string PrintBriefJson(const Report& report);

// Maximum length of a record.
inline constexpr std::size_t kMostRecordBytes = std::size_t{512} << 10;

// The report for batches: one JSON object per line, so reports can be concatenated, split by lines and merged
// (report_reader.h). "type" is header, diagnosis, program, problem or summary.
//
//   - ASCII only. A name that is not valid text is made printable.
//   - Records are bounded, well below half a megabyte: long texts are cut, and only the first allocations are
//     printed; "allocations_left_out" counts the others.
//   - Equal reports give equal bytes. Merging the reports of any parts of the input gives the report of the whole.
std::string PrintNdjson(const Report& report);

// docs/diff.schema.json describes it.
std::string PrintDiffJson(const Diff& diff, const std::string& version, const RuleSet& rules);

}  // namespace whyoom
