// The content and order of explain: an overview first, each remedy once, the steps of the requested framework.
#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "built_in_rules.h"
#include "catch.h"
#include "report/command_documents.h"
#include "report/printers.h"
#include "text/utf8.h"
#include "unit/rules/rule_data.h"

namespace whyoom {
namespace TEST_FILE {

RuleSet Ours() {
  RuleSet rules;
  CHECK(Load({BaseRules()}, {{"ours.json", R"json({"format": "whyoom.rules/1", "failures": [{
    "code": "T1", "aliases": ["OurFailure"], "title": "the pool is full", "category": "Ours", "phase": "run",
    "about": ["It is full. It stays so.", "More of it (`pool size`). `A` and `b`, too."], "heads": ["our own test failed"],
    "scenarios": [{"id": "a.1", "title": "too large", "when": "x > 1", "about": "One is large. Look for it.",
                   "remedies": [{"id": "shard", "section": "2.B", "prior": 20}, {"id": "bf16", "section": "2", "prior": 10}]},
                  {"id": "a.2", "title": "too many", "when": "x <= 1", "about": "All are small.",
                   "remedies": [{"id": "shard", "section": "2.B"}]}],
    "remedies": [{"id": "watch", "section": "1"}],
    "facts": ["x is %{number:x}"],
    "examples": [{"text": "our own test failed"}]}],
    "remedies": [{"id": "watch", "title": "Watch it", "safety": "safe", "safe_why": "It only looks.", "cost": 0, "inquiry": true,
                  "gain": "g", "telltale": "t", "note": "n", "how": {"jax": ["Look."]}, "links": [],
                  "snippets": {"jax": {"before": ["a = 1", "b = f(a)"], "after": ["a = 2", "b = f(a)"]}}}]})json"}},
             &rules) == "");
  return rules;
}

std::string Text(const RuleSet& rules, const std::string& topic, const Frameworks& frameworks = {}) {
  const auto found = FindExplanation(rules, topic);
  return found ? PrintBlocks(ExplanationBlocks(rules, *found, frameworks), TextOptions()) : "nothing";
}

