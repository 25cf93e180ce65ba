#include "rules/pattern_tree.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <optional>
#include <system_error>
#include <utility>

#include "rules/suggest.h"

namespace whyoom {
namespace {

using TreeKind = PatternPiece::Kind;

constexpr int kDeepest = 100;
constexpr std::string_view kClassEscapes = "dDsSwWpPC";
constexpr std::string_view kAssertionEscapes = "bBAz";

class Parser {
 public:
  explicit Parser(std::string_view source) : source_(source) {}

  std::optional<PatternPiece> Parse() {
    PatternPiece whole = Alternation(0);
    if (at_ < source_.size() || failed_) return std::nullopt;
    return whole;
  }

 private:
  bool Has(std::string_view text) const { return source_.substr(at_).starts_with(text); }
  bool AtEnd() const { return at_ >= source_.size(); }

  PatternPiece Alternation(int depth) {
    PatternPiece piece;
    piece.kind = TreeKind::kAlternation;
    piece.begin = at_;
    piece.children.push_back(Sequence(depth));
    while (!failed_ && Has("|")) {
      ++at_;
      piece.children.push_back(Sequence(depth));
    }
    piece.end = piece.whole_end = at_;
    return piece.children.size() == 1 ? std::move(piece.children.front()) : piece;
  }

  PatternPiece Sequence(int depth) {
    PatternPiece sequence;
    sequence.begin = at_;
    while (!failed_ && !AtEnd() && source_[at_] != '|' && source_[at_] != ')') {
      PatternPiece piece = One(depth);
      Quantify(&piece);
      std::vector<PatternPiece>& all = sequence.children;
      const bool continues = !all.empty() && piece.kind == TreeKind::kLiteral &&
                             all.back().kind == TreeKind::kLiteral && all.back().whole_end == piece.begin &&
                             all.back().whole_end == all.back().end && piece.whole_end == piece.end;
      if (continues) {
        all.back().end = all.back().whole_end = piece.end;
      } else {
        all.push_back(std::move(piece));
      }
    }
    sequence.end = sequence.whole_end = at_;
    return sequence;
  }

  PatternPiece Leaf(TreeKind kind, std::size_t length) {
    PatternPiece piece;
    piece.kind = kind;
    piece.begin = at_;
    if (length == 0) failed_ = true;  // the terminator is missing
    at_ += std::min(length, source_.size() - at_);
    piece.end = piece.whole_end = at_;
    return piece;
  }

  PatternPiece One(int depth) {
    const std::string_view rest = source_.substr(at_);
    if (rest[0] == ' ') return Leaf(TreeKind::kBlank, rest.find_first_not_of(' '));
    if (rest[0] == '\\') return Escape(rest);
    if (rest[0] == '[') return Leaf(TreeKind::kClass, ClassLength(rest));
    if (rest[0] == '.') return Leaf(TreeKind::kClass, 1);
    if (rest[0] == '^' || rest[0] == '$') return Leaf(TreeKind::kAssertion, 1);
    if (rest.starts_with("%{")) return Leaf(TreeKind::kCapture, rest.find('}') + 1);
    if (rest[0] == '(') return Group(rest, depth);
    // A quantifier without an operand; RE2 rejects it, too.
    if (std::string_view("*+?").find(rest[0]) != rest.npos) failed_ = true;
    std::size_t length = 1;
    while (length < rest.size() && (static_cast<unsigned char>(rest[length]) & 0xC0) == 0x80) ++length;
    return Leaf(TreeKind::kLiteral, length);
  }

  PatternPiece Escape(std::string_view rest) {
    if (rest.size() < 2) {
      failed_ = true;
      return Leaf(TreeKind::kLiteral, 1);
    }
    if (rest[1] == 'Q') {
      const std::size_t end = rest.find("\\E");
      return Leaf(TreeKind::kLiteral, end == rest.npos ? rest.size() : end + 2);
    }
    if (kAssertionEscapes.find(rest[1]) != rest.npos) return Leaf(TreeKind::kAssertion, 2);
    if (kClassEscapes.find(rest[1]) != rest.npos)
      return Leaf(TreeKind::kClass, rest.starts_with("\\p{") || rest.starts_with("\\P{") ? rest.find('}') + 1 : 2);
    if (rest.starts_with("\\x{")) return Leaf(TreeKind::kLiteral, rest.find('}') + 1);
    return Leaf(TreeKind::kLiteral, rest[1] == 'x' ? 4 : 2);
  }

  PatternPiece Group(std::string_view rest, int depth) {
    PatternPiece group;
    group.kind = TreeKind::kGroup;
    group.begin = at_;
    std::size_t opening = 1;
    if (rest.starts_with("(?P<") || rest.starts_with("(?<")) {
      opening = rest.find('>') + 1;
    } else if (rest.starts_with("(?")) {
      const std::size_t end = rest.find_first_of(":)");
      if (end == rest.npos || rest[end] == ')') return Leaf(TreeKind::kFlags, end == rest.npos ? rest.size() : end + 1);
      opening = end + 1;
    }
    at_ += opening;
    if (opening == 0 || depth >= kDeepest) {
      failed_ = true;
      return group;
    }
    group.children.push_back(Alternation(depth + 1));
    if (!Has(")")) failed_ = true;
    ++at_;
    group.end = group.whole_end = std::min(at_, source_.size());
    return group;
  }

