#include "report/report_document.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <span>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "read/candidate_errors.h"
#include "report/formatting.h"
#include "report/summary.h"
#include "text/numbers.h"
#include "text/timestamp.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;

constexpr std::size_t kProblems = 10;
constexpr std::size_t kUnknown = 10;
constexpr std::size_t kFingerprint = 12;  // enough to distinguish rule sets
constexpr std::size_t kFew = 3;           // failures or problems; with more failures, the report is a batch
constexpr std::size_t kLargeBatch = 20;   // failures; with more, text shows only a few in full
constexpr std::size_t kWholeOfLarge = 3;
constexpr std::size_t kShares = 3;
constexpr std::size_t kFailures = 2000;     // in the table
constexpr std::size_t kLongProgram = 80;    // columns
constexpr std::size_t kShortestFolder = 4;  // bytes

doc::Verdict NothingFound(const Report& report) {
  const std::string where = fmt::format(" in {} ({})", Counted(report.artifacts, "input", "inputs"),
                                        SizeText(static_cast<double>(report.bytes)));
  return {1, "", Words(NothingFoundText(report) + (NothingRead(report) ? "" : where) + ".")};
}

// Problems with equal texts except for figures (read/candidate_errors.h): the first, and how many there are.
using Group = std::pair<Problem, std::uint64_t>;

// Few problems, and problems without a text, stay separate.
std::vector<Group> GroupsOf(const std::vector<const Problem*>& problems, std::string Problem::*text, std::size_t few) {
  std::vector<Group> groups;
  std::unordered_map<std::string, std::size_t> known;
  for (const Problem* problem : problems) {
    const std::string key = problems.size() <= few || problem->of_report ? "" : ErrorKey(problem->*text);
    const auto [place, is_new] = known.try_emplace(key, groups.size());
    const bool is_joined = !is_new && !key.empty();
    auto& [first, count] = is_joined ? groups[place->second] : groups.emplace_back(*problem, 0);
    if (is_joined) first.occurrences = SaturatingAdd(first.occurrences, problem->occurrences);
    ++count;
  }
  return groups;
}

// "a.log:7 and 2 more inputs".
doc::Spans PlaceOf(const Group& group, const std::string& place) {
  if (group.second == 1) return doc::Name(place);
  return doc::Name(place + " and " + Counted(group.second - 1, "more input", "more inputs"));
}

void AddUnknownErrors(const ProblemsByKind& problems, doc::Blocks* notes) {
  const std::vector<Group> errors = GroupsOf(problems.unknown, &Problem::text, 1);
  doc::List list;
  for (const Group& error : std::span(errors).first(std::min(errors.size(), kUnknown)))
    list.items.push_back(
        {PlaceOf(error, UnknownErrorPlace(error.first)), {doc::CodeOf(UnknownErrorText(error.first))}});
  if (errors.empty()) return;
  const std::uint64_t left_out = errors.size() - list.items.size() + problems.unknown_left_out;
  doc::AddSection({kUnknownErrors, {std::move(list), doc::LeftOut(left_out), doc::Paragraph{doc::Sentence(kRuleHint)}}},
                  notes);
}

// Shows all problems of the report itself, and some of those with inputs.
void AddProblems(const std::vector<const Problem*>& problems, std::uint64_t left_out, doc::Blocks* notes) {
  doc::List list;
  std::size_t shown = 0;
  for (const Group& group : GroupsOf(problems, &Problem::what, kFew)) {
    const Problem& first = group.first;
    if (!first.of_report && shown++ >= kProblems) {
      left_out += group.second;
      continue;
    }
    const auto place = PlaceOf(group, ArtifactText({first.path, first.member}));
    list.items.push_back(doc::Warning(doc::Joined({place, Words(": "), doc::Sentence(first.what)})));
  }
  if (!list.items.empty()) notes->emplace_back(std::move(list));
  if (left_out > 0) notes->emplace_back(doc::LeftOut(left_out));
}

