// Builds the document of a failure: the verdict, why, what to do, and everything else that is known.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "facts/array.h"
#include "facts/evidence.h"
#include "report/layout.h"
#include "report/report_document.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Blocks;
using doc::Spans;
using doc::Words;
using Kind = doc::Span::Kind;

constexpr std::size_t kLargest = 3;       // rows of allocations among the first blocks
constexpr std::size_t kLargestOfAll = 8;  // rows of allocations; the JSON lists all
constexpr std::size_t kAttemptsPerRemedy = 2;
constexpr std::size_t kPlaces = 50;
constexpr std::size_t kLongestPath = 1000;  // columns
constexpr std::size_t kMessage = 8000;      // bytes

// Whether the program fits with the change: "yes", "no", "worse" (needs more than unchanged), "failed", "unknown"
// (without a limit).
std::string AttemptText(const Failure& failure, const CompiledAttempt& attempt) {
  constexpr std::int64_t kVisible = (1 << 30) / 200;  // the figures have two decimals of a GiB
  const Recompilation& recompilation = *failure.recompilation;
  if (!attempt.need_bytes) return "failed";
  if (recompilation.Fits(attempt, failure.facts)) return "yes";
  if (*attempt.need_bytes - recompilation.unchanged_bytes > kVisible) return "worse";
  return failure.facts.Number("limit_bytes") ? "no" : "unknown";
}

// "Compiled with libtpu 0.0.52, without a TPU. Unchanged, the program needs 16.77 GiB, as reported." The failure must
// have a recompilation.
std::string RecompilationText(const Failure& failure) {
  const Recompilation& recompilation = *failure.recompilation;
  const std::int64_t difference = recompilation.Difference(failure.facts);
  std::string text = fmt::format("Compiled with {}, without a TPU. Unchanged, the program needs {}",
                                 Printable(recompilation.compiler), FormatSize(recompilation.unchanged_bytes));
  text += difference == 0
              ? ", as reported."
              : fmt::format(
                    " here, {} {} than reported, because the version of the compiler or the topology differs. The "
                    "remedies are corrected by this difference.",
                    FormatSize(std::abs(difference)), difference > 0 ? "less" : "more");
  if (recompilation.stopped.empty()) return text;
  return text + fmt::format(" Not all changes were compiled: {}.", Printable(recompilation.stopped));
}

// "The job went on after this failure, as line 41 shows: step 12 loss 2.3"; empty if nothing shows that it did.
std::string RecoveredText(const Failure& failure) {
  if (!failure.recovered) return {};
  return fmt::format("The job went on after this failure, as line {} shows: {}", failure.recovered->line,
                     Printable(failure.recovered->text));
}

// Why the diagnosis is uncertain: contradictions, or only a fragment of the message. Empty if neither applies.
std::string CautionText(const Failure& failure) {
  if (failure.confidence != Confidence::kLow) return {};
  if (failure.contradictions.empty()) return "The log contains only a fragment of the message, so little is certain.";
  std::string text;
  for (const Contradiction& contradiction : failure.contradictions) text += Printable(contradiction.text) + " ";
  return text + "These figures are not used.";
}

