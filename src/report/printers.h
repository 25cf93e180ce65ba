// The output formats of a report that are neither text (text/text_printer.h) nor JSON (record/json_printer.h).
#pragma once

#include <cstddef>
#include <string>

#include "report/document.h"
#include "report/report.h"

namespace whyoom {

// Workflow commands of GitHub Actions (docs.github.com, "Workflow commands for GitHub Actions"): an annotation for each
// diagnosis, at the line of the user's code if it is known and below the sources, then the report as text in a folded
// group of the step's log. Text of the log cannot become a command.
//
// GitHub shows ten errors and ten warnings of a step; the last one says how many more there are.
// `source_root` is the folder that annotated files are relative to; empty: only relative names are annotated.
std::string PrintGithub(const Report& report, const std::string& source_root);

// A single page without external resources: style, script and drawings are inline, and its content security policy
// forbids fetching. Also well-formed XML. A report with few failures shows each of them whole; one with many begins
// with an overview and a table to search and sort, which needs the script. A few megabytes at most: if the details of
// all failures do not fit, the most frequent failures have them.
std::string PrintHtml(const Report& report);

// JUnit XML 1.0 in UTF-8, in the form that Jenkins (junit-10.xsd of its xUnit plugin) and GitLab read: a failed test
// for each diagnosis, with the report as text; a test with an error for each input that could not be read; without
// either, one test that passed, because servers treat a report without tests as a failure. Class names are codes with
// scenarios; test names contain the id of the diagnosis, so that a server follows it across builds.
std::string PrintJunit(const Report& report);

// GitHub accepts 65536 characters in an issue or comment; the rest is left for what people write above the report.
inline constexpr std::size_t kMostOfIssue = 60000;

// GitHub-flavoured Markdown for an issue or the summary of a CI job: the verdict first, details folded. With more than
// three failures, an overview first and each failure folded. At most `most_bytes`: folded sections are left out from
// the end, then whole failures; the text says what was left out.
std::string PrintMarkdown(const Report& report, std::size_t most_bytes = kMostOfIssue);
// A page of blocks.
std::string PrintMarkdownPage(const doc::Blocks& blocks);

// SARIF 2.1.0 for code scanning, within GitHub's limits for a file: a result for each diagnosis, at the line of the
// user's code if it is known, else at its place in the log; a rule for each code and scenario that occurs; a
// notification for each input that could not be read and for what was left out. The run counts as successful
// (`executionSuccessful`) unless nothing was read, because code scanning rejects all results of an unsuccessful run.
// `source_root` is the folder of the sources: the base %SRCROOT% of locations below it. The id of a finding is its
// partial fingerprint "whyoom/v1".
std::string PrintSarif(const Report& report, const std::string& source_root);

}  // namespace whyoom
