#include "report/failure_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "facts/evidence.h"
#include "report/encodings.h"
#include "report/layout.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgram = 200;

// The possible scenarios, if the log does not decide.
std::string OpenHeadline(const std::vector<const Scenario*>& candidates) {
  std::string list;
  for (const Scenario* candidate : candidates) list += (list.empty() ? "" : " or ") + candidate->title;
  return list.empty() ? "" : " – possibly " + list;
}

// "results stay the same"; "diagnostic only" for a remedy that saves nothing itself.
std::string SafetyText(const RankedRemedy& ranked) {
  if (ranked.remedy->inquiry) return "diagnostic only";
  if (ranked.safety == "safe") return "results stay the same";
  if (ranked.safety == "safe_slower") return "same results, slower";
  if (ranked.safety == "risky") return "may change results";
  return "changes training";
}

// " with 4 micro-batches"; empty if the estimate assumes no number of parts.
std::string PartsText(const RankedRemedy& ranked) {
  const std::string& in_parts = ranked.remedy->in_parts;
  const std::size_t hole = in_parts.find(kPartsPlaceholder);
  if (ranked.parts == 0 || hole == std::string::npos) return {};
  return " " + std::string(in_parts).replace(hole, std::string_view(kPartsPlaceholder).size(),
                                             fmt::format("{}", ranked.parts));
}

// "saves about 5.02 GiB"; empty if unknown or zero.
std::string SavesText(const RankedRemedy& ranked) {
  if (!ranked.saves_bytes || *ranked.saves_bytes <= 0) return {};
  const char* saves = ranked.compiled ? "saves " : ranked.at_least ? "saves at least " : "saves about ";
  return saves + FormatSize(*ranked.saves_bytes) + PartsText(ranked);
}

// "should fit", "does not fit alone"; with "may" if the error of the estimate permits both. Empty if unknown.
std::string EnoughText(const RankedRemedy& ranked) {
  if (!ranked.enough) return {};
  if (ranked.compiled)
    return !*ranked.enough     ? "does not fit alone (compiled)"
           : ranked.borderline ? "just fits (compiled)"
                               : "fits (compiled)";
  if (*ranked.enough) return ranked.borderline ? "may fit" : "should fit";
  return ranked.borderline ? "may not fit alone" : "does not fit alone";
}

// " ± 0.4 GiB", the error of the remaining need, in its unit; empty if it is small.
std::string SpreadText(const RankedRemedy& ranked) {
  constexpr std::int64_t kGiB = std::int64_t{1} << 30;
  if (!ranked.spread_bytes || *ranked.spread_bytes < kGiB / 20) return {};
  const auto spread = static_cast<double>(*ranked.spread_bytes) / static_cast<double>(kGiB);
  return *ranked.left_bytes < kGiB ? fmt::format(" ± {:.0f} MiB", 1024 * spread) : fmt::format(" ± {:.1f} GiB", spread);
}

// Whether the program fits with the remedy, and with which other; empty if unknown.
std::string VerdictText(const RankedRemedy& ranked, const std::string& other) {
  return other.empty() ? EnoughText(ranked) : "fits together with " + other;
}

// The other remedy that makes this one fit: "remedy 2", or its title if the first screen does not show it. Empty if
// there is none.
std::string PartnerText(const RankedRemedy& ranked, const Failure& failure) {
  if (ranked.enough_with.empty()) return {};
  constexpr int kShown = 3;  // remedies that are always shown with their number
  const std::string& id = ranked.enough_with.front();
  const auto other = std::find_if(failure.remedies.begin(), failure.remedies.end(),
                                  [&](const RankedRemedy& one) { return one.remedy->id == id; });
  return other == failure.remedies.end() ? id
         : other->rank <= kShown         ? fmt::format("remedy {}", other->rank)
                                         : fmt::format("\"{}\"", other->remedy->title);
}

// The effect of a compiled pair, which is shown as one remedy; empty if there is none.
std::vector<std::string> PairTexts(const RankedRemedy& ranked, const Failure& failure) {
  const CompiledAttempt* pair = CompiledPair(ranked, failure);
  if (pair == nullptr) return {};
  std::vector<std::string> texts = {
      fmt::format("together need {}: fit (compiled)", FormatSize(failure.recompilation->NeedOf(*pair, failure.facts)))};
  std::set<std::string> effects = {SafetyText(ranked)};
  for (const RankedRemedy& other : failure.remedies) {
    if (other.remedy->id == ranked.enough_with.front()) effects.insert(SafetyText(other));
  }
  if (effects.size() > 1) effects.erase(SafetyText({.remedy = ranked.remedy, .safety = "safe"}));
  texts.insert(texts.end(), effects.begin(), effects.end());
  return texts;
}

