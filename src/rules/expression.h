// A small typed language for conditions and estimates in rule data: total, without loops or side effects. Logic is
// three-valued: a result is unknown if it depends on an unknown value.
//
//   largest.size_bytes > 0.5 * limit_bytes
//   sum_of(size_bytes - bf16_bytes, dtype == 'f32')
//
// Grammar, lowest precedence first: `or`; `and`; `not`; == != < <= > >= (not chained); + -; * /; unary -; a number
// (with an optional unit: 64KiB, 1.5GiB, 16MiB), a text in single quotes ('' is a quote inside), true, false, unknown,
// a name (letters, digits, _ and dots), a call, parentheses. A name may refer to a term: a named expression that is
// evaluated as if it were written there in parentheses.
//
// docs/rules-language.md lists the functions. In those over the rows of a report, known fields of the row hide other
// names. Without rows (no report, or an empty one) each is unknown. They ignore rows whose condition or x is unknown.
// If no row satisfies the condition, first_of is unknown, sum_of and count_of are 0, and any_of is false. They cannot
// be nested, so evaluation is linear in the rows.
//
// Logic is Kleene's: `false and unknown` is false, `true or unknown` is true. Every other operation with an unknown
// operand is unknown. So are division by zero and operands of the wrong type.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rules/value.h"

namespace whyoom {

class Expression;
class Recorder;
class TieredRegex;

using Terms = std::map<std::string, Expression, std::less<>>;  // by name

// Resolves names during one evaluation.
class Scope {
 public:
  virtual ~Scope() = default;
  virtual Value Get(std::string_view name) const = 0;  // Unknown if the name has no value here
  virtual std::size_t row_count() const { return 0; }
  virtual Value GetInRow(std::size_t /*row*/, std::string_view /*name*/) const { return Unknown{}; }
  // The value of a term that uses nothing but fields of the row.
  virtual Value TermInRow(std::size_t row, const Expression& term) const;
  virtual Recorder* recorder() const { return nullptr; }  // records evaluations; may be null
};

// An error in an expression, template or pattern; `at` is a byte offset into the source.
struct SyntaxFault {
  std::size_t at = 0;
  std::string what;  // e.g. "expected ')' after the arguments of 'sum_of'"
  std::string hint;  // how to fix it; may be empty
};

struct NameUse {
  std::string name;
  std::size_t at = 0;  // byte offset into the source
};

enum class Operation : std::uint8_t {
  // These are recorded.
  kTerm,  // a name that refers to an expression
  kOr,    // any number of operands, so that a chain does not become a deep tree; likewise kAnd, kSum, kProduct
  kAnd,
  kEqual,
  kNotEqual,
  kOrder,  // < <= > >=
  kCountOf,
  kSumOf,
  kAnyOf,
  kFirstOf,
  // These are not.
  kLiteral,
  kName,
  kNot,
  kSum,
  kProduct,
  kArithmetic,  // a function of numbers
  kKnown,
  kDefault,
  kIf,
  kMatches,
  kContains,
  kOlder,
};

struct ExpressionNode {
  using OfNumbers = Value (*)(double a, double b, double c);

  Operation operation = Operation::kLiteral;
  char sign = '+';        // of an operand of a sum or product: + - * /
  std::size_t begin = 0;  // in the source
  std::size_t end = 0;
  Value value;                         // of a literal; the name of kName and kTerm
  const Expression* term = nullptr;    // of kTerm
  OfNumbers of_numbers = nullptr;      // of kOrder and kArithmetic
  std::shared_ptr<TieredRegex> regex;  // of kMatches
  std::vector<ExpressionNode> operands;
};

struct ParsedExpression {
  ExpressionNode root;         // always unknown if the expression has faults
  std::vector<NameUse> names;  // in the order of the source, terms included
  // Measures that include terms: the number of nodes (evaluation visits each), whether a function over rows occurs, and
  // the nesting depth of terms.
  std::size_t size = 0;
  bool over_rows = false;
  int term_levels = 0;
  bool of_row = false;  // uses fields of a row and nothing else
};

// A source and what was parsed from it. Copies share both. Thread-safe.
template <class Text, class Parsed>
class ParsedText {
 public:
  // Never throws. Appends all faults to `faults`. Names in `terms`, which the result borrows, refer to those terms.
  static Text Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms = {}) {
    Text text;
    text.shared_ = std::make_shared<Shared>();
    text.shared_->source = source;
    text.shared_->parsed = Text::Parse(source, terms, faults);
    return text;
  }

