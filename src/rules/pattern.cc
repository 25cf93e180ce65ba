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
#include <system_error>
#include <utility>

#include "rules/suggest.h"
#include "rules/tiered_regex.h"
#include "text/quantity.h"

namespace whyoom {

std::size_t ClassLength(std::string_view rest) {
  std::size_t i = rest.size() > 1 && rest[1] == '^' ? 2 : 1;
  if (i < rest.size() && rest[i] == ']') ++i;
  for (; i < rest.size(); ++i) {
    if (rest[i] == ']') return i + 1;
    if (rest[i] == '\\') {
      ++i;
    } else if (rest.substr(i).starts_with("[:")) {
      const std::size_t end = rest.find(":]", i + 2);
      if (end != rest.npos) i = end + 1;
    }
  }
  return rest.size();
}

namespace {

struct CaptureType {
  std::string_view name;
  std::string_view regex;
};

// A unit ends at a word boundary: "8 Mainframes" is not 8 M. Linux prints kB, Kubernetes Ki, Julia "256. MiB".
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

// Translates the extensions to RE2.
class Expander {
 public:
  Expander(std::string_view source, std::vector<SyntaxFault>* faults) : source_(source), faults_(faults) {
    AddGroup("", "");  // group 0 is the whole match
  }

  Expansion Run() {
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
      } else if (rest[0] == '{') {
        Repetition(rest);
      } else {
        if (rest[0] == '(') Group(rest);
        Copy(1);
      }
    }
    return std::move(done_);
  }

 private:
  void Copy(std::size_t length) {
    const std::string_view copied = source_.substr(at_, length);
    done_.plain += copied;
    done_.spacing += copied;
    at_ += length;
  }

  void AddGroup(std::string_view name, std::string_view type) {
    done_.groups.push_back({std::string(name), std::string(type)});
  }

  void Blank(std::string_view rest) {
    const std::size_t length = std::min(rest.find_first_not_of(' '), rest.size());
    // Before a quantifier the white space must be a group: "a ?b" is not "a\s+?b".
    const bool quantified = length < rest.size() && std::string_view("*+?{").find(rest[length]) != rest.npos;
    const std::string_view spacing = quantified ? "(?:\\s+)" : "\\s+";
    done_.plain += " ";
    done_.spacing += spacing;
    at_ += length;
  }

  // {0,400} and the like. For extracting literals an unlimited repetition is equivalent and compiles instantly.
  void Repetition(std::string_view rest) {
    std::size_t least = 0;
    std::size_t most = 0;
    const char* const end = rest.data() + rest.size();
    const std::from_chars_result first = std::from_chars(rest.data() + 1, end, least);
    if (first.ec != std::errc() || first.ptr == end || *first.ptr != ',') return Copy(1);
    const std::from_chars_result last = std::from_chars(first.ptr + 1, end, most);
    if (last.ec != std::errc() || last.ptr == end || *last.ptr != '}') return Copy(1);
    const std::string_view written = rest.substr(0, static_cast<std::size_t>(last.ptr + 1 - rest.data()));
    done_.spacing += written;
    done_.plain += least == 0 ? "*" : written;
    at_ += written.size();
  }

  void Group(std::string_view rest) {
    std::string_view name;
    for (std::string_view opening : {"(?P<", "(?<"}) {
      if (rest.starts_with(opening)) name = rest.substr(opening.size(), rest.find('>') - opening.size());
    }
    if (rest.starts_with("(?") && name.empty()) return;
    AddGroup(name, name.empty() ? "" : "word");
  }

  void TypedCapture(std::string_view rest) {
    const std::size_t end = rest.find('}');
    const std::size_t colon = std::min(rest.find(':'), end);
    const std::string_view type = rest.substr(2, colon == rest.npos ? 0 : colon - 2);
    const std::string_view name = colon < end && end != rest.npos ? rest.substr(colon + 1, end - colon - 1) : "";
    if (!IsName(name)) {
      faults_->push_back({at_, "not a typed capture", "write %{type:name}, or %\\{ for a literal %{"});
      return Copy(2);
    }
    const CaptureType* known = FindType(type);
    if (known == nullptr) {
      faults_->push_back({at_ + 2, "unknown capture type '" + std::string(type) + "'", TypeHint(type)});
    }
    const std::string_view regex = known != nullptr ? known->regex : "";
    const std::string group = "(" + std::string(regex) + ")";
    done_.spacing += group;
    done_.plain += type == "text" ? "([^\\n]*?)" : group;
    AddGroup(name, type);
    at_ += end + 1;
  }

  std::string_view source_;
  std::vector<SyntaxFault>* faults_;
  std::size_t at_ = 0;
  Expansion done_;
};

}  // namespace