// If a dump was available but gave no estimate for the remedy; else empty.
std::string NoEstimateText(const RankedRemedy& ranked, const Failure& failure) {
  const bool is_searched = failure.estimates && !ranked.compiled && !ranked.remedy->change.empty();
  return is_searched && !ranked.saves_bytes ? "effect unknown" : "";
}

// " --rules FILE" for each rule file that was given.
std::string RuleOptions(const Failure& failure) {
  std::string options;
  if (failure.rules == nullptr) return options;
  for (const std::string& path : failure.rules->given) {
    // A path that starts with a hyphen would be parsed as an option.
    options += path.starts_with("-") ? " " + ShellWord("--rules=" + path) : " --rules " + ShellWord(path);
  }
  return options;
}

}  // namespace

std::string SizeText(double bytes) { return FormatSize(ClampToBytes(bytes)); }

std::string ArtifactText(const Artifact& artifact) {
  return Printable(artifact.path) + (artifact.member.empty() ? "" : " › " + Printable(artifact.member));
}

std::string RuleFilesPhrase(const std::vector<std::string>& files) {
  if (files.empty()) return {};
  return files.size() == 1 ? files[0] : fmt::format("{} and {} more", files[0], files.size() - 1);
}

std::string JobIn(const std::string& path) {
  return path.starts_with(kJobPrefix) ? path.substr(std::string_view(kJobPrefix).size()) : "";
}

std::string LineText(std::string artifact, std::uint64_t line) {
  const std::string job = JobIn(artifact);
  return job.empty() ? fmt::format("{}:{}", artifact, line) : fmt::format("output line {} of: {}", line, job);
}

std::string PlaceText(const Where& where) { return LineText(ArtifactText(where.artifact), where.line); }

std::optional<Need> NeedOf(const Failure& failure) {
  const auto need = failure.facts.Number("need_bytes");
  const auto have = failure.facts.Number("have_bytes");
  if (!need || !have || !(*need > 0) || !(*have >= 0) || *need > kMaxBytes || *have > kMaxBytes) return std::nullopt;
  const auto is = [&](double bytes, const char* fact) { return failure.facts.Number(fact) == bytes; };
  const bool compile = failure.rule->phase == "compile";
  // If the need includes memory in use, `have` is all memory, else only the free memory.
  const bool one_request = !compile && is(*need, "request_bytes");
  const bool all_there_is = compile || is(*have, "limit_bytes");
  const bool in_pieces = failure.facts.Find("contiguous_shortfall_bytes") != nullptr;
  const auto below = failure.facts.Number("excess_below_bytes");
  const double excess = failure.facts.Number("excess_bytes").value_or(below.value_or(*need - *have));
  return Need{*need,
              *have,
              excess,
              below && !failure.facts.Number("excess_bytes"),
              CountsTemporariesOnly(failure.facts),
              one_request ? "asked for" : "needed",
              all_there_is ? "usable"
              : in_pieces  ? "free in one piece"
                           : "free"};
}

std::string NeedText(const Failure& failure) {
  const std::optional<Need> need = NeedOf(failure);
  if (!need) return {};
  constexpr double kManyTimes = 2;
  const std::string name = ProgramOf(failure);
  const bool asks = std::string_view(need->need_word) == "asked for";
  const std::string size = (need->at_least ? "≥ " : "") + SizeText(need->need);
  std::string text = !name.empty() ? name + (asks ? " asks for " : " needs ") + size
                     : asks        ? "one request asks for " + size
                                   : size + " " + need->need_word;
  const std::string have = SizeText(need->have) + " " + need->have_word;
  const std::string chip = Printable(failure.facts.Text("chip"));
  const bool is_whole_chip = !chip.empty() && std::string_view(need->have_word) == "usable";
  const std::string of = is_whole_chip ? SizeText(need->have) + " of " + chip : have;
  if (!(need->excess > 0)) return text + "; " + have;
  text += fmt::format(", {}{} over the {}", need->at_most ? "less than " : "", SizeText(need->excess), of);
  if (need->have > 0 && need->need >= kManyTimes * need->have)
    text += fmt::format(" ({:.1f} times)", need->need / need->have);
  return text;
}

const CompiledAttempt* CompiledPair(const RankedRemedy& ranked, const Failure& failure) {
  if (!failure.recompilation || ranked.enough_with.empty()) return nullptr;
  return failure.recompilation->FittingPair(ranked.remedy->id, ranked.enough_with.front(), failure.facts);
}

