// Templates: sentences with placeholders.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <utility>

#include "rules/expression.h"
#include "rules/suggest.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

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

std::optional<std::string> Format(const Value& value, const std::string& format) {
  if (!IsKnown(value)) return std::nullopt;
  if (format == "text") return PlainText(value);
  if (format == "short") return Shorten(PlainText(value));
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
  const std::vector<std::string> known = {"size", "percent", "times", "number", "text", "short"};
  if (std::find(known.begin(), known.end(), format) == known.end())
    faults->push_back({at, "unknown format '" + format + "'", DidYouMean(format, known, "formats are ")});
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

std::string PlainText(const Value& value) {
  if (const std::string* text = AsText(value)) return *text;
  if (const std::optional<bool> truth = AsBool(value)) return *truth ? "true" : "false";
  return FormatNumber(AsNumber(value).value_or(0));
}

// Stops at the first unmatched brace.
std::vector<TemplatePiece> Template::Parse(std::string_view source, const Terms& terms,
                                           std::vector<SyntaxFault>* faults) {
  std::vector<SyntaxFault> none;
  std::vector<SyntaxFault>* const found = faults == nullptr ? &none : faults;
  std::vector<TemplatePiece> pieces;
  TemplatePiece literal;
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
      found->push_back({i, what, "write '{{' and '}}' for literal braces"});
      return pieces;
    }
    if (!literal.text.empty()) pieces.push_back(std::exchange(literal, TemplatePiece()));
    const std::string_view value = source.substr(i + 1, std::min(bounds.bar, bounds.end) - i - 1);
    const std::size_t faults_before = found->size();
    TemplatePiece hole{.is_placeholder = true, .value = Expression::Compile(value, faults, terms), .value_at = i + 1};
    for (std::size_t f = faults_before; f < found->size(); ++f) (*found)[f].at += i + 1;
    hole.format = bounds.bar == std::string_view::npos
                      ? "text"
                      : CheckedFormat(source.substr(0, bounds.end), bounds.bar + 1, found);
    pieces.push_back(std::move(hole));
    i = bounds.end;
  }
  if (!literal.text.empty()) pieces.push_back(std::move(literal));
  return pieces;
}

std::optional<std::string> Template::Fill(const Scope& of_log, const std::size_t* row) const {
  const QuotingScope scope(of_log);
  std::string text;
  for (const TemplatePiece& piece : parsed()) {
    text += piece.text;
    if (!piece.is_placeholder) continue;
    const Value value = row == nullptr ? piece.value.Evaluate(scope) : piece.value.EvaluateInRow(scope, *row);
    const std::optional<std::string> filled = Format(value, piece.format);
    if (!filled) return std::nullopt;
    text += *filled;
  }
  return text;
}

std::vector<NameUse> NamesIn(const Template& text) {
  std::vector<NameUse> names;
  for (const TemplatePiece& piece : text.parsed()) {
    for (const NameUse& use : piece.value.parsed().names) names.push_back({use.name, use.at + piece.value_at});
  }
  return names;
}

}  // namespace whyoom
