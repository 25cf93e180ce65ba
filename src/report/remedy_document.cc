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

// The patch that makes the change, without the lines that stay the same. No lines if there is none.
doc::Code PatchOf(const RankedRemedy& ranked, const Failure& failure) {
  const CompiledAttempt* pair = CompiledPair(ranked, failure);
  std::string_view patch = pair != nullptr ? pair->patch : ranked.patch;
  const std::optional<std::int64_t> verified = pair != nullptr ? pair->verified_bytes : ranked.verified_bytes;
  const std::optional<double> limit = failure.facts.Number("limit_bytes");
  doc::Code code{"patch, not verified", "diff", {}};
  if (verified) code.caption = "patch; with it, the program needs " + FormatSize(*verified);
  if (verified && limit) code.caption += fmt::format(" of {} (compiled)", SizeText(*limit));
  while (!patch.empty() && code.lines.size() < kMostPatch) {
    const std::string_view line = patch.substr(0, patch.find('\n'));
    patch.remove_prefix(std::min(line.size() + 1, patch.size()));
    const bool is_header = line.starts_with("--- ");
    if (!is_header && !line.starts_with('-') && !line.starts_with('+')) continue;
    using LineKind = doc::CodeLine::Kind;
    code.lines.push_back({Printable(line), is_header               ? LineKind::kSame
                                           : line.starts_with('+') ? LineKind::kAdded
                                                                   : LineKind::kRemoved});
  }
  if (!patch.empty()) code.lines.push_back({"… (--patch FILE writes all)"});
  return code;
}

// One step for each change of a compiled setting. Environment variables become one complete command.
void AddSettingSteps(std::string_view setting, doc::List* steps) {
  constexpr std::string_view kAnd = " and ";
  const auto add = [&](const char* verb, const std::string& code) {
    const char* rest = code.size() > kMostSetting ? " (--format json shows the rest)" : "";
    steps->items.push_back(
        {doc::Joined({Words(verb), Words(CutBytes(Printable(code), kMostSetting), Kind::kCode), Words(rest)})});
  };
  std::string variables;
  while (!setting.empty()) {
    const std::string part(setting.substr(0, setting.find(kAnd)));
    setting.remove_prefix(std::min(part.size() + kAnd.size(), setting.size()));
    if (part[0] >= 'A' && part[0] <= 'Z') {
      variables += part + " ";
    } else {
      const bool is_word = part.starts_with("--") ||
                           (part.find('=') != std::string::npos && part.find_first_of("'(") == std::string::npos);
      add(is_word ? "add to the command: " : "change: ", part);
    }
  }
  if (!variables.empty())
    steps->items.push_back({Words("type:"), {doc::Command{Printable(variables) + "python train.py", {}}}});
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

doc::Item RemedyItem(const Failure& failure, const RankedRemedy& ranked, bool with_steps, bool whole) {
  const RankedRemedy* partner = CompiledPartner(ranked, failure);
  doc::Spans title = doc::Sentence(ranked.remedy->title);
  if (partner != nullptr)
    title = doc::Joined({std::move(title), Words("; also: "), doc::Sentence(partner->remedy->title)});
  doc::Item item{.text = std::move(title), .number = ranked.rank, .id = whole ? ranked.remedy->id : ""};
  item.blocks.emplace_back(doc::Paragraph{doc::Sentence(EffectText(ranked, failure), EffectKind(ranked))});
  doc::List why;
  for (const Reason& reason : ranked.why) why.items.push_back({ReasonSpans(reason)});
  if (whole && !why.items.empty()) item.blocks.emplace_back(std::move(why));
  doc::List steps{doc::List::Style::kSteps, {}, 0};
  const CompiledAttempt* pair = CompiledPair(ranked, failure);
  AddSettingSteps(pair != nullptr ? pair->setting : ranked.compiled ? ranked.compiled->setting : "", &steps);
  doc::Code patch = PatchOf(ranked, failure);
  const bool says_what_to_do = !steps.items.empty() || !patch.lines.empty();
  for (const RankedRemedy* each : {&ranked, partner}) {
    for (std::size_t i = 0; each != nullptr && i < each->how.size(); ++i) {
      if (whole || (with_steps && !says_what_to_do && steps.items.empty()))
        steps.items.push_back({doc::Sentence(each->how[i])});
    }
  }
  if (!patch.lines.empty()) item.blocks.emplace_back(std::move(patch));
  if (!steps.items.empty()) item.blocks.emplace_back(std::move(steps));
  return item;
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
  std::vector<std::pair<std::string, std::string>> titles;  // by reason, in order of appearance
  for (const RuledOut& ruled_out : failure.ruled_out) {
    const auto same =
        std::find_if(titles.begin(), titles.end(), [&](const auto& group) { return group.first == ruled_out.why; });
    if (same == titles.end()) {
      titles.emplace_back(ruled_out.why, ruled_out.remedy->title);
    } else {
      same->second += ", " + ruled_out.remedy->title;
    }
  }
  doc::List list;
  for (const auto& [why, names] : titles) list.items.push_back({doc::Sentence(names + " (" + Printable(why) + ")")});
  return list;
}

}  // namespace

void AddRemedies(const Failure& failure, const doc::Extent& extent, doc::Blocks* blocks) {
  const SplitRemedies remedies(failure, extent);
  doc::List list{doc::List::Style::kNumbered, {}, remedies.others.size()};
  for (const RankedRemedy* ranked : remedies.first)
    list.items.push_back(RemedyItem(failure, *ranked, list.items.size() < extent.steps, extent.is_whole));
  doc::AddSection({"do", {std::move(list)}}, blocks);
}

void AddOtherRemedies(const Failure& failure, const doc::Extent& extent, doc::Blocks* blocks) {
  const SplitRemedies remedies(failure, extent);
  doc::List more{doc::List::Style::kNumbered, {}, 0};
  for (const RankedRemedy* ranked : remedies.first) {
    if (!extent.is_whole) more.items.push_back(RemedyItem(failure, *ranked, true, true));
  }
  doc::AddSection({"These remedies in full", {std::move(more)}}, blocks);
  doc::List list{doc::List::Style::kNumbered, {}, 0};
  doc::List unknown{doc::List::Style::kInline, {}, 0};
  for (const RankedRemedy* ranked : remedies.others) {
    if (ranked->saves_bytes || ranked->enough || !ranked->enough_with.empty()) {
      list.items.push_back(RemedyItem(failure, *ranked, false, false));
      list.items.back().id = ranked->remedy->id;
    } else {
      unknown.items.push_back({doc::Joined(
          {doc::Sentence(ranked->remedy->title), Words(" ("), doc::Name(ranked->remedy->id), Words(")")})});
    }
  }
  doc::AddSection({"Other remedies", {std::move(list)}}, blocks);
  doc::AddSection({"Remedies without an estimate here", {std::move(unknown)}}, blocks);
  doc::AddSection({"Would not help here", {RuledOutList(failure)}}, blocks);
}

}  // namespace whyoom
