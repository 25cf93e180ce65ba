// Texts of a failure that all formats share.
#include "report/failure_view.h"

#include <string>
#include <utility>
#include <vector>

#include "catch.h"
#include "report/printers.h"
#include "unit/report/made_report.h"

namespace whyoom {
namespace TEST_FILE {

TEST_CASE("a finding has the same names in every format", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  CHECK(RuleId(failure) == "T1.2");
  CHECK(ScenarioName(failure) == "T1.2");
  CHECK(Verdict(failure) == "a test – too large");
  CHECK(ExplainCommand(failure) == "whyoom explain T1.2");

  failure.scenario = nullptr;
  CHECK(RuleId(failure) == "T1");
  CHECK(ScenarioName(failure) == "T1.?");
  CHECK(Verdict(failure) == "a test");
  failure.candidates = {&rule.scenarios[0]};
  failure.candidates.push_back(&rule.scenarios[0]);
  CHECK(Verdict(failure) == "a test – possibly too large or too large");
}

TEST_CASE("the view of a finding contains its known circumstances", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.facts.Set("device", std::string("TPU_0"), {});
  failure.facts.Set("chip", std::string("v5e"), {});
  CHECK(PrintFailure(failure) ==
        "T1  a test – too large\n"
        "    jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB of v5e (3.0 times)\n"
        "logs/train.log:7 · scenario 2 · TPU_0\n"
        "\n"
        "Message in the log\n"
        "  out of memory\n");

  failure.tally.hosts.Add("rank1");
  failure.confidence = Confidence::kLow;
  failure.scenario = nullptr;
  const std::string text = PrintFailure(failure);
  CHECK(text.find("\n    The log contains only a fragment of the message, so little is certain.\n") !=
        std::string::npos);
  CHECK(text.find("logs/train.log:7 · TPU_0 · reported by 2 processes\n") != std::string::npos);
  failure.tally.hosts.complete = false;
  CHECK(PrintFailure(failure).find("reported by about 2 processes") != std::string::npos);
}

TEST_CASE("the needed and the available memory have the right names", "[report]") {
  const auto words = [](const char* phase, const std::vector<std::pair<const char*, double>>& facts) {
    FailureRule rule = MadeFailure();
    rule.phase = phase;
    Failure failure = MadeFailure(rule);  // needs 3 GiB, has 1 GiB
    for (const auto& [name, value] : facts) failure.facts.Set(name, value, {});
    const Need need = NeedOf(failure).value();
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
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  Remedy one;
  one.id = "one";
  Remedy other;
  other.id = "other";
  failure.remedies.assign(2, RankedRemedy());
  failure.remedies[0].remedy = &one;
  failure.remedies[0].safety = "safe";
  failure.remedies[0].enough_with = {"other"};
  failure.remedies[1].remedy = &other;
  failure.remedies[1].rank = 2;
  CHECK(EffectText(failure.remedies[0], failure) == "fits together with remedy 2 · results stay the same");
}

// The colour of a remedy's effect on the first screen: "32" is green, "33" amber, "1;31" red.
std::string ColourOf(const RankedRemedy& ranked) {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  failure.remedies = {ranked};
  const std::string text = PrintText(MadeReport({failure}), {.colour = true});
  const std::size_t effect = text.rfind("m", text.find("saves about"));
  const std::size_t begin = text.rfind("\x1b[", effect);
  return text.substr(begin + 2, effect - begin - 2);
}

TEST_CASE("a mistake that no remedy undoes comes before the remedies", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  Remedy smaller;
  smaller.id = "smaller";
  smaller.title = "Make it smaller";
  failure.remedies.emplace_back().remedy = &smaller;
  failure.why = {{.text = "It is large."}};
  CHECK(MistakeHint(failure).empty());
  failure.why.push_back({.text = "It is stored twice.", .mistake = "twice", .cure = "smaller"});
  CHECK(MistakeHint(failure).empty());
  failure.why.push_back({.text = "It is kept.", .mistake = "kept"});
  CHECK(PrintFailure(failure).find("do    First look at why: it names a likely mistake that no remedy") !=
        std::string::npos);
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
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  CHECK(NeedText(failure) == "jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB usable (3.0 times)");
  failure.facts.Set("chip", std::string("v5e"), {});
  CHECK(NeedText(failure) == "jit_step needs 3.00 GiB, 2.00 GiB over the 1.00 GiB of v5e (3.0 times)");
  failure.facts.Set("excess_below_bytes", 1073741824.0, {});
  CHECK(NeedText(failure).find("less than 1.00 GiB over") != std::string::npos);
}

TEST_CASE("a row shows the excess as exactly as the log does", "[report]") {
  const FailureRule rule = MadeFailure();
  Failure failure = MadeFailure(rule);
  CHECK(RowOf(failure).excess == "2.00 GiB");
  CHECK(RowOf(failure).excess_bytes == 2147483648.0);
  failure.facts.Set("excess_below_bytes", 1048576.0, {});
  CHECK(RowOf(failure).excess == "< 1.00 MiB");
  failure.facts.Set("excess_bytes", 524288.0, {});
  CHECK(RowOf(failure).excess == "512.0 KiB");

  failure.facts = Evidence();
  CHECK(RowOf(failure).excess.empty());
  CHECK(RowOf(failure).excess_bytes == 0);
  failure.facts.Set("excess_bytes", 524288.0, {});  // although need and limit are unknown
  CHECK(RowOf(failure).excess == "512.0 KiB");
  failure.facts.Set("excess_bytes", -524288.0, {}, true);
  CHECK(RowOf(failure).excess.empty());
  CHECK(RowOf(failure).processes == "1");
  failure.tally.hosts.complete = false;
  CHECK(RowOf(failure).processes == "~1");
}

}  // namespace TEST_FILE
}  // namespace whyoom
