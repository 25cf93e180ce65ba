// Describes the JSON of `whyoom explain`; write-only. See describe.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/record/describe.h"

namespace whyoom {

inline constexpr const char* kExplainFormat = "whyoom.explain/1";

// A sentence of the rule data, which a diagnosis contains if the sentence's condition is true.
struct ExplainedSentence {
  std::string text;
  std::string as_written;
  std::string when;
  std::string row;
  std::string at;
};

void Describe(auto& v, RecordOf<ExplainedSentence> auto& sentence) {
  v.Record("explained_sentence", "A sentence of a diagnosis, if its conditions are true and its values known.");
  v.Maybe("text", sentence.text,
          {.about = "For people; words in ‹ › stand for values. Absent if the rule prints no text."});
  v.Maybe("as_written", sentence.as_written, {.about = "With its {expression|format} placeholders, if it has any."});
  v.Maybe("when", sentence.when, {.about = "The condition, as written in the rule data."});
  v.Maybe("row", sentence.row, {.about = "The condition on a row of the report, as written in the rule data."});
  v.Maybe("at", sentence.at, {.about = "The fact whose line in the log proves the sentence."});
}

struct ExplainedUse {
  std::string id;
  std::string section;
  std::int64_t prior = 0;
};

void Describe(auto& v, RecordOf<ExplainedUse> auto& use) {
  v.Record("explained_use", "A remedy that can help, by its id.");
  v.Need("id", use.id);
  v.Maybe("section", use.section, {.about = "The section of the linked official pages."});
  v.Need("prior", use.prior, {.about = "The default order of the remedies, smallest first; the log may change it."});
}

struct ExplainedScenario {
  std::string id;
  std::string title;
  std::int64_t priority = 0;
  std::string when;
  std::string about;
  std::optional<Retry> retry;
  std::vector<ExplainedSentence> why;
  std::vector<ExplainedUse> remedies;
};

void Describe(auto& v, RecordOf<ExplainedScenario> auto& scenario) {
  v.Record("explained_scenario");
  v.Need("id", scenario.id);
  v.Need("title", scenario.title);
  v.Need("when", scenario.when, {.about = "The condition of the scenario, as written in the rule data."});
  v.Need("priority", scenario.priority, {.about = "Of several scenarios with a true condition, the highest wins."});
  v.Maybe("about", scenario.about);
  v.Group("retry", scenario.retry, [&](auto& retry) { DescribeRetry(v, retry); });
  v.Need("why", scenario.why);
  v.Need("remedies", scenario.remedies, {.about = "If empty, those of without_scenario apply."});
}

struct ExplainedSteps {
  std::string framework;
  std::string name;
  std::vector<std::string> steps;
  std::vector<std::string> of_log;
};

void Describe(auto& v, RecordOf<ExplainedSteps> auto& steps) {
  v.Record("explained_steps", "How to apply the remedy in one framework.");
  v.Need("framework", steps.framework, {.about = "The framework's id."});
  v.Need("name", steps.name, {.about = "The framework's name for readers."});
  v.Need("steps", steps.steps, {.about = "Steps that need no values from a log."});
  v.Maybe("of_log", steps.of_log, {.about = "Steps with values from a log; words in ‹ › stand for the values."});
}

struct ExplainedSnippet {
  std::string framework;
  std::string name;
  std::string language;
  std::vector<std::string> before;
  std::vector<std::string> after;
};

void Describe(auto& v, RecordOf<ExplainedSnippet> auto& snippet) {
  v.Record("explained_snippet", "How the remedy changes a program in one framework.");
  v.Need("framework", snippet.framework, {.about = "The framework's id."});
  v.Need("name", snippet.name, {.about = "The framework's name for readers."});
  v.Need("language", snippet.language, {.one_of = "python shell yaml"});
  v.Need("before", snippet.before, {.about = "The lines without the remedy."});
  v.Need("after", snippet.after, {.about = "The lines with the remedy."});
}

struct ExplainedVersions {
  std::string name;
  std::string package;
  std::string since;
  std::string until;
};

void Describe(auto& v, RecordOf<ExplainedVersions> auto& versions) {
  v.Record("explained_versions", "A name in the steps that only some releases of its package have.");
  v.Need("name", versions.name);
  v.Need("package", versions.package);
  v.Maybe("since", versions.since, {.about = "The first release that has it; absent if none is known to lack it."});
  v.Maybe("until", versions.until,
          {.about = "The last release that has it; absent if no later one is known to lack it."});
}

struct ExplainedSafety {
  std::string when;
  std::string safety;
  std::string safe_why;
};

inline constexpr const char* kSafeties = "safe safe_slower risky changes_training";

void Describe(auto& v, RecordOf<ExplainedSafety> auto& other) {
  v.Record("explained_safety", "How a remedy affects the results under a condition.");
  v.Need("when", other.when, {.about = "The condition, as written in the rule data."});
  v.Need("safety", other.safety, {.one_of = kSafeties});
  v.Need("safe_why", other.safe_why);
}

struct ExplainedRemedy {
  std::string id;
  std::string title;
  std::string section;
  std::vector<std::string> scenarios;
  std::string safety;
  std::string safe_why;
  std::vector<ExplainedSafety> safety_when;
  std::int64_t cost = 0;
  std::string cost_about;
  bool inquiry = false;
  std::string gain;
  std::string telltale;
  std::string note;
  std::vector<ExplainedSteps> how;
  std::vector<ExplainedSnippet> snippets;
  std::vector<ExplainedVersions> versions;
  std::string when;
  std::vector<ExplainedSentence> evidence;
  std::vector<ExplainedSentence> ruled_out;
  std::string saves;
  std::vector<std::string> with;
  std::vector<std::string> helps;
  std::vector<Link> links;
};

void Describe(auto& v, RecordOf<ExplainedRemedy> auto& remedy) {
  v.Record("explained_remedy");
  v.Need("id", remedy.id);
  v.Need("title", remedy.title);
  v.Maybe("section", remedy.section, {.about = "In the linked official pages; only if the topic is a failure."});
  v.Maybe("scenarios", remedy.scenarios,
          {.about = "Ids of the scenarios that list it; absent if it applies to all, or the topic is not a failure."});
  v.Need("safety", remedy.safety, {.about = "How the remedy affects the results.", .one_of = kSafeties});
  v.Need("safe_why", remedy.safe_why);
  v.Maybe("safety_when", remedy.safety_when,
          {.about = "The first whose condition is true replaces safety and safe_why."});
  v.Need("cost", remedy.cost, {.about = "From 0, nothing changes, to 6, another model.", .least = 0, .most = 6});
  v.Need("cost_about", remedy.cost_about, {.about = "The cost in words."});
  v.Maybe("inquiry", remedy.inquiry, {.about = "The remedy only gathers information and saves no memory itself."});
  v.Maybe("gain", remedy.gain);
  v.Maybe("telltale", remedy.telltale, {.about = "A sign that the remedy may help, in general."});
  v.Maybe("note", remedy.note);
  v.Need("how", remedy.how, {.about = "For the requested framework, else for all with steps, the default one first."});
  v.Maybe("snippets", remedy.snippets, {.about = "Code without and with the remedy, for the same frameworks."});
  v.Maybe("versions", remedy.versions, {.about = "The releases that have the names in the steps, if some lack them."});
  v.Maybe("when", remedy.when, {.about = "The condition for offering it, as written in the rule data."});
  v.Need("evidence", remedy.evidence, {.about = "Evidence for the remedy in a log."});
  v.Need("ruled_out", remedy.ruled_out, {.about = "If one of these conditions is true, the remedy is not offered."});
  v.Maybe("saves", remedy.saves, {.about = "The estimate from a list of allocations, as written in the rule data."});
  v.Maybe("with", remedy.with, {.about = "Ids of remedies that combine well with it."});
  v.Need("helps", remedy.helps, {.about = "Topics that list it: codes, or codes with a scenario."});
  v.Need("links", remedy.links);
}

struct ExplainedFailure {
  std::string code;
  std::vector<std::string> aliases;
  std::string title;
  std::string category;
  std::string phase;
  std::vector<std::string> about;
  std::optional<Retry> retry;
  std::vector<Link> links;
  std::vector<std::string> literals;
  std::vector<ExplainedScenario> scenarios;
  std::vector<ExplainedSentence> why;
  std::vector<ExplainedUse> without_scenario;
};

void Describe(auto& v, RecordOf<ExplainedFailure> auto& failure) {
  v.Record("explained_failure");
  v.Need("code", failure.code);
  v.Need("aliases", failure.aliases);
  v.Need("title", failure.title);
  v.Need("category", failure.category);
  v.Need("phase", failure.phase, {.one_of = "compile run"});
  v.Need("about", failure.about, {.about = "Paragraphs."});
  v.Group("retry", failure.retry, [&](auto& retry) { DescribeRetry(v, retry); });
  v.Need("links", failure.links);
  v.Need("literals", failure.literals, {.about = "Every log with this failure contains one of these, ignoring case."});
  v.Need("scenarios", failure.scenarios);
  v.Need("why", failure.why, {.about = "Sentences for every scenario."});
  v.Need("without_scenario", failure.without_scenario,
         {.about = "Remedies that can help if the scenario is unknown or lists none."});
}

// The first fields, for every topic.
struct ExplainHeader {
  ToolRecord tool;
  std::string topic;
  std::string framework;  // id; empty: all frameworks
};

void DescribeExplainHeader(auto& v, const ExplainHeader& header) {
  v.Constant("schema", kExplainFormat);
  v.Constant("format", kExplainFormat);  // the same value under the older key
  v.Need("tool", header.tool);
  v.Maybe("topic", header.topic, {.about = "The topic, as spelled in the rule data; absent if none was given."});
  v.Maybe("framework", header.framework,
          {.about = "Id of the framework that the steps are for; absent if they are for all.", .form = &kRuleName});
}

// For a code, a scenario or a section of the official pages.
void DescribeExplainedTopic(auto& v, const ExplainHeader& header, const ExplainedFailure& failure,
                            const std::vector<ExplainedRemedy>& remedies) {
  v.Record("explain_failure", "A failure, with the scenarios and remedies that the topic selects.");
  DescribeExplainHeader(v, header);
  v.Extend(failure);
  v.Need("remedies", remedies, {.about = "Each remedy once, in the default order."});
}

void DescribeExplainedTopic(auto& v, const ExplainHeader& header, const ExplainedRemedy& remedy) {
  v.Record("explain_remedy");
  DescribeExplainHeader(v, header);
  v.Extend(remedy);
}

void DescribeExplainedTopic(auto& v, const ExplainHeader& header, const std::vector<ExplainedFailure>& failures,
                            const std::vector<ExplainedRemedy>& remedies) {
  v.Record("explain_all", "All failures and remedies, if no topic is given.");
  DescribeExplainHeader(v, header);
  v.Need("failures", failures);
  v.Need("remedies", remedies);
}

}  // namespace whyoom
