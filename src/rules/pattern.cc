#include "rules/pattern.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <re2/stringpiece.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
#include <mutex>
#include <numeric>
#include <optional>
#include <set>
#include <utility>

#include "rules/pattern_tree.h"
#include "rules/suggest.h"
#include "text/quantity.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

struct CaptureType {
  std::string_view name;
  std::string_view regex;
};

// A size's unit ends at a word's end: "8 Mainframes" are not 8 M. Linux prints kB, Kubernetes Ki, Julia "256. MiB".
constexpr std::array<CaptureType, 8> kTypes = {{
    {"size", R"(-?\d+(?:,\d{3})*(?:\.\d*)?\s?(?:[KMGTPE](?:iB|i|B)?|kB|B|bytes?)\b)"},
    {"bytes", R"(\d{1,3}(?:,\d{3})+|\d+)"},
    {"integer", R"(-?\d+)"},
    {"number", R"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"},
    {"name", R"([\w$<>-]+(?:\.[\w$<>-]+)*)"},
    {"device", R"(\d+(?:x\d+)+_\w+)"},
    {"word", R"(\S+)"},
    {"text", R"([^\n]{0,400}?)"},
}};

re2::RE2::Options Options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

const CaptureType* FindType(std::string_view name) {
  const auto found =
      std::find_if(kTypes.begin(), kTypes.end(), [&](const CaptureType& type) { return type.name == name; });
  return found != kTypes.end() ? &*found : nullptr;
}

std::string TypeHint(std::string_view name) {
  std::vector<std::string> names;
  for (const CaptureType& type : kTypes) names.emplace_back(type.name);
  const std::string meant = DidYouMean(name, names);
  return meant.empty() ? "types are " + Listing(names) : meant;
}