std::size_t CountOf(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

bool InOrder(const std::string& text, const std::vector<std::string>& parts) {
  std::size_t at = 0;
  for (const std::string& part : parts) {
    at = text.find(part, at);
    if (at == std::string::npos) return false;
  }
  return true;
}

TEST_CASE("a failure has an overview, its scenarios, and a line for each remedy", "[report]") {
  const RuleSet rules = Ours();
  const std::string text = Text(rules, "ourfailure");
  CHECK(InOrder(
      text, {"T1  the pool is full", "also written OurFailure", "It is full. It stays so.", "More of it (pool size).",
             "Scenarios", "a.1  too large. One is large.", "a.2  too many. All are small.", "Remedies", "watch",
             "Watch it", "bf16", "Use bf16", "shard", "Shard it"}));
  CHECK(CountOf(text, "Use bf16") == 1);
}

TEST_CASE("a scenario has the text of its failure, and a family of scenarios has all of them", "[report]") {
  const RuleSet rules = Ours();
  const std::string one = Text(rules, "T1.a.1");
  CHECK(InOrder(one, {"T1.a.1  the pool is full", "It is full. It stays so.",
                      "a.1  too large. One is large. Look for it.", "bf16", "shard"}));
  CHECK(one.find("too many") == std::string::npos);
  CHECK(one.find("watch") == std::string::npos);
  CHECK(InOrder(Text(rules, "T1.a"), {"too large", "too many"}));
  CHECK(InOrder(Text(rules, "T1.2"), {"bf16", "shard"}));
  CHECK(Text(rules, "T1.2.b").find("bf16") == std::string::npos);
  CHECK(Text(rules, "T1.7") == "nothing");
  CHECK(Text(rules, "T1.") == "nothing");
}

TEST_CASE("steps are the framework's own, else the default ones, and the text explains which", "[report]") {
  const RuleSet rules = Ours();
  const Frameworks jax = {rules.FindFramework("jax")};
  const Frameworks keras = {rules.FindFramework("Keras")};
  const std::string usual = Text(rules, "shard", jax);
  CHECK(InOrder(usual, {"How in jax", "then run", "--framework shows the steps for others: keras, or all."}));
  CHECK(usual.find("Use it.") == std::string::npos);
  const std::string other = Text(rules, "shard", keras);
  CHECK(InOrder(other, {"How in keras\n  → Use it.", "steps for others: jax, or all."}));
  CHECK(other.find("then run") == std::string::npos);
  CHECK(InOrder(Text(rules, "bf16", keras), {"How in jax (the default steps)\n  → astype"}));
  const std::string all = Text(rules, "shard");
  CHECK(InOrder(all, {"jax", "then run", "keras", "Use it."}));
}

TEST_CASE("snippets are the framework's own, or the default ones if its steps are the default ones", "[report]") {
  const RuleSet rules = Ours();
  const Remedy& watch = *rules.FindRemedy("watch");
  const Framework* jax = rules.FindFramework("jax");
  const Framework* keras = rules.FindFramework("keras");
  const auto snippets = [&](const Remedy& remedy, const Frameworks& frameworks) {
    return CountOf(
        PrintBlocks(ExplanationBlocks(rules, {.topic = remedy.id, .remedies = {&remedy}}, frameworks), TextOptions()),
        ", before:");
  };
  for (const Framework* asked : {jax, keras}) CHECK(snippets(watch, {asked}) == 1);
  Remedy with_steps = watch;
  with_steps.how["keras"] = {};
  CHECK(snippets(with_steps, {keras}) == 0);  // the framework's own steps do not explain JAX's code
  CHECK(snippets(with_steps, {keras, jax}) == 1);
  CHECK(snippets(with_steps, {}) == 1);
  CHECK(InOrder(Text(rules, "watch"), {"before:\n  a = 1\n  b = f(a)\n", "After:\n  a = 2\n  b"}));
  const auto found = FindExplanation(rules, "watch");
  CHECK(InOrder(PrintMarkdownPage(ExplanationBlocks(rules, *found, {})),
                {"before:", "```python\na = 1\nb = f(a)\n```\n", "After:", "```python\na = 2\n"}));
}

TEST_CASE("a snippet needs a known framework and language, and two different sides", "[report]") {
  const auto faults = [](const std::string& snippets) {
    RuleSet rules;
    return Load(
        {BaseRules()},
        {{"ours.json", R"json({"format": "whyoom.rules/1", "extensions": [{"extends": "shard", "snippets": )json" +
                           snippets + "}]}"}},
        &rules);
  };
  CHECK(faults(R"({"keras": {"before": ["a"], "after": ["b"]}})").empty());
  CHECK(faults(R"({"kears": {"before": ["a"], "after": ["b"]}})").find("unknown framework 'kears'") !=
        std::string::npos);
  CHECK(faults(R"({"keras": {"before": ["a"], "after": ["a"]}})").find("this is identical to 'before'") !=
        std::string::npos);
  CHECK_FALSE(faults(R"({"keras": {"before": ["a"]}})").empty());
  CHECK_FALSE(faults(R"({"keras": {"language": "lisp", "before": ["a"], "after": ["b"]}})").empty());
}

TEST_CASE("every topic fits 80 columns", "[report]") {
  const RuleSet& rules = BuiltInRules();
  const Frameworks usual = {rules.default_framework()};
  std::vector<std::string> topics;
  for (const FailureRule& failure : rules.failures) {
    topics.push_back(failure.code);
    for (const Scenario& scenario : failure.scenarios) topics.push_back(failure.code + "." + scenario.id);
  }
  for (const Remedy& remedy : rules.remedies) topics.push_back(remedy.id);
  for (const std::string& topic : topics) {
    INFO(topic);
    std::istringstream lines(Text(rules, topic, usual));
    for (std::string line; std::getline(lines, line);) {
      // Lines of logs, flags and URLs are not broken.
      const bool is_example =
          std::any_of(rules.failures.begin(), rules.failures.end(), [&](const FailureRule& failure) {
            return failure.example.find(line.substr(std::min(line.find_first_not_of(' '), line.size()))) !=
                   std::string::npos;
          });
      if (is_example) continue;
      const std::size_t last = line.rfind(' ') == std::string::npos ? 0 : line.rfind(' ') + 1;
      if (DisplayWidth(line) > 80 && line.size() - last < 40) FAIL_CHECK(line);
      CHECK(line.find('\t') == std::string::npos);
    }
  }
}

// Rule files come from the user, and may be hostile.
TEST_CASE("text of a rule file cannot control a terminal or become markup", "[report]") {
  RuleSet rules;
  CHECK(Load({BaseRules()}, {{"evil.json", R"json({"format": "whyoom.rules/1", "failures": [{
    "code": "<b>X|", "title": "<script>alert(1)</script> | ](x)", "category": "c", "phase": "run",
    "about": "::error::x <img src=x> @everyone", "heads": ["our own test failed"],
    "examples": [{"text": "our own test failed"}]}]})json"}},
             &rules) == "");
  const auto found = FindExplanation(rules, "<b>X|");
  REQUIRE(found);
  for (const std::string& printed :
       {Text(rules, "<b>X|"), PrintMarkdownPage(ExplanationBlocks(rules, *found, {})),
        PrintBlocks(TopicBlocks(rules), TextOptions()), PrintMarkdownPage(TopicBlocks(rules))}) {
    CHECK(std::all_of(printed.begin(), printed.end(),
                      [](char c) { return c == '\n' || static_cast<unsigned char>(c) >= 0x20; }));
    CHECK(printed.find("\n::error::") == std::string::npos);
  }
  CHECK(PrintMarkdownPage(ExplanationBlocks(rules, *found, {})).find("\n<script") == std::string::npos);
}

}  // namespace TEST_FILE
}  // namespace whyoom