doc::Verdict VerdictOf(const Failure& failure) {
  doc::Verdict verdict{1, failure.rule->code, doc::Sentence(Verdict(failure))};
  for (const std::string& text : {RecoveredText(failure), NeedText(failure), CautionText(failure)}) {
    if (!text.empty()) verdict.notes.push_back(doc::Sentence(text));
  }
  const std::optional<Need> need = NeedOf(failure);
  verdict.facts = {doc::Name(PlaceText(failure.where), kLongestPath)};
  const std::string scenario = failure.scenario == nullptr ? "" : failure.scenario->id;
  if (!scenario.empty() && scenario[0] >= '0' && scenario[0] <= '9')
    verdict.facts.push_back(Words("scenario " + scenario));
  for (const char* fact : {"module", "program", "device"}) {
    const std::string name = Printable(failure.facts.Text(fact));
    if (!need || name != ProgramOf(failure)) verdict.facts.push_back(doc::Name(name));
  }
  const auto limit = failure.facts.Number("limit_bytes");
  if (limit && (!need || *limit != need->have)) verdict.facts.push_back(Words(SizeText(*limit) + " limit"));
  if (!need) verdict.facts.push_back(doc::Name(failure.facts.Text("chip")));
  verdict.facts.push_back(doc::Sentence(failure.framework));
  const Framework* usual = failure.rules == nullptr ? nullptr : failure.rules->default_framework();
  const bool differ = std::any_of(failure.remedies.begin(), failure.remedies.end(),
                                  [](const RankedRemedy& ranked) { return ranked.remedy->how.size() > 1; });
  if (failure.framework.empty() && usual != nullptr && differ)
    verdict.facts.push_back(Words("steps for " + usual->name + " (--framework NAME for another)"));
  if (const std::uint64_t processes = failure.tally.occurrences(); processes > 1)
    verdict.facts.push_back(
        Words(fmt::format("reported by {}{} processes", failure.tally.hosts.complete ? "" : "about ", processes)));
  return verdict;
}

// The line's part in the failure: "10.38 GiB f32[10889216,4,2]"; empty if unknown.
std::string LineNote(const Failure& failure, const CodeLine& line) {
  const Allocation* largest = nullptr;
  for (const Allocation& row : failure.allocations) {
    const bool is_file = row.source_file.ends_with(line.path.empty() ? line.file : line.path);
    const bool is_here = is_file && row.source_line == line.line && row.size_bytes;
    if (is_here && (largest == nullptr || *row.size_bytes > *largest->size_bytes)) largest = &row;
  }
  if (largest != nullptr) return FormatSize(*largest->size_bytes) + " " + Printable(ShapeOf(*largest));
  return failure.facts.Text("user_source") == fmt::format("{}:{}", line.file, line.line) ? "the call that failed" : "";
}

// The user's lines, each with a note below it.
void AddSource(const Failure& failure, std::size_t most, Blocks* blocks) {
  doc::Code code{"python", {}};
  for (std::size_t i = 0; i < std::min(failure.code.size(), most); ++i) {
    const CodeLine& line = failure.code[i];
    const std::string place = fmt::format("{}:{}  ", line.file, line.line);
    code.lines.push_back({place + line.text});
    code.lines.push_back({fmt::format("{:>{}}{} {}", "", DisplayWidth(place), "^", LineNote(failure, line))});
  }
  doc::AddSection({"", {std::move(code)}}, blocks);
}

void AddWhy(const Failure& failure, std::size_t from, std::size_t most, Blocks* blocks) {
  if (failure.why.empty() && from == 0 && !failure.message.empty())
    doc::AddSection({"Message in the log", {doc::CodeOf(CutBytes(Printable(failure.message), kMessage))}}, blocks);
  doc::List list;
  for (std::size_t i = from; i < std::min(failure.why.size(), from + most); ++i)
    list.items.push_back({ReasonSpans(failure.why[i])});
  doc::AddSection({"why", {std::move(list)}}, blocks);
}

// Allocations that a table shows in one row, because a deep model has dozens of them.
struct AllocationGroup {
  const Allocation* first;  // borrowed from the failure
  std::size_t count = 0;
};

// Sorted by size, largest first; the smallest may be left out.
std::vector<AllocationGroup> GroupsOf(const std::vector<Allocation>& rows) {
  std::map<std::tuple<std::int64_t, std::string, std::string>, std::size_t>
      known;  // index by what groups have in common
  std::vector<AllocationGroup> groups;
  for (const Allocation& row : rows) {
    const auto [at, is_new] = known.try_emplace({row.size_bytes.value_or(-1), row.kind, ShapeOf(row)}, groups.size());
    if (is_new) groups.push_back({&row});
    ++groups[at->second].count;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const AllocationGroup& a, const AllocationGroup& b) {
    return a.first->size_bytes.value_or(-1) > b.first->size_bytes.value_or(-1);
  });
  return groups;
}

