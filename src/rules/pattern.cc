#include "rules/pattern.h"

#include <re2/filtered_re2.h>
#include <re2/re2.h>
#include <re2/stringpiece.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <memory>
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
constexpr CaptureType kTypes[] = {
    {"size", R"(-?\d+(?:,\d{3})*(?:\.\d*)?\s?(?:[KMGTPE](?:iB|i|B)?|kB|B|bytes?)\b)"},
    {"bytes", R"(\d{1,3}(?:,\d{3})+|\d+)"},
    {"integer", R"(-?\d+)"},
    {"number", R"(-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?)"},
    {"name", R"([\w$<>-]+(?:\.[\w$<>-]+)*)"},
    {"device", R"(\d+(?:x\d+)+_\w+)"},
    {"word", R"(\S+)"},
    {"text", R"([^\n]{0,400}?)"},
};

bool IsName(std::string_view name) {
  const auto is_part = [](unsigned char c) { return c == '_' || (c < 0x80 && std::isalnum(c) != 0); };
  return !name.empty() && std::ranges::all_of(name, is_part) && (name[0] < '0' || name[0] > '9');
}

// A blank of a pattern: any white space, as a group so that a quantifier may follow.
constexpr std::string_view kBlank = "(?:\\s+)";

// Translates the extensions to RE2.
class Expander {
 public:
  Expander(std::string_view source, std::vector<SyntaxFault>* faults) : source_(source), faults_(faults) {
    done_.source = source;
    AddGroup("", "");  // group 0 is the whole match
  }

  Pattern::Parts Run() {
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
      } else {
        if (rest[0] == '(') Group(rest);
        Copy(1);
      }
    }
    return std::move(done_);
  }

 private:
  void Copy(std::size_t length) {
    done_.regex += source_.substr(at_, length);
    at_ += length;
  }

  void AddGroup(std::string_view name, std::string_view type) {
    done_.groups.push_back({std::string(name), std::string(type)});
  }

  void Blank(std::string_view rest) {
    done_.regex += kBlank;
    at_ += std::min(rest.find_first_not_of(' '), rest.size());
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
    const auto* const known = std::ranges::find(kTypes, type, &CaptureType::name);
    if (known == std::end(kTypes)) {
      std::vector<std::string> names;
      for (const CaptureType& one : kTypes) names.emplace_back(one.name);
      faults_->push_back(
          {at_ + 2, "unknown capture type '" + std::string(type) + "'", DidYouMean(type, names, "types are ")});
    } else {
      done_.regex += "(" + std::string(known->regex) + ")";
    }
    AddGroup(name, type);
    at_ += end + 1;
  }

  std::string_view source_;
  std::vector<SyntaxFault>* faults_;
  std::size_t at_ = 0;
  Pattern::Parts done_;
};

}  // namespace

Pattern::Parts Expand(std::string_view source, std::vector<SyntaxFault>* faults) {
  return Expander(source, faults).Run();
}

namespace {

re2::RE2::Options Options() {
  re2::RE2::Options options;
  options.set_log_errors(false);
  return options;
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

// The longest part of an atom in ASCII, because a search of raw bytes ignores only ASCII case; empty if it is shorter
// than `min_length`. Drops the blanks at its edges if enough is left, because they may be line breaks in the log.
std::string SearchableLiteral(std::string_view atom, std::size_t min_length) {
  const auto is_ascii = [](char c) { return static_cast<unsigned char>(c) < 0x80; };
  std::string_view longest;
  for (auto at = atom.begin(); at != atom.end();) {
    at = std::find_if(at, atom.end(), is_ascii);
    const auto end = std::find_if_not(at, atom.end(), is_ascii);
    const std::string_view part(at, end);
    const std::size_t begin = std::min(part.find_first_not_of(' '), part.size());
    const std::string_view inner = part.substr(begin, part.find_last_not_of(' ') + 1 - begin);
    const std::string_view kept = inner.size() >= min_length ? inner : part;
    if (kept.size() > longest.size()) longest = kept;
    at = end;
  }
  return std::string(longest.size() < min_length ? "" : longest);
}

// Returns a small subset of `atoms` (chosen greedily) such that every match contains at least one of them. A subset is
// sufficient if the filter rejects a text that contains all other atoms. An empty atom cannot be searched for.
std::set<std::string> RequiredLiterals(const re2::FilteredRE2& filter, const std::vector<std::string>& atoms) {
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
  std::set<std::string> needed;
  for (; atom != by_length.end(); ++atom) {
    std::vector<int> larger = outside;
    larger.push_back(*atom);
    if (refuses(larger)) {
      outside = std::move(larger);
    } else {
      needed.insert(atoms[*atom]);
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
  TieredRegex regex;
};

Pattern Pattern::Compile(std::string_view source, std::vector<SyntaxFault>* faults) {
  Pattern pattern;
  const std::size_t faults_before = faults->size();
  if (source.empty()) faults->push_back({0, "the pattern is empty", "it would match everywhere"});
  pattern.compiled_ = std::make_shared<Compiled>(Expand(source, faults), TieredRegex::Engines::kRe2);
  const re2::RE2& re = pattern.compiled_->regex.re2();
  if (faults->size() == faults_before && !re.ok()) {
    const std::size_t at = source.find(re.error_arg());  // may not occur, because RE2 sees the translation
    const std::string error = re.error().substr(0, at == source.npos ? re.error().find(": ") : source.npos);
    faults->push_back({at == source.npos ? 0 : at, "RE2 rejects the pattern: " + error, ""});
  }
  pattern.ok_ = faults->size() == faults_before;
  pattern.compiled_->parts.set_literals = pattern.Literals(kSetLiteral);
  return pattern;
}

Pattern Pattern::FromStored(Parts parts) {
  Pattern pattern;
  pattern.compiled_ = std::make_shared<Compiled>(std::move(parts), TieredRegex::Engines::kBoth);
  pattern.ok_ = true;
  return pattern;
}

const Pattern::Parts& Pattern::parts() const {
  static const Parts none;
  return compiled_ == nullptr ? none : compiled_->parts;
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

std::vector<std::string> Pattern::capture_names() const {
  std::vector<std::string> names;
  for (const Group& group : parts().groups) {
    if (!group.name.empty() && std::find(names.begin(), names.end(), group.name) == names.end())
      names.push_back(group.name);
  }
  return names;
}

std::vector<std::string> Pattern::Literals(std::size_t min_length) const {
  if (!ok_) return {};
  // The filter drops atoms that are too short, and each alternation in which an alternative has only such atoms.
  re2::FilteredRE2 filter(static_cast<int>(min_length));
  std::string with_blanks = compiled_->parts.regex;
  for (std::size_t at = with_blanks.find(kBlank); at != std::string::npos; at = with_blanks.find(kBlank, at))
    with_blanks.replace(at, kBlank.size(), "(?: )");
  int id = 0;
  if (filter.Add(with_blanks, Options(), &id) != re2::RE2::NoError) return {};
  std::vector<std::string> atoms;
  filter.Compile(&atoms);
  for (std::string& atom : atoms) atom = SearchableLiteral(atom, min_length);
  const std::set<std::string> literals = RequiredLiterals(filter, atoms);
  return {literals.begin(), literals.end()};
}

}  // namespace whyoom
