// The rules in use: the built-in ones and those of the user's files. Loaded once, checked as a whole, immutable
// afterwards. docs/rules-reference.md describes the format of the files.
#pragma once

#include <cstddef>
#include <initializer_list>
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

struct Link {
  std::string title;
  std::string url;
};

// A sentence of the report. It is included if `when` is true (or absent) and every expression in its template is known.
struct Sentence {
  std::optional<Expression> when;
  std::optional<Expression> row;  // the first row that satisfies it fills the template; none: no sentence
  std::string at;                 // the fact whose log line is cited as evidence; empty: the line of the row, if any
  std::string mistake;            // id of the mistake in the user's program that the sentence names; empty: none
  std::string cure;               // the remedy that undoes the mistake; empty: none
  Template text;

  // Nullopt if the condition does not hold or a placeholder is unknown. Ignores `row`.
  std::optional<std::string> Fill(const Scope& scope) const {
    return !when || AsBool(when->Evaluate(scope)) == true ? text.Fill(scope) : std::nullopt;
  }
};

struct HeaderPattern {
  Pattern pattern;
  bool line_start = false;  // matches only at the start of a line or after an exception's class name
  bool of_report = false;   // a line of the memory report: ignored in a report, or if by its log level nothing failed
  bool fragment = false;    // covers only part of the message, so the confidence is low
  std::string unless;       // a fact of a context: if it is known, the header is ignored; empty: none
};

struct DerivedFact {
  std::string name;
  Expression from;
  std::optional<Expression> when;  // condition for computing it; the first formula of a fact that yields a value wins
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

// A text that an entry must match, with what it must yield, or a counterexample, which it must not match.
struct Example {
  std::string text;
  std::string why;  // of a counterexample: why the text must not match
  std::map<std::string, Value> facts;
  std::optional<std::string> scenario;  // "": the log does not decide
  int count = 1;                        // number of such failures in the text
  std::string leaves;                   // of a prefix or suffix: the text without it
};

// Examples of an entry. The program contains only those of the user's rules.
struct Samples {
  std::vector<Example> examples;
  std::vector<Example> counterexamples;
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
  std::string memory_space;           // whose totals and list the report below the message has; empty: no report
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
  Samples samples;
  std::string example;  // the text of the first, for `explain`

  // "E1000, head 2": the name of a header pattern.
  std::string NameOf(const HeaderPattern& header) const;
};

// The safety of a remedy if `when` is true, for example because the log shows inference instead of training.
struct ConditionalSafety {
  Expression when;
  std::string safety;
  std::string safe_why;
};

// A code change that applies a remedy, as lines before and after.
struct Snippet {
  std::string language = "python";  // or shell, yaml
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
  std::map<std::string, std::vector<Sentence>> how;  // steps by framework
  std::vector<Link> links;
  std::optional<Expression> when;  // the condition for offering it
  std::vector<Sentence> evidence;
  std::vector<Sentence> ruled_out;  // reasons not to offer it; the first that applies is printed
  std::string change;      // id of the change to the compiled program, see program/remedies.h; empty: not simulated
  std::string in_parts;    // "over {parts} devices": the division that the estimate assumes
  int spread_percent = 0;  // error of the estimate in percent of the saving, see tools/spread.py
  std::optional<Expression> saves;          // bytes, estimated from an allocation list
  std::vector<std::string> with;            // remedies that it combines well with
  std::map<std::string, Snippet> snippets;  // by framework
};

// Figures of one failure that contradict each other.
struct ContradictionRule {
  std::string id;
  Sentence sentence;                 // its condition detects the contradiction
  std::vector<std::string> figures;  // facts that are treated as unknown if it applies; `listed`: the allocation list
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
  Samples samples;

  // Whether a pattern matches the example and captures its facts.
  bool States(const Example& example) const;
};

struct Framework {
  std::string id;
  std::string name;                  // display name: "PyTorch/XLA"; the id if the rule data has none
  std::vector<std::string> aliases;  // other names that users type
  std::string based_on;              // id of the framework whose steps apply where this one has none; may be empty
  int priority = 0;                  // if several are recognised, the highest wins (MaxText is also JAX)
  std::vector<Pattern> signs;
  Samples samples;
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
  Samples samples;  // contents of such files with their `limit_bytes`
};

// Text that quotes a header instead of printing it: source code, prose, a search pattern. The patterns see the line and
// a few neighbouring lines as written, with Markdown and quotes. Absent ones are ignored.
struct Quotation {
  std::string id;
  Pattern lead;    // the text before the header on its own line
  Pattern before;  // the preceding lines, each followed by a line break, and the start of the own line
  Pattern after;   // the text from the header on
  Pattern unless;  // exceptions: if this (of the text before) or unless_after matches, the text is no quotation
  Pattern unless_after;
  bool in_source = false;   // applies only among lines of source code, see LineRule::Kind::kSource
  bool own_report = false;  // the text is a report of whyoom, which no note mentions
  Samples samples;

