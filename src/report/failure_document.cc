// Builds the document of a failure: the verdict, why, the largest allocations, what to do.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "diagnose/compare.h"
#include "facts/array.h"
#include "facts/evidence.h"
#include "report/layout.h"
#include "report/report_document.h"
#include "report/source_place.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Block;
using doc::Blocks;
using doc::Depth;
using doc::Spans;
using doc::Words;

constexpr std::size_t kLargest = 5;       // groups of allocations
constexpr std::size_t kLargestFirst = 3;  // of them, on the first screen
constexpr std::size_t kCompiled = 4;      // changes on the screen
constexpr std::size_t kAllRows = 200;
constexpr std::size_t kPlaces = 5;
constexpr std::size_t kAllPlaces = 50;
constexpr std::size_t kPlace = 150;     // columns
constexpr std::size_t kShortName = 40;  // columns
constexpr std::size_t kMessage = 8000;  // bytes

Spans PaddingSpans(const Allocation& row) {
  if (!row.padding_bytes || *row.padding_bytes <= 0) return Words("–");
  return Words(FormatSize(*row.padding_bytes) +
               (row.padding_factor ? fmt::format(" ({:.3g} ×)", *row.padding_factor) : ""));
}

std::vector<doc::BarPart> BarOf(const Allocation& row, double times = 1, const std::string& style = "row-a",
                                const std::string& label = "") {
  const auto size = static_cast<double>(row.size_bytes.value_or(0));
  const double padding = std::clamp(static_cast<double>(row.padding_bytes.value_or(0)), 0.0, size);
  std::vector<doc::BarPart> parts;
  if (size > padding) parts.push_back({(size - padding) * times, style, label, false});
  if (padding > 0) parts.push_back({padding * times, style, label.empty() ? "" : "padding of " + label, true});
  return parts;
}

constexpr std::size_t kMaxGroups = 256;  // no compiler lists more different rows

// Rows with the same key share one line, because a deep model has dozens of them.
struct AllocationGroup {
  const Allocation* first;  // borrowed from the failure
  std::string key;
  std::size_t count = 1;
  bool has_other_sources = false;  // some rows have another source line than the first
};

void AddToGroup(const Allocation& row, std::string key, std::vector<AllocationGroup>* groups) {
  const auto same =
      std::find_if(groups->begin(), groups->end(), [&](const AllocationGroup& group) { return group.key == key; });
  if (same != groups->end()) {
    ++same->count;
    same->has_other_sources = same->has_other_sources || row.source_file != same->first->source_file ||
                              row.source_line != same->first->source_line;
  } else if (groups->size() < kMaxGroups) {
    groups->push_back({&row, std::move(key)});
  }
}

// Sorted by size, largest first. Omits rows below 1 MiB.
std::vector<AllocationGroup> GroupsOf(const Failure& failure) {
  std::vector<AllocationGroup> groups;
  for (const Allocation& row : failure.allocations) {
    if (!row.size_bytes || *row.size_bytes < (std::int64_t{1} << 20)) continue;
    AddToGroup(row, fmt::format("{}\n{}\n{}", *row.size_bytes, row.kind, ShapeOf(row)), &groups);
  }
  std::stable_sort(groups.begin(), groups.end(), [](const AllocationGroup& a, const AllocationGroup& b) {
    return *a.first->size_bytes > *b.first->size_bytes;
  });
  return groups;
}

// Further places of the failure: "line 90" in the same artifact, else "b.log:7".
std::vector<std::string> AlsoTexts(const Failure& failure) {
  std::vector<std::string> places;
  for (const Where& where : failure.Also()) {
    const bool same =
        where.artifact.path == failure.where.artifact.path && where.artifact.member == failure.where.artifact.member;
    places.push_back(same ? fmt::format("line {}", where.line) : PlaceText(where));
  }
  return places;
}

std::string LongShape(const Allocation& row) { return ShapeOf(row) + (row.array ? row.array->layout : ""); }