std::string EffectText(const RankedRemedy& ranked, const Failure& failure) {
  if (ranked.remedy->inquiry) return SafetyText(ranked);
  const std::string unknown = NoEstimateText(ranked, failure);
  if (!unknown.empty()) return unknown + " · " + SafetyText(ranked);
  if (const std::vector<std::string> pair = PairTexts(ranked, failure); !pair.empty())
    return fmt::format("{}", fmt::join(pair, " · "));
  const bool is_known = ranked.left_bytes.value_or(0) > 0;
  std::string text =
      is_known ? "needs " + FormatSize(*ranked.left_bytes) + SpreadText(ranked) + PartsText(ranked) : SavesText(ranked);
  const std::string verdict = VerdictText(ranked, PartnerText(ranked, failure));
  if (!verdict.empty()) text += (text.empty() ? "" : is_known ? ": " : " · ") + verdict;
  return text + (text.empty() ? "" : " · ") + SafetyText(ranked);
}

namespace {

std::string RetryAnswer(const Retry& retry) {
  switch (retry.answer) {
    case Retry::Answer::kNever:
      return "A retry will fail the same way.";
    case Retry::Answer::kMaybe:
      return "A retry may succeed.";
    default:
      return retry.why.empty() ? "" : "The log does not show whether a retry would succeed.";
  }
}

}  // namespace

std::string RetryText(const Retry& retry) {
  return RetryAnswer(retry) + (retry.why.empty() ? "" : " " + Printable(retry.why));
}

std::string RuleId(const Failure& failure) {
  const std::string& code = failure.rule->code;
  return failure.scenario == nullptr ? code : code + "." + failure.scenario->id;
}

std::string ScenarioName(const Failure& failure) {
  const bool open = failure.scenario == nullptr && !failure.rule->scenarios.empty();
  return open ? failure.rule->code + kUndecidedSuffix : RuleId(failure);
}

std::string ScenarioTitle(const Failure& failure) {
  return failure.scenario != nullptr ? failure.scenario->title : failure.rule->title;
}

std::string Verdict(const Failure& failure) {
  return Printable(failure.rule->title +
                   (failure.scenario != nullptr ? " – " + failure.scenario->title : OpenHeadline(failure.candidates)));
}

std::string ProgramOf(const Failure& failure) {
  for (const char* name : {"module", "program"}) {
    if (const std::string text = failure.facts.Text(name); !text.empty())
      return CutBytes(Printable(text), kLongestProgram);
  }
  return {};
}

const Remedy* FirstRemedy(const Failure& failure) {
  return failure.remedies.empty() ? nullptr : failure.remedies.front().remedy;
}

std::string ExplainCommand(const Failure& failure) {
  std::string command = "whyoom explain " + ShellWord(RuleId(failure));
  if (failure.rules == nullptr) return command;
  const Framework* usual = failure.rules->default_framework();
  const bool is_other = !failure.framework.empty() && (usual == nullptr || failure.framework != usual->id);
  if (is_other) command += " --framework " + ShellWord(failure.framework);
  return command + RuleOptions(failure);
}

NextStep NextOf(const Failure& failure) {
  constexpr const char* kTry = "compiles shardings, donation, host memory and flags without a TPU";
  const bool may_try = failure.rule->phase == "compile" && failure.estimates && !failure.recompilation;
  const std::string dump = failure.facts.Text("dump");
  // The dump of a job is gone, and its command may contain secrets, so it is not repeated.
  if (may_try && !JobIn(failure.where.artifact.path).empty())
    return {"whyoom run --try" + RuleOptions(failure) + " -- python train.py",
            "runs your job again, then compiles remedies"};
  if (may_try && !dump.empty()) {
    const std::size_t slash = dump.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : dump.substr(0, slash);
    return {"whyoom try " + ShellWord(folder.starts_with("-") ? "./" + folder : folder) + RuleOptions(failure), kTry};
  }
  return {ExplainCommand(failure), "explains this failure"};
}

FailureRow RowOf(const Failure& failure) {
  const std::optional<Need> need = NeedOf(failure);
  const double excess = std::max(0.0, need ? need->excess : failure.facts.Number("excess_bytes").value_or(0));
  const Remedy* remedy = FirstRemedy(failure);
  return {ScenarioName(failure),
          ScenarioTitle(failure),
          ProgramOf(failure),
          excess > 0 ? (need && need->at_most ? "< " : "") + SizeText(excess) : "",
          excess,
          remedy == nullptr ? "" : remedy->title,
          fmt::format("{}{}", failure.tally.hosts.complete ? "" : "~", failure.tally.occurrences()),
          PlaceText(failure.where)};
}

std::string Counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace whyoom
