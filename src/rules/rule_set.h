// The rule data: failures, remedies and the patterns that recognise them. Loaded once, checked as a whole, immutable
// afterwards. docs/rules-reference.md describes the format.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"
#include "rules/pattern.h"
#include "text/normalizer.h"

namespace whyoom {

struct NameVersions {
  // The name without its value: "xla_tpu_scoped_vmem_limit_kib". An argument includes the function it belongs to:
  // "jax.jit(compiler_options=)".
  std::string id;
  std::string package;  // the package whose releases `since` and `until` name: "libtpu"
  std::string since;    // first release that has the name; empty: no release without it is known
  std::string until;    // last release that has it; empty: no release has dropped it as far as is known

  // The fact that contains the release of the package used in a log: "libtpu_version".
  std::string VersionFact() const;
  // Returns whether release `version` has the name, as far as is known; nullopt if `version` does not start with a
  // number.
  std::optional<bool> ExistsIn(std::string_view version) const;
};

// Whether `text` contains `name` (see NameVersions::id) as a whole word. An argument must follow the function it
// belongs to.
bool ContainsName(std::string_view text, std::string_view name);

struct Link {
  std::string title;
  std::string url;
};

// Something wrong with a rule file.
struct Fault {
  std::string file;
  std::size_t line = 0;    // 1-based; 0 if the fault concerns the whole file
  std::size_t column = 0;  // 1-based, in bytes
  std::string what;
  std::string hint;              // how to fix it; may be empty
  std::string source;            // the text of the line, if known
  std::string ToString() const;  // "file:line:column: what (hint)"

