// Builds the document of a failure: the verdict, why, what to do, and everything else that is known.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "facts/array.h"
#include "facts/evidence.h"
#include "report/formatting.h"
#include "report/report_document.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Blocks;
using doc::Spans;
using doc::Words;
using Kind = doc::Span::Kind;

constexpr std::size_t kLargestOfAll = 8;  // rows of allocations; the JSON lists all
constexpr std::size_t kAttemptsPerRemedy = 2;
constexpr std::size_t kPlaces = 50;
constexpr std::size_t kLongestPath = 1000;  // columns
constexpr std::size_t kMessage = 8000;      // bytes
constexpr std::size_t kMostSetting = 300;   // bytes

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

// The first of each group of equal allocations, of which a deep model has dozens, and their number. Sorted by size,
// largest first; the smallest may be left out.
std::vector<std::pair<const Allocation*, std::size_t>> GroupsOf(const std::vector<Allocation>& rows) {
  std::map<std::tuple<std::int64_t, std::string, std::string>, std::size_t>
      known;  // index by what groups have in common
  std::vector<std::pair<const Allocation*, std::size_t>> groups;
  for (const Allocation& row : rows) {
    const auto [at, is_new] = known.try_emplace({row.size_bytes.value_or(-1), row.kind, ShapeOf(row)}, groups.size());
    if (is_new) groups.emplace_back(&row, 0);
    ++groups[at->second].second;
  }
  std::stable_sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
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
  for (const auto& [first, count] : GroupsOf(failure.allocations)) {
    const Allocation& row = *first;
    const std::int64_t size = row.size_bytes.value_or(0);
    if (table.rows.empty()) smallest = std::min(kTiny, size / 100);
    if (table.rows.size() == most || size < smallest) break;
    const std::string times = count > 1 ? fmt::format("{} × ", count) : "";
    const std::string factor = row.padding_factor ? fmt::format(" ({:.3g} ×)", *row.padding_factor) : "";
    const bool is_padded = row.padding_bytes.value_or(0) > 0;
    const std::string source = row.source_file.empty() ? "" : SourceLineText(row.source_file, row.source_line);
    table.rows.push_back({Words(row.size_bytes ? FormatSize(size) : "?"),
                          Words(is_padded ? FormatSize(*row.padding_bytes) + factor : ""),
                          doc::Joined({Words(times), doc::Name(ShapeOf(row))}),
                          doc::Name(source.empty() ? UsersName(row) : source)});
    shown += count;
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
  Blocks origin;
  if (!failure.message.empty() && !failure.why.empty())
    origin.emplace_back(doc::CodeOf(CutBytes(Printable(failure.message), kMessage)));
  const std::string end = where.last_line > where.line ? fmt::format(" to {}", where.last_line) : "";
  if (!origin.empty() || !end.empty()) origin.emplace_back(doc::Paragraph{doc::Name(PlaceText(where) + end)});
  doc::AddSection({"The error message and where it appears", std::move(origin)}, blocks);
}

// The patch that makes the change, without the lines that stay the same.
doc::Item PatchItem(std::string_view patch, std::optional<std::int64_t> verified, const Failure& failure) {
  const std::optional<double> limit = failure.facts.Number("limit_bytes");
  std::string caption = verified ? "patch; with it, the program needs " + FormatSize(*verified) : "patch, not verified";
  if (verified && limit) caption += fmt::format(" of {} (compiled)", SizeText(*limit));
  doc::Code code{"diff", {}};
  for (const doc::Span& line : doc::CodeOf(patch).lines) {
    const bool is_header = line.text.starts_with("--- ");
    const bool is_removed = line.text.starts_with('-') && !is_header;
    if (!is_header && !is_removed && !line.text.starts_with('+')) continue;
    code.lines.push_back({line.text, is_header ? Kind::kText : is_removed ? Kind::kCareful : Kind::kGood});
  }
  return {Words(caption), {std::move(code)}};
}

// One step for each change of a compiled setting. Environment variables become one complete command.
void AddSettingSteps(std::string_view setting, std::vector<doc::Item>* steps) {
  constexpr std::string_view kAnd = " and ";
  std::string variables;
  while (!setting.empty()) {
    const std::string part(setting.substr(0, setting.find(kAnd)));
    setting.remove_prefix(std::min(part.size() + kAnd.size(), setting.size()));
    if (part[0] >= 'A' && part[0] <= 'Z') {
      variables += part + " ";
      continue;
    }
    const bool is_word = part.starts_with("--") ||
                         (part.find('=') != std::string::npos && part.find_first_of("'(") == std::string::npos);
    steps->push_back(doc::Step(doc::Joined({Words(is_word ? "add to the command: " : "change: "),
                                            Words(CutBytes(Printable(part), kMostSetting), Kind::kCode)})));
  }
  if (variables.empty()) return;
  steps->push_back(doc::Step(Words("type:")));
  steps->back().blocks = {doc::CodeOf(variables + "python train.py")};
}

// The remedy that is shown together with this one, because the compiler confirmed that both fit; null if there is none.
const RankedRemedy* CompiledPartner(const RankedRemedy& ranked, const Failure& failure) {
  return CompiledPair(ranked, failure) == nullptr ? nullptr : FindRemedy(failure, ranked.enough_with.front());
}

// Green only for what fits and keeps the results.
Kind EffectKind(const RankedRemedy& ranked) {
  const bool with_others = !ranked.enough_with.empty();
  if (ranked.enough == false && !with_others && !ranked.borderline) return Kind::kBad;
  if (ranked.remedy->inquiry) return Kind::kText;
  if (ranked.borderline || !ranked.safety.starts_with("safe")) return Kind::kCareful;
  return ranked.enough == true || with_others ? Kind::kGood : Kind::kText;
}

// "Shard the large arrays (shard_tensor)".
Spans TitleOf(const RankedRemedy& ranked, const RankedRemedy* partner, bool with_id) {
  std::vector<Spans> title = {doc::Sentence(ranked.remedy->title)};
  if (partner != nullptr) title.push_back(doc::Joined({Words("; also: "), doc::Sentence(partner->remedy->title)}));
  if (with_id) title.push_back(doc::Joined({Words(" ("), doc::Name(ranked.remedy->id), Words(")")}));
  return doc::Joined(title);
}

// With at most `steps` of each remedy; a change that was compiled counts as the first.
doc::Item RemedyItem(const Failure& failure, const RankedRemedy& ranked, std::size_t steps, bool reasons, bool id) {
  const RankedRemedy* partner = CompiledPartner(ranked, failure);
  const CompiledAttempt* pair = CompiledPair(ranked, failure);
  doc::List list;
  list.items.push_back({doc::Sentence(EffectText(ranked, failure), EffectKind(ranked))});
  for (std::size_t i = 0; reasons && i < ranked.why.size(); ++i) list.items.push_back({ReasonSpans(ranked.why[i])});
  const std::size_t before = list.items.size();
  if (const std::string& patch = pair != nullptr ? pair->patch : ranked.patch; !patch.empty())
    list.items.push_back(PatchItem(patch, pair != nullptr ? pair->verified_bytes : ranked.verified_bytes, failure));
  AddSettingSteps(pair != nullptr ? pair->setting : ranked.compiled ? ranked.compiled->setting : "", &list.items);
  for (const RankedRemedy* each : {&ranked, partner}) {
    for (std::size_t i = 0; each != nullptr && i < each->how.size(); ++i) {
      if (list.items.size() - before < steps) list.items.push_back(doc::Step(doc::Sentence(each->how[i])));
    }
  }
  return {TitleOf(ranked, partner, id), {std::move(list)}, Words(std::to_string(ranked.rank))};
}

// Whether something in the log or the program supports the remedy.
bool IsSupported(const RankedRemedy& ranked) {
  const bool by_rank = ranked.rank_reasons && (ranked.rank_reasons->supported || ranked.rank_reasons->finds_out);
  return by_rank || !ranked.why.empty() || ranked.enough == true || !ranked.enough_with.empty() || ranked.compiled;
}

// The remedies to try first, and the others. If none is supported, those that usually help come first. A remedy that is
// shown as part of a better one is in neither.
struct SplitRemedies {
  std::vector<const RankedRemedy*> first;
  std::vector<const RankedRemedy*> others;

  SplitRemedies(const Failure& failure, const doc::Extent& extent) {
    const bool any = std::any_of(failure.remedies.begin(), failure.remedies.end(), IsSupported);
    for (const RankedRemedy& ranked : failure.remedies) {
      const RankedRemedy* partner = CompiledPartner(ranked, failure);
      if (partner != nullptr && partner->rank < ranked.rank && CompiledPartner(*partner, failure) == &ranked) continue;
      const bool is_first = (IsSupported(ranked) || !any) && first.size() < extent.remedies;
      (is_first ? first : others).push_back(&ranked);
    }
  }
};

// The remedies that would not help, grouped by reason: "bf16, donate_buffers (it saves nothing)".
doc::List RuledOutList(const Failure& failure) {
  doc::List list;
  for (auto first = failure.ruled_out.begin(); first != failure.ruled_out.end(); ++first) {
    const auto same = [&](const RuledOut& other) { return other.why == first->why; };
    if (std::any_of(failure.ruled_out.begin(), first, same)) continue;
    std::vector<Spans> ids;
    for (auto each = first; each != failure.ruled_out.end(); ++each)
      if (same(*each)) ids.push_back(doc::Name(each->remedy->id));
    list.items.push_back(
        {doc::Joined({doc::Joined(ids, ", "), Words(" ("), doc::Sentence(Printable(first->why)), Words(")")})});
  }
  return list;
}

// Whether the program fits with the remedy, as in "fits: should".
std::string FitsWord(const RankedRemedy& ranked) {
  if (!ranked.enough_with.empty()) return "with " + ranked.enough_with.front();
  if (!ranked.enough) return "unknown";
  if (*ranked.enough) return ranked.compiled ? "yes" : ranked.borderline ? "may" : "should";
  return ranked.borderline ? "may not" : "no";
}

// Remedies with a known effect, one row each; the ids of the others.
std::pair<doc::Table, std::vector<Spans>> EffectTable(const std::vector<const RankedRemedy*>& remedies) {
  doc::Table table{{{"needs or saves", true}, {"fits", false, true}, {"remedy", false, true}, {"results"}}, {}, 0};
  std::vector<Spans> unknown;
  for (const RankedRemedy* ranked : remedies) {
    const Spans id = doc::Name(ranked->remedy->id);
    if (ranked->saves_bytes || ranked->enough || !ranked->enough_with.empty()) {
      table.rows.push_back({Words(MemoryText(*ranked)), Words(FitsWord(*ranked)),
                            doc::Joined({id, Words(PartsText(*ranked))}), Words(SafetyText(*ranked))});
    } else {
      unknown.push_back(id);
    }
  }
  return {table, unknown};
}

doc::List FirstRemedies(const Failure& failure, const SplitRemedies& remedies, const doc::Extent& extent) {
  doc::List list{doc::List::Style::kNumbered, {}};
  for (const RankedRemedy* ranked : remedies.first) {
    const std::size_t at = list.items.size();
    const std::size_t steps = at < extent.in_full ? std::string::npos : at < extent.steps ? 1 : 0;
    list.items.push_back(RemedyItem(failure, *ranked, steps, at < extent.in_full, extent.is_whole));
  }
  return list;
}

void AddRemedies(const Failure& failure, const doc::Extent& extent, Blocks* blocks) {
  const SplitRemedies remedies(failure, extent);
  const std::size_t more = extent.more_follows ? 0 : remedies.others.size();
  const std::string hint = more > 0 ? Counted(more, "other", "others") + ": --all" : "";
  doc::AddSection({"do",
                   {doc::Paragraph{doc::Sentence(MistakeHint(failure))}, FirstRemedies(failure, remedies, extent),
                    doc::Paragraph{Words(hint, Kind::kFaint)}}},
                  blocks);
}

void AddOtherRemedies(const Failure& failure, const doc::Extent& extent, Blocks* blocks) {
  const SplitRemedies remedies(failure, extent);
  if (!extent.is_whole)
    doc::AddSection({"These remedies in full", {FirstRemedies(failure, remedies, {.in_full = 3, .is_whole = true})}},
                    blocks);
  const auto& [table, unknown] = EffectTable(remedies.others);
  doc::AddSection({"Other remedies", {table}}, blocks);
  doc::AddSection({"Remedies without an estimate here", {doc::Inline(unknown)}}, blocks);
  doc::AddSection({"Not expected to help here", {RuledOutList(failure)}}, blocks);
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
    if (failure.estimates && !extent.is_whole && extent.allocations > 0) AddPeak(*failure.estimates, &blocks);
    if (failure.estimates && !failure.recompilation && extent.allocations > 0)  // what was compiled is exact
      AddRoom(failure.estimates->room, &blocks);
    if (!lists_memory && !extent.is_whole) {
      doc::Table largest = AllocationTable(failure, extent.allocations);
      largest.left_out = 0;
      doc::AddSection({"top", {std::move(largest)}}, &blocks);
    }
    const std::size_t attempts = extent.is_whole ? std::string::npos : kAttemptsPerRemedy * extent.remedies;
    if (failure.recompilation)
      doc::AddSection(
          {"tried", {doc::Paragraph{doc::Sentence(RecompilationText(failure))}, AttemptTable(failure, attempts)}},
          &blocks);
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
  doc::AddSection(
      {"Listed allocations", {AllocationTable(failure, extent.is_whole ? extent.allocations : kLargestOfAll)}},
      &blocks);
  doc::AddSection({"Also reported at", {OtherPlaces(failure)}}, &blocks);
  AddOrigin(failure, &blocks);
  const char* rest = extent.is_whole && extent.in_full < extent.remedies ? "\nwhyoom --all … | less" : "";
  doc::AddSection({"more", {doc::CodeOf(ExplainCommand(failure) + rest)}}, &blocks);
  return blocks;
}

}  // namespace whyoom
