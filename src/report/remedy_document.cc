// Builds the lists of remedies: those to try first, the others, and those that would not help.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/report_document.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Words;
using Kind = doc::Span::Kind;

constexpr std::size_t kMostPatch = 60;     // lines
constexpr std::size_t kMostSetting = 300;  // bytes

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
  if (code.lines.size() > kMostPatch) {
    code.lines.resize(kMostPatch);
    code.lines.push_back({"… (--patch FILE writes all)"});
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
    steps->push_back(
        doc::Step(doc::Joined({Words(is_word ? "add to the command: " : "change: "),
                               Words(CutBytes(Printable(part), kMostSetting), Kind::kCode),
                               Words(part.size() > kMostSetting ? " (--format json shows the rest)" : "")})));
  }
  if (variables.empty()) return;
  steps->push_back(doc::Step(Words("type:")));
  steps->back().blocks = {doc::CodeOf(variables + "python train.py")};
}

// The remedy that is shown together with this one, because the compiler confirmed that both fit; null if there is none.
const RankedRemedy* CompiledPartner(const RankedRemedy& ranked, const Failure& failure) {
  if (CompiledPair(ranked, failure) == nullptr) return nullptr;
  const auto other = std::find_if(failure.remedies.begin(), failure.remedies.end(), [&](const RankedRemedy& each) {
    return each.remedy->id == ranked.enough_with.front();
  });
  return other == failure.remedies.end() ? nullptr : &*other;
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
doc::Spans TitleOf(const RankedRemedy& ranked, const RankedRemedy* partner, bool with_id) {
  std::vector<doc::Spans> title = {doc::Sentence(ranked.remedy->title)};
  if (partner != nullptr) title.push_back(doc::Joined({Words("; also: "), doc::Sentence(partner->remedy->title)}));
  if (with_id) title.push_back(doc::Joined({Words(" ("), doc::Name(ranked.remedy->id), Words(")")}));
  return doc::Joined(title);
}

doc::Item RemedyItem(const Failure& failure, const RankedRemedy& ranked, bool with_steps, bool with_id, bool whole) {
  const RankedRemedy* partner = CompiledPartner(ranked, failure);
  const CompiledAttempt* pair = CompiledPair(ranked, failure);
  doc::List list;
  list.items.push_back({doc::Sentence(EffectText(ranked, failure), EffectKind(ranked))});
  for (std::size_t i = 0; whole && i < ranked.why.size(); ++i) list.items.push_back({ReasonSpans(ranked.why[i])});
  const std::size_t before = list.items.size();
  if (const std::string& patch = pair != nullptr ? pair->patch : ranked.patch; !patch.empty())
    list.items.push_back(PatchItem(patch, pair != nullptr ? pair->verified_bytes : ranked.verified_bytes, failure));
  AddSettingSteps(pair != nullptr ? pair->setting : ranked.compiled ? ranked.compiled->setting : "", &list.items);
  for (const RankedRemedy* each : {&ranked, partner}) {
    for (std::size_t i = 0; each != nullptr && i < each->how.size(); ++i) {
      if (whole || (with_steps && list.items.size() == before))
        list.items.push_back(doc::Step(doc::Sentence(each->how[i])));
    }
  }
  return {TitleOf(ranked, partner, with_id), {std::move(list)}, Words(std::to_string(ranked.rank))};
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

// The remedies that would not help, grouped by reason: "Cast, donate (it saves nothing)".
doc::List RuledOutList(const Failure& failure) {
  doc::List list;
  for (auto first = failure.ruled_out.begin(); first != failure.ruled_out.end(); ++first) {
    const auto same = [&](const RuledOut& other) { return other.why == first->why; };
    if (std::any_of(failure.ruled_out.begin(), first, same)) continue;
    std::string titles;
    for (auto each = first; each != failure.ruled_out.end(); ++each)
      if (same(*each)) titles += (titles.empty() ? "" : ", ") + each->remedy->title;
    list.items.push_back({doc::Sentence(titles + " (" + Printable(first->why) + ")")});
  }
  return list;
}

}  // namespace

void AddRemedies(const Failure& failure, const doc::Extent& extent, doc::Blocks* blocks) {
  const SplitRemedies remedies(failure, extent);
  doc::List list{doc::List::Style::kNumbered, {}};
  for (const RankedRemedy* ranked : remedies.first)
    list.items.push_back(
        RemedyItem(failure, *ranked, list.items.size() < extent.steps, extent.is_whole, extent.is_whole));
  const std::size_t more = extent.more_follows ? 0 : remedies.others.size();
  const std::string hint = fmt::format("{}: --all", Counted(more, "other", "others"));
  doc::AddSection({"do", {std::move(list), doc::Paragraph{Words(more > 0 ? hint : "", Kind::kFaint)}}}, blocks);
}

void AddOtherRemedies(const Failure& failure, const doc::Extent& extent, doc::Blocks* blocks) {
  const SplitRemedies remedies(failure, extent);
  doc::List more{doc::List::Style::kNumbered, {}};
  for (const RankedRemedy* ranked : remedies.first) {
    if (!extent.is_whole) more.items.push_back(RemedyItem(failure, *ranked, true, true, true));
  }
  doc::AddSection({"These remedies in full", {std::move(more)}}, blocks);
  doc::List list{doc::List::Style::kNumbered, {}};
  std::vector<doc::Spans> unknown;
  for (const RankedRemedy* ranked : remedies.others) {
    if (ranked->saves_bytes || ranked->enough || !ranked->enough_with.empty()) {
      list.items.push_back(RemedyItem(failure, *ranked, false, true, false));
    } else {
      unknown.push_back(TitleOf(*ranked, nullptr, true));
    }
  }
  doc::AddSection({"Other remedies", {std::move(list)}}, blocks);
  doc::AddSection({"Remedies without an estimate here", {doc::Inline(unknown)}}, blocks);
  doc::AddSection({"Would not help here", {RuledOutList(failure)}}, blocks);
}

}  // namespace whyoom