  // Two indented lines: the faulty line, or an excerpt of it, and a caret under the column. Empty if the line is
  // unknown.
  std::string Caret() const;
};

// A sentence of the report. It is included if `when` is true (or absent) and every expression in its template is known.
struct Sentence {
  std::optional<Expression> when;
  std::optional<Expression> row;  // the first row that satisfies it fills the template; none: no sentence
  std::string at;                 // the fact whose log line is cited as evidence; empty: the line of the row, if any
  std::string mistake;            // id of the mistake in the user's program that the sentence names; empty: none
  std::string cure;               // the remedy that undoes the mistake; empty: none
  Template text;
};

// Concatenates the sentences that apply.
std::string JoinSentences(const std::vector<Sentence>& sentences, const Scope& scope);

struct HeaderPattern {
  std::string id;
  Pattern pattern;
  bool line_start = false;  // matches only at the start of a line or after an exception's class name
  bool of_report = false;   // a line of the memory report: ignored in a report, or if by its log level nothing failed
  bool fragment = false;    // covers only part of the message, so the confidence is low
  std::string unless;       // a fact of a context: if it is known, the header is ignored; empty: none
};

struct DerivedFact {
  std::string name;
  Expression from;
  std::optional<Expression> when;  // condition for computing it
  int priority = 0;                // if several formulas of a fact yield a value, the highest priority wins
  bool replace = false;            // overwrites a value from the log
  bool identifies = true;          // the derived value counts in `identity`
};

struct RemedyUse {
  std::string remedy;   // id in the catalogue
  std::string section;  // section of the official page, "3.A"
  int prior = 100;      // breaks ties in the ranking: smaller first
};

// Whether the same job can succeed if it is restarted unchanged.
struct Retry {
  enum class Answer { kNever, kMaybe, kUnknown };
  Answer answer = Answer::kUnknown;
  std::string why;  // a sentence; empty if no reason is known
};

struct Scenario {
  std::string id;
  std::string title;
  int priority = 0;  // if several scenarios apply, the highest wins
  Expression when;
  std::string about;           // explanation printed by `explain`
  std::optional<Retry> retry;  // overrides the failure's
  std::vector<Sentence> why;   // reasons printed in a diagnosis
  std::vector<RemedyUse> remedies;
};

struct Example {
  std::string text;
  std::string why;  // in no_match: why the text must not match
  std::map<std::string, Value> facts;
  std::optional<std::string> scenario;  // "": the log does not decide
  std::size_t count = 1;                // number of such failures in the text
  bool built_in = false;                // part of the built-in rule data
};

struct FailureRule {
  std::string code;
  std::vector<std::string> aliases;
  std::string title;
  std::string category;
  std::string phase;               // "compile", "run"
  std::vector<std::string> about;  // paragraphs printed by `explain`
  std::vector<Link> links;
  std::vector<HeaderPattern> header_patterns;
  std::vector<Pattern> facts;         // searched for in the message after the header
  std::string reader;                 // reader of the block below the message; empty: none
  std::string memory_space = "hbm";   // the name of the memory space in that block
  bool of_dump = false;               // the failure of a compile whose XLA dump shows that it ran out of memory
  std::vector<std::string> contexts;  // ids of the contexts whose facts apply to it
  std::vector<DerivedFact> derived;
  std::vector<std::string> identity;        // facts that must be equal for two reports to be the same failure
  std::vector<std::string> absorbed_by;     // codes that are the cause if their header occurs inside this message
  std::vector<std::string> consequence_of;  // codes of its causes; they come first if another log reports them
  std::vector<std::string> numbers;         // facts that raise the confidence to high
  std::optional<Retry> retry;               // for scenarios without a `retry` of their own
  std::vector<Scenario> scenarios;
  std::vector<Sentence> why;        // reasons printed for every scenario
  std::vector<RemedyUse> remedies;  // used if the scenario is unknown or lists none
  std::vector<Example> match;
  std::vector<Example> no_match;
};

// The safety of a remedy if `when` is true, for example because the log shows inference instead of training.
struct ConditionalSafety {
  Expression when;
  std::string safety;
  std::string safe_why;
};

// A code change that applies a remedy, as lines before and after.
struct Snippet {
  std::string language;  // python, shell or yaml
  std::string before;
  std::string after;
};

// Placeholder in Remedy::in_parts for the number of parts.
inline constexpr const char* kPartsPlaceholder = "{parts}";

struct Remedy {
  std::string id;
  std::string title;                           // short, starts with a verb
  std::string safety;                          // safe, safe_slower, risky, changes_training
  std::string safe_why;                        // why it has this safety
  std::vector<ConditionalSafety> safety_when;  // the first whose condition is true wins
  int cost = 0;                                // effort for the user, see docs/rules-reference.md
  bool inquiry = false;                        // only finds out more; saves no memory
  std::string gain;
  std::string telltale;                              // general description of when it helps, for `explain`
  std::string note;                                  // preconditions and side effects
  std::map<std::string, std::vector<Template>> how;  // by framework; "" is the default
  std::vector<Link> links;
  std::optional<Expression> when;  // the condition for offering it
  std::vector<Sentence> evidence;
  std::vector<Sentence> ruled_out;  // reasons not to offer it; the first that applies is printed
  std::string change;      // id of the change to the compiled program, see program/remedies.h; empty: not simulated
  std::string in_parts;    // "over {parts} devices": the division that the estimate assumes
  int spread_percent = 0;  // error of the estimate in percent of the saving, see tools/spread.py
  std::optional<Expression> saves;          // bytes, estimated from an allocation list
  std::vector<std::string> with;            // remedies that it combines well with
  std::map<std::string, Snippet> snippets;  // by framework; "" is the default
};

// A derived boolean field of an allocation row, defined over the row's own fields (rules/names.h).
struct DerivedRowField {
  std::string name;
  Expression when;
  std::string about;  // Markdown for docs/rules-language.md
};

// Figures of one failure that contradict each other.
struct ContradictionRule {
  std::string id;
  Sentence sentence;                 // its condition detects the contradiction
  std::vector<std::string> figures;  // facts that are treated as unknown if it applies
  bool list = false;                 // the allocation list is treated as unknown, too
};

// A remark on a comparison of two runs: the concatenation of the sentences that apply.
struct Note {
  std::string id;
  int prior = 0;  // smaller is printed first
  std::optional<Expression> when;
  std::vector<Sentence> why;
};

// Lines before the error whose captures become facts of the failure.
struct Context {
  std::string id;
  std::vector<Pattern> patterns;     // the latest match of each counts
  bool job_wide = false;             // applies to every stream, whichever printed it
  bool nearby = false;               // searched for only in the lines that lead up to a failure
  bool of_next_failure = false;      // applies only to the next failure that names the same program
  bool of_report = false;            // part of the compiler's memory report, which successful compiles also print
  Pattern until;                     // shows that the program finished without a failure; may be empty
  bool is_program = false;           // each match describes the memory of one program, failed or not
  std::vector<DerivedFact> derived;  // facts derived from such a match
  std::vector<Example> match;
  std::vector<Example> no_match;
  std::vector<std::string> until_examples;
};

struct Framework {
  std::string id;
  std::string name;                  // display name: "PyTorch/XLA"; the id if the rule data has none
  std::vector<std::string> aliases;  // other names that users type
  std::string based_on;              // id of the framework whose steps apply where this one has none; may be empty
  int priority = 0;                  // if several are recognised, the highest wins (MaxText is also JAX)
  std::vector<Pattern> signs;
  std::vector<std::string> examples;  // lines that a sign matches
  std::vector<std::string> no_match;  // lines that no sign may match
};

// Lower-case words in argument names that reveal the argument's role.
struct RoleWords {
  std::set<std::string> optimizer_state;
  std::set<std::string> optimizer_parts;  // parts of names that only optimizer state has
  std::set<std::string> weights;
  std::set<std::string> cache;
  std::set<std::string> inputs;
};

struct Chip {
  std::string id;              // "v5e"
  std::vector<double> limits;  // usable bytes as printed, compared to two decimals of GiB
  struct Target {
    Pattern pattern;  // searched for in *.target_arguments.txt of an XLA dump
    double limit = 0;
  };
  std::vector<Target> targets;
  std::vector<Example> match;  // contents of such files with their `limit_bytes`
  std::vector<Example> no_match;
};

// Text that quotes a header instead of printing it: source code, prose, a search pattern. The patterns see the line and
// a few neighbouring lines as written, with Markdown and quotes.
struct Quotation {
  std::string id;
  Pattern pattern;  // the text before the header: preceding lines, each followed by a line break, and the start of its
                    // own line
  Pattern after;    // the text from the header on
  Pattern unless;   // exceptions: if this or unless_after matches, the text is no quotation
  Pattern unless_after;
  bool in_source = false;    // applies only in source code
  bool source_line = false;  // `pattern` recognises a line of source code instead of a quotation
  bool own_report = false;   // the text is a report of whyoom, which no note mentions
  std::vector<std::string> examples;
  std::vector<std::string> logs;  // log lines that are no quotations