// Adds the shares with the most occurrences, then failures; ties by name. Adds nothing if there is only one.
void AddShares(const std::string& title, const std::map<std::string, Share>& shares, doc::Blocks* blocks) {
  if (shares.size() < 2) return;
  std::vector<std::pair<std::string, Share>> sorted(shares.begin(), shares.end());
  std::stable_sort(sorted.begin(), sorted.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.occurrences, a.second.failures) > std::tie(b.second.occurrences, b.second.failures);
  });
  doc::Table table{{{"processes", true}, {"failures", true}, {title, false, true}}, {}, 0};
  for (const auto& [name, share] : std::span(sorted).first(std::min(sorted.size(), kShares)))
    table.rows.push_back({Words(fmt::format("{}", share.occurrences)), Words(fmt::format("{}", share.failures)),
                          doc::Joined({doc::Name(name, kLongProgram), doc::Sentence(share.title)}, "  ")});
  table.left_out = sorted.size() - table.rows.size();
  doc::AddSection({"", {std::move(table)}}, blocks);
}

// "2026-10-01T09:14:07Z to 2026-10-02T11:30:00Z", in whole seconds. A single time if both are the same; empty if one is
// unknown.
std::string PeriodText(std::optional<Timestamp> first, std::optional<Timestamp> last) {
  if (!first || !last) return {};
  for (Timestamp* time : {&*first, &*last}) time->microseconds -= time->microseconds % 1000000;
  return ToString(*first) + (first == last ? "" : " to " + ToString(*last));
}

// "Most frequent: E1000.2 of jit_step, by 200 processes since 2026-11-20T01:00:00Z; 5.02 GiB too much. First: Shard the
// large arrays. See a.log:7."
std::string MostFrequentText(const Failure& failure) {
  const FailureRow row = RowOf(failure);
  const bool is_once = failure.tally.occurrences() < 2;
  std::string text = (is_once ? "For example: " : "Most frequent: ") + row.name;
  if (!row.program.empty()) text += " of " + row.program;
  if (!is_once) text += ", by " + row.processes + " processes";
  if (const auto& time = failure.tally.first_time) text += " since " + PeriodText(time, time);
  text += row.excess.empty() ? "." : "; " + row.excess + " too much.";
  return text + (row.remedy.empty() ? "" : " First: " + row.remedy + ".") + " See `" + row.place + "`.";
}

// "3 different failures in 40 inputs".
std::string BatchTitle(const Report& report) {
  return Counted(report.failures.size(), "different failure", "different failures") + " in " +
         Counted(report.artifacts, "input", "inputs");
}

doc::Blocks Overview(const Report& report, const Failure& most, const std::string& folder) {
  const Summary summary = Summarize(report);
  doc::Verdict verdict{1, "", Words(BatchTitle(report))};
  verdict.facts = {
      Words("reported by " + Counted(summary.occurrences, "process", "processes")),
      Words(PeriodText(summary.first_time, summary.last_time)),
      Words(SizeText(static_cast<double>(report.bytes)) + " read"),
      Words(summary.problems == 0 ? "" : Counted(summary.problems, "problem", "problems") + ", listed at the end")};
  verdict.notes.push_back(doc::Sentence(MostFrequentText(most)));
  if (!folder.empty())
    verdict.notes.push_back(doc::Joined({Words("Paths in the table are relative to "), doc::Name(folder), Words(".")}));
  doc::Blocks blocks = {std::move(verdict)};
  AddShares("scenario", summary.by_scenario, &blocks);
  AddShares("first remedy", summary.by_remedy, &blocks);
  return blocks;
}

doc::Table TableOf(const std::vector<const Failure*>& failures, const std::string& folder) {
  doc::Table table{{{"failure"}, {"program"}, {"too much", true}, {"processes", true}, {"where"}}, {}, 0};
  for (std::size_t i = 0; i < std::min(failures.size(), kFailures); ++i) {
    const FailureRow row = RowOf(*failures[i]);
    table.rows.push_back({doc::Name(row.name), doc::Name(row.program, kLongProgram), Words(row.excess),
                          Words(row.processes), doc::Name(BelowFolder(row.place, folder))});
  }
  table.left_out = failures.size() - table.rows.size();
  return table;
}

