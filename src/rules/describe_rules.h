// Describes the records of rule files once: the descriptions read and check JSON (rule_reader.h), store the built-in
// rules in the program (rule_image.h), and make rules/schema.json, with the texts of docs/rules-details.json. A visitor
// has these members:
//
//   Record(title)                   the record; called first
//   Need(key, value, field)         a member that must be present
//   Maybe(key, value, field)        a member that may be absent; then the value keeps its default
//   Short(key, value, field)        like Need, but the record may be given as just this value
//   Self(value)                     the record is this value
//   Computed(value)                 a value that is stored but not in the files
//   Samples(samples, matches, is_needed)   examples and counterexamples; matches(example) is whether the entry matches
//                                   one, or nullopt if only a whole log shows it
//   Check(condition, key, what, hint)   reports a fault at the member unless the condition holds
#pragma once

#include <algorithm>
#include <optional>
#include <string>

#include "rules/rule_set.h"

namespace whyoom {

// The kind of name that a member's text is.
enum class Names { kNothing, kFact, kNewFact, kRemedy, kCode, kContext, kFramework };

// Which literals of a pattern the prefilters search for: triggers and settings in every log (RuleHead::literals), those
// of facts only if they are long, the rest near failures.
enum class Literals { kNone, kTrigger, kSetting, kRare, kNearby, kSign };

struct RuleField {
  const char* one_of = "";  // the possible texts, separated by blanks; for an enumeration in the order of its values
  const char* form = "";    // an RE2 that a text matches
  int most = 1000;          // of a number
  bool is_needed = true;    // in Short, if the record is an object
  bool is_term = false;     // the expression is compiled when all terms are known
  bool lines = false;       // the texts of a list are joined with line breaks
  bool is_plain = true;     // the text is printed, so it contains no control characters
  Names names = Names::kNothing;
  Literals literals = Literals::kNone;
};

inline constexpr const char* kSafeties = "safe safe_slower risky changes_training";
inline constexpr auto kUnchecked = [](const Example& /*example*/) -> std::optional<bool> { return std::nullopt; };

void Describe(auto& v, Link& link) {
  v.Record("Link");
  v.Need("title", link.title);
  v.Need("url", link.url, {.form = "^https://"});
}

void DescribeSentence(auto& v, Sentence& sentence) {
  v.Maybe("when", sentence.when);
  v.Maybe("row", sentence.row);
  v.Maybe("at", sentence.at, {.names = Names::kFact});
  v.Maybe("mistake", sentence.mistake, {.form = "^[a-z0-9_]+$"});
  v.Maybe("cure", sentence.cure, {.names = Names::kRemedy});
}

void Describe(auto& v, Sentence& sentence) {
  v.Record("Sentence");
  v.Short("text", sentence.text, {.is_needed = false});
  DescribeSentence(v, sentence);
}

void Describe(auto& v, RemedyUse& use) {
  v.Record("Offered remedy");
  v.Short("id", use.remedy, {.names = Names::kRemedy});
  v.Maybe("section", use.section);
  v.Maybe("prior", use.prior);
}

void Describe(auto& v, Retry& retry) {
  v.Record("Retry");
  v.Need("answer", retry.answer, {.one_of = "never maybe unknown"});
  v.Need("why", retry.why);
}

void Describe(auto& v, Example& example) {
  v.Record("Example");
  v.Short("text", example.text, {.lines = true, .is_plain = false});
  v.Maybe("facts", example.facts);
  v.Maybe("why", example.why);
  v.Maybe("scenario", example.scenario);
  v.Maybe("count", example.count);
  v.Maybe("leaves", example.leaves, {.is_plain = false});
}

void Describe(auto& v, HeaderPattern& header) {
  v.Record("Header pattern");
  v.Short("pattern", header.pattern, {.literals = Literals::kTrigger});
  v.Maybe("line_start", header.line_start);
  v.Maybe("of_report", header.of_report);
  v.Maybe("unless", header.unless);
  v.Maybe("fragment", header.fragment);
}

void Describe(auto& v, DerivedFact& derived) {
  v.Record("Derived fact");
  v.Need("fact", derived.name, {.names = Names::kNewFact});
  v.Need("from", derived.from);
  v.Maybe("when", derived.when);
  v.Maybe("replace", derived.replace);
  v.Maybe("identifies", derived.identifies);
}

void Describe(auto& v, Scenario& scenario) {
  v.Record("Scenario");
  v.Need("id", scenario.id);
  v.Need("title", scenario.title);
  v.Maybe("priority", scenario.priority);
  v.Need("when", scenario.when);
  v.Maybe("about", scenario.about);
  v.Maybe("retry", scenario.retry);
  v.Maybe("why", scenario.why);
  v.Maybe("remedies", scenario.remedies);
}

void Describe(auto& v, FailureRule& failure) {
  v.Record("Failure");
  v.Need("code", failure.code);
  v.Maybe("aliases", failure.aliases);
  v.Need("title", failure.title);
  v.Need("category", failure.category);
  v.Need("phase", failure.phase, {.one_of = "compile run"});
  v.Maybe("about", failure.about);
  v.Maybe("links", failure.links);
  v.Need("heads", failure.header_patterns);
  v.Maybe("facts", failure.facts, {.literals = Literals::kRare});
  v.Maybe("memory_space", failure.memory_space);
  v.Maybe("of_dump", failure.of_dump);
  v.Maybe("contexts", failure.contexts, {.names = Names::kContext});
  v.Maybe("derived", failure.derived);
  v.Maybe("identity", failure.identity, {.names = Names::kFact});
  v.Maybe("numbers", failure.numbers, {.names = Names::kFact});
  v.Maybe("absorbed_by", failure.absorbed_by, {.names = Names::kCode});
  v.Maybe("consequence_of", failure.consequence_of, {.names = Names::kCode});
  v.Maybe("retry", failure.retry);
  v.Maybe("scenarios", failure.scenarios);
  v.Maybe("why", failure.why);
  v.Maybe("remedies", failure.remedies);
  v.Samples(failure.samples, kUnchecked);
  v.Computed(failure.example);
}

void Describe(auto& v, ConditionalSafety& other) {
  v.Record("Other safety");
  v.Need("when", other.when);
  v.Need("safety", other.safety, {.one_of = kSafeties});
  v.Need("safe_why", other.safe_why);
}

void Describe(auto& v, Snippet& snippet) {
  v.Record("Snippet");
  v.Maybe("language", snippet.language, {.one_of = "python shell yaml"});
  v.Need("before", snippet.before, {.lines = true, .is_plain = false});
  v.Need("after", snippet.after, {.lines = true, .is_plain = false});
  v.Check(snippet.before != snippet.after, "after", "this is identical to 'before'", "show what the remedy changes");
}

void Describe(auto& v, Remedy& remedy) {
  v.Record("Remedy");
  v.Need("id", remedy.id);
  v.Need("title", remedy.title);
  v.Need("safety", remedy.safety, {.one_of = kSafeties});
  v.Need("safe_why", remedy.safe_why);
  v.Maybe("safety_when", remedy.safety_when);
  v.Need("cost", remedy.cost, {.most = 6});
  v.Maybe("inquiry", remedy.inquiry);
  v.Need("gain", remedy.gain);
  v.Need("telltale", remedy.telltale);
  v.Need("note", remedy.note);
  v.Need("how", remedy.how, {.names = Names::kFramework});
  v.Maybe("snippets", remedy.snippets, {.names = Names::kFramework});
  v.Maybe("links", remedy.links);
  v.Maybe("evidence", remedy.evidence);
  v.Maybe("when", remedy.when);
  v.Maybe("ruled_out", remedy.ruled_out);
  v.Maybe("change", remedy.change,
          {.one_of = "half_batch batch_in_steps half_sequence pieces donate shard more_devices bfloat16 "
                     "recompute_layers attention_in_blocks loss_in_chunks state_on_host "
                     "no_host_transfer no_tiny_dimensions"});
  v.Maybe("in_parts", remedy.in_parts);
  v.Check(remedy.in_parts.empty() || remedy.in_parts.find(kPartsPlaceholder) != std::string::npos, "in_parts",
          std::string("the placeholder for the number is missing: ") + kPartsPlaceholder);
  v.Maybe("spread_percent", remedy.spread_percent);
  v.Maybe("saves", remedy.saves);
  v.Maybe("with", remedy.with, {.names = Names::kRemedy});
}

void Describe(auto& v, Context& context) {
  v.Record("Context");
  v.Need("id", context.id);
  v.Maybe("job_wide", context.job_wide);
  v.Maybe("nearby", context.nearby);
  v.Maybe("of_next_failure", context.of_next_failure);
  v.Maybe("of_report", context.of_report);
  v.Maybe("program", context.is_program);
  const Literals far = context.is_program ? Literals::kTrigger : Literals::kSetting;
  v.Need("patterns", context.patterns, {.literals = context.nearby ? Literals::kNearby : far});
  v.Maybe("until", context.until, {.literals = Literals::kNearby});
  v.Check(!context.until.ok() || context.of_next_failure, "until", "'until' requires a context of the next failure",
          "add \"of_next_failure\": true");
  v.Maybe("derived", context.derived);
  v.Check(context.derived.empty() || context.is_program, "derived",
          "'derived' requires a context that describes a program", "add \"program\": true");
  v.Samples(context.samples, [&](const Example& example) -> std::optional<bool> { return context.States(example); });
}

void Describe(auto& v, Framework& framework) {
  v.Record("Framework");
  v.Need("id", framework.id);
  v.Maybe("name", framework.name);
  v.Maybe("aliases", framework.aliases);
  v.Maybe("based_on", framework.based_on, {.names = Names::kFramework});
  v.Maybe("priority", framework.priority);
  v.Need("signs", framework.signs, {.literals = Literals::kSign});
  v.Samples(framework.samples, [&](const Example& example) -> std::optional<bool> {
    return std::any_of(framework.signs.begin(), framework.signs.end(),
                       [&](const Pattern& sign) { return sign.IsIn(example.text); });
  });
}

void Describe(auto& v, Chip::Target& target) {
  v.Record("Target");
  v.Need("pattern", target.pattern);
  v.Need("limit", target.limit);
}

void Describe(auto& v, Chip& chip) {
  v.Record("Chip");
  v.Need("id", chip.id);
  v.Need("limits", chip.limits);
  v.Maybe("targets", chip.targets);
  v.Samples(chip.samples, kUnchecked, false);
}

void Describe(auto& v, NameVersions& versions) {
  v.Record("Versions of a name");
  v.Need("id", versions.id);
  v.Need("package", versions.package, {.form = "^[a-z][a-z0-9_-]*$"});
  v.Maybe("since", versions.since, {.form = "^[0-9]+(\\.[0-9]+)+$"});
  v.Maybe("until", versions.until, {.form = "^[0-9]+(\\.[0-9]+)+$"});
  v.Check(!versions.since.empty() || !versions.until.empty(), "id", "both 'since' and 'until' are missing",
          "remove the entry if every release has the name");
  const bool is_ordered = versions.since.empty() || versions.until.empty() ||
                          CompareVersions(versions.until, versions.since).value_or(0) >= 0;
  v.Check(is_ordered, "until", "this precedes 'since', " + versions.since, "write the last release that has the name");
}

void Describe(auto& v, ContradictionRule& rule) {
  v.Record("Contradiction");
  v.Need("id", rule.id);
  v.Need("text", rule.sentence.text);
  DescribeSentence(v, rule.sentence);
  v.Check(rule.sentence.when || rule.sentence.row, "id", "without 'when' or 'row' the contradiction is never detected",
          "add one of them");
  v.Maybe("figures", rule.figures, {.names = Names::kFact});
}

void Describe(auto& v, Quotation& quotation) {
  v.Record("Quotation");
  v.Need("id", quotation.id);
  v.Maybe("lead", quotation.lead);
  v.Maybe("before", quotation.before);
  v.Maybe("after", quotation.after);
  v.Maybe("unless", quotation.unless);
  v.Maybe("unless_after", quotation.unless_after);
  v.Maybe("in_source", quotation.in_source);
  v.Maybe("own_report", quotation.own_report);
  v.Check(quotation.lead.ok() || quotation.before.ok() || quotation.after.ok(), "id",
          "without 'lead', 'before' and 'after' every message is quoted", "add one of them");
  v.Samples(quotation.samples,
            [&](const Example& example) -> std::optional<bool> { return quotation.MatchesExample(example.text); });
}

void Describe(auto& v, PrefixOrSuffix& affix) {
  v.Record("Prefix or suffix");
  v.Need("id", affix.id);
  v.Need("place", affix.place, {.one_of = "prefix suffix"});
  v.Need("pattern", affix.pattern, {.is_plain = false});
  v.CheckAffix(affix.pattern);
}

void Describe(auto& v, LineRule& line) {
  v.Record("Line");
  v.Need("id", line.id);
  v.Need("kind", line.kind,
         {.one_of = "candidate error healthy compiles step number result handled other_error failed source"});
  const bool is_candidate = line.kind == LineRule::Kind::kCandidate;
  v.Need("pattern", line.pattern, {.literals = is_candidate ? Literals::kTrigger : Literals::kNone});
  v.Maybe("unless", line.unless);
  v.Samples(line.samples, [&](const Example& example) -> std::optional<bool> {
    PatternMatch match;
    return is_candidate ? std::nullopt : std::optional(line.Find(example.text, &match));
  });
}

void Describe(auto& v, Term& term) {
  v.Record("Term");
  v.Short("is", term.expression, {.is_term = true});
  v.Maybe("why", term.why);
}

void Describe(auto& v, Wording& wording) { v.Self(wording.sentences); }

void Describe(auto& v, JsonLogKeys& keys) {
  v.Record("JSON logs");
  v.Maybe("text", keys.text, {.form = "^/"});
  v.Maybe("reporter", keys.stream_name, {.form = "^/"});
  v.Maybe("time", keys.time, {.form = "^/"});
  v.TriggerTexts("bytes");
}

void Describe(auto& v, RoleWords& roles) {
  v.Record("Roles");
  constexpr const char* kWord = "^[a-z0-9_]+$";
  v.Maybe("optimizer_state", roles.optimizer_state, {.form = kWord});
  v.Maybe("optimizer_parts", roles.optimizer_parts, {.form = kWord});
  v.Maybe("weights", roles.weights, {.form = kWord});
  v.Maybe("cache", roles.cache, {.form = kWord});
  v.Maybe("inputs", roles.inputs, {.form = kWord});
}

// Calls v.Section(key, entries) for each section that is a list of entries, v.ByName for each that is an object whose
// keys are the ids, and v.Settings for each that has no entries. Terms come first, because other entries use them.
void DescribeSections(auto& v, RuleSet& rules) {
  v.ByName("terms", rules.terms);
  v.Section("failures", rules.failures);
  v.Section("remedies", rules.remedies);
  v.Section("contexts", rules.contexts);
  v.Section("frameworks", rules.frameworks);
  v.Section("chips", rules.chips);
  v.Section("quotations", rules.quotations);
  v.Section("lines", rules.lines);
  v.Section("affixes", rules.affixes);
  v.Section("versions", rules.name_versions);
  v.Section("contradictions", rules.contradictions);
  v.ByName("wording", rules.wording);
  v.Settings("json_logs", rules.json_keys);
  v.Settings("roles", rules.role_words);
}

}  // namespace whyoom
