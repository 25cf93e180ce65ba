#include "rules/pattern_syntax.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <system_error>
#include <utility>

#include "rules/suggest.h"

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

}  // namespace whyoom