Expansion Expand(std::string_view source, std::vector<SyntaxFault>* faults) { return Expander(source, faults).Run(); }

namespace {

re2::RE2::Options Options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
}

// Converts RE2's error and locates it in the source. RE2 sees the translated source: if the faulty part does not occur
// in the original, it is dropped from the message.
SyntaxFault CompileFault(const re2::RE2& re, std::string_view source) {
  const std::string argument(re.error_arg());
  const std::size_t at = argument.empty() ? source.npos : source.find(argument);
  std::string error = re.error();
  const std::string tail = ": " + argument;
  if (at == source.npos && error.ends_with(tail)) error.resize(error.size() - tail.size());
  return {at == source.npos ? 0 : at, "RE2 rejects the pattern: " + error, ""};
}

// Sizes are non-negative and fit into 64 bits.
bool IsPlausible(double bytes) { return bytes >= 0 && bytes < 9.0e18; }

// A number, or the text of a size that is impossible.
Value CaptureValue(const std::string& type, std::string_view text) {
  if (type == "size") {
    std::string flat(text);
    std::replace_if(
        flat.begin(), flat.end(), [](char c) { return c == '\n' || c == '\t' || c == '\r'; }, ' ');
    const std::optional<std::int64_t> bytes = ParseSize(flat);
    if (!bytes) return Unknown{};
    return IsPlausible(static_cast<double>(*bytes)) ? Value(static_cast<double>(*bytes)) : Value(std::move(flat));
  }
  if (type == "bytes" || type == "integer" || type == "number") {
    std::string digits(text);
    std::erase(digits, ',');
    double number = 0;
    const std::from_chars_result result = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (result.ec != std::errc()) return Unknown{};
    if (type != "bytes") return std::abs(number) < 9.0e15 ? Value(number) : Value(Unknown{});
    return IsPlausible(number) ? Value(number) : Value(std::string(text));
  }
  return std::string(text);
}

// The longest part of an atom that a search of raw bytes finds, which ignores only ASCII case; empty if it is shorter
// than `min_length`. Drops the blanks at its edges if enough is left, because they may be line breaks in the log.
// FilteredRE2 returns lower case beyond ASCII, too, so characters beyond ASCII are kept only as `regex` has them, or if
// all cases match and nothing else is left.
std::string SearchableLiteral(std::string_view atom, std::string_view regex, std::size_t min_length) {
  const bool ignores_case = regex.find("(?i") != regex.npos;
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  const auto trimmed = [&](std::string_view text) {
    const std::size_t begin = std::min(text.find_first_not_of(' '), text.size());
    const std::string_view inner = text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
    return std::string(inner.size() >= min_length ? inner : text);
  };
  std::string longest;
  std::string part;
  for (auto at = atom.begin(); at != atom.end();) {
    const auto end =
        is_ascii(*at) ? std::find_if_not(at, atom.end(), is_ascii) : std::find_if(at, atom.end(), is_ascii);
    const std::string_view run(at, end);
    const bool is_kept = is_ascii(*at) || (!ignores_case && regex.find(run) != regex.npos);
    part = is_kept ? part + std::string(run) : "";
    if (const std::string inner = trimmed(part); inner.size() > longest.size()) longest = inner;
    at = end;
  }
  if (longest.size() < min_length && ignores_case) longest = trimmed(atom);
  return longest.size() < min_length ? "" : longest;
}

// Returns a small subset of `atoms` (chosen greedily) such that every match contains at least one of them. A subset is
// sufficient if the filter rejects a text that contains all other atoms. An empty atom cannot be searched for.
std::vector<std::string> RequiredLiterals(const re2::FilteredRE2& filter, const std::vector<std::string>& atoms) {
  std::vector<int> by_length(atoms.size());
  std::iota(by_length.begin(), by_length.end(), 0);
  std::stable_sort(by_length.begin(), by_length.end(), [&](int a, int b) { return atoms[a].size() < atoms[b].size(); });
  const auto refuses = [&](std::vector<int> present) {
    std::sort(present.begin(), present.end());
    std::vector<int> passing;
    filter.AllPotentials(present, &passing);
    return passing.empty();
  };
  auto atom = std::find_if(by_length.begin(), by_length.end(), [&](int one) { return !atoms[one].empty(); });
  std::vector<int> outside(by_length.begin(), atom);
  if (!refuses(outside)) return {};
  std::vector<std::string> needed;
  for (; atom != by_length.end(); ++atom) {
    std::vector<int> larger = outside;
    larger.push_back(*atom);
    if (refuses(larger)) {
      outside = std::move(larger);
    } else {
      needed.push_back(atoms[*atom]);
    }
  }
  return needed;
}

}  // namespace

