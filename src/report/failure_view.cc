#include "report/failure_view.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <set>

#include "facts/evidence.h"
#include "report/formatting.h"
#include "text/numbers.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestProgram = 200;

// Whether the program fits with the remedy, alone or with another one, which is named by its number, or by its title if
// the first screen does not show it. Empty if unknown.
std::string VerdictText(const RankedRemedy& ranked, const Failure& failure) {
  constexpr int kShown = 3;                // remedies that are always shown with their number
  constexpr const char* kAlone[2][2][2] = {// by compiled, enough, borderline
                                           {{"does not fit alone", "may not fit alone"}, {"should fit", "may fit"}},
                                           {{"does not fit alone (compiled)", "does not fit alone (compiled)"},
                                            {"fits (compiled)", "just fits (compiled)"}}};
  if (!ranked.enough_with.empty()) {
    const std::string& id = ranked.enough_with.front();
    const RankedRemedy* other = FindRemedy(failure, id);
    return "fits together with " + (other == nullptr        ? id
                                    : other->rank <= kShown ? fmt::format("remedy {}", other->rank)
                                                            : fmt::format("\"{}\"", other->remedy->title));
  }
  return ranked.enough ? kAlone[ranked.compiled ? 1 : 0][*ranked.enough ? 1 : 0][ranked.borderline ? 1 : 0] : "";
}

// The effect of a compiled pair, which is shown as one remedy.
std::string PairText(const RankedRemedy& ranked, const CompiledAttempt& pair, const Failure& failure) {
  std::string text =
      fmt::format("together need {}: fit (compiled)", FormatSize(failure.recompilation->NeedOf(pair, failure.facts)));
  std::set<std::string> effects = {SafetyText(ranked)};
  if (const RankedRemedy* other = FindRemedy(failure, ranked.enough_with.front())) effects.insert(SafetyText(*other));
  if (effects.size() > 1) effects.erase(SafetyText({.remedy = ranked.remedy, .safety = "safe"}));
  for (const std::string& effect : effects) text += " · " + effect;
  return text;
}

// A path as an argument, which is not parsed as an option.
std::string PathWord(const std::string& path) { return ShellWord(path.starts_with("-") ? "./" + path : path); }

// " --rules FILE" for each rule file that was given.
std::string RuleOptions(const Failure& failure) {
  std::string options;
  if (failure.rules == nullptr) return options;
  for (const std::string& path : failure.rules->given) options += " --rules " + PathWord(path);
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

const RankedRemedy* FindRemedy(const Failure& failure, const std::string& id) {
  const auto found = std::find_if(failure.remedies.begin(), failure.remedies.end(),
                                  [&](const RankedRemedy& ranked) { return ranked.remedy->id == id; });
  return found == failure.remedies.end() ? nullptr : &*found;
}

std::string MistakeHint(const Failure& failure) {
  const bool any = std::any_of(failure.why.begin(), failure.why.end(), [&](const Reason& reason) {
    return !reason.mistake.empty() && FindRemedy(failure, reason.cure) == nullptr;
  });
  return any ? "First look at `why`: it names a likely mistake that no remedy here corrects." : "";
}

const CompiledAttempt* CompiledPair(const RankedRemedy& ranked, const Failure& failure) {
  if (!failure.recompilation || ranked.enough_with.empty()) return nullptr;
  return failure.recompilation->FittingPair(ranked.remedy->id, ranked.enough_with.front(), failure.facts);
}

std::string SafetyText(const RankedRemedy& ranked) {
  if (ranked.remedy->inquiry) return "diagnostic only";
  if (ranked.safety == "safe") return "results stay the same";
  if (ranked.safety == "safe_slower") return "same results, slower";
  return ranked.safety == "risky" ? "may change results" : "changes training";
}

std::string PartsText(const RankedRemedy& ranked) {
  std::string text = ranked.remedy->in_parts;
  const std::size_t hole = text.find(kPartsPlaceholder);
  if (ranked.parts == 0 || hole == std::string::npos) return {};
  return " " + text.replace(hole, std::string_view(kPartsPlaceholder).size(), std::to_string(ranked.parts));
}

// The error of the estimate is left out if it is small.
std::string MemoryText(const RankedRemedy& ranked) {
  if (ranked.left_bytes.value_or(0) <= 0) {
    if (ranked.saves_bytes.value_or(0) <= 0) return {};
    const char* saves = ranked.compiled ? "saves " : ranked.at_least ? "saves at least " : "saves about ";
    return saves + FormatSize(*ranked.saves_bytes);
  }
  constexpr double kGiB = std::int64_t{1} << 30;
  const double spread = static_cast<double>(ranked.spread_bytes.value_or(0)) / kGiB;
  const bool is_large = static_cast<double>(*ranked.left_bytes) >= kGiB;
  const std::string error = spread < 0.05 ? ""
                            : is_large    ? fmt::format(" ± {:.1f} GiB", spread)
                                          : fmt::format(" ± {:.0f} MiB", 1024 * spread);
  return FormatSize(*ranked.left_bytes) + error;
}

std::string EffectText(const RankedRemedy& ranked, const Failure& failure) {
  const std::string safety = SafetyText(ranked);
  if (ranked.remedy->inquiry) return safety;
  const bool is_searched = failure.estimates && !ranked.compiled && !ranked.remedy->change.empty();
  if (is_searched && !ranked.saves_bytes) return "effect unknown · " + safety;
  if (const CompiledAttempt* pair = CompiledPair(ranked, failure)) return PairText(ranked, *pair, failure);
  const bool is_known = ranked.left_bytes.value_or(0) > 0;
  std::string text = (is_known ? "needs " : "") + MemoryText(ranked);
  if (!text.empty()) text += PartsText(ranked);
  const std::string verdict = VerdictText(ranked, failure);
  if (!verdict.empty()) text += (text.empty() ? "" : is_known ? ": " : " · ") + verdict;
  return text + (text.empty() ? "" : " · ") + safety;
}

std::string RetryText(const Retry& retry) {
  constexpr const char* kAnswers[] = {"A retry will fail the same way.", "A retry may succeed.",
                                      "The log does not show whether a retry would succeed."};  // by Retry::Answer
  const std::string answer = kAnswers[static_cast<std::size_t>(retry.answer)];
  if (retry.why.empty()) return retry.answer == Retry::Answer::kUnknown ? "" : answer;
  return answer + " " + Printable(retry.why);
}

std::string RuleId(const Failure& failure) {
  const std::string& code = failure.rule->code;
  return failure.scenario == nullptr ? code : code + "." + failure.scenario->id;
}

std::string ScenarioName(const Failure& failure) {
  const bool open = failure.scenario == nullptr && !failure.rule->scenarios.empty();
  return open ? failure.rule->code + kUndecidedSuffix : RuleId(failure);
}

std::string Verdict(const Failure& failure) {
  std::string scenario = failure.scenario == nullptr ? "" : " – " + failure.scenario->title;
  for (const Scenario* candidate : failure.candidates) {
    if (failure.scenario == nullptr) scenario += (scenario.empty() ? " – possibly " : " or ") + candidate->title;
  }
  return Printable(failure.rule->title + scenario);
}

std::string ProgramOf(const Failure& failure) {
  for (const char* name : {"module", "program"}) {
    if (const std::string text = failure.facts.Text(name); !text.empty())
      return CutBytes(Printable(text), kLongestProgram);
  }
  return {};
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
    const std::string folder = std::filesystem::path(dump).parent_path().string();
    return {"whyoom try " + PathWord(folder.empty() ? "." : folder) + RuleOptions(failure), kTry};
  }
  return {ExplainCommand(failure), "explains this failure"};
}

