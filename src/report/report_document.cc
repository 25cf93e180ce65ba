#include "report/report_document.h"

#include <fmt/format.h>

#include <algorithm>
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

// An unknown error, merged over the inputs that contain it (read/candidate_errors.h). `place` is "a.log:41 and 12 more
// inputs".
struct UnknownLine {
  std::string place;
  std::string text;
};

std::vector<UnknownLine> JoinedUnknownErrors(const std::vector<const Problem*>& unknown) {
  struct Joined {
    Problem first;
    std::uint64_t inputs;
  };
  std::vector<Joined> all;
  std::unordered_map<std::string, std::size_t> known;  // by the text of the line; entries without text stay separate
  for (const Problem* problem : unknown) {
    const auto [place, is_new] = known.try_emplace(ErrorKey(problem->text), all.size());
    if (is_new || problem->text.empty()) {
      all.push_back({*problem, 1});
      continue;
    }
    Joined& same = all[place->second];
    ++same.inputs;
    same.first.occurrences = SaturatingAdd(same.first.occurrences, problem->occurrences);
  }
  std::vector<UnknownLine> lines;
  for (const auto& [first, inputs] : all) {
    const std::string more = inputs == 1 ? "" : " and " + Counted(inputs - 1, "more input", "more inputs");
    lines.push_back({UnknownErrorPlace(first) + more, UnknownErrorText(first)});
  }
  return lines;
}

void AddUnknownErrors(const ProblemsByKind& problems, doc::Blocks* notes) {
  if (problems.unknown.empty()) return;
  doc::List list;
  const std::vector<UnknownLine> lines = JoinedUnknownErrors(problems.unknown);
  for (std::size_t i = 0; i < std::min(lines.size(), kUnknown); ++i) {
    list.items.push_back({doc::Name(lines[i].place), {doc::CodeOf(lines[i].text)}});
  }
  list.left_out = lines.size() - list.items.size() + problems.unknown_left_out;
  doc::Blocks blocks = {std::move(list), doc::Paragraph{doc::Sentence(kRuleHint)}};
  notes->emplace_back(doc::Section{kUnknownErrors, std::move(blocks)});
}

// Shows all problems of the report itself, and some of those with inputs.
void AddProblems(const std::vector<const Problem*>& problems, std::uint64_t left_out, doc::Blocks* notes) {
  doc::List list{doc::List::Style::kWarnings, {}, left_out};
  std::size_t shown = 0;
  for (const Problem* problem : problems) {
    if (!problem->of_report && shown++ >= kProblems) {
      ++list.left_out;
      continue;
    }
    list.items.push_back({doc::Joined(
        {doc::Name(ArtifactText({problem->path, problem->member})), Words(": "), doc::Sentence(problem->what)})});
  }
  if (!list.items.empty()) notes->emplace_back(std::move(list));
}

std::vector<doc::Spans> FooterOf(const Report& report) {
  std::vector<doc::Spans> footer = {Words("whyoom " + report.version)};
  if (!report.rules_fingerprint.empty())
    footer.push_back(doc::Joined({Words("rules "), doc::Name(report.rules_fingerprint.substr(0, kFingerprint))}));
  footer.push_back(Words("remedy figures are estimates"));
  footer.push_back(Words("1 GiB is 2^30 bytes"));
  return footer;
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
  document.footer = FooterOf(report);
  return document;
}

}  // namespace whyoom
