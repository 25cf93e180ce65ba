#include "rules/rule_reader.h"

#include <re2/re2.h>

#include "text/quantity.h"
#include "text/regex_options.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Kind = JsonNode::Kind;

// Only rare literals of facts are searched for. They help to find headers that a log wraps inside a word.
constexpr std::size_t kFactLiteral = 12;
// These are searched for only near a prefilter match, so short literals are affordable.
constexpr std::size_t kSignLiteral = 4;

std::string TypeOf(const JsonNode& node) {
  static constexpr const char* kTypes[] = {"nothing",  "null",   "true or false", "a number",
                                           "a number", "a text", "an array",      "an object"};
  return kTypes[static_cast<std::size_t>(node.kind())];
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

void ReportAll(const std::vector<SyntaxFault>& faults, const JsonNode& node) {
  for (const SyntaxFault& fault : faults) node.ReportAt(fault.at, fault.what, fault.hint);
}

}  // namespace

void RuleReader::CheckKeys() const {
  if (is_value_) return;
  if (node_.kind() != Kind::kObject) return node_.Report("expected an object, found " + TypeOf(node_));
  std::vector<std::string> all = known_;
  std::sort(all.begin(), all.end());
  std::vector<std::string> absent = all;
  std::erase_if(absent, [&](const std::string& key) { return node_[key].exists(); });
  std::set<std::string> meant;
  for (const JsonNode& member : node_.items()) {
    if (std::binary_search(all.begin(), all.end(), member.key())) continue;
    meant.insert(Nearest(member.key(), absent));
    member.ReportKey("unknown key '" + member.key() + "'", DidYouMean(member.key(), absent, "others are "));
    all_.has_wrong_keys = true;
  }
  for (const std::string& key : missing_) {
    all_.has_wrong_keys = true;
    if (!meant.contains(key)) node_.Report("the key '" + key + "' is missing");  // else reported as unknown
  }
}

bool RuleReader::Expect(const JsonNode& node, Kind kind, const char* words) {
  if (node.kind() == kind) return true;
  node.Report(std::string("expected ") + words + ", found " + TypeOf(node));
  return false;
}

// Checks the text, of which one that is needed must not be empty.
std::string RuleReader::TextOf(const JsonNode& node, const RuleField& field, bool is_needed) {
  if (!node.is_text() && !Expect(node, Kind::kArray, "a text or an array")) return "";
  for (const JsonNode& item : node.items()) {
    if (!item.is_text() && item.kind() != Kind::kArray) item.Report("expected a text, found " + TypeOf(item));
  }
  std::string text = node.Text(field.lines ? '\n' : ' ');
  if (text.empty() && is_needed) node.Report("the text is empty");
  if (field.is_plain && Printable(text) != text)
    node.Report("the text contains control or invisible characters", "reports print it to a terminal");
  const std::vector<std::string> words = WordsOf(field.one_of);
  if (!words.empty() && std::find(words.begin(), words.end(), text) == words.end())
    node.Report(Shown(text) + " is not allowed here", DidYouMean(text, words, "allowed: "));
  if (field.form[0] != '\0' && !re2::RE2::PartialMatch(text, field.form))
    node.Report(Shown(text) + " does not match " + field.form);
  return text;
}

// Adds what the text or key names to the references to check.
void RuleReader::Refer(const JsonNode& node, const std::string& name, const RuleField& field, bool at_key) {
  if (field.names == Names::kFact) {
    all_.name_uses.push_back({&node, {name, 0}});
  } else if (field.names == Names::kNewFact) {
    CheckFact(node, name);
  } else if (field.names != Names::kNothing) {
    all_.references.push_back({&node, name, field.names, at_key});
  }
}

void RuleReader::CheckFact(const JsonNode& node, const std::string& name) const {
  if (all_.terms->contains(name)) node.Report("the fact '" + name + "' has the name of a term");
}

void RuleReader::Load(const JsonNode& node, bool& truth, const RuleField& /*field*/, bool /*is_needed*/) {
  if (Expect(node, Kind::kBool, "true or false")) truth = node.number() != 0;
}