std::string What(const Allocation& row) { return UnescapedPath(row.op_name.empty() ? row.xla_label : row.op_name); }

class FailureBuilder {
 public:
  FailureBuilder(const Failure& failure, bool notes_elsewhere, doc::Pass pass)
      : failure_(failure),
        notes_elsewhere_(notes_elsewhere),
        pass_(pass),
        need_(NeedOf(failure)),
        groups_(GroupsOf(failure)) {}

  Blocks Build() {
    AddVerdict();
    AddWhy();
    if (failure_.estimates) {
      ProgramEstimates estimates = *failure_.estimates;
      if (failure_.recompilation) estimates.room = {};  // what was compiled is exact
      AddMemory(estimates, failure_.facts.Number("limit_bytes"), &blocks_);
    }
    const bool lists_first = !failure_.estimates || failure_.estimates->memory.empty();
    if (lists_first) AddLargest(Depth::kAlways);
    AddCompiled();
    AddRemedies(failure_, notes_elsewhere_, pass_, &blocks_);
    AddSection({"retry", "Retrying", {doc::Paragraph{doc::Sentence(RetryText(failure_.retry))}}, true});
    AddMore();
    if (pass_ == doc::Pass::kBrief) return std::move(blocks_);
    if (failure_.estimates) AddMemoryTables(*failure_.estimates, &blocks_);
    if (!lists_first) AddLargest(Depth::kMore);
    AddParts();
    AddAllocations();
    AddOrigin();
    return std::move(blocks_);
  }

 private:
  void AddSection(doc::Section section, Depth depth = Depth::kAlways) {
    doc::AddSection(std::move(section), depth, &blocks_);
  }
  void AddVerdict();
  void AddNeed();
  void AddParts();
  void AddWhy();
  void AddLargest(Depth depth);
  void AddCompiled();
  void AddMore();
  void AddAllocations();
  void AddOrigin();
  doc::BarScale Scale() const;

  const Failure& failure_;
  const bool notes_elsewhere_;
  const doc::Pass pass_;
  const std::optional<Need> need_;
  const std::vector<AllocationGroup> groups_;
  Blocks blocks_;
};

void FailureBuilder::AddVerdict() {
  const FailureView view = ViewOf(failure_);
  doc::Verdict verdict{1, view.code, doc::Sentence(Verdict(failure_)), {}, {doc::Name(view.place, kPlace)}};
  for (const std::string& text : {RecoveredText(failure_), NeedText(failure_), view.caution}) {
    if (!text.empty()) verdict.notes.push_back(doc::Sentence(text));
  }
  verdict.facts.push_back(Words(view.scenario));
  for (const std::string& name : view.names) {
    if (!need_ || name != ProgramOf(failure_)) verdict.facts.push_back(doc::Name(name, kShortName));
  }
  const auto limit = failure_.facts.Number("limit_bytes");
  if (limit && (!need_ || *limit != need_->have)) verdict.facts.push_back(Words(SizeText(*limit) + " limit"));
  if (!need_) verdict.facts.push_back(doc::Name(view.chip));
  verdict.facts.push_back(doc::Sentence(view.framework));
  verdict.facts.push_back(Words(view.reporters));
  blocks_.emplace_back(std::move(verdict));
  if (need_) AddNeed();
}

// Returns a scale that is large enough for the limit and every allocation.
doc::BarScale FailureBuilder::Scale() const {
  doc::BarScale scale{0, failure_.facts.Number("limit_bytes")};
  for (const Allocation& row : failure_.allocations)
    scale.whole = std::max(scale.whole, static_cast<double>(row.size_bytes.value_or(0)));
  scale.whole = std::max(scale.whole, scale.limit.value_or(0));
  return scale;
}