  // Whether the patterns classify the text as a quotation. Absent patterns are ignored.
  bool Matches(std::string_view before, std::string_view from_header) const;
  // Like Matches, for an example whose header starts at the marker `<head>` or, without a marker, at its end.
  bool MatchesExample(std::string_view example) const;
};

// Words of a memory error of any kind. A line that matches, looks like an ErrorLine and belongs to no known failure is
// reported as a candidate error.
struct CandidateError {
  std::string id;
  Pattern pattern;
  std::vector<Pattern> unless;  // exceptions: the line is ignored if one of them matches it, too
  std::vector<Example> match;   // complete error texts: the error line and the lines around it
  std::vector<Example> no_match;
};

// The shape of lines that report an error, as opposed to prose, source code and a healthy job's messages. The pattern
// is matched against the start of the raw line (such as a logger's prefix), a line break, and the text.
struct ErrorLine {
  std::string id;
  Pattern pattern;
  bool healthy = false;  // a matching line reports no error, whatever else matches it
  std::vector<std::string> examples;
  std::vector<std::string> no_match;
};

// A line that a job prints only after its program compiled, such as a training step with its loss. Captures `step`, an
// increasing number, and `module`, the compiled program's name, if the line contains them.
struct ProgressLine {
  std::string id;
  Pattern pattern;
  Pattern unless;         // exceptions
  bool compiles = false;  // the line shows that a program is being compiled, so earlier steps do not count
  // What the line shows. Only steps count as progress of a run; the rest shows whether a job survived a failure.
  enum class Shows {
    kStep,     // a number that grows, with a measured value
    kNumber,   // a number that grows, without one; several lines are needed
    kResult,   // a success; one line is enough
    kHandled,  // the job caught an error
    kError,    // an error with another cause than memory
    kFailed,   // results after the failure do not count, because the failure made something else fail
  };
  Shows shows = Shows::kStep;
  std::vector<std::string> examples;
  std::vector<std::string> no_match;  // similar lines that must not match

