// What is known about failures. Loaded once, checked as a whole, never changed afterwards.
// The data's form is described in rules/README.md and rules/schema.json.
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
#include "rules/pattern_needs.h"
#include "text/normalizer.h"

namespace whyoom {

struct NameVersions {
  // The name as it is typed, without what stands around it: "xla_tpu_scoped_vmem_limit_kib"; of an argument with what
  // it is given to: "jax.jit(compiler_options=)".
  std::string id;
  std::string package;  // whose releases these are: "libtpu"
  std::string since;    // the first release that has it; empty: none is known that has not
  std::string until;    // the last one; empty: none is known that has it no more

  // The fact that tells a log's release of the package: "libtpu_version".
  std::string VersionFact() const;
  // Whether a release has the name, as far as is known; nullopt where `version` is no version.
  std::optional<bool> HoldIn(std::string_view version) const;
};

// Below 0, 0, above 0: dotted numbers, "0.9" before "0.10.2". What follows them (".dev2026", "rc1", "+local") does not
// count, and what one has fewer are zeros. nullopt where one does not begin with a number.
std::optional<int> CompareVersions(std::string_view one, std::string_view other);

// Whether a text holds a name, such as NameVersions::id, as a whole word; an argument behind what it is given to.
bool HoldsName(std::string_view text, std::string_view name);

struct Link {
  std::string title;
  std::string url;
};

// Something wrong with a rule file.
struct Fault {
  std::string file;
  std::size_t line = 0;    // 1-based; 0 where the file as a whole is meant
  std::size_t column = 0;  // 1-based, in bytes
  std::string what;
  std::string hint;              // what would be right; may be empty
  std::string source;            // the line, where it is known
  std::string ToString() const;  // "file:line:column: what (hint)"

