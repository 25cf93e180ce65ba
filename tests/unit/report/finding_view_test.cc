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
  CHECK(ViewOf(finding).scenario == "scenario 2");
  CHECK(ExplainCommand(finding) == "whyoom explain T1.2");

  finding.scenario = nullptr;
  CHECK(RuleId(finding) == "T1");
  CHECK(ScenarioName(finding) == "T1.?");
  CHECK(ScenarioTitle(finding) == "a test");
  CHECK(Verdict(finding) == "a test");
  CHECK(ViewOf(finding).scenario.empty());
  finding.candidates = {&failure.scenarios[0]};
  finding.candidates.push_back(&failure.scenarios[0]);
  CHECK(ViewOf(finding).scenario.empty());
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
        std::vector<std::string>{"fits together with remedy 2", "results stay the same"});
  CHECK(EffectText(finding.remedies[0]) == "fits together with other · results stay the same");
}

// The colour of a remedy's effect on the first screen: "32" is green, "33" amber, "1;31" red.
std::string ColourOf(const RankedRemedy& ranked) {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  finding.remedies = {ranked};
  const std::string text = PrintText(MadeReport({finding}), {.colour = true});
  const std::size_t effect = text.rfind("m", text.find("saves about"));
  const std::size_t begin = text.rfind("\x1b[", effect);
  return text.substr(begin + 2, effect - begin - 2);
}

TEST_CASE("only a remedy that fits and keeps the results is green", "[report]") {
  Remedy remedy;
  remedy.title = "Do it";
  RankedRemedy ranked;
  ranked.rank = 1;
  ranked.remedy = &remedy;
  ranked.saves_bytes = std::int64_t{1} << 30;
  ranked.safety = "safe_slower";
  ranked.enough = true;
  CHECK(ColourOf(ranked) == "32");
  ranked.borderline = true;
  CHECK(ColourOf(ranked) == "33");
  ranked.borderline = false;
  ranked.safety = "changes_training";
  CHECK(ColourOf(ranked) == "33");
  ranked.safety = "safe";
  ranked.enough = false;
  CHECK(ColourOf(ranked) == "1;31");
  ranked.enough_with = {"other"};
  CHECK(ColourOf(ranked) == "32");
}

TEST_CASE("the need is one sentence", "[report]") {
  const Failure failure = MadeFailure();
  Diagnosis finding = MadeFinding(failure);
  CHECK(NeedText(finding) == "jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB usable (3.0 times)");
  finding.facts.Set("chip", std::string("v5e"), {});
  CHECK(NeedText(finding) == "jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB of v5e (3.0 times)");
  finding.facts.Set("excess_below_bytes", 1073741824.0, {});
  CHECK(NeedText(finding).find("less than 1.00 GiB over") != std::string::npos);
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
  CHECK(PrintText(report, TextOptions()).find("also  2 Give it away\n") != std::string::npos);
  for (const std::string& page : {PrintMarkdown(report), PrintHtml(report)}) {
    const std::size_t heading = page.find("No cost, but does not fit alone");
    REQUIRE(heading != std::string::npos);
    CHECK(page.find("Do one") < heading);
    CHECK(page.find("Give it away", heading) != std::string::npos);
  }
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
