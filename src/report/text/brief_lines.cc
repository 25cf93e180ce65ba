#include "report/text/brief_lines.h"

#include <fmt/format.h>

#include <optional>
#include <utility>
#include <vector>

#include "report/finding_view.h"
#include "report/memory_view.h"
#include "report/unknown_errors.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

std::string NeedText(const Need& need) {
  const std::string over = ExcessText(need);
  return fmt::format("{} {}, {} {}{}", SizeText(need.need), need.need_word, SizeText(need.have), need.have_word,
                     over.empty() ? "" : ", " + over);
}

std::string RemedyText(const RankedRemedy& ranked) {
  const std::string enough =
      ranked.enough_with.empty() ? EnoughText(ranked) : "enough together with " + ranked.enough_with.front();
  return ranked.remedy->id + ": " + ranked.remedy->title + (enough.empty() ? "" : " (" + enough + ")");
}

std::string FindingLine(const Diagnosis& finding, const Style& style) {
  const std::optional<Need> need = NeedOf(finding);
  std::vector<std::string> parts = {Printable(ScenarioTitle(finding))};
  if (need) parts.push_back(NeedText(*need));
  if (std::string reporters = ReportersText(finding); !reporters.empty()) parts.push_back(std::move(reporters));
  if (!finding.remedies.empty()) parts.push_back(style.Good(Printable(RemedyText(finding.remedies.front()))));
  return fmt::format("{}: {} {}\n", PlaceText(finding.where), style.Error(RuleId(finding)), Joined(parts));
}

std::string ProgramLine(const CompiledProgram& program) {
  const ProgramView view = ViewOf(program);
  const bool fits = view.limit <= 0 || view.need <= view.limit;
  return fmt::format("{}: {} {} · {} needed{}\n", view.place, fits ? "fits" : "did not fail:", view.name,
                     SizeText(view.need), fits ? "" : " of " + SizeText(view.limit));
}

std::string Notes(const Report& report) {
  std::string text;
  if (report.findings.empty() && report.programs.empty()) text += NothingFoundText(report) + ".\n";
  if (const std::string passed_over = PassedOverText(report); !passed_over.empty()) text += passed_over + "\n";
  for (const Problem& problem : report.problems) {
    text += problem.is_unknown_error()
                ? fmt::format("{}: no rule knows: {}\n", UnknownErrorPlace(problem), UnknownErrorText(problem))
                : fmt::format("{}: {}\n", ArtifactText({problem.path, problem.member}), Printable(problem.what));
  }
  if (report.problems_left_out > 0)
    text += fmt::format("and {}\n", Counted(report.problems_left_out, "more problem", "more problems"));
  return text;
}

}  // namespace

std::string PrintBriefLines(const Report& report, const TextOptions& options) {
  const Style style(options.colour);
  std::string text;
  for (const Diagnosis& finding : report.findings) text += FindingLine(finding, style);
  for (const CompiledProgram& program : report.programs) text += ProgramLine(program);
  return options.notes ? text + Notes(report) : text;
}

}  // namespace whyoom