  // The line, or a part of it round the place, and below it a caret at the place: two lines, each indented; empty where
  // the line is not known.
  std::string Caret() const;
};

// A sentence that is said where `when` is true (or absent) and nothing in its holes is unknown.
struct Sentence {
  std::optional<Expression> when;
  std::optional<Expression> row;  // said of the first row that meets it; none meets it: not said
  std::string at;                 // the fact whose place in the log proves it; empty: the row's, or none
  Template text;
};

// Of the sentences those that hold, put together as they stand.
std::string SayAll(const std::vector<Sentence>& sentences, const Scope& scope);

struct Head {
  std::string id;
  Pattern pattern;
  bool line_start = false;  // only at the start of a line, an exception's class aside: for heads without numbers
  bool of_report = false;   // a line of the report itself: nothing new where one is being read
  bool fragment = false;    // too little of the message for more than low confidence
};

struct DerivedFact {
  std::string name;
  Expression from;
  std::optional<Expression> when;  // only then
  int priority = 0;                // of several formulas of one fact, the highest that gives it wins
  bool replace = false;            // also where the log gave the fact
  bool identifies = true;          // where it is one of the facts that tell failures apart
};

struct RemedyUse {
  std::string remedy;   // id in the catalogue
  std::string section;  // place in the official page, "3.A"
  int prior = 100;      // smaller first among equals
};

// Whether the same job can succeed when it is started again and nothing was changed.
struct Retry {
  enum class Answer { kNever, kMaybe, kUnknown };
  Answer answer = Answer::kUnknown;
  std::string why;  // a sentence; empty: none is known
};

struct Scenario {
  std::string id;
  std::string title;
  int priority = 0;  // where several hold, the highest wins
  Expression when;
  std::string about;           // what it means, for `explain`
  std::optional<Retry> retry;  // in place of the failure's
  std::vector<Sentence> why;   // for a diagnosis
  std::vector<RemedyUse> remedies;
};

struct Example {
  std::string text;
  std::string why;  // for a no_match: why it must not
  std::map<std::string, Value> facts;
  std::optional<std::string> scenario;  // "" : the log cannot tell
  std::size_t count = 1;                // how many such failures the text holds
  bool built_in = false;                // it comes with the program
};

// A finding as if it had been read, and what is to be concluded from it.
struct Situation {
  std::string code;       // of the failure
  std::string about;      // for people
  std::string framework;  // empty: not seen
  std::map<std::string, Value> facts;
  std::vector<std::map<std::string, Value>> rows;  // of the list of allocations, by names of fields
  std::string expect;                              // JSON, see diagnose/situation.h
  std::string place;                               // "file:line" of a rule file
  bool built_in = false;                           // it comes with the program
};

// Two runs as if they had been read, and what is to be said of the change between them.
struct ComparedRuns {
  struct OfRun {
    bool failed = false;
    bool measured = false;
    bool ran = false;
    bool compiles = false;
    std::string code;   // of the failure
    std::string title;  // of the failure
    std::string path;
    std::size_t other_failures = 0;
    std::map<std::string, Value> facts;
    std::vector<std::map<std::string, Value>> rows;
  };
  std::string about;  // for people
  OfRun before;
  OfRun after;
  // What the programs of two dumps show, as compare/difference.h has it: its own names beside "change", "from", "to",
  // "arrays" and "undone".
  std::string expect;  // JSON, see diagnose/rule_case.h
  std::string place;   // "file:line" of a rule file
  bool built_in = false;
};

struct Failure {
  std::string code;
  std::vector<std::string> aliases;
  std::string title;
  std::string category;
  std::string phase;               // "compile", "run"
  std::vector<std::string> about;  // paragraphs for `explain`
  std::vector<Link> links;
  std::vector<Head> heads;
  std::vector<Pattern> facts;         // looked for in the message after the head
  std::string reader;                 // of the block below the message; empty: none
  std::string memory_space = "hbm";   // as that block names it
  bool of_dump = false;               // what a compile failed of whose XLA dump says that it ran out of memory
  std::vector<std::string> contexts;  // ids of Context whose facts matter to it
  std::vector<DerivedFact> derived;
  std::vector<std::string> identity;        // facts that make two reports one failure
  std::vector<std::string> absorbed_by;     // codes whose head inside this message is the cause
  std::vector<std::string> consequence_of;  // codes that come before it in a report of both
  std::vector<std::string> numbers;         // facts that make the confidence high
  std::optional<Retry> retry;               // whatever the scenario, where that has none of its own
  std::vector<Scenario> scenarios;
  std::vector<Sentence> why;        // whatever the scenario
  std::vector<RemedyUse> remedies;  // where the scenario is unknown or has none of its own
  std::vector<Example> match;
  std::vector<Example> no_match;
};

// What a remedy does to the results where the log shows another use than the one it was written for: nothing trains.
struct OtherSafety {
  Expression when;
  std::string safety;
  std::string safe_why;
};

// What a remedy changes in a program, for readers: the lines before it and after it.
struct Snippet {
  std::string language;  // python, shell or yaml
  std::string before;
  std::string after;
};

// In `in_parts` of a remedy: how many.
inline constexpr const char* kPartsHole = "{parts}";

struct Remedy {
  std::string id;
  std::string title;                     // imperative, short
  std::string safety;                    // safe, safe_slower, risky, changes_training
  std::string safe_why;                  // why it is or is not
  std::vector<OtherSafety> safety_when;  // the first that holds counts
  int cost = 0;                          // what it costs the user, see rules/README.md
  bool inquiry = false;                  // finds out more, saves nothing itself
  std::string gain;
  std::string telltale;                              // in general, for `explain`
  std::string note;                                  // preconditions and side effects
  std::map<std::string, std::vector<Template>> how;  // by framework; "" is the default one
  std::vector<Link> links;
  std::optional<Expression> when;  // offered only where it is true
  std::vector<Sentence> evidence;
  std::vector<Sentence> ruled_out;  // the first that holds: not offered, for that reason
  std::string change;               // what it is on a compiled program, see program/prospect.h; empty: nothing known
  std::string in_parts;             // "over {parts} devices": what the parts are that the figures are for
  int spread_percent = 0;           // how far off three of four outcomes have been at most, of what the change saves
  std::optional<Expression> saves;  // bytes, as far as a list of allocations tells
  std::vector<std::string> with;    // remedies worth combining it with
  std::map<std::string, Snippet> snippets;  // by framework; "" is the default one
};

// What is true of a row of a report, by the fields that the program itself gives it (rules/names.h).
struct RowTest {
  std::string name;
  Expression when;
  std::string about;  // Markdown, for rules/README.md
};

// Figures of one failure that cannot all be right.
struct ContradictionRule {
  std::string id;
  Sentence sentence;                 // they contradict each other where it holds
  std::vector<std::string> figures;  // facts that count as unknown then
  bool list = false;                 // the list of allocations counts as unknown, too
};

// A remedy that what was seen between two runs may be owed to.
struct TraceRemedy {
  std::string id;
  std::optional<Expression> when;
};

// What two runs of one job show where something was changed between them, and what is said of it: the sentences that
// hold, put together as they stand.
struct Trace {
  std::string id;
  int prior = 0;           // smaller is said first
  bool otherwise = false;  // only where no other trace is seen
  std::optional<Expression> when;
  std::vector<Sentence> why;
  std::vector<TraceRemedy> remedies;  // in this order, each once
};

// Lines before the error whose captures become facts of it.
struct Context {
  std::string id;
  std::vector<Pattern> patterns;     // of each the newest match counts
  bool job_wide = false;             // true of all reporters, whichever printed it
  bool nearby = false;               // looked for only where a failure is, in what leads to it
  bool of_next_failure = false;      // of one program: true of the next failure that names it, and of none after that
  bool of_report = false;            // stands in a compiler's report, which is printed of healthy programs too
  Pattern until;                     // what says that the program is done and no failure comes of it; may be none
  bool is_program = false;           // each match states what one program takes, failure or not
  std::vector<DerivedFact> derived;  // of such a statement
  std::vector<Example> match;
  std::vector<Example> no_match;
  std::vector<std::string> until_examples;
};

struct Framework {
  std::string id;
  std::string name;                  // as people write it: "PyTorch/XLA"; the id where the rule data does not say
  std::vector<std::string> aliases;  // what else people call it
  int priority = 0;                  // the highest that is seen wins: MaxText is JAX too
  std::vector<Pattern> signs;
  std::vector<std::string> examples;  // lines that show a sign of it
  std::vector<std::string> no_match;  // and such that do not
};

// What names of a program's arguments say of their roles, by the words in them, in lower case.
struct RoleWords {
  std::set<std::string> optimizer_state;
  std::set<std::string> optimizer_parts;  // parts of a name that only an optimizer's state has
  std::set<std::string> weights;
  std::set<std::string> cache;
  std::set<std::string> inputs;
};

struct Chip {
  std::string id;              // "v5e"
  std::vector<double> limits;  // usable bytes as printed; matched to two decimals of GiB
  struct Target {
    Pattern pattern;  // looked for in *.target_arguments.txt of an XLA dump
    double limit = 0;
  };
  std::vector<Target> targets;
  std::vector<Example> match;  // such files' texts, with their `limit_bytes`
  std::vector<Example> no_match;
};

// A text that looks like a head but only quotes one: a source line, a sentence, a search pattern. A line and a few of
// its neighbours are looked at as they were written, with Markdown and quotes.
struct Quotation {
  std::string id;
  Pattern pattern;  // up to the head: lines before its own, each behind a line break, and its own's begin
  Pattern after;    // from the head on
  Pattern unless;   // where one of these two matches, it is none
  Pattern unless_after;
  bool in_source = false;    // only among lines of source code
  bool source_line = false;  // it quotes nothing: `pattern` tells a line of source code
  // What the patterns need; empty where nobody has looked.
  struct Needed {
    TextNeeds before;
    TextNeeds from_head;
  };
  Needed needed = {};
  std::vector<std::string> examples;
  std::vector<std::string> logs;  // examples that quote nothing