FailureRow RowOf(const Failure& failure) {
  const std::optional<Need> need = NeedOf(failure);
  const double excess = std::max(0.0, need ? need->excess : failure.facts.Number("excess_bytes").value_or(0));
  return {ScenarioName(failure),
          ProgramOf(failure),
          excess > 0 ? (need && need->at_most ? "< " : "") + SizeText(excess) : "",
          excess,
          failure.remedies.empty() ? "" : failure.remedies.front().remedy->title,
          fmt::format("{}{}", failure.tally.hosts.complete ? "" : "~", failure.tally.occurrences()),
          PlaceText(failure.where)};
}

std::optional<SourcePlace> UserSource(const Failure& failure) {
  if (!failure.code.empty() && !failure.code.front().path.empty())
    return SourcePlace{Printable(failure.code.front().path), failure.code.front().line};
  const auto& rows = failure.allocations;
  const auto largest = std::max_element(rows.begin(), rows.end(), [](const Allocation& a, const Allocation& b) {
    return a.size_bytes.value_or(0) < b.size_bytes.value_or(0);
  });
  if (largest != rows.end() && !largest->source_file.empty() && largest->source_line.value_or(0) > 0 &&
      !IsLibraryPath(largest->source_file))
    return SourcePlace{Printable(largest->source_file), *largest->source_line};
  const std::string call = failure.facts.Text("user_source");  // "train.py:41"
  const std::string path = Printable(failure.facts.Text("user_source_path"));
  const std::int64_t line = std::strtoll(call.substr(call.rfind(':') + 1).c_str(), nullptr, 10);
  return path.empty() || line < 1 ? std::nullopt : std::optional(SourcePlace{path, line});
}

std::optional<std::string> RelativeTo(const std::string& root, const std::string& path) {
  std::filesystem::path normal = std::filesystem::path(path).lexically_normal();
  if (normal.is_absolute()) {
    if (root.empty()) return std::nullopt;
    normal = normal.lexically_relative(std::filesystem::path(root + "/").lexically_normal());
  }
  const std::string text = normal.generic_string();
  const bool is_file = !text.empty() && text != "." && text.front() != '<' && !text.starts_with("Cell In");
  return is_file && *normal.begin() != ".." ? std::optional(text) : std::nullopt;
}

std::string Counted(std::uint64_t count, const char* one, const char* many) {
  return fmt::format("{} {}", count, count == 1 ? one : many);
}

}  // namespace whyoom
