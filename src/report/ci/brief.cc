#include "report/ci/brief.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "report/failure_view.h"
#include "report/layout.h"
#include "report/memory_view.h"
#include "report/phrases.h"
#include "report/unknown_errors.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

constexpr std::size_t kReasons = 2;
constexpr std::size_t kRemedies = 3;
// In bytes. The first limits the whole text; the others keep one paragraph from displacing the next.
constexpr std::size_t kLongestBrief = 4000;
constexpr std::size_t kLongestVerdict = 600;
constexpr std::size_t kLongestReason = 500;
constexpr std::size_t kLongestRemedy = 550;
constexpr std::size_t kLongestPlace = 500;

// "20.77 GiB needed, 15.75 GiB usable, 5.02 GiB too much"; empty if one of them is unknown.
std::string Numbers(const Failure& failure) {
  const std::optional<Need> need = NeedOf(failure);
  if (!need) return {};
  std::string text =
      fmt::format("{} {}, {} {}", SizeText(need->need), need->need_word, SizeText(need->have), need->have_word);
  if (const std::string excess = ExcessText(*need); !excess.empty()) text += ", " + excess;
  return text;
}

std::string Sentence(std::string text) {
  if (!text.empty() && text.find_last_of(".!?") != text.size() - 1) text += '.';
  return text;
}

std::string VerdictParagraph(const Failure& failure) {
  std::string text = Sentence(Verdict(failure));
  if (const std::string recovered = RecoveredText(failure); !recovered.empty()) text += " " + Sentence(recovered);
  if (const std::string numbers = Numbers(failure); !numbers.empty()) text += " " + numbers + ".";
  if (const std::string program = ProgramOf(failure); !program.empty()) text += " Program: " + program + ".";
  if (const std::string caution = CautionText(failure); !caution.empty()) text += " " + caution;
  return CutBytes(text, kLongestVerdict);
}

std::string WhyParagraph(const Failure& failure) {
  if (failure.why.empty()) return CutBytes(Printable(failure.message), kLongestReason);
  std::string text;
  for (std::size_t i = 0; i < std::min(failure.why.size(), kReasons); ++i)
    text += (i == 0 ? "" : " ") + CutBytes(WithoutMarks(Printable(failure.why[i].text)), kLongestReason);
  return text;
}

std::string RemedyText(const RankedRemedy& ranked, bool with_step) {
  std::string text = ranked.remedy->title;
  if (const std::string saves = SavesText(ranked); !saves.empty())
    text += " (" + saves + (ranked.enough == true ? ", " + EnoughText(ranked) + ")" : ")");
  text = Sentence(Printable(text));
  if (with_step && !ranked.how.empty()) text += " " + Sentence(WithoutMarks(Printable(ranked.how.front())));
  return CutBytes(text, kLongestRemedy);
}

std::string RemedyParagraph(const Failure& failure) {
  std::string text;
  for (std::size_t i = 0; i < std::min(failure.remedies.size(), kRemedies); ++i)
    text += (i == 0 ? "Do first: " : i == 1 ? " Then: " : " ") + RemedyText(failure.remedies[i], i == 0);
  return text;
}

std::string PlaceParagraph(const Failure& failure) {
  std::string text = "Reported at " + BriefPlace(failure.where);
  const std::uint64_t occurrences = failure.tally.occurrences();
  if (occurrences > 1)
    text += fmt::format(" by {}{} processes", failure.tally.hosts.complete ? "" : "about ", occurrences);
  const std::string again = RetryAnswer(failure.retry);
  return text + "." + (again.empty() ? "" : " " + again) + " More: " + ExplainCommand(failure);
}

std::string NeedText(const Need& need) {
  const std::string over = ExcessText(need);
  return fmt::format("{} {}, {} {}{}", SizeText(need.need), need.need_word, SizeText(need.have), need.have_word,
                     over.empty() ? "" : ", " + over);
}

std::string RemedyText(const RankedRemedy& ranked) {
  const std::string enough =
      ranked.enough_with.empty() ? EnoughText(ranked) : "fits together with " + ranked.enough_with.front();
  return ranked.remedy->id + ": " + ranked.remedy->title + (enough.empty() ? "" : " (" + enough + ")");
}

std::string FailureLine(const Failure& failure, const Style& style) {
  const std::optional<Need> need = NeedOf(failure);
  std::vector<std::string> parts = {Printable(ScenarioTitle(failure))};
  if (need) parts.push_back(NeedText(*need));
  if (failure.recovered) parts.push_back(fmt::format("the job went on (line {})", failure.recovered->line));
  if (std::string reporters = ProcessesText(failure); !reporters.empty()) parts.push_back(std::move(reporters));
  if (!failure.remedies.empty()) parts.push_back(style.Good(Printable(RemedyText(failure.remedies.front()))));
  return fmt::format("{}: {} {}\n", PlaceText(failure.where), style.Error(RuleId(failure)), fmt::join(parts, " · "));
}

std::string ProgramLine(const CompiledProgram& program) {
  const ProgramView view = ViewOf(program);
  const bool fits = view.limit <= 0 || view.need <= view.limit;
  return fmt::format("{}: {} {} · {} needed{}\n", view.place, fits ? "fits:" : "did not fail:", view.name,
                     SizeText(view.need), fits ? "" : " of " + SizeText(view.limit));
}

std::string Notes(const Report& report) {
  std::string text;
  if (report.failures.empty() && report.programs.empty()) text += NothingFoundText(report) + ".\n";
  if (const std::string hidden_failures = HiddenText(report); !hidden_failures.empty()) text += hidden_failures + "\n";
  for (const Problem& problem : report.problems) {
    text += problem.is_unknown_error()
                ? fmt::format("{}: matches no rule: {}\n", UnknownErrorPlace(problem), UnknownErrorText(problem))
                : fmt::format("{}: {}\n", ArtifactText({problem.path, problem.member}), Printable(problem.what));
  }
  if (report.problems_left_out > 0)
    text += fmt::format("and {}\n", Counted(report.problems_left_out, "more problem", "more problems"));
  return text;
}

}  // namespace

std::string BriefPlace(const Where& where) {
  return LineText(CutBytes(ArtifactText(where.artifact), kLongestPlace), where.line);
}

std::string ProblemText(const Problem& problem) {
  const std::string what = Printable(problem.what);
  return problem.path.empty() ? what : ArtifactText({problem.path, problem.member}) + ": " + what;
}

std::string BriefText(const Failure& failure) {
  std::string text = VerdictParagraph(failure);
  for (const std::string& paragraph : {WhyParagraph(failure), RemedyParagraph(failure), PlaceParagraph(failure)}) {
    if (!paragraph.empty()) text += "\n\n" + paragraph;
  }
  return CutBytes(text, kLongestBrief);
}

std::string PrintBriefLines(const Report& report, const TextOptions& options) {
  const Style style(options.colour);
  std::string text;
  for (const Failure& failure : report.failures) text += FailureLine(failure, style);
  for (const CompiledProgram& program : report.programs) text += ProgramLine(program);
  return options.notes ? text + Notes(report) : text;
}

}  // namespace whyoom