  // Whether its patterns say so; a pattern that it does not have says nothing.
  bool Matches(std::string_view before, std::string_view from_head) const;
  // The same of an example, in which `<head>` stands before the head; without that the head is at the end.
  bool MatchesExample(std::string_view example) const;
};

// Words of a failure of memory, whichever: where no failure of the rule data is recognised in them, the error is told
// as one that is not known. They count in a line only that looks like one of ErrorLine.
struct Suspect {
  std::string id;
  Pattern pattern;
  std::vector<Pattern> unless;  // where one of them is in the line, too, it is none
  std::vector<Example> match;   // texts with one, whole: an error's line and what stands round it
  std::vector<Example> no_match;
};

// How lines look that a process prints because something failed, as against prose, source code and the messages of a
// job that is well. Looked for in what stands before the line's text in its raw line, such as a logger's prefix, a line
// break, and the text.
struct ErrorLine {
  std::string id;
  Pattern pattern;
  bool healthy = false;  // such a line is none, whatever else it looks like
  std::vector<std::string> examples;
  std::vector<std::string> no_match;
};

// A line that a job prints only once its program compiled: a training step with its loss. It captures `step`, a number
// that grows, where the line has one, and `module` where the line names the compiled program.
struct ProgressLine {
  std::string id;
  Pattern pattern;
  Pattern unless;         // where this matches too, the line is none
  bool compiles = false;  // the line shows that a program is being compiled: steps before it do not count
  std::vector<std::string> examples;
  std::vector<std::string> no_match;  // similar lines that show nothing