void FailureBuilder::AddNeed() {
  if (failure_.estimates && !failure_.estimates->memory.empty()) {  // drawn by kind, which shows more
    blocks_.emplace_back(doc::NeedBar{*need_, {}, {}, {}});
    return;
  }
  doc::NeedBar bar{*need_, PartsOfNeed(failure_, *need_), PartsOfFree(failure_, *need_)};
  double listed = 0;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    const Allocation& row = *groups_[i].first;
    const std::string label = (groups_[i].count > 1 ? fmt::format("{} × ", groups_[i].count) : "") +
                              Shorten(row.op_name.empty() ? ShapeOf(row) : row.op_name, kShortName);
    for (doc::BarPart& part :
         BarOf(row, static_cast<double>(groups_[i].count), i % 2 == 0 ? "row-a" : "row-b", label)) {
      listed += part.bytes;
      bar.rows.push_back(std::move(part));
    }
  }
  // A compiler's report lists allocations without the arguments; a dump lists both.
  const double arguments = failure_.facts.Number("arguments_bytes").value_or(0);
  if (!bar.rows.empty() && failure_.facts.Find("dump") == nullptr && arguments > 0 && arguments + listed <= need_->need)
    bar.rows.insert(bar.rows.begin(), {arguments, "nothing", "", false});
  blocks_.emplace_back(std::move(bar));
}

void FailureBuilder::AddParts() {
  if (!need_) return;
  doc::Table table{"parts", "memory needed, by part", {{"size", doc::Column::Kind::kNumber, 10}}, {}, 0};
  table.columns.push_back({"share", doc::Column::Kind::kNumber, 5});
  table.columns.push_back({"part", doc::Column::Kind::kSwatch, 12});
  table.scale.whole = std::max(need_->need, need_->have);
  const auto add = [&](const doc::BarPart& part, const std::string& share) {
    table.rows.push_back({{{Words(SizeText(part.bytes))}, {Words(share)}, {Words(part.label), {part}}}});
  };
  for (const doc::BarPart& part : PartsOfNeed(failure_, *need_))
    add(part, fmt::format("{:.0f} %", part.bytes / need_->need * 100));
  for (const doc::BarPart& part : PartsOfFree(failure_, *need_)) add(part, "–");
  Blocks parts = {std::move(table)};
  if (const auto reserved = failure_.facts.Number("system_reserved_bytes"); reserved && *reserved > 0) {
    parts.emplace_back(doc::Paragraph{
        Words("The runtime reserves another " + SizeText(*reserved) + ", usually already excluded from the limit.")});
  }
  AddSection({"parts", "Memory needed, by part", std::move(parts), false, true}, Depth::kMore);
}

void FailureBuilder::AddWhy() {
  if (failure_.why.empty()) {
    if (!failure_.message.empty())
      AddSection({"log", "Message in the log", {doc::Pre{CutBytes(Printable(failure_.message), kMessage)}}});
    return;
  }
  doc::List list;
  // The first reason, and the one that names the user's line of code, are on the first screen.
  const std::optional<SourcePlace> place = UserSource(failure_);
  const std::string code = place ? SourceLineText(place->path, place->line) : "";
  bool is_named = code.empty();
  for (const Reason& reason : failure_.why) {
    const bool names = !is_named && Printable(reason.text).find(code) != std::string::npos;
    list.items.push_back({ReasonSpans(reason), names ? Depth::kAlways : doc::DepthAt(list.items.size(), 1)});
    is_named = is_named || names;
  }
  Blocks blocks = {std::move(list)};
  if (!failure_.code.empty()) {
    doc::Code code{"", "python", {}};
    for (const CodeLine& line : failure_.code)
      code.lines.push_back({fmt::format("{}:{} | {}", line.file, line.line, line.text)});
    blocks.emplace_back(std::move(code));
  }
  AddSection({.label = "why", .title = "Why", .blocks = std::move(blocks), .anchor = "", .weighty = true});
}

