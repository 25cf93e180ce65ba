// Builds the list of remedies in order, and of those that would not help.
#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "report/report_document.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using doc::Depth;
using doc::Words;

constexpr const char* kFreeTitle = "No cost, but does not fit alone";
constexpr std::size_t kWholeRemedies = 3;  // shown in full; the others are only named
constexpr std::size_t kNamedRemedies = 3;

// The length of the main list. Remedies that cost nothing, but are not enough alone, follow in a second list.
std::size_t RankedCount(const Failure& failure) {
  const auto free = std::find_if(failure.remedies.begin(), failure.remedies.end(),
                                 [](const RankedRemedy& ranked) { return ranked.free; });
  return static_cast<std::size_t>(free - failure.remedies.begin());
}

// The remedies that would not help, grouped by reason: "Cast, donate (it saves nothing)".
std::vector<std::string> RuledOutTexts(const Failure& failure) {
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
  std::vector<std::string> texts;
  for (const auto& [why, names] : titles) texts.push_back(names + " (" + Printable(why) + ")");
  return texts;
}

// Which framework the steps assume, if the log shows none and other frameworks have their own steps.
std::string StepsForText(const Failure& failure) {
  const Framework* usual = failure.rules == nullptr ? nullptr : failure.rules->default_framework();
  const bool differ = std::any_of(failure.remedies.begin(), failure.remedies.end(),
                                  [](const RankedRemedy& ranked) { return ranked.remedy->how.size() > 1; });
  if (!failure.framework.empty() || usual == nullptr || !differ) return {};
  return "No framework recognised; the steps assume " + usual->name + " (--framework NAME for another).";
}

// The setting that was compiled. Empty if there is none.
std::string SettingToType(const RankedRemedy& ranked, const Failure& failure) {
  if (const CompiledAttempt* pair = CompiledPair(ranked, failure)) return pair->setting;
  return ranked.compiled ? ranked.compiled->setting : "";
}

// The patch that makes the change. nullopt if there is none.
std::optional<doc::Code> PatchOf(const RankedRemedy& ranked, const Failure& failure) {
  constexpr std::size_t kMostLines = 60;
  const CompiledAttempt* pair = CompiledPair(ranked, failure);
  std::string_view patch = pair != nullptr ? pair->patch : ranked.patch;
  const std::optional<std::int64_t> verified = pair != nullptr ? pair->verified_bytes : ranked.verified_bytes;
  if (patch.empty()) return std::nullopt;
  const std::optional<double> limit = failure.facts.Number("limit_bytes");
  doc::Code code{"patch, not verified", "diff", {}};
  if (verified) code.caption = "patch; with it, the program needs " + FormatSize(*verified);
  if (verified && limit) code.caption += fmt::format(" of {} (compiled)", SizeText(*limit));
  for (; !patch.empty() && code.lines.size() < kMostLines;) {
    const std::string_view line = patch.substr(0, patch.find('\n'));
    patch.remove_prefix(std::min(line.size() + 1, patch.size()));
    code.lines.push_back({Printable(line)});
  }
  if (!patch.empty()) code.lines.push_back({"… (--patch FILE writes all)"});
  return code;
}

// One step for each change of a compiled setting. Environment variables become one complete command.
void AddSettingSteps(std::string_view setting, doc::List* steps) {
  constexpr std::string_view kAnd = " and ";
  constexpr std::size_t kMostSetting = 300;  // bytes
  const auto add = [&](const char* verb, const std::string& code) {
    const char* rest = code.size() > kMostSetting ? " (--format json shows the rest)" : "";
    steps->items.push_back({doc::Joined(
        {Words(verb), Words(CutBytes(Printable(code), kMostSetting), doc::Span::Kind::kCode), Words(rest)})});
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
  if (!variables.empty()) add("type ", variables + "python train.py");
}

// The remedy that is shown together with this one, because the compiler confirmed that both fit; null if there is none.
const RankedRemedy* CompiledPartner(const RankedRemedy& ranked, const Failure& failure) {
  if (CompiledPair(ranked, failure) == nullptr) return nullptr;
  const auto other = std::find_if(failure.remedies.begin(), failure.remedies.end(), [&](const RankedRemedy& each) {
    return each.remedy->id == ranked.enough_with.front();
  });
  return other == failure.remedies.end() ? nullptr : &*other;
}

// Whether the remedy is shown as part of a better one.
bool IsShownBefore(const RankedRemedy& ranked, const Failure& failure) {
  const RankedRemedy* partner = CompiledPartner(ranked, failure);
  return partner != nullptr && partner->rank < ranked.rank && CompiledPartner(*partner, failure) == &ranked;
}

// Whether the effect of a remedy is good news: green only for what fits and keeps the results.
doc::Span::Kind EffectKind(const RankedRemedy& ranked) {
  const bool with_others = !ranked.enough_with.empty();
  if (ranked.enough == false && !with_others && !ranked.borderline) return doc::Span::Kind::kBad;
  if (ranked.remedy->inquiry) return doc::Span::Kind::kText;
  if (ranked.borderline || !ranked.safety.starts_with("safe")) return doc::Span::Kind::kCareful;
  return ranked.enough == true || with_others ? doc::Span::Kind::kGood : doc::Span::Kind::kText;
}

// A remedy in full.
doc::Item RemedyItem(const Failure& failure, const RankedRemedy& ranked, Depth depth) {
  const Remedy& remedy = *ranked.remedy;
  const RankedRemedy* partner = CompiledPartner(ranked, failure);
  doc::Spans title = doc::Sentence(remedy.title);
  if (partner != nullptr)
    title = doc::Joined({std::move(title), Words("; also: "), doc::Sentence(partner->remedy->title)});
  doc::Item item{std::move(title), depth, ranked.rank, remedy.id, {}, ""};
  doc::Facts effect;
  const std::vector<std::string> effects = EffectTexts(ranked, failure);
  for (const std::string& text : effects) {
    const bool is_verdict =
        text == effects.back() || text == EnoughText(ranked) || text.starts_with("fits together") || partner != nullptr;
    effect.facts.push_back(doc::Sentence(text, is_verdict ? EffectKind(ranked) : doc::Span::Kind::kText));
  }
  item.blocks.emplace_back(doc::Facts{{doc::Sentence(ShortEffect(ranked, failure), EffectKind(ranked))}},
                           Depth::kBrief);
  item.blocks.emplace_back(std::move(effect), Depth::kMore);
  const std::optional<Need> need = NeedOf(failure);
  if (need && need->excess > 0 && !SavesText(ranked).empty() && partner == nullptr)
    item.blocks.emplace_back(EffectBar(*need, ranked));
  doc::List why;
  for (const Reason& reason : ranked.why) why.items.push_back({ReasonSpans(reason), Depth::kMore});
  doc::List typed{.style = doc::List::Style::kSteps, .whole = true};
  AddSettingSteps(SettingToType(ranked, failure), &typed);
  doc::List steps{.style = doc::List::Style::kSteps};
  for (const RankedRemedy* each : {&ranked, partner}) {
    if (each == nullptr) continue;
    for (const std::string& step : each->how)
      steps.items.push_back({doc::Sentence(step), doc::DepthAt(steps.items.size() + typed.items.size(), 1)});
  }
  for (doc::List* list : {&why, &typed}) {
    if (!list->items.empty()) item.blocks.emplace_back(std::move(*list));
  }
  if (std::optional<doc::Code> patch = PatchOf(ranked, failure)) item.blocks.emplace_back(*std::move(patch));
  if (!steps.items.empty()) item.blocks.emplace_back(std::move(steps));
  return item;
}

// "4 Donate the input buffers · 5 …".
doc::List OthersList(const Failure& failure, std::size_t from) {
  doc::List list{.style = doc::List::Style::kJoined};
  for (std::size_t i = from; i < failure.remedies.size(); ++i) {
    const RankedRemedy& other = failure.remedies[i];
    if (list.items.size() == kNamedRemedies) {
      ++list.left_out;
    } else {
      list.items.push_back({doc::Joined({Words(fmt::format("{} ", other.rank)), doc::Sentence(other.remedy->title)})});
    }
  }
  return list;
}

}  // namespace

