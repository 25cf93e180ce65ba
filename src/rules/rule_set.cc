#include "rules/rule_set.h"

#include <algorithm>
#include <cctype>

#include "rules/rule_image.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool IsOfName(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Lower-case ASCII letters and digits; non-ASCII bytes are kept.
std::string LettersAndDigits(std::string_view text) {
  std::string kept = LowerAscii(text);
  std::erase_if(kept, [](unsigned char c) { return c < 0x80 && std::isalnum(c) == 0; });
  return kept;
}

// Finds an entry by id; null if there is none.
template <class Entry>
const Entry* FindEntry(const std::vector<Entry>& entries, std::string_view id) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), id,
                                      [](const Entry& entry, std::string_view wanted) { return entry.id < wanted; });
  return found != entries.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

std::string NameVersions::VersionFact() const {
  std::string fact = package + "_version";
  std::replace(fact.begin(), fact.end(), '-', '_');
  return fact;
}

std::optional<bool> NameVersions::ExistsIn(std::string_view version) const {
  for (const auto& [bound, sign] : {std::pair(std::string_view(since), 1), std::pair(std::string_view(until), -1)}) {
    if (bound.empty()) continue;
    const std::optional<int> order = CompareVersions(version, bound);
    if (!order) return std::nullopt;
    if (*order * sign < 0) return false;
  }
  return true;
}

std::string FailureRule::NameOf(const HeaderPattern& header) const {
  return code + ", head " + std::to_string(&header - header_patterns.data() + 1);
}

bool Context::States(const Example& example) const {
  std::vector<Capture> captures;
  bool matches = false;
  for (const Pattern& pattern : patterns) {
    PatternMatch match;
    matches = pattern.Find(example.text, 0, &match) || matches;
    captures.insert(captures.end(), match.captures.begin(), match.captures.end());
  }
  const auto is_read = [&](const auto& fact) {
    return is_program ||  // may derive facts
           std::any_of(captures.begin(), captures.end(), [&](const Capture& capture) {
             return capture.name == fact.first && capture.value == fact.second;
           });
  };
  return matches && std::all_of(example.facts.begin(), example.facts.end(), is_read);
}

bool Quotation::Matches(std::string_view before, std::string_view from_header) const {
  // `after` and `lead` first, because their texts are short.
  const auto holds = [](const Pattern& pattern, std::string_view text) { return !pattern.ok() || pattern.IsIn(text); };
  return holds(after, from_header) && holds(lead, before.substr(before.rfind('\n') + 1)) &&
         holds(this->before, before) && !unless.IsIn(before) && !unless_after.IsIn(from_header);
}

bool Quotation::MatchesExample(std::string_view example) const {
  constexpr std::string_view kHead = "<head>";
  const std::size_t head = example.find(kHead);
  if (head == std::string_view::npos) return Matches(example, "");
  return Matches(example.substr(0, head), example.substr(head + kHead.size()));
}

bool LineRule::Find(std::string_view line, PatternMatch* match) const {
  return pattern.Find(line, 0, match) &&
         std::none_of(unless.begin(), unless.end(), [&](const Pattern& exception) { return exception.IsIn(line); });
}

const FailureRule* RuleSet::FindFailure(std::string_view code_or_alias) const {
  std::string wanted = LowerAscii(code_or_alias);
  const auto is_wanted = [&](const std::string& name) { return LowerAscii(name) == wanted; };
  const auto find = [&] {
    return std::ranges::find_if(failures, [&](const FailureRule& failure) {
      return is_wanted(failure.code) || std::ranges::any_of(failure.aliases, is_wanted);
    });
  };
  auto found = find();
  if (found == failures.end()) {  // "E0100" is 0100, and "1000" is E1000: both spellings are common
    wanted = wanted.starts_with('e') ? wanted.substr(1) : "e" + wanted;
    found = find();
  }
  return found == failures.end() ? nullptr : &*found;
}

const Remedy* RuleSet::FindRemedy(std::string_view id) const { return FindEntry(remedies, id); }

const Framework* RuleSet::FindFramework(std::string_view id_or_name) const {
  const std::string wanted = LettersAndDigits(id_or_name);
  const auto is_wanted = [&](const std::string& name) { return LettersAndDigits(name) == wanted; };
  const auto found = std::ranges::find_if(frameworks, [&](const Framework& one) {
    return is_wanted(one.id) || is_wanted(one.name) || std::ranges::any_of(one.aliases, is_wanted);
  });
  return found == frameworks.end() || wanted.empty() ? nullptr : &*found;
}

std::string RuleSet::KeyOfSteps(const Remedy& remedy, std::string_view framework) const {
  std::size_t steps = 0;  // a rule file can base frameworks on each other in a circle
  for (const Framework* one = FindFramework(framework); one != nullptr && steps++ < frameworks.size();
       one = FindFramework(one->based_on)) {
    if (remedy.how.contains(one->id)) return one->id;
  }
  return kDefaultFramework;
}

std::vector<const LineRule*> RuleSet::LinesOf(std::initializer_list<LineRule::Kind> kinds) const {
  std::vector<const LineRule*> found;
  for (const LineRule& line : lines) {
    if (std::find(kinds.begin(), kinds.end(), line.kind) != kinds.end()) found.push_back(&line);
  }
  return found;
}

std::string RuleSet::Say(std::string_view id, const Scope& scope) const {
  const Wording* const found = FindEntry(wording, id);
  std::string text;
  if (found == nullptr) return text;
  for (const Sentence& sentence : found->sentences) text += sentence.Fill(scope).value_or("");
  return text;
}

bool ContainsName(std::string_view text, std::string_view name) {
  constexpr std::string_view kBetween = "(=)";
  std::size_t from = 0;
  while (!name.empty()) {
    const std::string_view part = name.substr(0, name.find_first_of(kBetween));
    std::size_t at = text.find(part, from);
    while (at != text.npos &&
           ((at > 0 && IsOfName(text[at - 1])) || (at + part.size() < text.size() && IsOfName(text[at + part.size()]))))
      at = text.find(part, at + 1);
    if (at == text.npos) return false;
    from = at + part.size();
    name.remove_prefix(std::min(name.find_first_not_of(kBetween, part.size()), name.size()));
  }
  return true;
}

const RuleSet& RuleSource::rules() const {
  if (given_ != nullptr) return *given_;
  std::call_once(loaded_, [this] { built_in_ = std::make_unique<const RuleSet>(UnpackRules(BuiltInImage())); });
  return *built_in_;
}

const RuleHead& RuleSource::head() const {
  if (given_ != nullptr) return *given_;
  static const RuleSet head = UnpackRules(BuiltInImage(), false);
  return head;
}

}  // namespace whyoom
