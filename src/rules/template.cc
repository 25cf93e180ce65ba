// Templates: sentences with placeholders.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <iterator>
#include <mutex>
#include <optional>
#include <utility>

#include "rules/expression_node.h"
#include "rules/suggest.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

constexpr std::array<std::string_view, 6> kFormats = {"size", "percent", "times", "number", "text", "short"};
constexpr std::size_t kShortLength = 60;
constexpr double kLargestInteger = 9007199254740992.0;  // 2^53: above, not every integer is a double

bool IsWhole(double number) { return std::abs(number) <= kLargestInteger && number == std::nearbyint(number); }

std::string Whole(double number) { return fmt::format("{}", static_cast<std::int64_t>(number)); }

std::string FormatNumber(double number) {
  if (IsWhole(number)) return Whole(number);
  if (std::abs(number) > kLargestInteger) return fmt::format("{:.6g}", number);
  if (std::abs(number) < 0.01) return fmt::format("{:.2g}", number);
  std::string text = fmt::format("{:.2f}", number);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

// Rounds to one decimal if the absolute value is below `limit` and the decimal is not zero; else to an integer.
std::string FormatRounded(double number, double limit) {
  const double tenths = std::round(number * 10) / 10;
  if (std::abs(number) < limit && !IsWhole(tenths)) return fmt::format("{:.1f}", tenths);
  return FormatNumber(std::round(number));
}

std::string FormatBytes(double bytes) {
  constexpr double kMost = 9.2e18;  // within int64
  return FormatSize(static_cast<std::int64_t>(std::llround(std::min(std::max(bytes, -kMost), kMost))));
}

bool IsContinuation(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }

// Cuts in the middle, because names differ at both ends; never splits a character.
std::string Shorten(const std::string& text) {
  std::vector<std::size_t> starts;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (!IsContinuation(text[i])) starts.push_back(i);
  }
  if (starts.size() <= kShortLength) return text;
  const std::size_t head = kShortLength / 2;
  const std::size_t tail = kShortLength - head - 1;
  return text.substr(0, starts[head]) + "…" + text.substr(starts[starts.size() - tail]);
}

std::string AsPlainText(const Value& value) {
  if (const std::string* text = AsText(value)) return *text;
  if (const std::optional<bool> truth = AsBool(value)) return *truth ? "true" : "false";
  return FormatNumber(AsNumber(value).value_or(0));
}

std::optional<std::string> Format(const Value& value, const std::string& format) {
  if (!IsKnown(value)) return std::nullopt;
  if (format == "text") return AsPlainText(value);
  if (format == "short") return Shorten(AsPlainText(value));
  const std::optional<double> number = AsNumber(value);
  if (!number) return std::nullopt;
  if (format == "size") return FormatBytes(*number);
  if (format == "percent") return FormatRounded(*number * 100, 1) + " %";
  if (format == "times") return FormatRounded(*number, 10) + " ×";
  return FormatNumber(*number);
}

// Offsets of the brace that ends a placeholder and of the bar before its format; npos if absent.
struct PlaceholderBounds {
  std::size_t end = std::string_view::npos;
  std::size_t bar = std::string_view::npos;
};

PlaceholderBounds FindPlaceholder(std::string_view source, std::size_t begin) {
  PlaceholderBounds bounds;
  bool in_text = false;
  for (std::size_t i = begin; i < source.size(); ++i) {
    const char c = source[i];
    if (c == '\'') in_text = !in_text;  // a doubled quote toggles twice
    if (in_text) continue;
    if (c == '{') break;
    if (c == '|') bounds.bar = i;
    if (c == '}') {
      bounds.end = i;
      break;
    }
  }
  if (bounds.bar > bounds.end) bounds.bar = std::string_view::npos;
  return bounds;
}

// The format from `at` to the end of `source`.
std::string CheckedFormat(std::string_view source, std::size_t at, std::vector<SyntaxFault>* faults) {
  at = std::min(source.find_first_not_of(' ', at), source.size());
  const std::string format(source.substr(at, source.find_last_not_of(' ') + 1 - at));
  const std::vector<std::string> known(kFormats.begin(), kFormats.end());
  if (std::find(known.begin(), known.end(), format) == known.end()) {
    const std::string meant = DidYouMean(format, known);
    faults->push_back({at, "unknown format '" + format + "'", meant.empty() ? "formats are " + Listing(known) : meant});
  }
  return format;
}

