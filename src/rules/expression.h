// The small typed language in which rule data states conditions and estimates: total, without loops or
// side effects. Where something is not known, neither is what depends on it (three-valued logic).
//
//   largest.size_bytes > 0.5 * limit_bytes
//   sum_of(size_bytes - bf16_bytes, dtype == 'f32')
//   known(largest_free_block_bytes) and not known(free_bytes)
//
// Grammar, loosest first: `or`; `and`; `not`; == != < <= > >= (not chained); + -; * /; unary -; a number
// (with an optional unit: 64KiB, 1.5GiB, 16MiB), a text in single quotes ('' is a quote inside), true, false, unknown,
// a name (letters, digits, _ and dots), a call, parentheses. A name may be that of a term: an expression that is
// written down once and stands for itself wherever its name does, as if in parentheses.
//
// Functions: known(x); default(x, y): x, or y where x is unknown; if(c, a, b); min(a, b); max(a, b); floor(x); ceil(x);
// round(x); abs(x); within(x, least, most): x, or unknown if it is below `least` or above `most`; rounding(x): how many
// bytes a size may be off if it was printed with two decimals of its unit (one of a KiB), 0 for a number of bytes that
// is no such size; matches(text, 'RE2') anywhere in the text; contains(text, part); over the rows of a report,
// `condition` seeing the row's fields before the scope's names:
//   count_of(condition), sum_of(x, condition), max_of(x, condition), any_of(condition), all_of(condition),
//   first_of(x, condition): x of the first row (rows come largest first) that meets it.
// Without rows (no report, or an empty one) each of these is unknown. A row whose condition or x is unknown
// does not count; first_of, max_of and all_of are unknown where no row counts, sum_of and count_of are 0,
// any_of is false. A function over the rows cannot stand inside another one: time stays linear in the rows.
//
// Logic is Kleene's: `false and unknown` is false, `true or unknown` is true. Everything else with an
// unknown operand is unknown; so are division by zero and operands of the wrong type at run time.
#pragma once

#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/value.h"

namespace whyoom {

class Recorder;

namespace internal {
struct ExpressionNode;
}

// What names mean. Borrowed for the time of one evaluation.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual Value Get(std::string_view name) const = 0;  // Unknown for a name that has no value here
  virtual std::size_t row_count() const { return 0; }
  virtual Value GetInRow(std::size_t /*row*/, std::string_view /*name*/) const { return Unknown{}; }
  virtual Recorder* recorder() const { return nullptr; }  // what evaluations are recorded into; null: nothing is
};

// What is wrong with an expression or template, and where: `at` is a byte offset into its source.
struct SyntaxFault {
  std::size_t at = 0;
  std::string what;  // e.g. "expected ')' after the arguments of 'sum_of'"
  std::string hint;  // what would be right; may be empty
};

struct NameUse {
  std::string name;
  std::size_t at = 0;    // byte offset into the source
  bool in_rows = false;  // inside a function over the rows
  std::string term;      // the term that mentions it, whose name is what stands at `at`; empty: none
};

// What a value is, as far as that is known before anything is evaluated.
enum class ValueType { kAny, kTruth, kNumber, kText };

// Of a name; kAny where it may be of several types. `in_rows`: it is a row's where a row has such a field.
using TypeOfName = std::function<ValueType(const std::string& name, bool in_rows)>;

class Expression;
using Terms = std::map<std::string, Expression, std::less<>>;  // by name

class Expression {
 public:
  Expression();  // always unknown
  Expression(const Expression&) = default;
  Expression& operator=(const Expression&) = default;

  // Never throws; appends to `faults` everything wrong (unknown functions with a "did you mean", wrong
  // numbers of arguments, bad RE2 in matches) and returns an expression that is always unknown then.
  // A name that is in `terms` is that term.
  static Expression Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms = {});

  // Of a source that is known to be right: parsed when it is first used, by whichever thread does.
  static Expression Deferred(std::string_view source, std::shared_ptr<const Terms> terms);

  Value Evaluate(const Scope& scope) const;
  Value EvaluateInRow(const Scope& scope, std::size_t row) const;  // names of the row first

  // What it can come to, in words for a reader who does not know the language; see Template::Outline.
  struct Words {
    std::vector<std::string> choices;  // each once; empty where it is always unknown
    bool all_texts = true;             // every choice is a text of the rule data's own
  };
  Words ToWords() const;

  // What it yields, and where it holds against each other, or computes with, what is never of one type: such a part is
  // always unknown, or false. Places in terms are not told, since that is said where the term is written down.
  ValueType type(const TypeOfName& types, bool in_rows) const;
  std::vector<SyntaxFault> type_faults(const TypeOfName& types, bool in_rows) const;

  const std::string& source() const;
  std::vector<NameUse> name_uses() const;  // all names it mentions, in order of the source, with places

  // With the terms in it: how many parts it has (evaluation visits each), whether it holds a function over the rows,
  // and how deep terms stand inside one another.
  std::size_t size() const;
  bool is_over_rows() const;
  int term_levels() const;

  // What it was parsed to (rules/expression_node.h), for who looks at its parts; null where it is always unknown.
  const internal::ExpressionNode* tree() const;

 private:
  struct Node;
  struct Parse;
  explicit Expression(std::shared_ptr<const Parse> parse);
  const Node* root() const;  // null: always unknown
  std::shared_ptr<const Parse> parse_;
};

// A sentence with holes: "One array takes {largest.size_bytes|size}, {largest.size_bytes / limit_bytes|percent} of the
// limit." A hole is an expression and optionally one of the formats
//   size (22.89 GiB), percent (73 %), times (32 ×; one decimal below 10 unless whole), number (thousands not
//   separated), text (the default: texts as they are, numbers as `number`), short (a text cut in the middle to 60
//   characters).
// "{{" and "}}" are braces.
class Template {
 public:
  Template();  // says nothing
  static Template Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms = {});

  // Of a source that is known to be right: parsed when it is first used, by whichever thread does.
  static Template Deferred(std::string_view source, std::shared_ptr<const Terms> terms);

  // nullopt where a hole is unknown: what is not known is not said.
  std::optional<std::string> Fill(const Scope& scope) const;
  std::optional<std::string> FillInRow(const Scope& scope, std::size_t row) const;

  // For a reader without a log: each hole as words in ‹ ›, by what it holds: "Outputs take ‹output bytes›." Of a choice
  // of texts all are told, "‹weights or activations›"; one that is said or not, depending on the log, stands as it is.
  std::string Outline() const;

  const std::string& source() const;
  std::vector<NameUse> name_uses() const;
  struct Hole {
    Expression value;
    std::string before;  // the text between the hole before it, or the begin, and this one
  };
  std::vector<Hole> holes() const;  // in order of the source

 private:
  struct Piece {
    std::string text;  // literal text, used where there is no hole
    bool is_hole = false;
    Expression hole;
    std::size_t hole_at = 0;  // of the expression in the source
    std::string format;
  };
  struct Parse;
  static std::vector<Piece> PiecesOf(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms);
  std::optional<std::string> Fill(const Scope& scope, const std::size_t* row) const;
  const std::vector<Piece>& pieces() const;
  std::shared_ptr<const Parse> parse_;
};

}  // namespace whyoom
