// What the JSON of `whyoom explain` holds, as describe.h is for reports. It is written only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "report/record/describe.h"

namespace whyoom {

inline constexpr const char* kExplainFormat = "whyoom.explain/1";

// A sentence of the rule data, which a diagnosis says where its condition holds.
struct ExplainedSentence {
  std::string text;
  std::string as_written;
  std::string when;
  std::string row;
  std::string at;
};

void Describe(auto& v, RecordOf<ExplainedSentence> auto& sentence) {
  v.Record("explained_sentence", "What a diagnosis says where the conditions hold and each hole is known.");
  v.Maybe(
      "text", sentence.text,
      {.about = "For readers: in place of each hole words in ‹ ›. Absent where something is passed over in silence."});
  v.Maybe("as_written", sentence.as_written, {.about = "With its {expression|format} holes, where it has some."});
  v.Maybe("when", sentence.when, {.about = "The condition, as written."});
  v.Maybe("row", sentence.row, {.about = "The condition that a row of the report meets, as written."});
  v.Maybe("at", sentence.at, {.about = "The fact whose place in the log proves it."});
}

struct ExplainedUse {
  std::string id;
  std::string section;
  std::int64_t prior = 0;
};

void Describe(auto& v, RecordOf<ExplainedUse> auto& use) {
  v.Record("explained_use", "A remedy that can help, by its id.");
  v.Need("id", use.id);
  v.Maybe("section", use.section, {.about = "Its place in the pages that the failure's links name."});
  v.Need("prior", use.prior, {.about = "Its place where nothing in the log orders the remedies, smaller first."});
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
  v.Need("when", scenario.when, {.about = "The condition under which a diagnosis names it, as written."});
  v.Need("priority", scenario.priority, {.about = "Of several that hold the one with the highest is named."});
  v.Maybe("about", scenario.about);
  v.Group("retry", scenario.retry, [&](auto& retry) { DescribeRetry(v, retry); });
  v.Need("why", scenario.why);
  v.Need("remedies", scenario.remedies, {.about = "None: those of without_scenario."});
}

struct ExplainedSteps {
  std::string framework;
  std::string name;
  std::vector<std::string> steps;
  std::vector<std::string> of_log;
};

void Describe(auto& v, RecordOf<ExplainedSteps> auto& steps) {
  v.Record("explained_steps", "How it is done in one framework.");
  v.Need("framework", steps.framework, {.about = "Its id."});
  v.Need("name", steps.name, {.about = "As people write it."});
  v.Need("steps", steps.steps, {.about = "Those that hold without a log."});
  v.Maybe("of_log", steps.of_log,
          {.about = "Those that a log fills, for readers: in place of each hole words in ‹ ›."});
}

struct ExplainedSnippet {
  std::string framework;
  std::string name;
  std::string language;
  std::vector<std::string> before;
  std::vector<std::string> after;
};

void Describe(auto& v, RecordOf<ExplainedSnippet> auto& snippet) {
  v.Record("explained_snippet", "What it changes in a program of one framework.");
  v.Need("framework", snippet.framework, {.about = "Its id."});
  v.Need("name", snippet.name, {.about = "As people write it."});
  v.Need("language", snippet.language, {.one_of = "python shell yaml"});
  v.Need("before", snippet.before, {.about = "The lines before it."});
  v.Need("after", snippet.after, {.about = "The lines after it."});
}

struct ExplainedVersions {
  std::string name;
  std::string package;
  std::string since;
  std::string until;
};

void Describe(auto& v, RecordOf<ExplainedVersions> auto& versions) {
  v.Record("explained_versions", "A name in the steps that not each release of its package has.");
  v.Need("name", versions.name);
  v.Need("package", versions.package);
  v.Maybe("since", versions.since, {.about = "The first release that has it; absent: none is known that has not."});
  v.Maybe("until", versions.until, {.about = "The last one; absent: none is known that has it no more."});
}

struct ExplainedSafety {
  std::string when;
  std::string safety;
  std::string safe_why;
};

inline constexpr const char* kSafeties = "safe safe_slower risky changes_training";

void Describe(auto& v, RecordOf<ExplainedSafety> auto& other) {
  v.Record("explained_safety", "What a remedy does to the results where the log shows another use.");
  v.Need("when", other.when, {.about = "The condition, as written."});
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
  v.Maybe("section", remedy.section,
          {.about = "Its place in the pages that the failure's links name; only where a failure is told."});
  v.Maybe("scenarios", remedy.scenarios,
          {.about = "Ids of the scenarios that name it; absent where it is named whatever the scenario, and where no "
                    "failure is told."});
  v.Need("safety", remedy.safety, {.about = "What it does to the results.", .one_of = kSafeties});
  v.Need("safe_why", remedy.safe_why);
  v.Maybe("safety_when", remedy.safety_when, {.about = "The first that holds counts."});
  v.Need("cost", remedy.cost, {.about = "From 0, nothing changes, to 6, another model.", .least = 0, .most = 6});
  v.Need("cost_about", remedy.cost_about, {.about = "The same in words."});
  v.Maybe("inquiry", remedy.inquiry, {.about = "It finds out more and saves nothing itself."});
  v.Maybe("gain", remedy.gain);
  v.Maybe("telltale", remedy.telltale, {.about = "What speaks for it in general."});
  v.Maybe("note", remedy.note);
  v.Need("how", remedy.how,
         {.about = "The framework that is asked for, or all that have steps, the default one first."});
  v.Maybe("snippets", remedy.snippets, {.about = "Code before and after it, for the same frameworks."});
  v.Maybe("versions", remedy.versions, {.about = "Which releases have what the steps name, where not each has."});
  v.Maybe("when", remedy.when, {.about = "It is offered only where this is true; as written."});
  v.Need("evidence", remedy.evidence, {.about = "What in a log speaks for it."});
  v.Need("ruled_out", remedy.ruled_out, {.about = "Where one of these holds it is not offered."});
  v.Maybe("saves", remedy.saves,
          {.about = "The bytes that it saves, as far as a list of allocations tells; as written."});
  v.Maybe("with", remedy.with, {.about = "Ids of remedies that go well with it."});
  v.Need("helps", remedy.helps, {.about = "Topics that name it: codes, with the scenario where it is of one."});
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
  v.Need("literals", failure.literals, {.about = "A log that tells of it holds one of these, in upper or lower case."});
  v.Need("scenarios", failure.scenarios);
  v.Need("why", failure.why, {.about = "What is said whatever the scenario."});
  v.Need("without_scenario", failure.without_scenario,
         {.about = "What can help where the scenario is not known or names no remedies."});
}

// What stands at the top of each, whatever the topic.
struct ExplainHeader {
  ToolRecord tool;
  std::string topic;
  std::string framework;  // id; empty: all
};

void DescribeExplainHeader(auto& v, const ExplainHeader& header) {
  v.Constant("schema", kExplainFormat);
  v.Constant("format", kExplainFormat);  // the same, under its first name
  v.Need("tool", header.tool);
  v.Maybe("topic", header.topic, {.about = "What was asked for, as the rule data writes it; absent: everything."});
  v.Maybe("framework", header.framework,
          {.about = "Id of the framework whose steps are given; absent: all.", .form = &kRuleName});
}

// Of a code, a scenario or a place in the official pages.
void DescribeExplainedTopic(auto& v, const ExplainHeader& header, const ExplainedFailure& failure,
                            const std::vector<ExplainedRemedy>& remedies) {
  v.Record("explain_failure", "A failure, or those of its scenarios and remedies that the topic means.");
  DescribeExplainHeader(v, header);
  v.Extend(failure);
  v.Need("remedies", remedies, {.about = "Each once, the usual order first."});
}

void DescribeExplainedTopic(auto& v, const ExplainHeader& header, const ExplainedRemedy& remedy) {
  v.Record("explain_remedy");
  DescribeExplainHeader(v, header);
  v.Extend(remedy);
}

void DescribeExplainedTopic(auto& v, const ExplainHeader& header, const std::vector<ExplainedFailure>& failures,
                            const std::vector<ExplainedRemedy>& remedies) {
  v.Record("explain_all", "Without a topic: all that is known.");
  DescribeExplainHeader(v, header);
  v.Need("failures", failures);
  v.Need("remedies", remedies);
}

}  // namespace whyoom