  // Whether the line is one; `match` then contains what it captured.
  bool Find(std::string_view line, PatternMatch* match) const;
};

// A line that has an affix, what is left of it without, and what its affixes tell: reporter, time, repeats, logged,
// healthy.
struct AffixExample {
  std::string affix;  // its id
  std::string text;
  std::string leaves;
  std::map<std::string, Value> facts;
};

struct RuleFile {
  std::string name;  // for faults
  std::string text;
  std::string given;  // the file or folder that was asked for, as it was typed; empty: nobody typed it
  int layer = 1;      // an entry replaces one of the same id of a lower layer; built-in data is below all
};

class RuleSet {
 public:
  // The rule files compiled into the program, in a fixed order.
  static const std::vector<RuleFile>& BuiltIn();
  // Examples of the built-in data that are kept apart from it, since nobody but who tries rules needs them.
  static const std::vector<RuleFile>& BuiltInExamples();
  static std::string_view SchemaText();

  // Built-in data first, then `files`: an entry with an id already there replaces it. Everything wrong in
  // all files is appended to `faults`; the set is usable only without faults.
  //
  // The built-in data was checked when the program was built and tested, and checking it again takes longer than most
  // logs; `built_in` says whether to do it all the same. What is checked has all its examples.
  enum class BuiltInData { kTrusted, kChecked };
  //
  // What is no fault but worth a look, such as an entry of `files` that nothing uses, is appended to `notes`, which may
  // be null; of built-in data that is checked it is a fault.
  static RuleSet Load(const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                      BuiltInData built_in = BuiltInData::kTrusted, std::vector<Fault>* notes = nullptr);

  // Reads a rule file, or each *.json of a folder in order of name. Throws Error where that fails.
  static std::vector<RuleFile> ReadFiles(const std::string& path);

  const std::vector<Failure>& failures() const { return failures_; }  // in order of code
  const Failure* FindFailure(std::string_view code_or_alias) const;   // case-insensitive; E0100 finds 0100
  const Remedy* FindRemedy(std::string_view id) const;
  const std::map<std::string, Remedy>& remedies() const { return remedies_; }
  const std::vector<Affix>& affixes() const { return affixes_; }
  const JsonLogKeys& json_keys() const { return json_keys_; }
  const std::vector<Framework>& frameworks() const { return frameworks_; }  // highest priority first
  const Framework* default_framework() const;  // whose steps are for those without; null where there is none
  // By id, name or alias; upper and lower case, blanks and punctuation do not matter. Null where there is no such
  // framework.
  const Framework* FindFramework(std::string_view id_or_name) const;
  const std::vector<Chip>& chips() const { return chips_; }
  const std::vector<NameVersions>& name_versions() const { return name_versions_; }  // in order of name
  const RoleWords& role_words() const { return role_words_; }
  const std::vector<Context>& contexts() const { return contexts_; }
  const std::vector<Quotation>& quotations() const { return quotations_; }
  const std::vector<Suspect>& suspects() const { return suspects_; }
  const std::vector<ErrorLine>& error_lines() const { return error_lines_; }
  const std::vector<ProgressLine>& progress() const { return progress_; }
  const std::vector<RowTest>& row_tests() const { return row_tests_; }        // in order of name
  const RowTest* FindRowTest(std::string_view name) const;                    // null: there is none of this name
  const std::vector<std::string>& term_names() const { return term_names_; }  // in order
  const std::vector<Trace>& traces() const { return traces_; }                // of two logs, in the order of `prior`
  const std::vector<Trace>& notes() const { return notes_; }  // on a comparison, in the order of `prior`
  const std::vector<ContradictionRule>& contradictions() const { return contradictions_; }  // in order of id
  // What is said of a difference between two programs, by the name that compare/difference.h gives it; null: nothing.
  // The words for `id`, the sentences that hold put together; empty where there are none.
  std::string Say(std::string_view id, const Scope& scope) const;
  // From which share on something is told; 0 where the rule data does not say.
  double Threshold(std::string_view id) const;
  const std::vector<AffixExample>& affix_examples() const { return affix_examples_; }
  const std::vector<Situation>& situations() const { return situations_; }
  const std::vector<ComparedRuns>& comparisons() const { return comparisons_; }

