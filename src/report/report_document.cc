#include "report/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <span>
#include <unordered_map>

#include "read/candidate_errors.h"
#include "report/layout.h"
#include "report/summary.h"
#include "text/numbers.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;

constexpr std::size_t kProblems = 30;
constexpr std::size_t kUnknown = 10;
constexpr std::size_t kFingerprint = 12;  // enough to distinguish rule sets

doc::Verdict NothingFound(const Report& report) {
  const std::string where = fmt::format(" in {} ({})", Counted(report.artifacts, "input", "inputs"),
                                        SizeText(static_cast<double>(report.bytes)));
  return {1, "", Words(NothingFoundText(report) + (NothingRead(report) ? "" : where) + ".")};
}

// Adds the errors that match no rule, merged over the inputs that contain them (read/candidate_errors.h).
void AddUnknownErrors(const ProblemsByKind& problems, doc::Blocks* notes) {
  struct Joined {
    Problem first;
    std::uint64_t inputs = 0;
  };
  std::vector<Joined> errors;
  std::unordered_map<std::string, std::size_t> known;  // by the text of the line; entries without text stay separate
  for (const Problem* problem : problems.unknown) {
    const auto [place, is_new] = known.try_emplace(ErrorKey(problem->text), errors.size());
    const bool is_joined = !is_new && !problem->text.empty();
    Joined& error = is_joined ? errors[place->second] : errors.emplace_back(Joined{*problem});
    if (is_joined) error.first.occurrences = SaturatingAdd(error.first.occurrences, problem->occurrences);
    ++error.inputs;
  }
  if (errors.empty()) return;
  doc::List list;
  for (const auto& [first, inputs] : std::span(errors).first(std::min(errors.size(), kUnknown))) {
    const std::string more = inputs == 1 ? "" : " and " + Counted(inputs - 1, "more input", "more inputs");
    list.items.push_back({doc::Name(UnknownErrorPlace(first) + more), {doc::CodeOf(UnknownErrorText(first))}});
  }
  const std::uint64_t left_out = errors.size() - list.items.size() + problems.unknown_left_out;
  doc::AddSection({kUnknownErrors, {std::move(list), doc::LeftOut(left_out), doc::Paragraph{doc::Sentence(kRuleHint)}}},
                  notes);
}

// Shows all problems of the report itself, and some of those with inputs.
void AddProblems(const std::vector<const Problem*>& problems, std::uint64_t left_out, doc::Blocks* notes) {
  doc::List list;
  std::size_t shown = 0;
  for (const Problem* problem : problems) {
    if (!problem->of_report && shown++ >= kProblems) {
      ++left_out;
      continue;
    }
    list.items.push_back(doc::Warning(doc::Joined(
        {doc::Name(ArtifactText({problem->path, problem->member})), Words(": "), doc::Sentence(problem->what)})));
  }
  if (!list.items.empty()) notes->emplace_back(std::move(list));
  if (left_out > 0) notes->emplace_back(doc::LeftOut(left_out));
}

}  // namespace

ReportDocument MakeDocument(const Report& report) {
  ReportDocument document;
  document.is_batch = IsBatch(report);
  document.whole = report.failures.size();
  if (report.failures.empty()) {
    document.head = {NothingFound(report)};
    document.title = NothingFoundText(report);
  } else if (document.is_batch) {
    AddBatch(report, &document);
    document.title = BatchTitle(report);
  } else {
    for (const Failure& failure : report.failures) document.failures.push_back(&failure);
    const FailureRule& first = *report.failures[0].rule;
    document.title = report.failures.size() > 1 ? BatchTitle(report) : first.code + " " + first.title;
  }
  document.programs = ProgramBlocks(report);
  if (const std::string text = HiddenText(report); !text.empty())
    document.notes.emplace_back(doc::Paragraph{doc::Sentence(text)});
  const ProblemsByKind problems(report);
  AddUnknownErrors(problems, &document.notes);
  AddProblems(problems.unread, problems.unread_left_out, &document.notes);
  AddProblems(problems.notes, 0, &document.notes);
  if (!report.rule_files.empty()) {
    document.notes.emplace_back(
        doc::Paragraph{doc::Joined({Words("rules: built-in plus "), doc::Name(RuleFilesPhrase(report.rule_files))})});
  }
  const std::string fingerprint = report.rules_fingerprint.substr(0, kFingerprint);
  document.footer = {Words("whyoom " + report.version),
                     fingerprint.empty() ? doc::Spans() : doc::Joined({Words("rules "), doc::Name(fingerprint)}),
                     Words("remedy figures are estimates"), Words("1 GiB is 2^30 bytes")};
  return document;
}

}  // namespace whyoom
