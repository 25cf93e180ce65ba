// Texts of a finding that all formats share.
#include "report/finding_view.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "report/printers.h"
#include "report/text/text_printer.h"
#include "unit/report/made_report.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("a finding has the same names in every format", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  CHECK(RuleId(finding) == "T1.2");
  CHECK(ScenarioName(finding) == "T1.2");
  CHECK(ScenarioTitle(finding) == "too large");
  CHECK(Verdict(finding) == "a test – too large");
  CHECK(ViewOf(finding).scenario == "scenario 2: too large");
  CHECK(ExplainCommand(finding) == "whyoom explain T1.2");

  finding.scenario = nullptr;
  CHECK(RuleId(finding) == "T1");
  CHECK(ScenarioName(finding) == "T1.?");
  CHECK(ScenarioTitle(finding) == "a test");
  CHECK(Verdict(finding) == "a test");
  CHECK(ViewOf(finding).scenario.empty());
  finding.candidates = {&failure.scenarios[0]};
  CHECK(ViewOf(finding).scenario == "Possibly too large; the log does not show it for certain.");
  finding.candidates.push_back(&failure.scenarios[0]);
  CHECK(ViewOf(finding).scenario == "The log does not show which scenario applies: too large — or — too large.");
  CHECK(Verdict(finding) == "a test – possibly too large or too large");
}

TEST_CASE("the view of a finding contains its known circumstances", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  finding.facts.Set("device", std::string("TPU_0"), {});
  finding.facts.Set("chip", std::string("v5e"), {});
  FindingView view = ViewOf(finding);
  CHECK(view.place == "logs/train.log:7");
  CHECK(view.names == std::vector<std::string>{"jit_step", "TPU_0"});
  CHECK(view.chip == "v5e");
  CHECK(view.caution.empty());
  CHECK(view.reporters.empty());

  finding.tally.hosts.Add("rank1");
  finding.confidence = Confidence::kLow;
  view = ViewOf(finding);
  CHECK(view.reporters == "reported by 2 processes");
  CHECK(view.caution == "The log contains only a fragment of the message, so little is certain.");
  finding.tally.hosts.SetIncomplete();
  CHECK(ViewOf(finding).reporters == "reported by about 2 processes");
}

TEST_CASE("the needed and the available memory have the right names", "[report]") {
  const auto words = [](const char* phase, const std::vector<std::pair<const char*, double>>& facts) {
    Failure failure = MadeFailure();
    failure.phase = phase;
    Diagnosis finding = MadeFinding(failure);  // needs 3 GiB, has 1 GiB
    for (const auto& [name, value] : facts) finding.facts.Set(name, value, {});
    const Need need = NeedOf(finding).value();
    return std::string(need.need_word) + ", " + need.have_word;
  };
  constexpr double kGiB = 1 << 30;
  CHECK(words("compile", {}) == "needed, usable");
  CHECK(words("compile", {{"request_bytes", 3 * kGiB}}) == "needed, usable");
  CHECK(words("run", {{"request_bytes", 3 * kGiB}}) == "asked for, free");
  CHECK(words("run", {{"request_bytes", 3 * kGiB}, {"contiguous_shortfall_bytes", kGiB}}) ==
        "asked for, free in one piece");
  CHECK(words("run", {{"request_bytes", 3 * kGiB}, {"limit_bytes", kGiB}}) == "asked for, usable");
  // Memory in use is part of the need, as in PyTorch's message.
  CHECK(words("run", {{"request_bytes", kGiB}, {"limit_bytes", kGiB}}) == "needed, usable");
}

TEST_CASE("a report refers to another remedy by its number", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  Remedy one;
  one.id = "one";
  Remedy other;
  other.id = "other";
  finding.remedies.assign(2, RankedRemedy());
  finding.remedies[0].remedy = &one;
  finding.remedies[0].safety = "safe";
  finding.remedies[0].enough_with = {"other"};
  finding.remedies[1].remedy = &other;
  finding.remedies[1].rank = 2;
  CHECK(EffectTexts(finding.remedies[0], finding) ==
        std::vector<std::string>{"enough together with remedy 2", "results stay the same"});
  CHECK(EffectText(finding.remedies[0]) == "enough together with other · results stay the same");
}

TEST_CASE("remedies that are free but not enough are a separate list in every format", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  Remedy one;
  one.id = "one";
  one.title = "Do one";
  Remedy free;
  free.id = "free";
  free.title = "Give it away";
  finding.remedies.assign(2, RankedRemedy());
  finding.remedies[0].remedy = &one;
  finding.remedies[0].rank = 1;
  finding.remedies[1].remedy = &free;
  finding.remedies[1].rank = 2;
  finding.remedies[1].saves_bytes = std::int64_t{1} << 30;
  finding.remedies[1].free = true;
  const Report report = MadeReport({finding});
  CHECK(PrintText(report, TextOptions()).find("not enough alone: 2 Give it away (saves about 1.00 GiB)") !=
        std::string::npos);
  for (const std::string& page : {PrintMarkdown(report), PrintHtml(report)}) {
    const std::size_t heading = page.find("No cost, but not enough alone");
    REQUIRE(heading != std::string::npos);
    CHECK(page.find("Do one") < heading);
    CHECK(page.find("Give it away") > heading);
  }
}

TEST_CASE("a missing estimate is mentioned only if one was possible", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  Remedy remedy;
  finding.remedies.assign(1, RankedRemedy());
  finding.remedies[0].remedy = &remedy;
  finding.budget = Budget{1 << 20, false, {}, false};
  const auto shown = [&] { return PrintText(MadeReport({finding}), TextOptions()); };
  CHECK(shown().find("total ") == std::string::npos);
  remedy.change = "donate";
  CHECK(shown().find("\ntotal 1.00 MiB over: the log does not show how much each remedy would save.") !=
        std::string::npos);
  finding.budget->steps = {{&remedy, 2 << 20}};
  finding.budget->covered = true;
  CHECK(shown().find("total ") == std::string::npos);  // the remedy's own text is enough
}

TEST_CASE("a row shows the excess as exactly as the log does", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  CHECK(RowOf(finding).excess == "2.00 GiB");
  CHECK(RowOf(finding).excess_bytes == 2147483648.0);
  finding.facts.Set("excess_below_bytes", 1048576.0, {});
  CHECK(RowOf(finding).excess == "< 1.00 MiB");
  finding.facts.Set("excess_bytes", 524288.0, {});
  CHECK(RowOf(finding).excess == "512.0 KiB");

  finding.facts = Evidence();
  CHECK(RowOf(finding).excess.empty());
  CHECK(RowOf(finding).excess_bytes == 0);
  finding.facts.Set("excess_bytes", 524288.0, {});  // although need and limit are unknown
  CHECK(RowOf(finding).excess == "512.0 KiB");
  finding.facts.Set("excess_bytes", -524288.0, {}, true);
  CHECK(RowOf(finding).excess.empty());
  CHECK(RowOf(finding).processes == "1");
  finding.tally.hosts.SetIncomplete();
  CHECK(RowOf(finding).processes == "~1");
}

}  // namespace TEST_FILE
}  // namespace whyoom