// Adds the overview, the failures, and the table of all failures. The failures that occurred most often, then in most
// inputs, come first.
void AddBatch(const Report& report, ReportDocument* document) {
  std::vector<const Failure*>& failures = document->failures;
  std::stable_sort(failures.begin(), failures.end(), [](const Failure* a, const Failure* b) {
    return std::pair(a->tally.occurrences(), a->tally.artifacts) >
           std::pair(b->tally.occurrences(), b->tally.artifacts);
  });
  document->folder = CommonFolder(report);
  document->head = Overview(report, *failures.front(), document->folder);
  if (failures.size() > kLargeBatch) document->whole = kWholeOfLarge;
  doc::AddSection({"All failures", {TableOf(failures, document->folder)}}, &document->table);
}

}  // namespace

std::string CommonFolder(const Report& report) {
  if (report.failures.size() < 2) return {};
  std::string folder = report.failures.front().where.artifact.path;
  folder.erase(folder.rfind('/') + 1);  // the whole path if there is no slash
  for (const Failure& failure : report.failures) {
    while (!folder.empty() && !failure.where.artifact.path.starts_with(folder))
      folder.erase(folder.size() < 2 ? 0 : folder.rfind('/', folder.size() - 2) + 1);
  }
  return folder.size() < kShortestFolder ? "" : folder;
}

std::string BelowFolder(const std::string& place, const std::string& folder) {
  const std::string printable = Printable(folder);
  return place.starts_with(printable) ? place.substr(printable.size()) : place;
}

doc::Spans SummaryOf(const Failure& failure, const std::string& folder) {
  const FailureRow row = RowOf(failure);
  return doc::Joined(
      {doc::Joined({doc::Name(row.name), Words(" "),
                    row.program.empty() ? doc::Sentence(failure.rule->title) : doc::Name(row.program, kLongProgram)}),
       Words(row.excess.empty() ? "" : row.excess + " too much"),
       doc::Name(BelowFolder(row.place, folder), kLongProgram)},
      " · ");
}

ReportDocument MakeDocument(const Report& report) {
  ReportDocument document;
  document.is_batch = report.failures.size() > kFew;
  document.whole = report.failures.size();
  for (const Failure& failure : report.failures) document.failures.push_back(&failure);
  if (report.failures.empty()) {
    document.head = {NothingFound(report)};
    document.title = NothingFoundText(report);
  } else if (report.failures.size() > 1) {
    document.title = BatchTitle(report);
  } else {
    document.title = report.failures[0].rule->code + " " + report.failures[0].rule->title;
  }
  if (document.is_batch) AddBatch(report, &document);
  document.programs = ProgramBlocks(report);
  if (const std::string text = HiddenText(report); !text.empty())
    document.notes.emplace_back(doc::Paragraph{doc::Sentence(text)});
  const ProblemsByKind problems(report);
  AddUnknownErrors(problems, &document.notes);
  AddProblems(problems.unread, problems.unread_left_out, &document.notes);
  AddProblems(problems.notes, 0, &document.notes);
  if (const std::vector<std::string>& files = report.rule_files; !files.empty()) {
    document.notes.emplace_back(
        doc::Inline({doc::Joined({Words("rules: built-in plus "), doc::Name(files[0])})}, files.size() - 1));
  }
  const std::string fingerprint = report.rules_fingerprint.substr(0, kFingerprint);
  document.footer = {Words("whyoom " + report.version),
                     fingerprint.empty() ? doc::Spans() : doc::Joined({Words("rules "), doc::Name(fingerprint)}),
                     Words("remedy figures are estimates"), Words("1 GiB is 2^30 bytes")};
  return document;
}

}  // namespace whyoom