  // "?", "*", "+", "{2,5}", each optionally with a "?" for non-greedy matching.
  void Quantify(PatternPiece* piece) {
    if (AtEnd() || failed_) return;
    const char c = source_[at_];
    if (c == '?' || c == '*' || c == '+') {
      piece->least = c == '+' ? 1 : 0;
      piece->most = c == '?' ? 1 : -1;
      ++at_;
    } else if (c != '{' || !Counts(piece)) {
      return;
    }
    if (Has("?")) ++at_;
    piece->whole_end = at_;
  }

  bool Counts(PatternPiece* piece) {
    const std::size_t end = source_.find('}', at_);
    if (end == source_.npos) return false;
    const std::string_view counts = source_.substr(at_ + 1, end - at_ - 1);
    const std::size_t comma = std::min(counts.find(','), counts.size());
    int least = 0;
    int most = -1;
    const auto number = [](std::string_view text, int* value) {
      const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), *value);
      return error == std::errc() && rest == text.data() + text.size();
    };
    if (!number(counts.substr(0, comma), &least)) return false;
    if (comma == counts.size()) {
      most = least;
    } else if (comma + 1 < counts.size() && !number(counts.substr(comma + 1), &most)) {
      return false;
    }
    piece->least = least;
    piece->most = most;
    at_ = end + 1;
    return true;
  }

  std::string_view source_;
  std::size_t at_ = 0;
  bool failed_ = false;
};

}  // namespace

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

std::optional<PatternPiece> ParsePattern(std::string_view source) { return Parser(source).Parse(); }

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
constexpr std::size_t kMaxText = 400;  // of the type `text`

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

// RE2 copies an expression once per counted repetition. If a pattern's counts add up to this, the variant without
// counts is much smaller, and it rejects most texts, too.
constexpr std::size_t kCounted = 60;
// Counts up to this stay in both variants.
constexpr std::size_t kNear = 8;

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
    if (counted_ < kCounted) done_.loose.clear();
    return std::move(done_);
  }

 private:
  void Copy(std::size_t length) {
    const std::string_view copied = source_.substr(at_, length);
    done_.plain += copied;
    done_.spacing += copied;
    done_.loose += copied;
    at_ += length;
  }

  void AddGroup(std::string_view name, std::string_view type) {
    done_.group_names.emplace_back(name);
    done_.types.emplace_back(type);
    const bool is_new = std::find(done_.names.begin(), done_.names.end(), name) == done_.names.end();
    if (!name.empty() && is_new) done_.names.emplace_back(name);
  }

  void Blank(std::string_view rest) {
    const std::size_t length = std::min(rest.find_first_not_of(' '), rest.size());
    // Before a quantifier the white space must be a group: "a ?b" is not "a\s+?b".
    const bool quantified = length < rest.size() && std::string_view("*+?{").find(rest[length]) != rest.npos;
    const std::string_view spacing = quantified ? "(?:\\s+)" : "\\s+";
    done_.plain += " ";
    done_.spacing += spacing;
    done_.loose += spacing;
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
    const std::string_view uncounted = least == 0 ? "*" : "+";
    done_.spacing += written;
    done_.plain += least == 0 ? uncounted : written;
    done_.loose += most > kNear ? uncounted : written;
    if (most > kNear) counted_ += most;
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
    const bool counted = type == "text";
    const std::string uncounted = counted ? "([^\\n]*?)" : group;
    done_.spacing += group;
    done_.plain += uncounted;
    done_.loose += uncounted;
    if (counted) counted_ += kMaxText;
    AddGroup(name, type);
    at_ += end + 1;
  }

  std::string_view source_;
  std::vector<SyntaxFault>* faults_;
  std::size_t at_ = 0;
  std::size_t counted_ = 0;  // sum of the large repetition counts
  Expansion done_;
};

// The text that every match of a piece begins with; empty if there is none.
std::string PrefixOf(std::string_view source, const PatternPiece& piece) {
  if (piece.least != 1 || piece.most != 1) return {};
  const std::string_view text = source.substr(piece.begin, piece.end - piece.begin);
  if (piece.kind == PatternPiece::Kind::kGroup)
    return text.starts_with("(?:") || text.starts_with("(?P<") ? PrefixOf(source, piece.children.front()) : "";
  if (piece.kind == PatternPiece::Kind::kSequence) {
    for (const PatternPiece& child : piece.children) {
      const bool is_boundary = source.substr(child.begin, child.end - child.begin) == "\\b";
      if (!is_boundary) return PrefixOf(source, child);
    }
  }
  if (piece.kind != PatternPiece::Kind::kLiteral) return {};
  std::string prefix;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && (++i == text.size() || std::isalnum(static_cast<unsigned char>(text[i])) != 0)) break;
    prefix += text[i];
  }
  return prefix;
}

}  // namespace

Expansion Expand(std::string_view source, std::vector<SyntaxFault>* faults) { return Expander(source, faults).Run(); }

std::string LiteralPrefix(std::string_view source) {
  const std::optional<PatternPiece> whole = ParsePattern(source);
  return whole ? PrefixOf(source, *whole) : "";
}

}  // namespace whyoom
