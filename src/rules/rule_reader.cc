#include "rules/rule_reader.h"

#include <re2/re2.h>

#include <cmath>
#include <memory>

#include "rules/suggest.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Kind = JsonNode::Kind;

// Only rare literals of facts are searched for. They help to find headers that a log wraps inside a word.
constexpr std::size_t kFactLiteral = 12;
// These are searched for only near a prefilter match, so short literals are affordable.
constexpr std::size_t kSignLiteral = 4;

std::string TypeOf(const JsonNode& node) {
  switch (node.kind()) {
    case Kind::kBool:
      return node.number() != 0 ? "true" : "false";
    case Kind::kInteger:
    case Kind::kNumber:
      return "a number";
    case Kind::kText:
      return "a text";
    case Kind::kArray:
      return "an array";
    case Kind::kObject:
      return "an object";
    default:
      return "null";
  }
}

std::string Shown(const std::string& text) {
  constexpr std::size_t kMost = 40;
  return text.size() <= kMost ? "'" + text + "'" : "the text";
}

// A size as messages print it, or a number of bytes; reports anything else.
std::optional<double> SizeOf(const JsonNode& node) {
  if (node.is_number()) return node.number();
  const std::optional<std::int64_t> size = ParseSize(node.Text());
  if (size) return static_cast<double>(*size);
  node.Report("'" + node.Text() + "' is not a size", "write it as messages print it: 15.75G");
  return std::nullopt;
}

std::string Hint(const std::string& meant, const std::string& otherwise) { return meant.empty() ? otherwise : meant; }

}  // namespace

void RuleReader::CheckKeys() const {
  if (is_value_) return;
  if (node_.kind() != Kind::kObject) return node_.Report("expected an object, found " + TypeOf(node_));
  std::vector<std::string> all(known_.begin(), known_.end());
  std::sort(all.begin(), all.end());
  std::vector<std::string> absent = all;
  std::erase_if(absent, [&](const std::string& key) { return node_[key].exists(); });
  std::set<std::string> meant;
  for (const JsonNode& member : node_.items()) {
    if (std::binary_search(all.begin(), all.end(), member.key())) continue;
    const std::string nearest = Nearest(member.key(), absent);
    meant.insert(nearest);
    member.ReportKey("unknown key '" + member.key() + "'",
                     nearest.empty() ? "keys are " + Listing(all) : "did you mean '" + nearest + "'?");
  }
  for (const auto& [key, about] : missing_) {
    // A misspelt key is reported once, as unknown.
    if (!meant.contains(key)) node_.Report("the key '" + std::string(key) + "' is missing", about);
  }
}

bool RuleReader::Expect(const JsonNode& node, Kind kind, const char* words, const RuleField& field) const {
  if (node.kind() == kind) return true;
  node.Report(std::string("expected ") + words + ", found " + TypeOf(node), field.about);
  return false;
}

// Checks the text, of which one that is needed must not be empty.
std::string RuleReader::TextOf(const JsonNode& node, const RuleField& field, bool is_needed) {
  if (!node.is_text() && !Expect(node, Kind::kArray, "a text or an array", field)) return "";
  for (const JsonNode& item : node.items()) {
    if (!item.is_text() && item.kind() != Kind::kArray) item.Report("expected a text, found " + TypeOf(item));
  }
  std::string text = node.Text(field.lines ? '\n' : ' ');
  if (!all_.is_checked) return text;
  if (text.empty() && is_needed) node.Report("the text is empty", field.about);
  if (field.is_plain && Printable(text) != text)
    node.Report("the text contains control or invisible characters", "reports print it to a terminal");
  const std::vector<std::string> words = WordsOf(field.one_of);
  if (!words.empty() && std::find(words.begin(), words.end(), text) == words.end()) {
    const std::string meant = DidYouMean(text, words);
    node.Report(Shown(text) + " is not allowed here",
                (meant.empty() ? "" : meant + " ") + "allowed: " + Listing(words));
  }
  if (field.form[0] != '\0' && !re2::RE2::PartialMatch(text, field.form))
    node.Report(Shown(text) + " does not match " + field.form, field.about);
  return text;
}

// Adds what the text or key names to the references to check.
void RuleReader::Refer(const JsonNode& node, const std::string& name, const RuleField& field, bool at_key) {
  if (!all_.is_checked) return;
  if (field.names == Names::kFact) return all_.names.UseFact(owner_, node, name);
  if (field.names != Names::kNothing) all_.references.push_back({&node, name, field.names, owner_, at_key});
}

void RuleReader::Load(const JsonNode& node, bool& truth, const RuleField& field, bool /*is_needed*/) {
  if (Expect(node, Kind::kBool, "true or false", field)) truth = node.number() != 0;
}

void RuleReader::Load(const JsonNode& node, int& number, const RuleField& field, bool /*is_needed*/) {
  if (!Expect(node, Kind::kInteger, "an integer", field)) return;
  if (node.number() < field.least || node.number() > field.most) {
    node.Report(std::to_string(static_cast<std::int64_t>(node.number())) + " is out of range",
                "allowed: " + std::to_string(field.least) + " to " + std::to_string(field.most));
    return;
  }
  number = static_cast<int>(node.number());
}

void RuleReader::Load(const JsonNode& node, double& size, const RuleField& field, bool /*is_needed*/) {
  if (node.is_number() || Expect(node, Kind::kText, "a size or a number", field)) size = SizeOf(node).value_or(0);
}

