// A small typed language for conditions and estimates in rule data: total, without loops or side effects. Logic is
// three-valued: a result is unknown if it depends on an unknown value.
//
//   largest.size_bytes > 0.5 * limit_bytes
//   sum_of(size_bytes - bf16_bytes, dtype == 'f32')
//   known(largest_free_block_bytes) and not known(free_bytes)
//
// Grammar, lowest precedence first: `or`; `and`; `not`; == != < <= > >= (not chained); + -; * /; unary -; a number
// (with an optional unit: 64KiB, 1.5GiB, 16MiB), a text in single quotes ('' is a quote inside), true, false, unknown,
// a name (letters, digits, _ and dots), a call, parentheses. A name may refer to a term: a named expression that is
// evaluated as if it were written there in parentheses.
//
// Functions: known(x); default(x, y): x, or y if x is unknown; if(c, a, b); min(a, b); max(a, b); floor(x); ceil(x);
// round(x); abs(x); within(x, least, most): x, or unknown if it is below `least` or above `most`; rounding(x): the
// error in bytes of a size that was printed with two decimals of its unit (one of a KiB), 0 if x cannot have been
// printed so; matches(text, 'RE2') anywhere in the text; contains(text, part), older(version, other). Functions over
// the rows of a report, in which known fields of the row hide other names:
//   count_of(condition), sum_of(x, condition), any_of(condition), first_of(x, condition): x of the first row (largest
//   first) that satisfies it.
// Without rows (no report, or an empty one) each of these is unknown. They ignore rows whose condition or x is unknown.
// If no row satisfies the condition, first_of is unknown, sum_of and count_of are 0, and any_of is false. They cannot
// be nested, so evaluation is linear in the rows.
//
// Logic is Kleene's: `false and unknown` is false, `true or unknown` is true. Every other operation with an unknown
// operand is unknown. So are division by zero and operands of the wrong type.
#pragma once

#include <cstddef>
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
struct ParsedExpression;
}

// Resolves names during one evaluation.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual Value Get(std::string_view name) const = 0;  // Unknown if the name has no value here
  virtual std::size_t row_count() const { return 0; }
  virtual Value GetInRow(std::size_t /*row*/, std::string_view /*name*/) const { return Unknown{}; }
  virtual Recorder* recorder() const { return nullptr; }  // records evaluations; may be null
};

// An error in an expression or template; `at` is a byte offset into the source.
struct SyntaxFault {
  std::size_t at = 0;
  std::string what;  // e.g. "expected ')' after the arguments of 'sum_of'"
  std::string hint;  // how to fix it; may be empty
};

struct NameUse {
  std::string name;
  std::size_t at = 0;    // byte offset into the source
  bool in_rows = false;  // inside a function over the rows
  std::string term;      // the term that mentions the name, if any; `at` is then the place of the term
};

class Expression;
using Terms = std::map<std::string, Expression, std::less<>>;  // by name

class Expression {
 public:
  Expression();  // always unknown
  Expression(const Expression&) = default;
  Expression& operator=(const Expression&) = default;

  // Never throws. Appends all faults (unknown functions with a "did you mean", wrong numbers of arguments, bad RE2 in
  // matches) to `faults`; the expression is then always unknown. Names in `terms` refer to those terms.
  static Expression Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms = {});

  // For a source known to be valid: parses it on first use. Thread-safe.
  static Expression Deferred(std::string_view source, std::shared_ptr<const Terms> terms);

  Value Evaluate(const Scope& scope) const { return Evaluate(scope, nullptr); }
  Value EvaluateInRow(const Scope& scope, std::size_t row) const { return Evaluate(scope, &row); }  // its names first

  const std::string& source() const;
  std::vector<NameUse> name_uses() const;  // all names, in source order

  // Measures that include terms: the number of nodes (evaluation visits each), whether a function over rows occurs, and
  // the nesting depth of terms.
  std::size_t size() const;
  bool is_over_rows() const;
  int term_levels() const;

  // rules/expression_node.h; without nodes if the expression is always unknown.
  const internal::ParsedExpression& parsed() const;

 private:
  struct Parse;
  explicit Expression(std::shared_ptr<const Parse> parse);
  Value Evaluate(const Scope& scope, const std::size_t* row) const;
  std::shared_ptr<const Parse> parse_;
};

// A sentence with placeholders: "One array takes {largest.size_bytes|size}, {largest.size_bytes / limit_bytes|percent}
// of the limit." A placeholder is an expression with an optional format:
//   size (22.89 GiB), percent (73 %), times (32 ×; one decimal below 10 unless whole), number (without separators),
//   text (the default: texts unchanged, numbers as `number`), short (a text cut in the middle to 60 characters).
// "{{" and "}}" are literal braces. Texts of the log that are too long for a name are quoted.
class Template {
 public:
  Template();  // empty
  static Template Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms = {});

  // For a source known to be valid: parses it on first use. Thread-safe.
  static Template Deferred(std::string_view source, std::shared_ptr<const Terms> terms);

  // Returns nullopt if a placeholder is unknown.
  std::optional<std::string> Fill(const Scope& scope) const;
  std::optional<std::string> FillInRow(const Scope& scope, std::size_t row) const;

  // The text without a log: each placeholder becomes a description in ‹ ›, "Outputs take ‹output bytes›." A choice of
  // texts lists all of them, "‹weights or activations›". A text that may be empty appears unchanged.
  std::string Outline() const;

  const std::string& source() const;
  std::vector<NameUse> name_uses() const;
  struct Placeholder {
    Expression value;
    std::string before;  // the text between the previous placeholder, or the start, and this one
  };
  std::vector<Placeholder> placeholders() const;  // in order of the source

 private:
  struct Piece {
    std::string text;  // literal text; empty for a placeholder
    bool is_placeholder = false;
    Expression hole;
    std::size_t expression_at = 0;  // offset of the expression in the source
    std::string format;
  };
  struct Parse;
  static std::vector<Piece> PiecesOf(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms);
  std::optional<std::string> Fill(const Scope& scope, const std::size_t* row) const;
  const std::vector<Piece>& pieces() const;
  std::shared_ptr<const Parse> parse_;
};

// Compares dotted version numbers: below 0, 0 or above 0; "0.9" precedes "0.10.2". Suffixes (".dev2026", "rc1",
// "+local") are ignored, and missing parts count as zero. Returns nullopt if either does not start with a number.
std::optional<int> CompareVersions(std::string_view one, std::string_view other);

}  // namespace whyoom