// Shared by the copies of a pattern.
class Pattern::Compiled {
 public:
  Compiled(Parts made, TieredRegex::Engines engines) : parts(std::move(made)), regex(parts.regex, engines) {}

  Parts parts;
  std::once_flag has_set_literals;
  TieredRegex regex;
};

Pattern Pattern::Compile(std::string_view source, std::vector<SyntaxFault>* faults, Check check) {
  Pattern pattern;
  const std::size_t faults_before = faults->size();
  if (source.empty()) faults->push_back({0, "the pattern is empty", "it would match everywhere"});
  Expansion expansion = Expand(source, faults);
  Parts parts{std::string(source), std::move(expansion.spacing), std::move(expansion.groups), {}};
  // The tests have tried the built-in patterns with both engines.
  const bool is_tried = check == Check::kAtUse;
  pattern.compiled_ =
      std::make_shared<Compiled>(std::move(parts), is_tried ? TieredRegex::Engines::kBoth : TieredRegex::Engines::kRe2);
  if (faults->size() == faults_before && !is_tried && !pattern.compiled_->regex.re2().ok())
    faults->push_back(CompileFault(pattern.compiled_->regex.re2(), source));
  pattern.ok_ = faults->size() == faults_before;
  return pattern;
}

Pattern Pattern::FromStored(Parts parts) {
  Pattern pattern;
  pattern.compiled_ = std::make_shared<Compiled>(std::move(parts), TieredRegex::Engines::kBoth);
  std::call_once(pattern.compiled_->has_set_literals, [] {});
  pattern.ok_ = true;
  return pattern;
}

Pattern::Parts Pattern::StoredParts() const {
  if (!ok_) return {};
  SetLiterals();
  return compiled_->parts;
}

bool Pattern::Find(std::string_view text, std::size_t from, PatternMatch* match, std::size_t before) const {
  if (!ok_ || from > text.size()) return false;
  const std::vector<Group>& types = compiled_->parts.groups;
  std::vector<re2::StringPiece> groups(types.size());
  if (!compiled_->regex.Find(text, from, before, &groups)) return false;
  match->begin = static_cast<std::size_t>(groups[0].data() - text.data());
  match->end = match->begin + groups[0].size();
  match->captures.clear();
  for (std::size_t i = 1; i < groups.size(); ++i) {
    if (types[i].name.empty() || groups[i].data() == nullptr) continue;
    Capture capture;
    capture.name = types[i].name;
    capture.value = CaptureValue(types[i].type, std::string_view(groups[i].data(), groups[i].size()));
    const bool is_size = types[i].type == "size" || types[i].type == "bytes";
    if (is_size && AsText(capture.value) != nullptr) capture.name = "impossible_figure";
    capture.begin = static_cast<std::size_t>(groups[i].data() - text.data());
    capture.end = capture.begin + groups[i].size();
    if (IsKnown(capture.value)) match->captures.push_back(std::move(capture));
  }
  return true;
}

bool Pattern::IsIn(std::string_view text) const { return ok_ && compiled_->regex.IsIn(text); }

const std::string& Pattern::source() const {
  static const std::string none;
  return compiled_ == nullptr ? none : compiled_->parts.source;
}

const std::string& Pattern::regex() const {
  static const std::string none;
  return ok_ ? compiled_->parts.regex : none;
}

std::vector<std::string> Pattern::capture_names() const {
  std::vector<std::string> names;
  if (compiled_ == nullptr) return names;
  for (const Group& group : compiled_->parts.groups) {
    if (!group.name.empty() && std::find(names.begin(), names.end(), group.name) == names.end())
      names.push_back(group.name);
  }
  return names;
}

const std::vector<std::string>& Pattern::SetLiterals() const {
  std::call_once(compiled_->has_set_literals, [this] { compiled_->parts.set_literals = Literals(kSetLiteral); });
  return compiled_->parts.set_literals;
}

std::vector<std::string> Pattern::Literals(std::size_t min_length) const {
  if (!ok_) return {};
  // The filter drops atoms that are too short, and each alternation in which an alternative has only such atoms.
  re2::FilteredRE2 filter(static_cast<int>(min_length));
  int id = 0;
  std::vector<SyntaxFault> none;
  const std::string plain = Expand(compiled_->parts.source, &none).plain;
  if (filter.Add(plain, Options(), &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  for (std::string& atom : atoms) atom = SearchableLiteral(atom, plain, min_length);
  const std::vector<std::string> required = RequiredLiterals(filter, atoms);
  const std::set<std::string> literals(required.begin(), required.end());
  return {literals.begin(), literals.end()};
}

}  // namespace whyoom
