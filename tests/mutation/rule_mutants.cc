#include "mutation/rule_mutants.h"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>
#include <utility>

#include "mutation/source_mutants.h"

namespace whyoom {
namespace {

using Json = nlohmann::json;
using MutantKind = RuleMutant::Kind;

// `key` as a token of a JSON pointer.
std::string PointerToken(std::string_view key) {
  std::string token;
  for (const char c : key) token += c == '~' ? "~0" : c == '/' ? "~1" : std::string(1, c);
  return token;
}

// The kinds of members, by key. A key means the same in all sections, with the exceptions in Visit.
const std::set<std::string_view> kKept = {"$schema", "format", "description", "examples", "counterexamples", "id",
                                          "kind",    "code",   "links",       "extends",  "snippets"};
const std::set<std::string_view> kPatterns = {"pattern", "lead", "before", "after", "until", "unless", "unless_after"};
const std::set<std::string_view> kPatternLists = {"patterns", "signs", "facts"};
const std::set<std::string_view> kConditions = {"when", "row", "from", "saves"};
const std::set<std::string_view> kWords = {"title", "about",    "category", "safe_why", "gain",
                                           "note",  "telltale", "section",  "phase",    "why"};
// Members that can be omitted from an entry.
const std::set<std::string_view> kOptional = {"when",  "row",   "unless",       "unless_after", "after",       "until",
                                              "saves", "retry", "memory_space", "change",       "safety_when", "at"};
constexpr std::array kSafeties = {"safe", "safe_slower", "risky", "changes_training"};

bool IsOfStrings(const Json& value) {
  return value.is_array() && std::all_of(value.begin(), value.end(), [](const Json& one) {
           return one.is_string() || (one.is_array() && std::all_of(one.begin(), one.end(), [](const Json& piece) {
                                        return piece.is_string();
                                      }));
         });
}

class FileMutator {
 public:
  FileMutator(std::size_t file, std::vector<RuleMutant>* mutants) : file_(file), mutants_(*mutants) {}

  void Run(const Json& root) {
    if (!root.is_object()) return;
    for (const auto& [section, value] : root.items()) {
      if (kKept.contains(section)) continue;
      section_ = section;
      Visit("/" + PointerToken(section), section, value);
    }
  }

 private:
  void Add(MutantKind kind, const std::string& pointer, std::size_t at, std::string what, Json instead) {
    mutants_.push_back({kind, file_, pointer, at, std::move(what), std::move(instead)});
  }
  void Remove(const std::string& pointer, const std::string& what) {
    Add(MutantKind::kEntry, pointer, 0, "without " + what, Json(Json::value_t::discarded));
  }
  void AddAll(MutantKind kind, const std::string& pointer, std::vector<SourceMutant> changed) {
    for (SourceMutant& one : changed) Add(kind, pointer, one.at, std::move(one.what), std::move(one.source));
  }

  void Visit(const std::string& pointer, const std::string& key, const Json& value) {
    if (kKept.contains(key)) return;
    const bool is_text = value.is_string() || IsOfStrings(value);
    const bool is_list_of_patterns =
        kPatternLists.contains(key) || (section_ == "lines" && key == "unless" && value.is_array());
    if (section_ == "json_logs" || section_ == "roles") return Plain(pointer, key, value);
    if (is_list_of_patterns) return Patterns(pointer, value);
    const bool is_of_sentences =
        key == "evidence" || key == "ruled_out" || (key == "why" && !pointer.ends_with("/retry/why"));
    if (is_of_sentences && value.is_array()) return Sentences(pointer, value);
    if (section_ == "terms" && is_text) {
      Remove(pointer, "the term " + key);
      return AddAll(MutantKind::kCondition, pointer, MutateExpression(JoinedText(value)));
    }
    if (is_text && kPatterns.contains(key))
      return AddAll(MutantKind::kPattern, pointer, MutatePattern(JoinedText(value)));
    if (is_text && kConditions.contains(key))
      return AddAll(MutantKind::kCondition, pointer, MutateExpression(JoinedText(value)));
    if (is_text && kWords.contains(key)) return Add(MutantKind::kWords, pointer, 0, "other words", "Other words.");
    if (is_text && key == "text") return AddAll(MutantKind::kSentence, pointer, MutateTemplate(JoinedText(value)));
    Plain(pointer, key, value);
  }

  void Sentences(const std::string& pointer, const Json& value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = pointer + "/" + std::to_string(i);
      Remove(at, "this sentence");
      if (value[i].is_object()) {
        Visit(at, "", value[i]);
      } else {
        AddAll(MutantKind::kSentence, at, MutateTemplate(JoinedText(value[i])));
      }
    }
  }

  void Patterns(const std::string& pointer, const Json& value) {
    for (std::size_t i = 0; i < value.size(); ++i) {
      const std::string at = pointer + "/" + std::to_string(i);
      Remove(at, "this pattern");
      if (value[i].is_object()) {
        Visit(at + "/pattern", "pattern", value[i]["pattern"]);
      } else {
        AddAll(MutantKind::kPattern, at, MutatePattern(JoinedText(value[i])));
      }
    }
  }