// The largest allocations, without tiny ones.
doc::Table AllocationTable(const Failure& failure, std::size_t most) {
  constexpr std::int64_t kTiny = 1 << 20;  // bytes, if the largest has 100 times as much
  doc::Table table{{{"size", true}, {"padding", true}, {"shape"}, {"what"}}, {}, 0};
  std::size_t shown = 0;
  std::int64_t smallest = 0;
  for (const AllocationGroup& group : GroupsOf(failure.allocations)) {
    const Allocation& row = *group.first;
    const std::int64_t size = row.size_bytes.value_or(0);
    if (table.rows.empty()) smallest = std::min(kTiny, size / 100);
    if (table.rows.size() == most || size < smallest) break;
    const std::string times = group.count > 1 ? fmt::format("{} × ", group.count) : "";
    const std::string factor = row.padding_factor ? fmt::format(" ({:.3g} ×)", *row.padding_factor) : "";
    const bool is_padded = row.padding_bytes.value_or(0) > 0;
    const std::string source = row.source_file.empty() ? "" : SourceLineText(row.source_file, row.source_line);
    table.rows.push_back({Words(row.size_bytes ? FormatSize(size) : "?"),
                          Words(is_padded ? FormatSize(*row.padding_bytes) + factor : ""),
                          doc::Joined({Words(times), doc::Name(ShapeOf(row))}),
                          doc::Name(source.empty() ? UsersName(row) : source)});
    shown += group.count;
  }
  table.left_out = failure.allocations.size() - shown + failure.allocations_left_out;
  return table;
}

// The compiled changes, smallest need first, without the changes that do nothing.
doc::Table AttemptTable(const Failure& failure, std::size_t most) {
  const Recompilation& recompilation = *failure.recompilation;
  std::vector<CompiledAttempt> attempts = recompilation.attempts;
  attempts.push_back({"", "unchanged", recompilation.unchanged_bytes, "", recompilation.seconds});
  std::stable_sort(attempts.begin(), attempts.end(), [](const CompiledAttempt& a, const CompiledAttempt& b) {
    return a.need_bytes.value_or(INT64_MAX) < b.need_bytes.value_or(INT64_MAX);
  });
  doc::Table table{{{"needs", true}, {"fits"}, {"change"}}, {}, 0};
  for (const CompiledAttempt& attempt : attempts) {
    const std::string verdict = AttemptText(failure, attempt);
    const std::string needs = attempt.need_bytes ? FormatSize(*attempt.need_bytes) : "unknown";
    const bool is_same = needs == FormatSize(recompilation.unchanged_bytes) && !attempt.remedy.empty();
    if (table.rows.size() == most || (is_same && verdict != "yes")) {
      ++table.left_out;
      continue;
    }
    // The compiler's options are long, and the remedy shows where to set them.
    std::string_view setting = attempt.setting;
    if (setting.starts_with(kCompilerOptions)) setting.remove_prefix(kCompilerOptions.size());
    const std::string problem = attempt.need_bytes ? "" : ": " + Printable(attempt.problem);
    table.rows.push_back(
        {Words(needs), Words(verdict), doc::Joined({Words(Printable(setting), Kind::kCode), Words(problem)})});
  }
  return table;
}

void AddNext(const Failure& failure, Blocks* blocks) {
  const NextStep next = NextOf(failure);
  if (next.command != ExplainCommand(failure))
    doc::AddSection({"next", {doc::CodeOf(next.command), doc::Paragraph{Words(next.purpose, Kind::kFaint)}}}, blocks);
}

void AddRetry(const Failure& failure, Blocks* blocks) {
  doc::AddSection({"retry", {doc::Paragraph{doc::Sentence(RetryText(failure.retry))}}}, blocks);
}