doc::Spans ReasonSpans(const Reason& reason) {
  return doc::Joined({doc::Sentence(reason.text),
                      Words(reason.line > 0 ? fmt::format(" (line {})", reason.line) : "", doc::Span::Kind::kFaint)});
}

doc::Spans LinkSpans(const Link& link) { return {{Printable(link.title), doc::Span::Kind::kLink, link.url}}; }

doc::Blocks RemedyNotes(const Remedy& remedy, const std::string& safe_why) {
  doc::List notes;
  for (const std::string* text : {&safe_why, &remedy.gain, &remedy.note}) {
    if (!text->empty()) notes.items.push_back({doc::Sentence(*text)});
  }
  for (const Link& link : remedy.links) notes.items.push_back({LinkSpans(link)});
  doc::Blocks blocks;
  if (!notes.items.empty()) blocks.emplace_back(std::move(notes), Depth::kMore);
  return blocks;
}

void AddRemedies(const Failure& failure, bool notes_elsewhere, doc::Pass pass, doc::Blocks* blocks) {
  const std::size_t ranked = RankedCount(failure);
  const std::size_t all = failure.remedies.size();
  const std::size_t whole = std::min(ranked, kWholeRemedies);
  doc::List list{.style = doc::List::Style::kNumbered};
  doc::List free{.style = doc::List::Style::kNumbered};
  for (std::size_t i = 0; i < (pass == doc::Pass::kBrief ? whole : all); ++i) {
    const RankedRemedy& remedy = failure.remedies[i];
    if (IsShownBefore(remedy, failure)) continue;
    doc::Item item = RemedyItem(failure, remedy, i < ranked ? doc::DepthAt(i, whole) : Depth::kAlways);
    if (notes_elsewhere) item.details = "remedy-" + remedy.remedy->id;
    if (!notes_elsewhere && pass != doc::Pass::kBrief) {
      for (doc::Block& note : RemedyNotes(*remedy.remedy, remedy.safe_why)) item.blocks.push_back(std::move(note));
    }
    (i < ranked ? list : free).items.push_back(std::move(item));
  }
  doc::List ruled_out{.style = doc::List::Style::kJoined, .lead = "would not help here: "};
  for (const std::string& text : RuledOutTexts(failure)) ruled_out.items.push_back({doc::Sentence(text)});
  doc::AddSection({"do", "What to do", {std::move(list)}}, Depth::kAlways, blocks);
  const auto add = [&](const char* label, const char* title, doc::Block block, Depth depth, bool spare = false) {
    doc::AddSection({.label = label,
                     .title = title,
                     .blocks = {std::move(block)},
                     .follows = true,
                     .open = depth == Depth::kMore,
                     .anchor = "",
                     .spare = spare},
                    depth, blocks);
  };
  add("also", "Other remedies", OthersList(failure, whole), Depth::kBrief, true);
  add("note", "Framework", doc::Paragraph{doc::Sentence(all > 0 ? StepsForText(failure) : "")}, Depth::kAlways, true);
  add("free", kFreeTitle, std::move(free), Depth::kMore);
  add("skip", "Would not help here", std::move(ruled_out), Depth::kMore);
}

}  // namespace whyoom
