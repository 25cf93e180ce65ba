#include "report/rule_test_printer.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <utility>
#include <vector>

#include "report/ci/junit_xml.h"
#include "report/layout.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Tried = RuleTestResult::Tried;

const char* Word(const Tried& tried) { return tried.one.must_match ? "missing" : "noisy"; }

std::string Codes(const RuleTestResult::Healthy& log) { return fmt::format("{}", fmt::join(log.codes, ", ")); }

}  // namespace

std::string PrintRuleTestText(const RuleTestResult& result) {
  std::string text;
  for (const std::string& failure : result.Failures()) text += Printable(failure) + "\n";
  for (const Tried& tried : result.changed)
    text += Printable(fmt::format("{} {}: {} (changed by disabled entries)", tried.one.Entry(), tried.one.number,
                                  tried.complaint)) +
            "\n";
  for (const RuleTestResult::Healthy& log : result.healthy) {
    if (!log.codes.empty()) text += Printable(fmt::format("{}: noisy: reports {}", log.input, Codes(log))) + "\n";
  }
  const int examples = result.reported + result.validated + result.noisy + result.missing;
  if (result.noisy + result.missing == 0) {
    text += fmt::format("{} examples passed ({} that must match, {} that must not)\n", examples, result.reported,
                        result.validated);
  } else {
    text += fmt::format(
        "{} examples: {} reported, {} validated, {} noisy (match but must not), {} missing (do not match as "
        "expected)\n",
        examples, result.reported, result.validated, result.noisy, result.missing);
  }
  if (!result.healthy.empty()) {
    const auto noisy =
        std::count_if(result.healthy.begin(), result.healthy.end(), [](const auto& log) { return !log.codes.empty(); });
    text += fmt::format("{} healthy {}, {} noisy\n", result.healthy.size(), result.healthy.size() == 1 ? "log" : "logs",
                        noisy);
  }
  return WithoutCommands(text);
}

std::string PrintRuleTestJson(const RuleTestResult& result, const std::string& fingerprint) {
  nlohmann::ordered_json json = {
      {"format", "whyoom.rule-test/1"},
      {"rules", fingerprint},
      {"examples", result.all.size()},
      {"reported", result.reported},
      {"validated", result.validated},
      {"noisy", result.noisy},
      {"missing", result.missing},
      {"changed", result.changed.size()},
      {"failures", nlohmann::ordered_json::array()},
      {"healthy", {{"inputs", result.healthy.size()}, {"noisy", nlohmann::ordered_json::array()}}}};
  for (const Tried& tried : result.all) {
    if (tried.complaint.empty()) continue;
    json["failures"].push_back({{"entry", tried.one.Entry()},
                                {"number", tried.one.number},
                                {"result", Word(tried)},
                                {"text", tried.one.example.text},
                                {"what", tried.complaint},
                                {"why", tried.one.example.why}});
  }
  for (const RuleTestResult::Healthy& log : result.healthy) {
    if (!log.codes.empty()) json["healthy"]["noisy"].push_back({{"input", log.input}, {"codes", log.codes}});
  }
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + "\n";
}

std::string PrintRuleTestJunit(const RuleTestResult& result, const std::string& fingerprint) {
  std::vector<JunitTest> tests;
  for (const Tried& tried : result.all) {
    JunitTest test;
    test.class_name = "rules." + Printable(tried.one.section) + "." + Printable(tried.one.id);
    test.name =
        fmt::format("{} {} {}", tried.one.must_match ? "match" : "no_match", tried.one.KindName(), tried.one.number);
    if (!tried.complaint.empty()) {
      test.outcome = "failure";
      test.type = Word(tried);
      test.message = Printable(tried.complaint);
      test.text = Printable(tried.one.example.text);
    }
    tests.push_back(std::move(test));
  }
  for (const RuleTestResult::Healthy& log : result.healthy) {
    JunitTest test = {"rules.healthy", Printable(log.input), nullptr, "", "", ""};
    if (!log.codes.empty()) {
      test.outcome = "failure";
      test.type = "noisy";
      test.message = Printable("reports " + Codes(log));
    }
    tests.push_back(std::move(test));
  }
  return JunitXml(tests, {{"rules", fingerprint}});
}

}  // namespace whyoom