bool IsName(std::string_view name) {
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  return !name.empty() && is_letter(name[0]) &&
         std::all_of(name.begin(), name.end(), [&](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

// Turns the conveniences into RE2, once with blanks as they stand and once as white space.
class Expander {
 public:
  Expander(std::string_view source, std::vector<SyntaxFault>* faults) : source_(source), faults_(faults) {
    group_names.emplace_back();  // group 0 is the whole match
    types.emplace_back();
  }

  void Run() {
    while (at_ < source_.size()) {
      const std::string_view rest = source_.substr(at_);
      if (rest.starts_with("\\Q")) {
        Copy(std::min(rest.find("\\E") == rest.npos ? rest.size() : rest.find("\\E") + 2, rest.size()));
      } else if (rest[0] == '\\') {
        Copy(std::min<std::size_t>(2, rest.size()));
      } else if (rest[0] == '[') {
        Copy(ClassLength(rest));
      } else if (rest[0] == ' ') {
        Blank(rest);
      } else if (rest.starts_with("%{")) {
        TypedCapture(rest);
      } else if (rest.starts_with("{0,")) {
        Repetition(rest);
      } else {
        if (rest[0] == '(') Group(rest);
        Copy(1);
      }
    }
  }

  std::string plain;    // blanks as they stand; matches at least what `spacing` does with single blanks
  std::string spacing;  // blanks as \s+
  std::vector<std::string> group_names;
  std::vector<std::string> types;

 private:
  void Copy(std::size_t length) {
    plain += source_.substr(at_, length);
    spacing += source_.substr(at_, length);
    at_ += length;
  }

  void Blank(std::string_view rest) {
    const std::size_t length = std::min(rest.find_first_not_of(' '), rest.size());
    // In front of a quantifier the white space must be one thing: "a ?b" is not "a\s+?b".
    const bool quantified = length < rest.size() && std::string_view("*+?{").find(rest[length]) != rest.npos;
    plain += " ";
    spacing += quantified ? "(?:\\s+)" : "\\s+";
    at_ += length;
  }

  // For literals, any number of times will do as well as up to 400, and compiles in no time.
  void Repetition(std::string_view rest) {
    const std::size_t end = rest.find_first_not_of("0123456789", 3);
    const bool bounded = end != rest.npos && end > 4 && rest[end] == '}';
    if (!bounded) return Copy(1);
    plain += "*";
    spacing += rest.substr(0, end + 1);
    at_ += end + 1;
  }

  void Group(std::string_view rest) {
    std::string name;
    for (std::string_view opening : {"(?P<", "(?<"}) {
      if (rest.starts_with(opening)) name = rest.substr(opening.size(), rest.find('>') - opening.size());
    }
    if (rest.starts_with("(?") && name.empty()) return;
    types.emplace_back(name.empty() ? "" : "word");
    group_names.push_back(std::move(name));
  }

  void TypedCapture(std::string_view rest) {
    const std::size_t end = rest.find('}');
    const std::size_t colon = std::min(rest.find(':'), end);
    const std::string_view type = rest.substr(2, colon == rest.npos ? 0 : colon - 2);
    const std::string_view name = colon < end && end != rest.npos ? rest.substr(colon + 1, end - colon - 1) : "";
    if (!IsName(name)) {
      faults_->push_back({at_, "not a typed capture", "write %{type:name}, or %\\{ for the characters themselves"});
      return Copy(2);
    }
    const CaptureType* known = FindType(type);
    if (known == nullptr) {
      faults_->push_back({at_ + 2, "unknown capture type '" + std::string(type) + "'", TypeHint(type)});
    }
    const std::string_view regex = known != nullptr ? known->regex : "";
    plain += type == "text" ? "([^\\n]*?)" : "(" + std::string(regex) + ")";
    spacing += "(" + std::string(regex) + ")";
    group_names.emplace_back(name);
    types.emplace_back(type);
    at_ += end + 1;
  }

  std::string_view source_;
  std::vector<SyntaxFault>* faults_;
  std::size_t at_ = 0;
};

// What RE2 complains of, found again in the source; where it only stands in what became of the source, without it.
SyntaxFault Refusal(const re2::RE2& re, std::string_view source) {
  const std::string argument(re.error_arg());
  const std::size_t at = argument.empty() ? source.npos : source.find(argument);
  std::string error = re.error();
  const std::string tail = ": " + argument;
  if (at == source.npos && error.ends_with(tail)) error.resize(error.size() - tail.size());
  return {at == source.npos ? 0 : at, "RE2 refuses the pattern: " + error, ""};
}

// No memory has less than nothing or more than a 64-bit count of bytes; such a figure says nothing.
bool IsPlausible(double bytes) { return bytes >= 0 && bytes < 9.0e18; }

Value CaptureValue(const std::string& type, std::string_view text) {
  if (type == "size") {
    std::string flat(text);
    std::replace_if(
        flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    const std::optional<std::int64_t> bytes = ParseSize(flat);
    return bytes && IsPlausible(static_cast<double>(*bytes)) ? Value(static_cast<double>(*bytes)) : Value(Unknown{});
  }
  if (type == "bytes" || type == "integer" || type == "number") {
    std::string digits(text);
    std::erase(digits, ',');
    double number = 0;
    const std::from_chars_result result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    return result.ec == std::errc() && (type != "bytes" ? std::abs(number) < 9.0e15 : IsPlausible(number))
               ? Value(number)
               : Value(Unknown{});
  }
  return std::string(text);
}

// Of all `atoms`, a set as small as greed finds such that each match holds at least one of it. A set will
// do if the filter refuses a text that holds every atom but those of the set.
std::vector<std::string> Necessary(const re2::FilteredRE2& filter, const std::vector<std::string>& atoms) {
  std::vector<int> by_length(atoms.size());
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(), [&](int a, int b) { return atoms[a].size() < atoms[b].size(); });
  const auto refuses = [&](std::vector<int> present) {
    std::sort(present.begin(), present.end());
    std::vector<int> passing;
    filter.AllPotentials(present, &passing);
    return passing.empty();
  };
  std::vector<int> outside;
  if (!refuses(outside)) return {};
  std::vector<std::string> needed;
  for (int atom : by_length) {
    std::vector<int> larger = outside;
    larger.push_back(atom);
    if (refuses(larger)) {
      outside = std::move(larger);
    } else {
      needed.push_back(atoms[atom]);
    }
  }
  return needed;
}

// A blank at the edge of a literal may be a line break in the log; a part of a literal is found wherever
// the whole is.
std::string WithoutOuterBlanks(const std::string& literal, std::size_t min_length) {
  const std::size_t begin = literal.find_first_not_of(' ');
  if (begin == std::string::npos) return literal;
  std::string inner = literal.substr(begin, literal.find_last_not_of(' ') - begin + 1);
  return inner.size() >= min_length ? inner : literal;
}

}  // namespace

// RE2, made when it is first asked for, by whichever thread asks.
class Pattern::Automaton {
 public:
  explicit Automaton(std::string regex) : regex_(std::move(regex)) {}

  const re2::RE2& re() {
    std::call_once(made_, [this] { re_ = std::make_unique<re2::RE2>(regex_, RegexOptions(regex_)); });
    return *re_;
  }

  const std::string& regex() const { return regex_; }

 private:
  std::string regex_;
  std::once_flag made_;
  std::unique_ptr<re2::RE2> re_;
};

Pattern Pattern::Compile(std::string_view source, std::vector<SyntaxFault>* faults, Check check) {
  Pattern pattern;
  pattern.source_ = source;
  const std::size_t faults_before = faults->size();
  if (source.empty()) faults->push_back({0, "the pattern is empty", "it would match everywhere"});
  Expander expander(source, faults);
  expander.Run();
  for (const std::string& name : expander.group_names) {
    const std::vector<std::string>& names = pattern.names_;
    if (!name.empty() && std::find(names.begin(), names.end(), name) == names.end()) pattern.names_.push_back(name);
  }
  if (faults->size() != faults_before) return pattern;
  auto automaton = std::make_shared<Automaton>(expander.spacing);
  if (check == Check::kNow && !automaton->re().ok()) {
    faults->push_back(Refusal(automaton->re(), source));
    return pattern;
  }
  pattern.group_names_ = std::move(expander.group_names);
  pattern.types_ = std::move(expander.types);
  pattern.expanded_ = std::move(expander.plain);
  pattern.automaton_ = std::move(automaton);
  return pattern;
}

bool Pattern::Find(std::string_view text, std::size_t from, PatternMatch* match, std::size_t before) const {
  if (automaton_ == nullptr || from > text.size()) return false;
  const re2::RE2& re = automaton_->re();
  const re2::StringPiece subject(text);
  if (before < text.size()) {
    // Where a match begins is cheap to find; what its groups hold is not.
    re2::StringPiece whole;
    if (!re.Match(subject, from, text.size(), re2::RE2::UNANCHORED, &whole, 1)) return false;
    if (static_cast<std::size_t>(whole.data() - text.data()) >= before) return false;
  }
  std::vector<re2::StringPiece> groups(group_names_.size());
  if (!re.Match(subject, from, text.size(), re2::RE2::UNANCHORED, groups.data(), static_cast<int>(groups.size()))) {
    return false;
  }
  match->begin = static_cast<std::size_t>(groups[0].data() - text.data());
  match->end = match->begin + groups[0].size();
  match->captures.clear();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (group_names_[i].empty() || groups[i].data() == nullptr) continue;
    Capture capture;
    capture.name = group_names_[i];
    capture.value = CaptureValue(types_[i], std::string_view(groups[i].data(), groups[i].size()));
    capture.begin = static_cast<std::size_t>(groups[i].data() - text.data());
    capture.end = capture.begin + groups[i].size();
    if (IsKnown(capture.value)) match->captures.push_back(std::move(capture));
  }
  return true;
}

bool Pattern::IsIn(std::string_view text) const {
  if (automaton_ == nullptr) return false;
  return automaton_->re().Match(text, 0, text.size(), re2::RE2::UNANCHORED, nullptr, 0);
}

const std::string& Pattern::regex() const {
  static const std::string none;
  return automaton_ == nullptr ? none : automaton_->regex();
}

ValueType Pattern::capture_type(std::string_view name) const {
  std::optional<ValueType> type;
  for (std::size_t i = 0; i < group_names_.size(); ++i) {
    if (group_names_[i] != name) continue;
    const bool is_number =
        types_[i] == "size" || types_[i] == "bytes" || types_[i] == "integer" || types_[i] == "number";
    const ValueType own = is_number ? ValueType::kNumber : ValueType::kText;
    type = type && *type != own ? ValueType::kAny : own;
  }
  return type.value_or(ValueType::kAny);
}

std::vector<std::string> Pattern::Literals(std::size_t min_length) const {
  if (automaton_ == nullptr) return {};
  // With a minimum length the filter itself forgets shorter atoms, and with them each alternative that has no other.
  re2::FilteredRE2 filter(static_cast<int>(min_length));
  int id = 0;
  if (filter.Add(expanded_, Options(), &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  std::set<std::string> literals;
  for (const std::string& literal : Necessary(filter, atoms)) literals.insert(WithoutOuterBlanks(literal, min_length));
  return {literals.begin(), literals.end()};
}

}  // namespace whyoom
