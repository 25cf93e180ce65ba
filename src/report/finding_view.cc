#include "report/finding_view.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "facts/where.h"
#include "report/layout.h"
#include "report/shell_word.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgram = 200;
constexpr std::size_t kProgramInSentence = 40;

// The possible scenarios, if the log does not decide.
std::string OpenHeadline(const std::vector<const Scenario*>& candidates) {
  std::string list;
  for (const Scenario* candidate : candidates) list += (list.empty() ? "" : " or ") + candidate->title;
  return list.empty() ? "" : " – possibly " + list;
}

// The number of the scenario in the official page.
std::string ScenarioText(const Diagnosis& finding) {
  const std::string& id = finding.scenario == nullptr ? "" : finding.scenario->id;
  return !id.empty() && IsDigit(id[0]) ? "scenario " + id : "";
}

// " with 4 micro-batches"; empty if the estimate assumes no number of parts. " with batch 8 instead of 64": the setting
// that was compiled, except of the first remedy, which shows it as a step.
std::string PartsText(const RankedRemedy& ranked) {
  constexpr std::size_t kMostSetting = 80;
  if (ranked.compiled && ranked.rank > 1) return " with " + CutBytes(Printable(ranked.compiled->setting), kMostSetting);
  const std::string& in_parts = ranked.remedy->in_parts;
  const std::size_t hole = in_parts.find(kPartsPlaceholder);
  if (ranked.parts == 0 || hole == std::string::npos) return {};
  return " " + std::string(in_parts).replace(hole, std::string_view(kPartsPlaceholder).size(),
                                             fmt::format("{}", ranked.parts));
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

std::vector<std::string> EffectWith(const RankedRemedy& ranked, const std::string& other) {
  std::vector<std::string> texts = {SavesText(ranked)};
  if (ranked.left_bytes && *ranked.left_bytes > 0)
    texts.push_back("then needs " + FormatSize(*ranked.left_bytes) + SpreadText(ranked));
  texts.push_back(VerdictText(ranked, other));
  texts.push_back(SafetyText(ranked));
  std::erase(texts, "");
  return texts;
}

// The other remedy that makes this one fit: "remedy 2", or its title if the first screen does not show it. Empty if
// there is none.
std::string PartnerText(const RankedRemedy& ranked, const Diagnosis& finding) {
  if (ranked.enough_with.empty()) return {};
  constexpr int kShown = 3;  // remedies that are always shown with their number
  const std::string& id = ranked.enough_with.front();
  const auto other = std::find_if(finding.remedies.begin(), finding.remedies.end(),
                                  [&](const RankedRemedy& one) { return one.remedy->id == id; });
  return other == finding.remedies.end() ? id
         : other->rank <= kShown         ? fmt::format("remedy {}", other->rank)
                                         : fmt::format("\"{}\"", other->remedy->title);
}

// The effect of a compiled pair, which is shown as one remedy; empty if there is none.
std::vector<std::string> PairTexts(const RankedRemedy& ranked, const Diagnosis& finding) {
  const CompiledAttempt* pair = CompiledPair(ranked, finding);
  if (pair == nullptr) return {};
  std::vector<std::string> texts = {
      fmt::format("together need {}: fit (compiled)", FormatSize(finding.recompilation->NeedOf(*pair, finding.facts)))};
  std::set<std::string> effects = {SafetyText(ranked)};
  for (const RankedRemedy& other : finding.remedies) {
    if (other.remedy->id == ranked.enough_with.front()) effects.insert(SafetyText(other));
  }
  if (effects.size() > 1) effects.erase(SafetyText({.remedy = ranked.remedy, .safety = "safe"}));
  texts.insert(texts.end(), effects.begin(), effects.end());
  return texts;
}

// If a dump was available but gave no estimate for the remedy; else empty.
std::string NoEstimateText(const RankedRemedy& ranked, const Diagnosis& finding) {
  const bool is_searched = finding.estimates && !ranked.compiled && !ranked.remedy->change.empty();
  return is_searched && !ranked.saves_bytes ? "savings unknown: they cannot be estimated for this program" : "";
}

// " --rules FILE" for each rule file that was given.
std::string RuleOptions(const Diagnosis& finding) {
  std::string options;
  if (finding.rules == nullptr) return options;
  for (const std::string& path : finding.rules->given()) {
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

std::string JobIn(const std::string& path) {
  return path.starts_with(kJobPrefix) ? path.substr(std::string_view(kJobPrefix).size()) : "";
}

std::string LineText(std::string artifact, std::uint64_t line) {
  const std::string job = JobIn(artifact);
  return job.empty() ? fmt::format("{}:{}", artifact, line) : fmt::format("output line {} of: {}", line, job);
}

std::string PlaceText(const Where& where) { return LineText(ArtifactText(where.artifact), where.line); }

std::optional<Need> NeedOf(const Diagnosis& finding) {
  const auto need = finding.facts.Number("need_bytes");
  const auto have = finding.facts.Number("have_bytes");
  if (!need || !have || !(*need > 0) || !(*have >= 0) || *need > kMaxBytes || *have > kMaxBytes) return std::nullopt;
  const auto is = [&](double bytes, const char* fact) { return finding.facts.Number(fact) == bytes; };
  const bool compile = finding.failure->phase == "compile";
  // If the need includes memory in use, `have` is all memory, else only the free memory.
  const bool one_request = !compile && is(*need, "request_bytes");
  const bool all_there_is = compile || is(*have, "limit_bytes");
  const bool in_pieces = finding.facts.Find("contiguous_shortfall_bytes") != nullptr;
  const auto below = finding.facts.Number("excess_below_bytes");
  const double excess = finding.facts.Number("excess_bytes").value_or(below.value_or(*need - *have));
  return Need{*need,
              *have,
              excess,
              below && !finding.facts.Number("excess_bytes"),
              CountsTemporariesOnly(finding.facts),
              one_request ? "asked for" : "needed",
              all_there_is ? "usable"
              : in_pieces  ? "free in one piece"
                           : "free"};
}

std::string ExcessText(const Need& need) {
  if (!(need.excess > 0)) return {};
  return need.at_most ? "less than " + SizeText(need.excess) + " too much (sizes are rounded)"
                      : SizeText(need.excess) + " too much";
}

std::string SafetyText(const RankedRemedy& ranked) {
  if (ranked.remedy->inquiry) return "diagnostic only";
  if (ranked.safety == "safe") return "results stay the same";
  if (ranked.safety == "safe_slower") return "same results, slower";
  if (ranked.safety == "risky") return "may change results";
  return "changes training";
}

std::string SavesText(const RankedRemedy& ranked) {
  if (!ranked.saves_bytes || *ranked.saves_bytes <= 0) return {};
  const char* saves = ranked.compiled ? "saves " : ranked.at_least ? "saves at least " : "saves about ";
  return saves + FormatSize(*ranked.saves_bytes) + PartsText(ranked);
}

std::vector<CompiledAttempt> SortedByNeed(std::vector<CompiledAttempt> attempts) {
  const auto need = [](const CompiledAttempt& attempt) { return attempt.need_bytes.value_or(INT64_MAX); };
  std::stable_sort(attempts.begin(), attempts.end(),
                   [&](const CompiledAttempt& a, const CompiledAttempt& b) { return need(a) < need(b); });
  return attempts;
}

std::string AttemptText(const Diagnosis& finding, const CompiledAttempt& attempt) {
  constexpr double kVisible = 0.005;  // of a GiB: the figures have two decimals
  constexpr double kGiB = 1U << 30;
  const Recompilation& recompilation = *finding.recompilation;
  if (!attempt.need_bytes) return "failed";
  if (recompilation.Fits(attempt, finding.facts)) return "yes";
  if (static_cast<double>(*attempt.need_bytes - recompilation.unchanged_bytes) > kVisible * kGiB) return "worse";
  return finding.facts.Number("limit_bytes") ? "no" : "unknown";
}

std::string RecompilationText(const Diagnosis& finding) {
  const Recompilation& recompilation = *finding.recompilation;
  const std::int64_t difference = recompilation.Difference(finding.facts);
  std::string text = fmt::format("Compiled with {}, without a TPU. Unchanged, the program needs {}",
                                 Printable(recompilation.compiler), FormatSize(recompilation.unchanged_bytes));
  text += difference == 0
              ? ", as reported."
              : fmt::format(
                    " here, {} {} than reported, because the version of the compiler or the topology differs. The "
                    "remedies above are corrected by this difference.",
                    FormatSize(std::abs(difference)), difference > 0 ? "less" : "more");
  if (recompilation.stopped.empty()) return text;
  return text + fmt::format(" Not all changes were compiled: {}.", Printable(recompilation.stopped));
}

std::string EnoughText(const RankedRemedy& ranked) {
  if (!ranked.enough) return {};
  if (ranked.compiled)
    return !*ranked.enough     ? "does not fit alone (compiled)"
           : ranked.borderline ? "just fits (compiled)"
                               : "fits (compiled)";
  if (*ranked.enough) return ranked.borderline ? "may fit" : "should fit";
  return ranked.borderline ? "may not fit alone" : "does not fit alone";
}

std::string EffectText(const RankedRemedy& ranked) {
  return fmt::format(
      "{}", fmt::join(EffectWith(ranked, ranked.enough_with.empty() ? "" : ranked.enough_with.front()), " · "));
}

std::string NeedText(const Diagnosis& finding) {
  const std::optional<Need> need = NeedOf(finding);
  if (!need) return {};
  constexpr double kManyTimes = 2;
  const std::string name = CutBytes(ProgramOf(finding), kProgramInSentence);
  const bool asks = std::string_view(need->need_word) == "asked for";
  const std::string size = (need->at_least ? "≥ " : "") + SizeText(need->need);
  std::string text = !name.empty() ? name + (asks ? " asks for " : " needs ") + size
                     : asks        ? "one request asks for " + size
                                   : size + " " + need->need_word;
  const std::string have = SizeText(need->have) + " " + need->have_word;
  const std::string chip = Printable(finding.facts.Text("chip"));
  const bool is_whole_chip = !chip.empty() && std::string_view(need->have_word) == "usable";
  const std::string of = is_whole_chip ? SizeText(need->have) + " of " + chip : have;
  if (!(need->excess > 0)) return text + "; " + have;
  text += fmt::format(", {}{} over the {}", need->at_most ? "less than " : "", SizeText(need->excess), of);
  if (need->have > 0 && need->need >= kManyTimes * need->have)
    text += fmt::format(" ({:.1f} times)", need->need / need->have);
  return text;
}

const CompiledAttempt* CompiledPair(const RankedRemedy& ranked, const Diagnosis& finding) {
  if (!finding.recompilation || ranked.enough_with.empty()) return nullptr;
  return finding.recompilation->FittingPair(ranked.remedy->id, ranked.enough_with.front(), finding.facts);
}

std::vector<std::string> EffectTexts(const RankedRemedy& ranked, const Diagnosis& finding) {
  const std::string unknown = NoEstimateText(ranked, finding);
  if (!unknown.empty()) return {unknown, SafetyText(ranked)};
  if (std::vector<std::string> pair = PairTexts(ranked, finding); !pair.empty()) return pair;
  return EffectWith(ranked, PartnerText(ranked, finding));
}

std::string ShortEffect(const RankedRemedy& ranked, const Diagnosis& finding) {
  if (ranked.remedy->inquiry) return SafetyText(ranked);
  const std::string unknown = NoEstimateText(ranked, finding);
  if (!unknown.empty()) return unknown + " · " + SafetyText(ranked);
  if (const std::vector<std::string> pair = PairTexts(ranked, finding); !pair.empty())
    return fmt::format("{}", fmt::join(pair, " · "));
  const bool is_known = ranked.left_bytes.value_or(0) > 0;
  std::string text = is_known ? "needs " + FormatSize(*ranked.left_bytes) + PartsText(ranked) : SavesText(ranked);
  const std::string verdict = VerdictText(ranked, PartnerText(ranked, finding));
  if (!verdict.empty()) text += (text.empty() ? "" : is_known ? ": " : " · ") + verdict;
  return text + (text.empty() ? "" : " · ") + SafetyText(ranked);
}

std::string RecoveredText(const Diagnosis& finding) {
  if (!finding.recovered) return {};
  return fmt::format("The job went on after this failure, as line {} shows: {}", finding.recovered->line,
                     Printable(finding.recovered->text));
}

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

std::string RetryText(const Retry& retry) {
  return RetryAnswer(retry) + (retry.why.empty() ? "" : " " + Printable(retry.why));
}

std::string SourceText(const Allocation& row) {
  return row.source_file.empty() ? "" : Printable(SourceLineText(row.source_file, row.source_line));
}

std::string RuleId(const Diagnosis& finding) {
  const std::string& code = finding.failure->code;
  return finding.scenario == nullptr ? code : code + "." + finding.scenario->id;
}

std::string ScenarioName(const Diagnosis& finding) {
  const bool open = finding.scenario == nullptr && !finding.failure->scenarios.empty();
  return open ? finding.failure->code + kUndecidedSuffix : RuleId(finding);
}

std::string ScenarioTitle(const Diagnosis& finding) {
  return finding.scenario != nullptr ? finding.scenario->title : finding.failure->title;
}

std::string Verdict(const Diagnosis& finding) {
  return Printable(finding.failure->title +
                   (finding.scenario != nullptr ? " – " + finding.scenario->title : OpenHeadline(finding.candidates)));
}

std::string ProgramOf(const Diagnosis& finding) {
  for (const char* name : {"module", "program"}) {
    if (const std::string text = finding.facts.Text(name); !text.empty())
      return CutBytes(Printable(text), kLongestProgram);
  }
  return {};
}

const Remedy* FirstRemedy(const Diagnosis& finding) {
  return finding.remedies.empty() ? nullptr : finding.remedies.front().remedy;
}

std::string ExplainCommand(const Diagnosis& finding) {
  std::string command = "whyoom explain " + ShellWord(RuleId(finding));
  if (finding.rules == nullptr) return command;
  const Framework* usual = finding.rules->default_framework();
  const bool is_other = !finding.framework.empty() && (usual == nullptr || finding.framework != usual->id);
  if (is_other) command += " --framework " + ShellWord(finding.framework);
  return command + RuleOptions(finding);
}

NextStep NextOf(const Diagnosis& finding) {
  constexpr const char* kTry = "compiles shardings, donation, host memory and flags without a TPU";
  const bool may_try = finding.failure->phase == "compile" && finding.estimates && !finding.recompilation;
  const std::string dump = finding.facts.Text("dump");
  // The dump of a job is gone, and its command may contain secrets, so it is not repeated.
  if (may_try && !JobIn(finding.where.artifact.path).empty())
    return {"whyoom run --try" + RuleOptions(finding) + " -- python train.py",
            "runs your job again, then compiles remedies"};
  if (may_try && !dump.empty()) {
    const std::size_t slash = dump.rfind('/');
    const std::string folder = slash == std::string::npos ? "." : slash == 0 ? "/" : dump.substr(0, slash);
    return {"whyoom try " + ShellWord(folder.starts_with("-") ? "./" + folder : folder) + RuleOptions(finding), kTry};
  }
  return {ExplainCommand(finding), "explains this failure"};
}

std::string CautionText(const Diagnosis& finding) {
  if (finding.confidence != Confidence::kLow) return {};
  if (finding.contradictions.empty()) return "The log contains only a fragment of the message, so little is certain.";
  std::string text;
  for (const Contradiction& contradiction : finding.contradictions) text += Printable(contradiction.text) + " ";
  return text + "These figures are not used.";
}

FindingView ViewOf(const Diagnosis& finding) {
  FindingView view;
  view.code = finding.failure->code;
  view.scenario = ScenarioText(finding);
  view.caution = CautionText(finding);
  view.place = PlaceText(finding.where);
  for (const char* name : {"module", "program", "device"}) {
    if (const std::string text = finding.facts.Text(name); !text.empty()) view.names.push_back(Printable(text));
  }
  view.chip = Printable(finding.facts.Text("chip"));
  view.framework = finding.framework;
  view.reporters = ProcessesText(finding);
  return view;
}

std::string ProcessesText(const Diagnosis& finding) {
  const std::uint64_t occurrences = finding.tally.occurrences();
  if (occurrences <= 1) return {};
  return fmt::format("reported by {}{} processes", finding.tally.hosts.complete() ? "" : "about ", occurrences);
}

FailureRow RowOf(const Diagnosis& finding) {
  const std::optional<Need> need = NeedOf(finding);
  const double excess = std::max(0.0, need ? need->excess : finding.facts.Number("excess_bytes").value_or(0));
  const Remedy* remedy = FirstRemedy(finding);
  return {ScenarioName(finding),
          ScenarioTitle(finding),
          ProgramOf(finding),
          excess > 0 ? (need && need->at_most ? "< " : "") + SizeText(excess) : "",
          excess,
          remedy == nullptr ? "" : remedy->title,
          fmt::format("{}{}", finding.tally.hosts.complete() ? "" : "~", finding.tally.occurrences()),
          PlaceText(finding.where)};
}

std::string Counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace whyoom