  // Whether the patterns classify the text as a quotation.
  bool Matches(std::string_view before, std::string_view from_header) const;
  // Like Matches, for an example whose header starts at the marker `<head>` or, without a marker, at its end.
  bool MatchesExample(std::string_view example) const;
};

// The meaning of a log's line apart from failures, contexts and quotations.
struct LineRule {
  enum class Kind {
    kCandidate,   // words of a memory error; with kError and without a known failure, it is a candidate error
    kError,       // the shape of a line that reports an error, matched after the raw line's start and a line break
    kHealthy,     // likewise; a matching line reports no error, whatever else matches it
    kCompiles,    // a program is being compiled, so earlier steps do not count
    kStep,        // a number that grows, with a measured value: progress of a run
    kNumber,      // a number that grows, without one; several lines are needed to show that a job survived
    kResult,      // a success; one line is enough
    kHandled,     // the job caught an error
    kOtherError,  // an error with another cause than memory
    kFailed,      // results after the failure do not count, because the failure made something else fail
    kSource,      // a line of source code
  };
  std::string id;
  Kind kind = Kind::kStep;
  Pattern pattern;              // captures `step`, an increasing number, and `module`, the compiled program's name
  std::vector<Pattern> unless;  // exceptions
  Samples samples;

  bool Find(std::string_view line, PatternMatch* match) const;
};

struct Term {
  std::string id;  // its name
  Expression expression;
  std::string why;  // the reason for a number in it
};

// Sentences that the program looks up by name.
struct Wording {
  std::string id;
  std::vector<Sentence> sentences;
};

// Facts about rules before they are unpacked.
struct RuleHead {
  // Literals for the prefilter: of all header patterns, candidate errors and contexts except nearby ones, and of facts
  // with long literals. Long literals are split into pieces. Unique. First the sorted triggers, then the sorted
  // literals of settings: contexts without is_program, which mean nothing in an input without a trigger.
  std::vector<std::string> literals;
  int trigger_count = 0;
  // From the signs of frameworks, of four characters or more; and of nearby contexts and of Context::until, which are
  // searched for near failures only. Sorted, unique.
  std::vector<std::string> sign_literals;
  std::vector<std::string> nearby_literals;
  std::string fingerprint;  // SHA-256 of the rules, in hex; does not depend on the files' layout and names
  // The distinct RuleFile::given of the user's files, in order: a command must name them to run with the same rules.
  std::vector<std::string> given;
  std::vector<std::string> extra_files;  // names of the user's files, for reports
};

// The entries of each section are sorted by id, except that frameworks are sorted by priority (highest first).
struct RuleSet : RuleHead {
  std::vector<FailureRule> failures;
  std::vector<Remedy> remedies;
  std::vector<Context> contexts;
  std::vector<Framework> frameworks;
  std::vector<Chip> chips;
  std::vector<Quotation> quotations;
  std::vector<LineRule> lines;
  std::vector<PrefixOrSuffix> affixes;
  std::vector<NameVersions> name_versions;
  std::vector<ContradictionRule> contradictions;
  std::vector<Term> terms;
  std::vector<Wording> wording;
  JsonLogKeys json_keys;
  RoleWords role_words;
  // Expressions refer to terms by this table, which they do not own.
  std::shared_ptr<Terms> term_table = std::make_shared<Terms>();

  // By code or alias, ignoring case; E0100 finds 0100. Null if there is none.
  const FailureRule* FindFailure(std::string_view code_or_alias) const;
  const Remedy* FindRemedy(std::string_view id) const;
  // By id, name or alias, ignoring case, blanks and punctuation. Null if there is none.
  const Framework* FindFramework(std::string_view id_or_name) const;
  const Framework* default_framework() const { return FindFramework(kDefaultFramework); }  // null if it is disabled
  // The framework whose steps apply: itself, one that it is based on, or the default.
  std::string KeyOfSteps(const Remedy& remedy, std::string_view framework) const;
  std::vector<const LineRule*> LinesOf(std::initializer_list<LineRule::Kind> kinds) const;  // by id
  // The concatenation of the sentences of `id`, such as "diff.total.need_bytes", that apply; may be empty.
  std::string Say(std::string_view id, const Scope& scope) const;

  static constexpr const char* kDefaultFramework = "jax";
};

// Whether `text` contains `name` (see NameVersions::id) as a whole word, and an argument after its function.
bool ContainsName(std::string_view text, std::string_view name);

class RuleSource {
 public:
  // The built-in rules, unpacked when they are first used.
  RuleSource() = default;
  // Borrows a loaded set.
  explicit RuleSource(const RuleSet& rules) : given_(&rules) {}

  const RuleSet& rules() const;  // thread-safe
  const RuleHead& head() const;

 private:
  const RuleSet* const given_ = nullptr;
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const RuleSet> built_in_;
};

inline const std::string& IdOf(const FailureRule& failure) { return failure.code; }
inline const std::string& IdOf(const auto& entry) { return entry.id; }

}  // namespace whyoom
