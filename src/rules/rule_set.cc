#include "rules/rule_set.h"

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <system_error>
#include <utility>
#include <vector>

#include "input/error.h"
#include "rules/rule_image.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

bool SameButForCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

// "E0100" equals "0100": both spellings are common.
bool SameCode(std::string_view code, std::string_view wanted) {
  const auto digits = [](std::string_view text) {
    return text.size() == 5 && (text[0] == 'E' || text[0] == 'e') ? text.substr(1) : text;
  };
  const auto is_number = [](std::string_view text) {
    return text.size() == 4 && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
  };
  return SameButForCase(code, wanted) || (is_number(digits(code)) && digits(code) == digits(wanted));
}

// Lower-case ASCII letters and digits; non-ASCII bytes are kept.
std::string LettersAndDigits(std::string_view text) {
  std::string kept;
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= 0x80 || std::isalnum(byte) != 0) kept += static_cast<char>(std::tolower(byte));
  }
  return kept;
}

RuleFile ReadFile(const std::filesystem::path& path) {
  std::ifstream stream(path, std::ios::binary);
  if (!stream) throw Error(path.string() + ": cannot open the rule file");
  // Read one byte more than the limit, so that the parser reports a file that exceeds it.
  std::string text(kMostRuleBytes + 1, '\0');
  stream.read(text.data(), static_cast<std::streamsize>(text.size()));
  text.resize(static_cast<std::size_t>(stream.gcount()));
  if (stream.bad()) throw Error(path.string() + ": cannot read the rule file");
  return {path.string(), std::move(text)};
}

}  // namespace

std::string JoinSentences(const std::vector<Sentence>& sentences, const Scope& scope) {
  std::string text;
  for (const Sentence& sentence : sentences) {
    if (sentence.when && AsBool(sentence.when->Evaluate(scope)) != true) continue;
    text += sentence.text.Fill(scope).value_or("");
  }
  return text;
}

RuleSet RuleSet::Load(const std::vector<RuleFile>& files, std::vector<Fault>* faults) {
  const RuleImage& image = BuiltInImage();
  RuleData data = UnpackRules(image.packed);
  data.literals = image.literals;
  data.trigger_count = image.trigger_count;
  data.sign_literals = image.sign_literals;
  data.nearby_literals = image.nearby_literals;
  data.fingerprint = image.fingerprint;
  return files.empty() ? RuleSet(std::move(data)) : Compile(std::move(data), files, faults);
}

RuleSet RuleSet::Compile(RuleData base, const std::vector<RuleFile>& files, std::vector<Fault>* faults,
                         const CompileOptions& options) {
  constexpr std::size_t kShownName = 200;  // of a file name in reports
  CompiledRules compiled = CompileRules(std::move(base), files, options);
  faults->insert(faults->end(), compiled.faults.begin(), compiled.faults.end());
  RuleSet rules(std::move(compiled.data));
  for (const RuleFile& file : files) {
    std::vector<std::string>& given = rules.given_;
    if (!file.given.empty() && std::find(given.begin(), given.end(), file.given) == given.end())
      given.push_back(file.given);
    if (file.layer > 0) rules.extra_files_.push_back(CutBytes(Printable(file.name), kShownName));
  }
  return rules;
}

std::vector<RuleEntry> ListRuleEntries(const std::vector<RuleFile>& files) {
  return CompileRules(UnpackRules(BuiltInImage().packed), files, {.lists_entries = true}).entries;
}

std::vector<RuleFile> RuleSet::ReadFiles(const std::string& path) {
  std::error_code error;
  const std::filesystem::file_status status = std::filesystem::status(path, error);
  if (!std::filesystem::exists(status)) throw Error(Printable(path) + ": no such rule file or folder");
  if (!std::filesystem::is_directory(status)) return {ReadFile(path)};
  std::vector<std::filesystem::path> paths;
  std::filesystem::directory_iterator entry(path, error);
  for (; !error && entry != std::filesystem::directory_iterator(); entry.increment(error)) {
    const std::filesystem::path& file = entry->path();
    if (file.extension() == ".json" && file.filename() != "schema.json") paths.push_back(file);
  }
  if (error) throw Error(path + ": cannot read the folder of rule files: " + error.message());
  if (paths.empty()) throw Error(path + ": the folder contains no rule files (expected *.json)");
  std::sort(paths.begin(), paths.end());
  std::vector<RuleFile> files;
  for (const std::filesystem::path& file : paths) files.push_back(ReadFile(file));
  return files;
}

const FailureRule* FindByCode(const std::vector<FailureRule>& failures, std::string_view code_or_alias) {
  for (const FailureRule& failure : failures) {
    if (SameButForCase(failure.code, code_or_alias)) return &failure;
  }
  for (const FailureRule& failure : failures) {
    for (const std::string& alias : failure.aliases) {
      if (SameButForCase(alias, code_or_alias)) return &failure;
    }
  }
  for (const FailureRule& failure : failures) {
    if (SameCode(failure.code, code_or_alias)) return &failure;
  }
  return nullptr;
}