// Quotes a text from the log that is too long to be a name, so that a reader does not take it for a statement of the
// report.
std::string QuotedIfSentence(const std::string& text) {
  constexpr int kMaxBlanks = 5;       // in a name
  constexpr int kMaxOfSentences = 2;  // in a name with ". " or ": "
  const auto blanks = std::count(text.begin(), text.end(), ' ');
  const bool is_two = text.find(". ") != std::string::npos || text.find(": ") != std::string::npos;
  return blanks <= (is_two ? kMaxOfSentences : kMaxBlanks) ? text : "“" + text + "”";
}

// A scope whose texts are quoted for use in a sentence.
class QuotingScope : public Scope {
 public:
  explicit QuotingScope(const Scope& scope) : scope_(scope) {}

  Value Get(std::string_view name) const override { return Quoted(scope_.Get(name)); }
  std::size_t row_count() const override { return scope_.row_count(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return Quoted(scope_.GetInRow(row, name)); }

 private:
  static Value Quoted(Value value) {
    if (const std::string* text = AsText(value)) return QuotedIfSentence(*text);
    return value;
  }

  const Scope& scope_;
};

}  // namespace

// Shared by the copies of a template.
struct Template::Parse {
  std::string source;
  std::shared_ptr<const Terms> terms;  // set for deferred parsing
  mutable std::once_flag done;
  mutable std::vector<Piece> pieces;
};

Template::Template() {
  static const auto nothing = std::make_shared<const Parse>();
  parse_ = nothing;
}

Template Template::Compile(std::string_view source, std::vector<SyntaxFault>* faults, const Terms& terms) {
  const auto parse = std::make_shared<Parse>();
  parse->source = source;
  parse->pieces = PiecesOf(source, faults, terms);
  Template result;
  result.parse_ = parse;
  return result;
}

Template Template::Deferred(std::string_view source, std::shared_ptr<const Terms> terms) {
  const auto parse = std::make_shared<Parse>();
  parse->source = source;
  parse->terms = std::move(terms);
  Template result;
  result.parse_ = parse;
  return result;
}

const std::vector<Template::Piece>& Template::pieces() const {
  if (parse_->terms != nullptr) {
    std::call_once(parse_->done, [this] {
      std::vector<SyntaxFault> none;
      parse_->pieces = PiecesOf(parse_->source, &none, *parse_->terms);
    });
  }
  return parse_->pieces;
}

// Stops at the first unmatched brace.
std::vector<Template::Piece> Template::PiecesOf(std::string_view source, std::vector<SyntaxFault>* faults,
                                                const Terms& terms) {
  std::vector<Piece> pieces;
  Piece literal;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const char c = source[i];
    const bool is_brace = c == '{' || c == '}';
    if (!is_brace || (i + 1 < source.size() && source[i + 1] == c)) {
      literal.text += c;
      i += is_brace ? 1 : 0;
      continue;
    }
    const PlaceholderBounds bounds = c == '{' ? FindPlaceholder(source, i + 1) : PlaceholderBounds{};
    if (bounds.end == std::string_view::npos) {
      const char* what = c == '{' ? "'{' without '}'" : "'}' without '{'";
      faults->push_back({i, what, "write '{{' and '}}' for literal braces"});
      return pieces;
    }
    if (!literal.text.empty()) pieces.push_back(std::exchange(literal, Piece()));
    Piece hole;
    hole.is_placeholder = true;
    hole.expression_at = i + 1;
    const std::size_t faults_before = faults->size();
    hole.hole = Expression::Compile(source.substr(i + 1, std::min(bounds.bar, bounds.end) - i - 1), faults, terms);
    for (std::size_t f = faults_before; f < faults->size(); ++f) (*faults)[f].at += hole.expression_at;
    hole.format = bounds.bar == std::string_view::npos
                      ? "text"
                      : CheckedFormat(source.substr(0, bounds.end), bounds.bar + 1, faults);
    pieces.push_back(std::move(hole));
    i = bounds.end;
  }
  if (!literal.text.empty()) pieces.push_back(std::move(literal));
  return pieces;
}

std::optional<std::string> Template::Fill(const Scope& scope) const { return Fill(scope, nullptr); }

std::optional<std::string> Template::FillInRow(const Scope& scope, std::size_t row) const { return Fill(scope, &row); }

std::optional<std::string> Template::Fill(const Scope& of_log, const std::size_t* row) const {
  const QuotingScope scope(of_log);
  std::string text;
  for (const Piece& piece : pieces()) {
    if (!piece.is_placeholder) {
      text += piece.text;
      continue;
    }
    const Value value = row == nullptr ? piece.hole.Evaluate(scope) : piece.hole.EvaluateInRow(scope, *row);
    const std::optional<std::string> filled = Format(value, piece.format);
    if (!filled) return std::nullopt;
    text += *filled;
  }
  return text;
}