  // For a source known to be valid: parses it on first use.
  static Text Deferred(std::string source, const Terms* terms) {
    Text text;
    text.shared_ = std::make_shared<Shared>();
    text.shared_->source = std::move(source);
    text.shared_->terms = terms;
    return text;
  }

  const std::string& source() const { return shared_->source; }
  const Parsed& parsed() const {
    if (shared_->terms != nullptr) {
      std::call_once(shared_->done,
                     [this] { shared_->parsed = Text::Parse(shared_->source, *shared_->terms, nullptr); });
    }
    return shared_->parsed;
  }

 private:
  struct Shared {
    std::string source;
    const Terms* terms = nullptr;  // set for deferred parsing
    std::once_flag done;
    Parsed parsed;
  };
  static const std::shared_ptr<Shared>& None() {
    static const auto none = std::make_shared<Shared>();
    return none;
  }
  std::shared_ptr<Shared> shared_ = None();
};

inline constexpr int kMaxTermLevels = 8;  // nesting of terms

// Always unknown unless compiled.
class Expression : public ParsedText<Expression, ParsedExpression> {
 public:
  // `faults` is null for a source that is known to be valid.
  static ParsedExpression Parse(std::string_view source, const Terms& terms, std::vector<SyntaxFault>* faults);

  Value Evaluate(const Scope& scope) const { return Evaluate(scope, nullptr); }
  Value EvaluateInRow(const Scope& scope, std::size_t row) const { return Evaluate(scope, &row); }  // its names first

 private:
  Value Evaluate(const Scope& scope, const std::size_t* row) const;
};

// A part of a template.
struct TemplatePiece {
  std::string text;  // literal text; empty for a placeholder
  bool is_placeholder = false;
  Expression value;
  std::size_t value_at = 0;  // offset of the expression in the source
  std::string format;
};

// A sentence with placeholders: "One array takes {largest.size_bytes|size}, {largest.size_bytes / limit_bytes|percent}
// of the limit." A placeholder is an expression with an optional format:
//   size (22.89 GiB), percent (73 %), times (32 ×; one decimal below 10 unless whole), number (without separators),
//   text (the default: texts unchanged, numbers as `number`), short (a text cut in the middle to 60 characters).
// "{{" and "}}" are literal braces. Texts of the log that are too long for a name are quoted.
class Template : public ParsedText<Template, std::vector<TemplatePiece>> {
 public:
  static std::vector<TemplatePiece> Parse(std::string_view source, const Terms& terms,
                                          std::vector<SyntaxFault>* faults);

  // Return nullopt if a placeholder is unknown.
  std::optional<std::string> Fill(const Scope& scope) const { return Fill(scope, nullptr); }
  std::optional<std::string> FillInRow(const Scope& scope, std::size_t row) const { return Fill(scope, &row); }

 private:
  std::optional<std::string> Fill(const Scope& scope, const std::size_t* row) const;
};

// The names in all placeholders.
std::vector<NameUse> NamesIn(const Template& text);

// A value as a template shows it without a format.
std::string PlainText(const Value& value);

// Compares dotted version numbers: below 0, 0 or above 0; "0.9" precedes "0.10.2". Suffixes (".dev2026", "rc1",
// "+local") are ignored, and missing parts count as zero. Returns nullopt if either does not start with a number.
std::optional<int> CompareVersions(std::string_view one, std::string_view other);

}  // namespace whyoom