  // Whether the line matches; stores the captures in `match`.
  bool Find(std::string_view line, PatternMatch* match) const;
};

// A line with a prefix or suffix, the text that remains without it, and the facts in the prefix or suffix: reporter,
// time, repeats, logged, healthy.
struct PrefixOrSuffixExample {
  std::string prefix_or_suffix;  // id of the prefix or suffix pattern
  std::string text;
  std::string leaves;
  std::map<std::string, Value> facts;
};

struct RuleFile {
  std::string name;  // used in faults
  std::string text;
  std::string given;  // the file or folder as the user typed it; empty if built in
  int layer = 1;      // an entry replaces entries with the same id in lower layers; built-in data is the lowest
};

class RuleSet {
 public:
  // The rule files compiled into the program, in a fixed order.
  static const std::vector<RuleFile>& BuiltIn();
  // Examples for the built-in data. They are stored separately because only rule tests need them.
  static const std::vector<RuleFile>& BuiltInExamples();
  static std::string_view SchemaText();

  // Loads the built-in data, then `files`; an entry replaces one with the same id in a lower layer. Appends all faults
  // of all files to `faults`. The result is usable only if there are none.
  //
  // The built-in data is checked when the program is built and tested. Checking it again takes longer than reading most
  // logs, so kTrusted skips it and uses the digest that the build made. kChecked also loads the examples; otherwise, a
  // built-in failure has only the first.
  enum class BuiltInData { kTrusted, kChecked };
  static RuleSet Load(const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                      BuiltInData built_in = BuiltInData::kTrusted);

  // Reads a rule file, or each *.json of a folder except schema.json, sorted by name. Throws Error if that fails.
  static std::vector<RuleFile> ReadFiles(const std::string& path);

  const std::vector<FailureRule>& failures() const { return failures_; }  // by code
  const FailureRule* FindFailure(std::string_view code_or_alias) const;   // case-insensitive; E0100 finds 0100
  const Remedy* FindRemedy(std::string_view id) const;
  const std::map<std::string, Remedy>& remedies() const { return remedies_; }
  const std::vector<PrefixOrSuffix>& prefixes_and_suffixes() const { return prefixes_and_suffixes_; }
  const JsonLogKeys& json_keys() const { return json_keys_; }
  const std::vector<Framework>& frameworks() const { return frameworks_; }  // highest priority first
  const Framework* default_framework() const;  // its steps apply if no framework is recognised; may be null
  // The key in Remedy::how of the steps that apply to a framework: its own, or those of one that it is based on.
  std::string KeyOfSteps(const Remedy& remedy, std::string_view framework) const;
  // Finds a framework by id, name or alias, ignoring case, blanks and punctuation. Returns null if there is none.
  const Framework* FindFramework(std::string_view id_or_name) const;
  const std::vector<Chip>& chips() const { return chips_; }
  const std::vector<NameVersions>& name_versions() const { return name_versions_; }  // by name
  const RoleWords& role_words() const { return role_words_; }
  const std::vector<Context>& contexts() const { return contexts_; }
  const std::vector<Quotation>& quotations() const { return quotations_; }
  const std::vector<CandidateError>& candidate_errors() const { return candidate_errors_; }
  const std::vector<ErrorLine>& error_lines() const { return error_lines_; }
  const std::vector<ProgressLine>& progress() const { return progress_; }
  const std::vector<DerivedRowField>& derived_row_fields() const { return derived_row_fields_; }  // by name
  const DerivedRowField* FindDerivedRowField(std::string_view name) const;    // null if there is none
  const std::vector<std::string>& term_names() const { return term_names_; }  // sorted
  const std::vector<Note>& notes() const { return notes_; }                   // about a comparison, by `prior`
  const std::vector<ContradictionRule>& contradictions() const { return contradictions_; }  // by id
  // Returns the text for `id`, such as "diff.total.need_bytes": the concatenation of the sentences that apply, or
  // empty.
  std::string Say(std::string_view id, const Scope& scope) const;
  // The threshold `id`, such as "worth_telling", as a share; 0 if the rule data does not set it.
  double Threshold(std::string_view id) const;
  const std::vector<PrefixOrSuffixExample>& prefix_and_suffix_examples() const { return prefix_and_suffix_examples_; }