void RuleReader::Load(const JsonNode& node, Expression& expression, const RuleField& field, bool is_needed) {
  const std::string source = TextOf(node, field, is_needed);
  const std::shared_ptr<const Terms> terms(std::shared_ptr<void>(), all_.terms);  // does not own them
  if (field.is_term || !all_.is_checked) {
    expression = Expression::Deferred(source, terms);
  } else if (!source.empty()) {
    std::vector<SyntaxFault> faults;
    expression = Expression::Compile(source, &faults, *all_.terms);
    for (const SyntaxFault& fault : faults) node.ReportAt(fault.at, fault.what, fault.hint);
    all_.names.Use(owner_, node, expression.name_uses(), field.in_row);
  }
}

void RuleReader::Load(const JsonNode& node, Template& text, const RuleField& field, bool is_needed) {
  const std::string source = TextOf(node, field, is_needed);
  const std::shared_ptr<const Terms> terms(std::shared_ptr<void>(), all_.terms);
  if (!all_.is_checked) {
    text = Template::Deferred(source, terms);
    return;
  }
  std::vector<SyntaxFault> faults;
  text = Template::Compile(source, &faults, *all_.terms);
  for (const SyntaxFault& fault : faults) node.ReportAt(fault.at, fault.what, fault.hint);
  all_.names.Use(owner_, node, text.name_uses(), field.in_row);
}

void RuleReader::Load(const JsonNode& node, Pattern& pattern, const RuleField& field, bool is_needed) {
  RuleField of_pattern = field;
  of_pattern.is_plain = false;
  const std::string source = TextOf(node, of_pattern, is_needed);
  if (source.empty()) return;
  std::vector<SyntaxFault> faults;
  pattern = Pattern::Compile(source, &faults, all_.is_checked ? Pattern::Check::kNow : Pattern::Check::kAtUse);
  for (const SyntaxFault& fault : faults) node.ReportAt(fault.at, fault.what, fault.hint);
  if (pattern.ok() && all_.is_checked) Collect(node, pattern, field);
}

// Collects the literals of a pattern.
void RuleReader::Collect(const JsonNode& node, const Pattern& pattern, const RuleField& field) {
  std::set<std::string>* to = nullptr;
  std::size_t least = kMinHeaderLiteral;
  switch (field.literals) {
    case Literals::kNone:
      return;
    case Literals::kTrigger:
      to = &all_.trigger_literals;
      break;
    case Literals::kSetting:
      to = &all_.setting_literals;
      break;
    case Literals::kRare:
      to = &all_.trigger_literals;
      least = kFactLiteral;
      break;
    case Literals::kNearby:
      to = &all_.nearby_literals;
      least = kSignLiteral;
      break;
    case Literals::kSign:
      to = &all_.sign_literals;
      least = kSignLiteral;
      break;
  }
  const std::vector<std::string> literals = pattern.Literals(least);
  to->insert(literals.begin(), literals.end());
  if (!literals.empty() || field.literals == Literals::kRare || field.literals == Literals::kSign) return;
  if (field.literals == Literals::kNearby) {
    node.Report("some alternative has no literal of " + std::to_string(least) + " characters",
                "the pattern could not be searched for: write each alternative as a pattern of its own");
  } else {
    node.Report(
        "this " + std::string(field.what) + " has no literal of " + std::to_string(least) + " characters or more",
        "the prefilter could not search for it");
  }
}

void RuleReader::Load(const JsonNode& node, std::map<std::string, whyoom::Value>& facts, const RuleField& field,
                      bool /*is_needed*/) {
  if (!Expect(node, Kind::kObject, "an object", field)) return;
  for (const JsonNode& member : node.items()) {
    facts[member.key()] = member.Scalar();
    if (!member.key().ends_with("_bytes") || !member.is_text()) continue;
    if (const std::optional<double> size = SizeOf(member)) facts[member.key()] = *size;  // "15.75G"
  }
}

void RuleReader::CheckAffix(const std::string& pattern) {
  const JsonNode& node = node_["pattern"];
  std::vector<Example> examples;
  std::vector<Example> counterexamples;
  Maybe("examples", examples);
  Maybe("counterexamples", counterexamples);
  if (!all_.is_checked) return;
  re2::RE2::Options options;
  options.set_log_errors(false);
  const re2::RE2 re(pattern, options);
  if (!re.ok()) return node.Report("RE2 rejects the pattern: " + re.error());
  static const std::vector<std::string> groups = {"reporter", "repeats", "time"};
  for (const auto& [name, number] : re.NamedCapturingGroups()) {
    if (std::find(groups.begin(), groups.end(), name) != groups.end()) continue;
    node.ReportAt(pattern.find("<" + name + ">") + 1, "unknown group '" + name + "'",
                  Hint(DidYouMean(name, groups), "groups are " + Listing(groups)));
  }
  if (examples.empty()) node_.Report("the key 'examples' is missing", "Lines, and what they leave.");
  CheckSamples(node_["examples"], examples, true,
               [&](const Example& example) { return re2::RE2::PartialMatch(example.text, re); });
}

void RuleReader::TriggerTexts(const char* key, const char* about) {
  std::vector<std::string> texts;
  Maybe(key, texts, {.about = about});
  all_.trigger_literals.insert(texts.begin(), texts.end());
}

}  // namespace whyoom