void FailureBuilder::AddLargest(Depth depth) {
  if (groups_.empty()) return;
  doc::Table table;
  table.style = "allocations";
  table.scale = Scale();
  table.caption = table.scale.limit ? "largest allocations (bar: share of the limit)" : "largest allocations";
  table.columns = {{"size", doc::Column::Kind::kNumber, 10},
                   {"", doc::Column::Kind::kBar, 12},
                   {"padding", doc::Column::Kind::kNumber, 0, Depth::kMore},
                   {"shape"},
                   {"what"},
                   {"source"}};
  for (std::size_t i = 0; i < std::min(groups_.size(), kLargest); ++i) {
    const AllocationGroup& group = groups_[i];
    const Allocation& row = *group.first;
    std::string from = SourceText(row) + (group.has_other_sources && !row.source_file.empty() ? " and others" : "");
    if (from.empty()) from = Printable(UsersName(row));
    std::string shape = Printable(ShapeOf(row));
    if (shape.empty()) shape = from.empty() ? "shape not in the log" : std::exchange(from, "");
    const std::string count = group.count > 1 ? fmt::format("{} × ", group.count) : "";
    table.rows.push_back({{{Words(SizeText(static_cast<double>(*row.size_bytes)))},
                           {{}, BarOf(row)},
                           {PaddingSpans(row)},
                           {doc::Joined({Words(count), doc::Name(ShapeOf(row))})},
                           {doc::Name(UnescapedPath(row.op_name))},
                           {doc::Name(SourceText(row))}},
                          {count + shape, from.empty() ? "" : "  " + from}});
    table.rows.back().depth = doc::DepthAt(i, kLargestFirst);
  }
  AddSection({"top", "Largest allocations", {std::move(table)}, true, true}, depth);
}

// What to type, and why its need is unknown.
doc::Spans ChangeSpans(const CompiledAttempt& attempt) {
  if (attempt.remedy.empty()) return Words(attempt.setting);
  // The compiler's options are long, and the remedy shows where to set them.
  const std::string_view setting = attempt.setting;
  const std::string_view shown =
      setting.starts_with(kCompilerOptions) ? setting.substr(kCompilerOptions.size()) : setting;
  doc::Spans spans = Words(Printable(shown), doc::Span::Kind::kCode);
  if (attempt.need_bytes) return spans;
  return doc::Joined({std::move(spans), Words(": " + Printable(attempt.problem))});
}

// The compiled attempts, smallest need first.
void FailureBuilder::AddCompiled() {
  if (!failure_.recompilation) return;
  const Recompilation& recompilation = *failure_.recompilation;
  std::vector<CompiledAttempt> attempts = recompilation.attempts;
  attempts.push_back({"", "unchanged", recompilation.unchanged_bytes, "", recompilation.seconds});
  doc::Table table;
  table.columns = {{"needs", doc::Column::Kind::kNumber},
                   {"fits", doc::Column::Kind::kNumber},
                   {"seconds", doc::Column::Kind::kNumber, 0, Depth::kMore},
                   {"change"}};
  doc::List nothing{.style = doc::List::Style::kJoined, .lead = "no effect: "};
  for (const CompiledAttempt& attempt : SortedByNeed(std::move(attempts))) {
    const bool is_same =
        attempt.need_bytes && FormatSize(*attempt.need_bytes) == FormatSize(recompilation.unchanged_bytes);
    if (is_same && !attempt.remedy.empty() && AttemptText(failure_, attempt) != "yes") {
      nothing.items.push_back({ChangeSpans(attempt)});
      continue;
    }
    table.rows.push_back({{{Words(attempt.need_bytes ? FormatSize(*attempt.need_bytes) : "unknown")},
                           {Words(AttemptText(failure_, attempt))},
                           {Words(fmt::format("{:.1f}", attempt.seconds))},
                           {ChangeSpans(attempt)}}});
    if (!attempt.remedy.empty()) table.rows.back().depth = doc::DepthAt(table.rows.size() - 1, kCompiled);
  }
  Blocks blocks = {doc::Paragraph{doc::Sentence(RecompilationText(failure_))}};
  blocks.push_back(std::move(table));
  blocks.push_back(std::move(nothing));
  AddSection({"tried", "Compiled with each change", std::move(blocks)});
}