  void Plain(const std::string& pointer, const std::string& key, const Json& value) {
    if (value.is_array()) {
      for (std::size_t i = 0; i < value.size(); ++i) {
        const std::string at = pointer + "/" + std::to_string(i);
        Remove(at, "this entry of " + key);
        if (value[i].is_object()) {
          Visit(at, "", value[i]);
        } else if (in_how_) {
          AddAll(MutantKind::kSentence, at, MutateTemplate(JoinedText(value[i])));
        }
      }
    } else if (value.is_object()) {
      Members(pointer, key, value);
    } else if (value.is_boolean()) {
      Add(MutantKind::kFlag, pointer, 0, std::string("not ") + (value.get<bool>() ? "true" : "false"),
          !value.get<bool>());
    } else if (value.is_number()) {
      Number(pointer, key, value);
    } else if (value.is_string()) {
      Name(pointer, key, value.get<std::string>());
    }
  }

  void Members(const std::string& pointer, const std::string& key, const Json& value) {
    const bool was_in_how = in_how_;
    in_how_ = in_how_ || key == "how";
    const bool is_map = key == "how" || (pointer.find('/', 1) == pointer.npos && section_ != "terms");
    for (const auto& [name, member] : value.items()) {
      const std::string at = pointer + "/" + PointerToken(name);
      if (is_map || kOptional.contains(name)) Remove(at, name);
      Visit(at, name, member);
    }
    in_how_ = was_in_how;
  }

  void Number(const std::string& pointer, const std::string& key, const Json& value) {
    const double number = value.get<double>();
    if (key == "prior" || key == "priority") {
      Add(MutantKind::kNumber, pointer, 0, "behind all others", key == "prior" ? number + 1000 : number - 1000);
      Add(MutantKind::kNumber, pointer, 0, "before all others", key == "prior" ? number - 1000 : number + 1000);
    } else if (key == "cost") {
      Add(MutantKind::kNumber, pointer, 0, "another cost", number >= 3 ? 0 : 6);
    } else {
      Add(MutantKind::kNumber, pointer, 0, "a tenth more", number * 1.1);
      Add(MutantKind::kNumber, pointer, 0, "a tenth less", number * 0.9);
    }
  }

  void Name(const std::string& pointer, const std::string& key, const std::string& name) {
    std::string instead = "nobody_asks";
    if (key == "safety") {
      const auto found = std::find(kSafeties.begin(), kSafeties.end(), name);
      instead = found == kSafeties.begin() ? kSafeties.back() : kSafeties.front();
    } else if (key == "answer") {
      instead = name == "never" ? "maybe" : "never";
    } else if (key == "place") {
      instead = name == "prefix" ? "suffix" : "prefix";
    } else if (key == "at" || key == "reader" || key == "change") {
      return;  // removing it is another mutant, and other values are rejected
    }
    Add(MutantKind::kName, pointer, 0, "'" + instead + "' instead of '" + name + "'", instead);
  }

  const std::size_t file_;
  std::vector<RuleMutant>& mutants_;
  std::string section_;
  bool in_how_ = false;
};

}  // namespace

bool FindTheSame(const Pattern& one, const Pattern& other, const std::string& text) {
  const auto is_same = [](const Capture& a, const Capture& b) {
    return a.name == b.name && a.begin == b.begin && a.end == b.end && a.value == b.value;
  };
  for (std::size_t from = 0; from <= text.size();) {
    PatternMatch found;
    PatternMatch others;
    const bool finds = one.Find(text, from, &found);
    if (finds != other.Find(text, from, &others)) return false;
    if (!finds) return true;
    if (found.begin != others.begin || found.end != others.end ||
        !std::equal(found.captures.begin(), found.captures.end(), others.captures.begin(), others.captures.end(),
                    is_same))
      return false;
    from = std::max(found.end, from + 1);
  }
  return true;
}

std::string JoinedText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  std::string text;
  if (!IsOfStrings(value)) return text;
  for (const Json& line : value) {
    if (&line != &value.front()) text += ' ';
    if (line.is_string()) {
      text += line.get<std::string>();
      continue;
    }
    for (const Json& piece : line) text += piece.get<std::string>();
  }
  return text;
}

const char* KindName(RuleMutant::Kind kind) {
  switch (kind) {
    case MutantKind::kPattern:
      return "pattern";
    case MutantKind::kCondition:
      return "condition";
    case MutantKind::kSentence:
      return "sentence";
    case MutantKind::kNumber:
      return "number";
    case MutantKind::kFlag:
      return "flag";
    case MutantKind::kName:
      return "name";
    case MutantKind::kEntry:
      return "entry";
    case MutantKind::kWords:
      return "words";
  }
  return "";
}

std::vector<RuleMutant> MutateRules(const std::vector<RuleFile>& files) {
  std::vector<RuleMutant> mutants;
  for (std::size_t i = 0; i < files.size(); ++i) {
    const Json parsed = Json::parse(files[i].text, nullptr, false);
    if (!parsed.is_discarded()) FileMutator(i, &mutants).Run(parsed);
  }
  return mutants;
}

std::string Apply(const RuleMutant& mutant, const Json& parsed) {
  Json changed = parsed;
  if (!mutant.instead.is_discarded()) {
    changed[Json::json_pointer(mutant.pointer)] = mutant.instead;
    return changed.dump();
  }
  const Json::json_pointer pointer(mutant.pointer);
  Json& parent = changed[pointer.parent_pointer()];
  if (parent.is_array()) {
    parent.erase(std::stoul(pointer.back()));
  } else {
    parent.erase(pointer.back());
  }
  return changed.dump();
}

}  // namespace whyoom