namespace {

// Finds an entry by id; null if there is none.
template <class Entry>
const Entry* FindEntry(const std::vector<Entry>& entries, std::string_view id) {
  const auto found = std::lower_bound(entries.begin(), entries.end(), id,
                                      [](const Entry& entry, std::string_view wanted) { return entry.id < wanted; });
  return found != entries.end() && found->id == id ? &*found : nullptr;
}

}  // namespace

const Remedy* RuleSet::FindRemedy(std::string_view id) const { return FindEntry(data_.remedies, id); }

const Framework* RuleSet::default_framework() const {
  const auto found = std::ranges::find(data_.frameworks, true, &Framework::is_default);
  return found != data_.frameworks.end() ? &*found : nullptr;
}

std::string RuleSet::KeyOfSteps(const Remedy& remedy, std::string_view framework) const {
  std::size_t steps = 0;  // a rule file can base frameworks on each other in a circle
  for (const Framework* one = FindFramework(framework); one != nullptr && steps++ < data_.frameworks.size();
       one = FindFramework(one->based_on)) {
    if (remedy.how.contains(one->id)) return one->id;
  }
  return "";
}

const Framework* RuleSet::FindFramework(std::string_view id_or_name) const {
  const std::string wanted = LettersAndDigits(id_or_name);
  if (wanted.empty()) return nullptr;
  const auto found = std::find_if(data_.frameworks.begin(), data_.frameworks.end(), [&](const Framework& one) {
    return LettersAndDigits(one.id) == wanted || LettersAndDigits(one.name) == wanted ||
           std::any_of(one.aliases.begin(), one.aliases.end(),
                       [&](const std::string& alias) { return LettersAndDigits(alias) == wanted; });
  });
  return found != data_.frameworks.end() ? &*found : nullptr;
}

const DerivedRowField* RuleSet::FindDerivedRowField(std::string_view name) const {
  return FindEntry(data_.derived_row_fields, name);
}

double RuleSet::Threshold(std::string_view id) const {
  const whyoom::Threshold* const found = FindEntry(data_.thresholds, id);
  return found != nullptr ? found->share : 0;
}

std::string RuleSet::Say(std::string_view id, const Scope& scope) const {
  const Wording* const found = FindEntry(data_.wording, id);
  return found != nullptr ? JoinSentences(found->sentences, scope) : std::string();
}

bool Quotation::Matches(std::string_view before, std::string_view from_header) const {
  // `after` and `lead` first, because their texts are short.
  const auto holds = [](const Pattern& pattern, std::string_view text) { return !pattern.ok() || pattern.IsIn(text); };
  return holds(after, from_header) && holds(lead, before.substr(before.rfind('\n') + 1)) &&
         holds(this->before, before) && !unless.IsIn(before) && !unless_after.IsIn(from_header);
}

bool ProgressLine::Find(std::string_view line, PatternMatch* match) const {
  return pattern.Find(line, 0, match) && !unless.IsIn(line);
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

bool Quotation::MatchesExample(std::string_view example) const {
  constexpr std::string_view kHead = "<head>";
  const std::size_t head = example.find(kHead);
  if (head == std::string_view::npos) return Matches(example, "");
  return Matches(example.substr(0, head), example.substr(head + kHead.size()));
}

namespace {

bool IsOfName(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

// Offset of the first occurrence of a whole word at or after `from`; npos if there is none.
std::size_t FindWord(std::string_view text, std::string_view word, std::size_t from) {
  for (std::size_t at = text.find(word, from); at != text.npos; at = text.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || !IsOfName(text[at - 1])) && (end == text.size() || !IsOfName(text[end]))) return at;
  }
  return text.npos;
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

bool ContainsName(std::string_view text, std::string_view name) {
  constexpr std::string_view kArgument = "=)";
  const std::size_t bracket = name.find('(');
  if (bracket == name.npos || !name.ends_with(kArgument)) return FindWord(text, name, 0) != text.npos;
  const std::size_t call = FindWord(text, name.substr(0, bracket), 0);
  if (call == text.npos) return false;
  const std::string_view argument = name.substr(bracket + 1, name.size() - bracket - 1 - kArgument.size());
  for (std::size_t at = FindWord(text, argument, call); at != text.npos; at = FindWord(text, argument, at + 1)) {
    if (text.substr(at + argument.size()).starts_with("=")) return true;
  }
  return false;
}

RuleSource::RuleSource() = default;

RuleSource::RuleSource(const RuleSet& rules) : given_(&rules) {}

const RuleSet& RuleSource::rules() const {
  if (given_ != nullptr) return *given_;
  std::call_once(loaded_, [this] {
    std::vector<Fault> faults;
    built_in_ = std::make_unique<const RuleSet>(RuleSet::Load({}, &faults));
  });
  return *built_in_;
}

const std::vector<std::string>& RuleSource::literals() const {
  return given_ != nullptr ? given_->literals() : BuiltInImage().literals;
}

std::size_t RuleSource::trigger_count() const {
  return given_ != nullptr ? given_->trigger_count() : BuiltInImage().trigger_count;
}

const std::vector<std::string>& RuleSource::extra_files() const {
  static const std::vector<std::string> none;
  return given_ != nullptr ? given_->extra_files() : none;
}

const std::string& RuleSource::fingerprint() const {
  return given_ != nullptr ? given_->fingerprint() : BuiltInImage().fingerprint;
}

}  // namespace whyoom