void FailureBuilder::AddMore() {
  const NextStep next = NextOf(failure_);
  AddSection({"next", "Next step", {doc::Command{next.command, Words(next.purpose), ""}}, true});
  const std::vector<Link>& links = failure_.rule->links;
  Blocks blocks = {doc::Command{ExplainCommand(failure_), Words("explains the failure, offline"),
                                links.empty() ? "" : links.front().url}};
  doc::List list;
  for (std::size_t i = 1; i < links.size(); ++i) list.items.push_back({LinkSpans(links[i])});
  if (!list.items.empty()) blocks.emplace_back(std::move(list));
  AddSection({"more", "Read more", std::move(blocks), true}, Depth::kMore);
  doc::List also{.style = doc::List::Style::kJoined};
  const std::vector<std::string> places = AlsoTexts(failure_);
  for (std::size_t i = 0; i < std::min(places.size(), kAllPlaces); ++i)
    also.items.push_back({doc::Name(places[i]), doc::DepthAt(i, kPlaces)});
  also.left_out = std::max<std::uint64_t>(failure_.tally.reports, places.size() + 1) - 1 - also.items.size();
  AddSection({"also", "Also reported at", {std::move(also)}, true}, Depth::kMore);
}

void FailureBuilder::AddAllocations() {
  if (failure_.allocations.empty()) return;
  doc::Table table;
  table.style = "allocations";
  table.caption = "all listed allocations, with padding";
  table.columns = {{"size", doc::Column::Kind::kNumber, 10},
                   {"padding", doc::Column::Kind::kNumber},
                   {"log", doc::Column::Kind::kNumber},
                   {"shape and layout"},
                   {"what"},
                   {"source"}};
  const std::size_t count = failure_.allocations.size();
  const std::size_t shown = std::min(count, kAllRows);
  std::vector<AllocationGroup> groups;  // equal in all cells but the log line
  for (std::size_t i = 0; i < shown; ++i) {
    const Allocation& row = failure_.allocations[i];
    AddToGroup(row,
               fmt::format("{}\n{}\n{}\n{}", row.size_bytes.value_or(-1), LongShape(row), What(row), SourceText(row)),
               &groups);
  }
  for (const AllocationGroup& group : groups) {
    const Allocation& row = *group.first;
    const std::string times = group.count > 1 ? fmt::format("{} × ", group.count) : "";
    table.rows.push_back({{{Words(row.size_bytes ? FormatSize(*row.size_bytes) : "?")},
                           {PaddingSpans(row)},
                           {Words(row.place.line > 0 ? fmt::format("line {}", row.place.line) : "")},
                           {doc::Joined({Words(times), doc::Name(LongShape(row))})},
                           {doc::Name(What(row))},
                           {doc::Name(SourceText(row))}}});
  }
  table.left_out = count - shown + failure_.allocations_left_out;
  const std::string title = count == 1 ? "The listed allocation" : fmt::format("All {} listed allocations", count);
  AddSection({"list", title, {std::move(table)}}, Depth::kMore);
}

void FailureBuilder::AddOrigin() {
  const Where& where = failure_.where;
  doc::List list;
  const std::uint64_t last = std::max(where.line, where.last_line);
  list.items.push_back({doc::Joined({doc::Name(ArtifactText(where.artifact)),
                                     Words(last == where.line ? fmt::format(", line {}", last)
                                                              : fmt::format(", lines {} to {}", where.line, last))})});
  Blocks blocks = {std::move(list)};
  if (!failure_.message.empty() && !failure_.why.empty())
    blocks.insert(blocks.begin(), doc::Pre{CutBytes(Printable(failure_.message), kMessage)});
  AddSection({"where", "The error message and where it appears", std::move(blocks)}, Depth::kMore);
}

}  // namespace

Blocks FailureBlocks(const Failure& failure, bool notes_elsewhere, doc::Pass pass) {
  return FailureBuilder(failure, notes_elsewhere, pass).Build();
}

}  // namespace whyoom