// Further places of the failure: "line 90" in the same artifact, else "b.log:7".
doc::Paragraph OtherPlaces(const Failure& failure) {
  std::vector<Spans> places;
  const std::vector<Where> also = failure.Also();
  for (std::size_t i = 0; i < std::min(also.size(), kPlaces); ++i) {
    const bool same = ArtifactText(also[i].artifact) == ArtifactText(failure.where.artifact);
    places.push_back(doc::Name(same ? fmt::format("line {}", also[i].line) : PlaceText(also[i])));
  }
  const std::uint64_t all = std::max<std::uint64_t>(failure.tally.reports, also.size() + 1) - 1;
  return doc::Inline(places, all - places.size());
}

void AddOrigin(const Failure& failure, Blocks* blocks) {
  const Where& where = failure.where;
  const std::uint64_t last = std::max(where.line, where.last_line);
  Blocks origin;
  if (!failure.message.empty() && !failure.why.empty())
    origin.emplace_back(doc::CodeOf(CutBytes(Printable(failure.message), kMessage)));
  const std::string lines =
      last == where.line ? fmt::format(", line {}", last) : fmt::format(", lines {} to {}", where.line, last);
  origin.emplace_back(doc::Paragraph{doc::Joined({doc::Name(ArtifactText(where.artifact)), Words(lines)})});
  doc::AddSection({"The error message and where it appears", std::move(origin)}, blocks);
}

}  // namespace

Spans ReasonSpans(const Reason& reason) {
  return doc::Joined(
      {doc::Sentence(reason.text), Words(reason.line > 0 ? fmt::format(" (line {})", reason.line) : "", Kind::kFaint)});
}

Blocks FirstBlocks(const Failure& failure, const doc::Extent& extent) {
  Blocks blocks = {VerdictOf(failure)};
  if (!extent.is_headline) {
    AddSource(failure, extent.is_whole ? failure.code.size() : 1, &blocks);
    AddWhy(failure, 0, extent.reasons, &blocks);
    const bool lists_memory = failure.estimates && !failure.estimates->memory.empty();
    if (failure.estimates && extent.is_whole) doc::AddSection({"peak", {KindsTable(*failure.estimates)}}, &blocks);
    if (failure.estimates && !extent.is_whole && extent.remedies > 1) AddPeak(*failure.estimates, &blocks);
    if (failure.estimates && !failure.recompilation && extent.remedies > 1)  // what was compiled is exact
      AddRoom(failure.estimates->room, &blocks);
    if (!lists_memory && !extent.is_whole) {
      doc::Table largest = AllocationTable(failure, kLargest);
      largest.left_out = 0;
      doc::AddSection({"top", {std::move(largest)}}, &blocks);
    }
    if (failure.recompilation) {
      doc::Table attempts = AttemptTable(
          failure, extent.is_whole ? failure.recompilation->attempts.size() + 1 : kAttemptsPerRemedy * extent.remedies);
      doc::AddSection({"tried", {doc::Paragraph{doc::Sentence(RecompilationText(failure))}, std::move(attempts)}},
                      &blocks);
    }
  }
  AddRemedies(failure, extent, &blocks);
  if (extent.is_headline) return blocks;
  if (failure.retry.answer == Retry::Answer::kMaybe) AddRetry(failure, &blocks);
  AddNext(failure, &blocks);
  return blocks;
}

Blocks MoreBlocks(const Failure& failure, const doc::Extent& extent) {
  Blocks blocks;
  AddWhy(failure, extent.reasons, failure.why.size(), &blocks);
  AddOtherRemedies(failure, extent, &blocks);
  if (failure.retry.answer != Retry::Answer::kMaybe) AddRetry(failure, &blocks);
  if (!failure.estimates) {
    doc::AddSection({"Memory needed, by part", {NeededParts(failure)}}, &blocks);
  } else if (!extent.is_whole) {
    doc::AddSection({"Memory by kind", {KindsTable(*failure.estimates)}}, &blocks);
  }
  doc::AddSection({"Listed allocations", {AllocationTable(failure, kLargestOfAll)}}, &blocks);
  doc::AddSection({"Also reported at", {OtherPlaces(failure)}}, &blocks);
  AddOrigin(failure, &blocks);
  doc::AddSection({"Read more", {doc::CodeOf(ExplainCommand(failure))}}, &blocks);
  return blocks;
}

}  // namespace whyoom
