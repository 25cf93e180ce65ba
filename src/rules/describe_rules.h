// Describes the records of rule files once: the descriptions read and check JSON (rule_reader.h), store the built-in
// rules in the program (rule_image.h), and make rules/schema.json. A visitor has these members:
//
//   Record(title, about)            the record; called first
//   Need(key, value, field)         a member that must be present
//   Maybe(key, value, field)        a member that may be absent; then the value keeps its default
//   Short(key, value, field)        like Need, but the record may be given as just this value
//   Self(value, field)              the record is this value
//   OwnedBy(owner)                  what provides the facts that the following expressions use, see NameCheck
//   Samples(samples, matches)       examples and counterexamples; matches(example) is whether the entry matches one
//   Distinct(key, items)            the items have different ids
//   Check(condition, key, what, hint)   reports a fault at the member unless the condition holds
#pragma once

#include <algorithm>
#include <concepts>
#include <optional>
#include <string>
#include <type_traits>

#include "rules/names.h"
#include "rules/rule_data.h"

namespace whyoom {

// A record as a parameter of its description: const when written, mutable when read.
template <class R, class Record>
concept RuleRecord = std::same_as<std::remove_const_t<R>, Record>;

// What the text of a member names.
enum class Names { kNothing, kFact, kRemedy, kCode, kContext, kFramework };

// Which literals of a pattern the prefilters search for: triggers and settings in every log (RuleData::literals), those
// of facts only if they are long, the rest near failures.
enum class Literals { kNone, kTrigger, kSetting, kRare, kNearby, kSign };

struct RuleField {
  const char* about = "";
  const char* one_of = "";  // the possible texts, separated by blanks; for an enumeration in the order of its values
  const char* form = "";    // an RE2 that a text matches
  int least = 0;            // of a number
  int most = 1000;
  bool in_row = false;        // expressions may use fields of a row
  bool is_term = false;       // the expression is compiled when all terms are known
  bool in_row_field = false;  // the expression uses fields of a row but no terms
  bool lines = false;         // the texts of a list are joined with line breaks
  bool is_plain = true;       // the text is printed, so it contains no control characters
  Names names = Names::kNothing;
  Literals literals = Literals::kNone;
  const char* what = "";  // the kind of entry, for faults about literals
};

inline constexpr const char* kSafeties = "safe safe_slower risky changes_training";
inline constexpr const char* kId = "The id of the entry.";

void Describe(auto& v, RuleRecord<Link> auto& link) {
  v.Record("Link", "A page for further reading.");
  v.Need("title", link.title, {.about = "The subject of the page."});
  v.Need("url", link.url, {.about = "The address.", .form = "^https://"});
}

void DescribeSentence(auto& v, RuleRecord<Sentence> auto& sentence) {
  v.Maybe("when", sentence.when, {.about = "The condition for printing the sentence."});
  v.Maybe("row", sentence.row,
          {.about = "A condition on one row; the sentence is about the first row of the report that meets it.",
           .in_row = true});
  v.Maybe("at", sentence.at, {.about = "The fact whose line in the log proves the sentence.", .names = Names::kFact});
  v.Maybe("mistake", sentence.mistake,
          {.about = "The id of the mistake in the user's program that the sentence names; such sentences come first.",
           .form = "^[a-z0-9_]+$"});
  v.Maybe("cure", sentence.cure,
          {.about = "The remedy that undoes the mistake. It ranks above others that are estimated to be enough.",
           .names = Names::kRemedy});
  v.Maybe("text", sentence.text, {.about = "The sentence.", .in_row = sentence.row.has_value()});
}

void Describe(auto& v, RuleRecord<Sentence> auto& sentence) {
  v.Record("Sentence", "A sentence about this log.");
  DescribeSentence(v, sentence);
}

void Describe(auto& v, RuleRecord<RemedyUse> auto& use) {
  v.Record("Offered remedy", "A remedy that a failure or scenario offers.");
  v.Short("id", use.remedy, {.about = "The id of the remedy.", .names = Names::kRemedy});
  v.Maybe("section", use.section, {.about = "The section of the official page, such as 3.A."});
  v.Maybe("prior", use.prior, {.about = "The position among remedies that are otherwise equal; the lowest is first."});
}

void Describe(auto& v, RuleRecord<Retry> auto& retry) {
  v.Record("Retry", "Whether a retry of the unchanged job can succeed.");
  v.Need("answer", retry.answer,
         {.about = "`never`: the job will fail the same way; `maybe`: it can succeed; `unknown`: the message does not "
                   "show it.",
          .one_of = "never maybe unknown"});
  v.Need("why", retry.why, {.about = "The reason, in one sentence without placeholders."});
}

void Describe(auto& v, RuleRecord<Example> auto& example) {
  v.Record("Example", "A text in which exactly this entry must be found, or, as a counterexample, must not be found.");
  v.Short("text", example.text, {.about = "The lines, exactly as in the log.", .lines = true, .is_plain = false});
  v.Maybe("facts", example.facts, {.about = "The facts that must be read."});
  v.Maybe("why", example.why, {.about = "Why a counterexample is none of this entry."});
  v.Maybe("scenario", example.scenario, {.about = "The id of the scenario; empty if the log cannot decide."});
  v.Maybe("count", example.count, {.about = "The number of failures in the text.", .least = 1});
  v.Maybe("leaves", example.leaves,
          {.about = "The text that remains without the prefix or suffix.", .is_plain = false});
}

void Describe(auto& v, RuleRecord<HeaderPattern> auto& header) {
  v.Record("Header pattern", "A header pattern: it starts a failure's message.");
  v.Short("pattern", header.pattern,
          {.about = "The start of the message.", .literals = Literals::kTrigger, .what = "head"});
  v.Maybe("id", header.id, {.about = "The name of the pattern within this failure."});
  v.Maybe("line_start", header.line_start, {.about = "Match only at the start of a line."});
  v.Maybe("of_report", header.of_report,
          {.about = "The pattern matches a line of the report itself, for reports whose message is missing."});
  v.Maybe("unless", header.unless,
          {.about = "A fact of a context of the failure: if the log states it, the pattern is ignored."});
  v.Maybe("fragment", header.fragment,
          {.about = "The pattern matches only a part of the message, so the confidence is at most low."});
}

void Describe(auto& v, RuleRecord<DerivedFact> auto& derived) {
  v.Record("Derived fact", "A fact that is computed if the log does not state it.");
  v.Need("fact", derived.name, {.about = "The name of the fact."});
  v.Need("from", derived.from, {.about = "The formula."});
  v.Maybe("when", derived.when, {.about = "A condition: the formula is used only if it is true."});
  v.Maybe("priority", derived.priority,
          {.about = "If several formulas give the same fact, the one with the highest priority that applies is used."});
  v.Maybe("replace", derived.replace, {.about = "Use the formula even if the log states the fact."});
  v.Maybe("identifies", derived.identifies,
          {.about = "Whether the fact distinguishes failures if `identity` lists it; true by default."});
}

void Describe(auto& v, RuleRecord<Scenario> auto& scenario) {
  v.Record("Scenario", "A possible cause of the failure.");
  v.Need("id", scenario.id, {.about = "The id within the failure, such as 2 or true_oom."});
  v.Need("title", scenario.title, {.about = "A few words, in lower case."});
  v.Maybe("priority", scenario.priority,
          {.about = "If several scenarios are true, the one with the highest priority is reported."});
  v.Need("when", scenario.when, {.about = "The condition: the scenario applies if it is true."});
  v.Maybe("about", scenario.about, {.about = "The meaning of the scenario, for `explain`."});
  v.Maybe("retry", scenario.retry,
          {.about = "Whether a retry can succeed in this scenario; this replaces the failure's entry."});
  v.Maybe("why", scenario.why, {.about = "Sentences about this log."});
  v.Maybe("remedies", scenario.remedies, {.about = "The remedies of this scenario."});
}

void Describe(auto& v, RuleRecord<FailureRule> auto& failure) {
  v.Record("Failure", "How whyoom recognises a failure, what it means, and what helps.");
  v.Need("code", failure.code, {.about = "The code: 0100, E1000, or a name such as tpu.vmem or my.pool."});
  v.OwnedBy(failure.code);
  v.Maybe("aliases", failure.aliases, {.about = "Other names for the code, accepted wherever a code is typed."});
  v.Need("title", failure.title, {.about = "A few words, in lower case."});
  v.Need("category", failure.category,
         {.about = "The category, in the words of the official page, such as `Run time: host memory`."});
  v.Need("phase", failure.phase, {.about = "When the failure occurs.", .one_of = "compile run"});
  v.Maybe("about", failure.about, {.about = "Paragraphs for `explain`."});
  v.Maybe("links", failure.links, {.about = "Pages for further reading."});
  v.Need("heads", failure.header_patterns, {.about = "The header patterns: each starts a finding."});
  v.Maybe("facts", failure.facts,
          {.about = "Patterns that are searched for in the message after the header pattern.",
           .literals = Literals::kRare});
  v.Maybe("reader", failure.reader, {.about = "The reader of the table below the message.", .one_of = "memory_report"});
  v.Maybe("memory_space", failure.memory_space,
          {.about = "The memory whose totals and list the reader reads: vmem, smem, or any; hbm by default."});
  v.Maybe("of_dump", failure.of_dump,
          {.about = "The failure to report for an XLA dump of a compile that ran out of memory."});
  v.Maybe("contexts", failure.contexts,
          {.about = "The ids of contexts whose facts apply to this failure.", .names = Names::kContext});
  v.Distinct("heads", failure.header_patterns);
  v.Maybe("derived", failure.derived, {.about = "Facts that are computed."});
  v.Maybe("identity", failure.identity,
          {.about = "Facts that identify the failure: two messages with different values are two failures.",
           .names = Names::kFact});
  v.Maybe("numbers", failure.numbers, {.about = "Facts that determine the confidence.", .names = Names::kFact});
  v.Maybe("absorbed_by", failure.absorbed_by,
          {.about = "Codes of failures that replace this one if one of their header patterns matches in its message.",
           .names = Names::kCode});
  v.Maybe("consequence_of", failure.consequence_of,
          {.about = "Codes of failures that cause this one.", .names = Names::kCode});
  v.Maybe("retry", failure.retry, {.about = "Whether a retry can succeed, if no scenario has such an entry."});
  v.Maybe("scenarios", failure.scenarios, {.about = "The possible causes."});
  v.Distinct("scenarios", failure.scenarios);
  v.Maybe("why", failure.why, {.about = "Sentences about this log for every scenario."});
  v.Maybe("remedies", failure.remedies, {.about = "The remedies if the scenario is unknown or has none."});
  v.Samples(failure.samples);
  v.Computed(failure.example);
}

void Describe(auto& v, RuleRecord<ConditionalSafety> auto& other) {
  v.Record("Other safety", "The effect on the results under a condition.");
  v.Need("when", other.when, {.about = "The condition."});
  v.Need("safety", other.safety, {.about = "The effect on the results in that case.", .one_of = kSafeties});
  v.Need("safe_why", other.safe_why, {.about = "Why the results stay the same or not in that case."});
}

void Describe(auto& v, RuleRecord<Snippet> auto& snippet) {
  v.Record("Snippet", "A few lines of a program before and after the remedy, for `explain`.");
  v.Maybe("language", snippet.language, {.about = "The language; python by default.", .one_of = "python shell yaml"});
  v.Need("before", snippet.before, {.about = "The lines before the change.", .lines = true, .is_plain = false});
  v.Need("after", snippet.after, {.about = "The lines after the change.", .lines = true, .is_plain = false});
  v.Check(snippet.before != snippet.after, "after", "this is identical to 'before'", "show what the remedy changes");
}

void Describe(auto& v, RuleRecord<Remedy> auto& remedy) {
  v.Record("Remedy", "One change that a user can make.");
  v.Need("id", remedy.id, {.about = kId});
  v.Need("title", remedy.title, {.about = "A short imperative, such as `Donate the input buffers`."});
  v.Need("safety", remedy.safety, {.about = "The effect on the results.", .one_of = kSafeties});
  v.Need("safe_why", remedy.safe_why, {.about = "Why the results stay the same or not."});
  v.Maybe("safety_when", remedy.safety_when,
          {.about = "Effects on the results under a condition, such as in a program that does not train."});
  v.Need("cost", remedy.cost,
         {.about = "The effort: 0 none, 1 a small change, 2 slower steps, 3 slow or uncertain, 4 lower precision, 5 "
                   "another setup, 6 another model.",
          .most = 6});
  v.Maybe("inquiry", remedy.inquiry, {.about = "The remedy only gets more information and saves nothing itself."});
  v.Need("gain", remedy.gain, {.about = "The possible saving, in words."});
  v.Need("telltale", remedy.telltale, {.about = "The usual sign that the remedy helps."});
  v.Need("note", remedy.note, {.about = "Preconditions and side effects."});
  v.Need("how", remedy.how, {.about = "The steps, by framework.", .names = Names::kFramework});
  v.Maybe("snippets", remedy.snippets,
          {.about = "Code before and after the remedy, by framework.", .names = Names::kFramework});
  v.Maybe("links", remedy.links, {.about = "Pages for further reading."});
  v.Maybe("evidence", remedy.evidence, {.about = "Sentences about this log that support the remedy."});
  v.Maybe("when", remedy.when,
          {.about = "A condition: the remedy is offered only if it is true, and not if it is unknown."});
  v.Maybe("ruled_out", remedy.ruled_out, {.about = "Conditions that exclude the remedy, with the reason."});
  v.Maybe("change", remedy.change,
          {.about = "The change that the remedy makes to a compiled program.",
           .one_of = "half_batch batch_in_steps half_sequence pieces donate shard more_devices bfloat16 "
                     "recompute_layers attention_in_blocks loss_in_chunks labels_as_numbers state_on_host "
                     "no_host_transfer no_tiny_dimensions"});
  v.Maybe("in_parts", remedy.in_parts,
          {.about = "What the estimate assumes, with {parts} for the number: `with {parts} micro-batches`."});
  v.Check(remedy.in_parts.empty() || remedy.in_parts.find(kPartsPlaceholder) != std::string::npos, "in_parts",
          std::string("the placeholder for the number is missing: ") + kPartsPlaceholder);
  v.Maybe("spread_percent", remedy.spread_percent, {.about = "The error of the estimate, in percent of the saving."});
  v.Maybe("saves", remedy.saves, {.about = "The bytes that the remedy saves, computed from the list of allocations."});
  v.Maybe("with", remedy.with,
          {.about = "Remedies that are worth combining with this one; `whyoom explain` lists them.",
           .names = Names::kRemedy});
}

void Describe(auto& v, RuleRecord<Context> auto& context) {
  v.Record("Context", "Lines before an error whose captures become facts of the failures that list the context.");
  v.Need("id", context.id, {.about = kId});
  v.OwnedBy(ContextOwner(context.id));
  v.Maybe("job_wide", context.job_wide, {.about = "The facts apply to all processes of the log."});
  v.Maybe("nearby", context.nearby,
          {.about = "Search only near a failure: in its traceback and in the 64 KiB of lines above it."});
  v.Maybe("of_next_failure", context.of_next_failure,
          {.about = "The facts describe one program: they apply only to the next failure, and only as long as `until` "
                    "does not match."});
  v.Maybe("of_report", context.of_report,
          {.about = "The line is part of a compiler's report, which healthy compiles print too."});
  v.Maybe("program", context.is_program,
          {.about = "Each match states what one program needs and becomes an entry of `programs` in the report."});
  const Literals far = context.is_program ? Literals::kTrigger : Literals::kSetting;
  v.Need("patterns", context.patterns,
         {.about = "The patterns, each with its own facts.",
          .literals = context.nearby ? Literals::kNearby : far,
          .what = "context"});
  v.Maybe("until", context.until,
          {.about = "A line that shows that the program has ended, so that a later failure belongs to another program.",
           .literals = Literals::kNearby});
  v.Check(!context.until.ok() || context.of_next_failure, "until", "'until' requires a context of the next failure",
          "add \"of_next_failure\": true");
  v.Maybe("derived", context.derived,
          {.about = "Derived facts of such a program, from the captures of the match alone."});
  v.Check(context.derived.empty() || context.is_program, "derived",
          "'derived' requires a context that describes a program", "add \"program\": true");
  v.Samples(context.samples, [&](const Example& example) { return context.States(example); });
  v.Unstored("until_examples", context.until_examples, {.about = "Texts that `until` matches.", .is_plain = false});
}

void Describe(auto& v, RuleRecord<Framework> auto& framework) {
  v.Record("Framework", "A framework, with the patterns that show it.");
  v.Need("id", framework.id, {.about = "The id, as used in `how` and by --framework."});
  v.Maybe("name", framework.name, {.about = "The usual spelling, such as PyTorch/XLA; the id by default."});
  v.Maybe("aliases", framework.aliases, {.about = "Other names that --framework accepts, such as torch."});
  v.Maybe(
      "based_on", framework.based_on,
      {.about = "The framework whose steps and snippets apply where this one has none.", .names = Names::kFramework});
  v.Maybe("priority", framework.priority,
          {.about = "If a log shows several frameworks, the one with the highest priority is used."});
  v.Maybe("is_default", framework.is_default,
          {.about = "The steps of this framework are used for frameworks without steps."});
  v.Need("signs", framework.signs,
         {.about = "Patterns that show the framework in a log.", .literals = Literals::kSign});
  v.Samples(framework.samples, [&](const Example& example) {
    return std::any_of(framework.signs.begin(), framework.signs.end(),
                       [&](const Pattern& sign) { return sign.IsIn(example.text); });
  });
}

void Describe(auto& v, RuleRecord<Chip::Target> auto& target) {
  v.Record("Target", "One way to compile for the chip.");
  v.Need("pattern", target.pattern, {.about = "A pattern that is searched for in that file."});
  v.Need("limit", target.limit,
         {.about = "The limit that compilers print for such programs: a size as printed, such as 15.75G, or bytes."});
}

void Describe(auto& v, RuleRecord<Chip> auto& chip) {
  v.Record("Chip", "A chip.");
  v.Need("id", chip.id, {.about = "The name of the chip, such as v5e."});
  v.Need("limits", chip.limits, {.about = "Usable sizes, as messages print them (15.75G) or in bytes."});
  v.Maybe("targets", chip.targets,
          {.about = "Patterns that recognise the chip in `*.target_arguments.txt` of an XLA dump, with the usable "
                    "memory."});
  v.MaybeSamples(chip.samples);
}

void Describe(auto& v, RuleRecord<NameVersions> auto& versions) {
  v.Record("Versions of a name", "A name, and the releases of its package that have it.");
  v.Need("id", versions.id,
         {.about = "The name as in the steps: a flag, a call, or an argument, such as `jax.lax.map(batch_size=)`."});
  v.Need("package", versions.package, {.about = "The package, such as libtpu.", .form = "^[a-z][a-z0-9_-]*$"});
  v.Maybe("since", versions.since, {.about = "The first release that has the name.", .form = "^[0-9]+(\\.[0-9]+)+$"});
  v.Maybe("until", versions.until, {.about = "The last release that has the name.", .form = "^[0-9]+(\\.[0-9]+)+$"});
  v.Check(!versions.since.empty() || !versions.until.empty(), "id", "both 'since' and 'until' are missing",
          "remove the entry if every release has the name");
  const bool is_ordered = versions.since.empty() || versions.until.empty() ||
                          CompareVersions(versions.until, versions.since).value_or(0) >= 0;
  v.Check(is_ordered, "until", "this precedes 'since', " + versions.since, "write the last release that has the name");
}

void Describe(auto& v, RuleRecord<Note> auto& note) {
  v.OwnedBy(kComparisonOwner);
  v.Record("Note", "A remark with the condition for printing it.");
  v.Need("id", note.id, {.about = kId});
  v.Maybe("prior", note.prior, {.about = "The position among the notes; the lowest comes first."});
  v.Need("when", note.when, {.about = "The condition for printing the note."});
  v.Need("why", note.why, {.about = "The sentences of the note."});
}

void Describe(auto& v, RuleRecord<ContradictionRule> auto& rule) {
  v.Record("Contradiction", "A condition on figures, and the sentence to print.");
  v.Need("id", rule.id, {.about = kId});
  DescribeSentence(v, rule.sentence);
  v.Check(rule.sentence.when || rule.sentence.row, "id", "without 'when' or 'row' the contradiction is never detected",
          "add one of them");
  v.Maybe("figures", rule.figures, {.about = "The facts that are unknown from then on.", .names = Names::kFact});
  v.Maybe("list", rule.list, {.about = "The list of allocations is unknown, too."});
}

void Describe(auto& v, RuleRecord<Quotation> auto& quotation) {
  v.Record("Quotation", "A text around a message that shows that the message is only quoted.");
  v.Need("id", quotation.id, {.about = kId});
  v.Maybe("lead", quotation.lead,
          {.about = "A pattern for the start of the line with the message, up to the message."});
  v.Maybe("before", quotation.before,
          {.about = "A pattern for the text before the message: up to eight lines, each after a line break, and the "
                    "start of the line with the message."});
  v.Maybe("after", quotation.after,
          {.about = "A pattern for the text from the message on, with up to six more lines."});
  v.Maybe("unless", quotation.unless,
          {.about = "If this matches the text before the message, the message is not quoted."});
  v.Maybe("unless_after", quotation.unless_after,
          {.about = "If this matches the text from the message on, the message is not quoted."});
  v.Maybe("in_source", quotation.in_source,
          {.about = "Two lines of source code must be near as well, on either side and in the same Markdown fence."});
  v.Maybe("own_report", quotation.own_report,
          {.about = "The text is a report of whyoom, so no note says that it was passed over."});
  v.Maybe("source_line", quotation.source_line, {.about = "`lead` recognises one line of source code."});
  v.Check(quotation.lead.ok() || quotation.before.ok() || quotation.after.ok(), "id",
          "without 'lead', 'before' and 'after' every message is quoted", "add one of them");
  v.Samples(quotation.samples, [&](const Example& example) { return quotation.MatchesExample(example.text); });
}

void Describe(auto& v, RuleRecord<CandidateError> auto& candidate) {
  v.Record("Candidate error", "Words of a memory error, by which whyoom finds candidate errors.");
  v.Need("id", candidate.id, {.about = kId});
  v.Need("pattern", candidate.pattern,
         {.about = "The words, all in one line.", .literals = Literals::kTrigger, .what = "suspect"});
  v.Maybe("unless", candidate.unless,
          {.about = "Patterns that show that the line is about something else, such as an API quota, a count of zero, "
                    "or advice."});
  v.Samples(candidate.samples);
}

void Describe(auto& v, RuleRecord<ErrorLine> auto& line) {
  v.Record("Error line", "A pattern of a line, such as the name of an exception or the level ERROR.");
  v.Need("id", line.id, {.about = kId});
  v.Need("pattern", line.pattern,
         {.about = "A pattern for the removed prefixes (of a JSON record, the record), a line break, and the text."});
  v.Maybe("healthy", line.healthy, {.about = "The line shows that nothing failed, such as a warning or a comment."});
  v.Samples(line.samples, [&](const Example& example) { return line.pattern.IsIn(example.text); });
}

void Describe(auto& v, RuleRecord<ProgressLine> auto& line) {
  v.Record("Progress line", "A line that shows progress, such as a training step with its loss.");
  v.Need("id", line.id, {.about = kId});
  v.Need("pattern", line.pattern, {.about = "A pattern that is searched for in the line."});
  v.Maybe("unless", line.unless, {.about = "A line that also matches this shows nothing."});
  v.Maybe("compiles", line.compiles,
          {.about = "The line shows that a program is being compiled, so earlier steps do not count."});
  v.Maybe("shows", line.shows,
          {.about = "What the line shows if it comes after a failure; step by default.",
           .one_of = "step number result handled error failed"});
  v.Samples(line.samples, [&](const Example& example) {
    PatternMatch match;
    return line.Find(example.text, &match);
  });
}

void Describe(auto& v, RuleRecord<PrefixOrSuffix> auto& affix) {
  v.Record("Prefix or suffix", "A prefix or suffix of each line.");
  v.Need("id", affix.id, {.about = kId});
  v.Need("place", affix.place,
         {.about = "Whether it occurs at the start or at the end of the line.", .one_of = "prefix suffix"});
  v.Need("pattern", affix.pattern, {.about = "The pattern, in plain RE2.", .is_plain = false});
  v.CheckAffix(affix.pattern);
}

void Describe(auto& v, RuleRecord<Term> auto& term) {
  v.Self(term.expression, {.about = "A condition or formula.", .is_term = true});
}

void Describe(auto& v, RuleRecord<DerivedRowField> auto& field) {
  v.OwnedBy(kRowOwner);
  v.Record("Field of a row", "A field that is computed from other fields of the row.");
  v.Need("when", field.when,
         {.about = "The condition on other fields of the row.", .is_term = true, .in_row_field = true});
  v.Need("about", field.about, {.about = "The meaning of the field."});
}

void Describe(auto& v, RuleRecord<Wording> auto& wording) {
  if (wording.id.starts_with("diff.")) v.OwnedBy(kComparisonOwner);
  v.Self(wording.sentences, {});
}

void Describe(auto& v, RuleRecord<Threshold> auto& threshold) {
  v.Record("Threshold", "A share below which whyoom ignores something.");
  v.Need("share", threshold.share, {.about = "The share, such as 0.01."});
  v.Need("about", threshold.about,
         {.about = "The quantity that the share refers to, and what whyoom ignores below it."});
}

void Describe(auto& v, RuleRecord<JsonLogKeys> auto& keys) {
  v.Record("JSON logs", "JSON pointers that show where log records keep their text, process and time.");
  v.Maybe("text", keys.text, {.about = "Pointers to the text.", .form = "^/"});
  v.Maybe("reporter", keys.stream_name, {.about = "Pointers to the process or host.", .form = "^/"});
  v.Maybe("time", keys.time, {.about = "Pointers to the time.", .form = "^/"});
  v.TriggerTexts("bytes", "How a text that is an array of byte values begins, with its key.");
}

void Describe(auto& v, RuleRecord<RoleWords> auto& roles) {
  v.Record("Roles", "Words in the names of a program's arguments that show what an argument is.");
  constexpr const char* kWord = "^[a-z0-9_]+$";
  v.Maybe("optimizer_state", roles.optimizer_state, {.about = "Words for the state of an optimizer.", .form = kWord});
  v.Maybe("optimizer_parts", roles.optimizer_parts,
          {.about = "Parts of names that only optimizer state has.", .form = kWord});
  v.Maybe("weights", roles.weights, {.about = "Words for weights and other parameters of a model.", .form = kWord});
  v.Maybe("cache", roles.cache, {.about = "Words for data that a serving engine keeps between steps.", .form = kWord});
  v.Maybe("inputs", roles.inputs, {.about = "Words for the inputs of a step.", .form = kWord});
}

// Calls v.Section(key, entries, about) for each section that is a list of entries, v.ByName for each that is an object
// whose keys are the ids, and v.Settings for each that has no entries. Terms and fields come first, because other
// entries use them.
void DescribeSections(auto& v, RuleRecord<RuleData> auto& data) {
  v.ByName("terms", data.terms, "Names for expressions that several rules need.");
  v.ByName("row_fields", data.derived_row_fields, "Fields of a row that are computed from its other fields.");
  v.Section("failures", data.failures, "The failures that whyoom recognises.");
  v.Section("remedies", data.remedies, "The remedies that failures can offer.");
  v.Section("contexts", data.contexts, "Log lines that state facts about a later failure or about a program.");
  v.Section("frameworks", data.frameworks,
            "The frameworks that whyoom recognises in a log, so that it can print the steps for that framework.");
  v.Section("chips", data.chips, "The chips that whyoom recognises by their memory limits.");
  v.Section("quotations", data.quotations, "Texts that quote an error message instead of printing it.");
  v.Section("suspects", data.candidate_errors,
            "The words of memory errors, by which whyoom also finds errors that no rule matches (candidate errors).");
  v.Section("error_lines", data.error_lines, "Patterns of lines that a process prints because something failed.");
  v.Section("progress", data.progress, "Lines that a job prints only after its program was compiled.");
  v.Section("affixes", data.prefixes_and_suffixes,
            "Prefixes and suffixes that loggers, schedulers and collectors add to each line.");
  v.Section("notes", data.notes, "Remarks that `whyoom diff` prints at the end of a comparison.");
  v.Section("versions", data.name_versions,
            "The releases of a package that have a flag, call or argument which a step uses.");
  v.Section("contradictions", data.contradictions, "Figures of one failure that cannot all be right.");
  v.ByName("wording", data.wording, "Sentences that the program looks up by name, such as `diff.total.need_bytes`.");
  v.ByName("thresholds", data.thresholds, "Minimum shares, by name: whyoom ignores remedies and programs below them.");
  v.Settings("json_logs", data.json_keys);
  v.Settings("roles", data.role_words);
}

}  // namespace whyoom