void RuleReader::Load(const JsonNode& node, int& number, const RuleField& field, bool /*is_needed*/) {
  if (!Expect(node, Kind::kInteger, "an integer")) return;
  if (node.number() < 0 || node.number() > field.most) {
    return node.Report(std::to_string(static_cast<std::int64_t>(node.number())) + " is out of range",
                       "allowed: 0 to " + std::to_string(field.most));
  }
  number = static_cast<int>(node.number());
}

void RuleReader::Load(const JsonNode& node, double& size, const RuleField& /*field*/, bool /*is_needed*/) {
  if (node.is_number() || Expect(node, Kind::kText, "a size or a number")) size = SizeOf(node).value_or(0);
}

void RuleReader::Load(const JsonNode& node, Expression& expression, const RuleField& field, bool is_needed) {
  const std::string source = TextOf(node, field, is_needed);
  if (source.empty()) return;
  std::vector<SyntaxFault> faults;
  expression =
      field.is_term ? Expression::Deferred(source, all_.terms) : Expression::Compile(source, &faults, *all_.terms);
  ReportAll(faults, node);
  if (field.is_term) return;
  for (const NameUse& use : expression.parsed().names) all_.name_uses.emplace_back(&node, use);
}

void RuleReader::Load(const JsonNode& node, Template& text, const RuleField& field, bool is_needed) {
  std::vector<SyntaxFault> faults;
  text = Template::Compile(TextOf(node, field, is_needed), &faults, *all_.terms);
  ReportAll(faults, node);
  for (const NameUse& use : NamesIn(text)) all_.name_uses.emplace_back(&node, use);
}

void RuleReader::Load(const JsonNode& node, Pattern& pattern, const RuleField& field, bool is_needed) {
  RuleField of_pattern = field;
  of_pattern.is_plain = false;
  const std::string source = TextOf(node, of_pattern, is_needed);
  if (source.empty()) return;
  std::vector<SyntaxFault> faults;
  pattern = Pattern::Compile(source, &faults);
  ReportAll(faults, node);
  for (const std::string& fact : pattern.capture_names()) CheckFact(node, fact);
  if (pattern.ok() && field.literals != Literals::kNone) Collect(node, pattern, field.literals);
}

// Collects the literals of a pattern.
void RuleReader::Collect(const JsonNode& node, const Pattern& pattern, Literals kind) {
  const std::size_t least = kind == Literals::kRare                                ? kFactLiteral
                            : kind == Literals::kNearby || kind == Literals::kSign ? kSignLiteral
                                                                                   : kMinHeaderLiteral;
  const std::vector<std::string> literals = pattern.Literals(least);
  all_.literals[kind == Literals::kRare ? Literals::kTrigger : kind].insert(literals.begin(), literals.end());
  if (literals.empty() && kind != Literals::kRare && kind != Literals::kSign)
    node.Report("the pattern, or an alternative of it, has no literal of " + std::to_string(least) + " characters",
                "the prefilter searches for one");
}

void RuleReader::Load(const JsonNode& node, std::map<std::string, Value>& facts, const RuleField& /*field*/,
                      bool /*is_needed*/) {
  if (!Expect(node, Kind::kObject, "an object")) return;
  for (const JsonNode& member : node.items()) {
    facts[member.key()] = member.Scalar();
    if (!member.key().ends_with("_bytes") || !member.is_text()) continue;
    if (const std::optional<double> size = SizeOf(member)) facts[member.key()] = *size;  // "15.75G"
  }
}

void RuleReader::CheckAffix(const std::string& pattern) {
  const Regex re(pattern);
  if (!re.ok()) node_["pattern"].Report("RE2 rejects the pattern: " + re.error());
  static const std::vector<std::string> groups = {"reporter", "repeats", "time"};
  for (const auto& [name, number] : re.NamedCapturingGroups()) {
    if (std::find(groups.begin(), groups.end(), name) == groups.end())
      node_["pattern"].Report("unknown group '" + name + "'", DidYouMean(name, groups, "groups are "));
  }
  whyoom::Samples samples;
  Samples(samples, kUnchecked);
  CheckSamples(node_["examples"], samples.examples, true,
               [&](const Example& one) { return std::optional(!re.ok() || re2::RE2::PartialMatch(one.text, re)); });
}

void RuleReader::TriggerTexts(const char* key) {
  std::vector<std::string> texts;
  Maybe(key, texts);
  all_.literals[Literals::kTrigger].insert(texts.begin(), texts.end());
}

}  // namespace whyoom