  // Literals for the prefilter: of all header patterns, candidate errors and contexts except nearby ones, and of facts
  // with long literals. Long literals are split into pieces. Unique. First the sorted triggers, then the sorted
  // literals of settings: contexts without is_program, which mean nothing in an artifact without a trigger.
  const std::vector<std::string>& literals() const { return literals_; }
  std::size_t trigger_count() const { return trigger_count_; }

  // Literals of at least four characters from the signs of frameworks; sorted, unique.
  const std::vector<std::string>& sign_literals() const { return sign_literals_; }

  // Literals of nearby contexts and of Context::until, searched for near failures only; sorted, unique.
  const std::vector<std::string>& nearby_literals() const { return nearby_literals_; }

  // The distinct RuleFile::given of the loaded files, in order. A command must name them to run with the same rules.
  const std::vector<std::string>& given() const { return given_; }

  // SHA-256 of the rule data in use, in hex; does not depend on the files' layout and names.
  const std::string& fingerprint() const { return fingerprint_; }

  // Disabled entries of lower layers ("remedies/bf16"). Examples of other entries may depend on them.
  const std::vector<std::string>& disabled() const { return disabled_; }

  // Names of the files in use besides the built-in ones, in order, for reports.
  const std::vector<std::string>& extra_files() const { return extra_files_; }

 private:
  friend class RuleSetBuilder;
  std::vector<FailureRule> failures_;
  std::map<std::string, Remedy> remedies_;
  std::vector<PrefixOrSuffix> prefixes_and_suffixes_;
  JsonLogKeys json_keys_;
  std::vector<Framework> frameworks_;
  std::vector<Chip> chips_;
  std::vector<NameVersions> name_versions_;
  RoleWords role_words_;
  std::vector<Context> contexts_;
  std::vector<Quotation> quotations_;
  std::vector<CandidateError> candidate_errors_;
  std::vector<ErrorLine> error_lines_;
  std::vector<ProgressLine> progress_;
  std::vector<PrefixOrSuffixExample> prefix_and_suffix_examples_;
  std::vector<DerivedRowField> derived_row_fields_;
  std::vector<std::string> term_names_;
  std::vector<Note> notes_;
  std::vector<ContradictionRule> contradictions_;
  std::map<std::string, std::vector<Sentence>, std::less<>> wording_;
  std::map<std::string, double, std::less<>> thresholds_;
  std::vector<std::string> literals_;
  std::size_t trigger_count_ = 0;
  std::vector<std::string> sign_literals_;
  std::vector<std::string> nearby_literals_;
  std::vector<std::string> given_;
  std::string default_framework_;  // id
  std::string fingerprint_;
  std::vector<std::string> extra_files_;
  std::vector<std::string> disabled_;
};

struct RuleEntry {
  std::string section;  // "remedies"
  std::string id;
  std::string title;  // or the most descriptive field instead: a pattern, an expression
  std::string place;  // "ours.json:3:5"
  bool built_in = false;
  std::vector<std::string> replaces;     // places of the entries that it replaces
  std::vector<std::string> extended_by;  // places of extensions
  std::string disabled_by;               // place of the entry that disables it; empty: in use
  std::vector<std::string> without;      // its disabled parts: "heads/used_of, by ours.json:3:5"
};

// The sections that have entries, in listing order.
const std::vector<std::string>& RuleSections();

// The built-in entries and those of `files`, by section and id. Files that are not valid JSON contribute none.
std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files);

class RuleSource {
 public:
  // The built-in rules. They are loaded on the first use of anything but their literals and fingerprint.
  RuleSource();
  // Borrows a loaded set.
  explicit RuleSource(const RuleSet& rules);

  // Thread-safe. Throws Error if the built-in data has faults.
  const RuleSet& rules() const;

  const std::vector<std::string>& literals() const;     // as RuleSet::literals
  std::size_t trigger_count() const;                    // as RuleSet::trigger_count
  const std::string& fingerprint() const;               // as RuleSet::fingerprint
  const std::vector<std::string>& extra_files() const;  // as RuleSet::extra_files

 private:
  const RuleSet* const given_ = nullptr;
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const RuleSet> built_in_;
};

}  // namespace whyoom