  // For the prefilter: of every head, context and suspect, and of facts that have a long one, long ones in pieces;
  // sorted, each once.
  const std::vector<std::string>& literals() const { return literals_; }

  // Of the signs of frameworks, as far as they have some of four characters or more; sorted, each once.
  const std::vector<std::string>& sign_literals() const { return sign_literals_; }

  // Of the contexts that are looked for near failures only; sorted, each once.
  const std::vector<std::string>& nearby_literals() const { return nearby_literals_; }

  // RuleFile::given of the files that it was made of, each once, in their order: what a command has to name, too, to be
  // run with the same rules.
  const std::vector<std::string>& given() const { return given_; }

  // SHA-256 of all rule data in use, in hex; independent of layout, order and names of the files.
  const std::string& fingerprint() const { return fingerprint_; }

  // What files disabled of the data below them ("remedies/bf16"): it is left out, and examples of others may need it.
  const std::vector<std::string>& disabled() const { return disabled_; }

  // Names of the files whose data is in use beside the built-in, in their order: what reports tell of.
  const std::vector<std::string>& extra_files() const { return extra_files_; }

 private:
  friend class RuleSetBuilder;
  std::vector<Failure> failures_;
  std::map<std::string, Remedy> remedies_;
  std::vector<Affix> affixes_;
  JsonLogKeys json_keys_;
  std::vector<Framework> frameworks_;
  std::vector<Chip> chips_;
  std::vector<NameVersions> name_versions_;
  RoleWords role_words_;
  std::vector<Context> contexts_;
  std::vector<Quotation> quotations_;
  std::vector<Suspect> suspects_;
  std::vector<ErrorLine> error_lines_;
  std::vector<ProgressLine> progress_;
  std::vector<AffixExample> affix_examples_;
  std::vector<Situation> situations_;
  std::vector<ComparedRuns> comparisons_;
  std::vector<RowTest> row_tests_;
  std::vector<std::string> term_names_;
  std::vector<Trace> traces_;
  std::vector<Trace> notes_;
  std::vector<ContradictionRule> contradictions_;
  std::map<std::string, std::vector<Sentence>, std::less<>> wording_;
  std::map<std::string, double, std::less<>> thresholds_;
  std::vector<std::string> literals_;
  std::vector<std::string> sign_literals_;
  std::vector<std::string> nearby_literals_;
  std::vector<std::string> given_;
  std::string default_framework_;  // its id
  std::string fingerprint_;
  std::vector<std::string> extra_files_;
  std::vector<std::string> disabled_;
};

struct RuleEntry {
  std::string section;  // "remedies"
  std::string id;
  std::string title;  // or what tells most about it instead: a pattern, an expression
  std::string place;  // "ours.json:3:5"
  bool built_in = false;
  std::vector<std::string> replaces;     // places of the entries whose place it takes
  std::vector<std::string> extended_by;  // places of extensions
  std::string disabled_by;               // the place where that is said; empty: it is in use
  std::vector<std::string> without;      // what of it is disabled: "heads/used_of, by ours.json:3:5"
};

// The sections that have entries, in the order in which they are listed.
const std::vector<std::string>& RuleSections();

// The built-in entries and those of `files`, in order of section and id. Files that are no JSON have none.
std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files);

class RuleSource {
 public:
  // What is built in; read when something first asks for more than its literals and fingerprint.
  RuleSource();
  // Borrows a set that was loaded already.
  explicit RuleSource(const RuleSet& rules);

  // Any number of threads may ask. Throws Error where the built-in data is at fault.
  const RuleSet& rules() const;

  const std::vector<std::string>& literals() const;     // as RuleSet::literals
  const std::string& fingerprint() const;               // as RuleSet::fingerprint
  const std::vector<std::string>& extra_files() const;  // as RuleSet::extra_files

 private:
  const RuleSet* const given_ = nullptr;
  mutable std::once_flag loaded_;
  mutable std::unique_ptr<const RuleSet> built_in_;
};

}  // namespace whyoom