const std::string& Template::source() const { return parse_->source; }

std::vector<NameUse> Template::name_uses() const {
  std::vector<NameUse> uses;
  for (const Piece& piece : pieces()) {
    for (NameUse use : piece.hole.name_uses()) {
      use.at += piece.expression_at;
      uses.push_back(std::move(use));
    }
  }
  return uses;
}

std::vector<Template::Placeholder> Template::placeholders() const {
  std::vector<Placeholder> placeholders;
  std::string before;
  for (const Piece& piece : pieces()) {
    before = piece.is_placeholder ? before : piece.text;
    if (piece.is_placeholder) placeholders.push_back({piece.hole, std::exchange(before, "")});
  }
  return placeholders;
}

namespace {

using internal::Operation;

// The possible results of an expression in words, for a reader who does not know the language.
struct Words {
  std::vector<std::string> choices;  // distinct; empty if the result is always unknown
  bool all_texts = true;             // all choices are literal texts of the rule data
};

void Add(const Words& more, Words* to) {
  for (const std::string& choice : more.choices) {
    if (std::find(to->choices.begin(), to->choices.end(), choice) == to->choices.end()) to->choices.push_back(choice);
  }
  to->all_texts = to->all_texts && more.all_texts;
}

std::string Joined(const std::vector<std::string>& parts, std::string_view between) {
  return fmt::format("{}", fmt::join(parts, between));
}

Words Describe(const internal::ParsedExpression& parsed, std::size_t at);

// Describes an operation that is not a choice: by all operands, or by the first one of a condition or a function.
std::string DescribeOperation(const internal::ParsedExpression& parsed, std::size_t at) {
  const internal::ExpressionNode& node = parsed.nodes[at];
  const bool is_sum = node.operation == Operation::kSum;
  std::string all;
  parsed.EachOperand(at, [&](std::size_t operand) {
    const char sign = parsed.nodes[operand].sign;
    const std::string text = Joined(Describe(parsed, operand).choices, " or ");
    const char shown = is_sum || sign == '/' ? sign : 'x';
    all += all.empty() ? text : fmt::format(" {} {}", shown, text);
  });
  const bool is_arithmetic = is_sum || node.operation == Operation::kProduct;
  return is_arithmetic ? all : Joined(Describe(parsed, at + 1).choices, " or ");
}

Words Describe(const internal::ParsedExpression& parsed, std::size_t at) {
  const internal::ExpressionNode& node = parsed.nodes[at];
  std::vector<Words> operands;
  switch (node.operation) {
    case Operation::kLiteral: {
      const Value& value = parsed.values[node.index];
      return IsKnown(value) ? Words{{AsPlainText(value)}, AsText(value) != nullptr} : Words();
    }
    case Operation::kName:
    case Operation::kTerm: {
      std::string spoken = parsed.NameOf(node);  // "output_bytes" becomes "output bytes"
      std::replace_if(
          spoken.begin(), spoken.end(), [](char c) { return c == '_' || c == '.'; }, ' ');
      return {{spoken}, false};
    }
    case Operation::kIf:
    case Operation::kDefault: {
      parsed.EachOperand(at, [&](std::size_t operand) { operands.push_back(Describe(parsed, operand)); });
      const bool is_if = node.operation == Operation::kIf;
      Words words = operands[is_if ? 1 : 0];
      if (is_if || operands[1].all_texts) Add(operands.back(), &words);  // a default number alone means nothing
      return words;
    }
    case Operation::kCountOf:
      return {{"number"}, false};
    default:
      return {{DescribeOperation(parsed, at)}, false};
  }
}

}  // namespace

std::string Template::Outline() const {
  std::string text;
  for (const Piece& piece : pieces()) {
    if (!piece.is_placeholder) {
      text += piece.text;
      continue;
    }
    const internal::ParsedExpression& parsed = piece.hole.parsed();
    Words words = parsed.nodes.empty() ? Words() : Describe(parsed, 0);
    const bool some = words.all_texts && std::erase(words.choices, "") > 0;
    if (words.all_texts && words.choices.size() == 1) {
      text += words.choices[0];  // a text that may be empty
    } else if (!some || !words.choices.empty()) {
      text += "‹" + Joined(words.choices, " or ") + (piece.format == "percent" ? " in %›" : "›");
    }
  }
  return text;
}

}  // namespace whyoom
