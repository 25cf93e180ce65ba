// Examples that stand apart from the entries that they are of.
#include <algorithm>
#include <array>
#include <utility>

#include "rules/rule_loader.h"
#include "rules/suggest.h"
#include "text/quantity.h"

namespace whyoom {
namespace {

void Add(std::vector<Example> more, std::vector<Example>* to) {
  std::move(more.begin(), more.end(), std::back_inserter(*to));
}

void Add(const std::vector<Example>& more, std::vector<std::string>* to) {
  for (const Example& example : more) to->push_back(example.text);
}

// What is named like a size may be written like one.
Value FactOf(const std::string& name, const RuleNode& node) {
  if (!name.ends_with("_bytes") || !node.is_string()) return node.Scalar();
  const std::optional<std::int64_t> size = ParseSize(node.Text());
  if (size) return static_cast<double>(*size);
  node.Report("'" + node.Text() + "' is no size", "write it as a message prints it: 15.75G");
  return Unknown{};
}

std::map<std::string, Value> FactsOf(const RuleNode& node) {
  std::map<std::string, Value> facts;
  for (const auto& [name, value] : node.Members()) facts[name] = FactOf(name, value);
  return facts;
}

std::string FileAndLine(const RuleNode& node) { return node.file().name + ":" + std::to_string(node.place().line); }

ComparedRuns::OfRun RunOf(const RuleNode& node) {
  ComparedRuns::OfRun run;
  run.failed = node["failed"].Bool();
  run.measured = node["measured"].Bool();
  run.ran = node["ran"].Bool();
  run.compiles = node["compiles"].Bool();
  run.code = node["code"].Text();
  run.title = node["title"].Text();
  run.path = node["path"].Text();
  run.other_failures = static_cast<std::size_t>(std::max(0, node["other_failures"].Int(0)));
  run.facts = FactsOf(node["facts"]);
  for (const RuleNode& row : node["rows"].Items()) run.rows.push_back(FactsOf(row));
  return run;
}

}  // namespace

std::vector<Example> RuleSetBuilder::AllExamples(const RuleNode& node) {
  std::vector<Example> examples;
  for (const RuleNode& item : node.Items()) {
    Example example;
    example.text = item.is_object() ? item["text"].Lines() : item.Lines();
    example.why = item["why"].Text();
    example.built_in = item.file().built_in;
    for (const auto& [name, value] : item["facts"].Members()) example.facts[name] = FactOf(name, value);
    if (item["count"].exists()) example.count = static_cast<std::size_t>(AsNumber(item["count"].Scalar()).value_or(1));
    if (item["scenario"].exists()) example.scenario = item["scenario"].is_null() ? "" : item["scenario"].Text();
    examples.push_back(std::move(example));
  }
  return examples;
}

namespace {

constexpr const char* kWhoHasExamples =
    "examples stand apart of entries of failures, contexts, frameworks, chips, quotations, suspects, error_lines, "
    "affixes and json_logs only";

const std::string& IdOf(const Failure& failure) { return failure.code; }
const std::string& IdOf(const auto& entry) { return entry.id; }

}  // namespace

void RuleSetBuilder::BuildMoreExamples(const RuleNode& node) {
  const std::string of = node["of"].Text();
  const std::size_t slash = of.find('/');
  const std::string section = of.substr(0, slash);
  const std::string id = slash == of.npos ? "" : of.substr(slash + 1);
  std::vector<Example> match = AllExamples(node["match"]);
  std::vector<Example> no_match = AllExamples(node["no_match"]);
  std::vector<std::string> known;
  // Adds to the examples of the entry of that id; false if there is none.
  const auto add = [&](auto* entries, auto matching, auto not_matching) {
    for (auto& entry : *entries) {
      known.push_back(section + "/" + IdOf(entry));
      if (IdOf(entry) != id) continue;
      Add(match, &(entry.*matching));
      Add(no_match, &(entry.*not_matching));
      return true;
    }
    return false;
  };
  // What lines leave when their affixes or records are taken off.
  const auto add_lines = [&](const std::string& of_id) {
    const std::vector<RuleNode> items = node["match"].Items();
    for (std::size_t i = 0; i < items.size(); ++i)
      set_.affix_examples_.push_back({of_id, match[i].text, items[i]["leaves"].Text(), match[i].facts});
    for (const Example& example : no_match) set_.affix_examples_.push_back({of_id, example.text, example.text});
    return true;
  };
  bool found = false;
  if (section == "failures") {
    found = add(&set_.failures_, &Failure::match, &Failure::no_match);
  } else if (section == "contexts") {
    found = add(&set_.contexts_, &Context::match, &Context::no_match);
  } else if (section == "frameworks") {
    found = add(&set_.frameworks_, &Framework::examples, &Framework::no_match);
  } else if (section == "quotations") {
    found = add(&set_.quotations_, &Quotation::examples, &Quotation::logs);
  } else if (section == "suspects") {
    found = add(&set_.suspects_, &Suspect::match, &Suspect::no_match);
  } else if (section == "chips") {
    found = add(&set_.chips_, &Chip::match, &Chip::no_match);
  } else if (section == "error_lines") {
    found = add(&set_.error_lines_, &ErrorLine::examples, &ErrorLine::no_match);
  } else if (section == "affixes") {
    for (const Affix& affix : set_.affixes_) {
      known.push_back("affixes/" + affix.id);
      found = found || (affix.id == id && add_lines(id));
    }
  } else if (section == "json_logs") {
    for (const char* key : {"text", "reporter", "time"}) {
      known.push_back(std::string("json_logs/") + key);
      found = found || (key == id && add_lines(of));
    }
  } else {
    node["of"].Report(kWhoHasExamples, "write contexts/ID");
    return;
  }
  if (!found) node["of"].Report("there is no '" + of + "'", DidYouMean(of, known));
}

void RuleSetBuilder::BuildSituation(const RuleNode& node) {
  Situation situation;
  situation.code = node["of"].Text();
  code_references_.push_back(node["of"]);
  situation.about = node["about"].Text();
  situation.framework = node["framework"].Text();
  situation.facts = FactsOf(node["facts"]);
  for (const RuleNode& row : node["rows"].Items()) situation.rows.push_back(FactsOf(row));
  if (node["expect"].exists()) situation.expect = node["expect"].json().dump();
  for (const RuleNode& id : node["expect"]["remedies"].Items()) remedy_references_.push_back(id);
  situation.place = FileAndLine(node);
  situation.built_in = node.file().built_in;
  set_.situations_.push_back(std::move(situation));
}

void RuleSetBuilder::BuildComparedRuns(const RuleNode& node) {
  ComparedRuns runs;
  runs.about = node["about"].Text();
  runs.before = RunOf(node["before"]);
  runs.after = RunOf(node["after"]);
  if (node["expect"].exists()) runs.expect = node["expect"].json().dump();
  runs.place = FileAndLine(node);
  runs.built_in = node.file().built_in;
  set_.comparisons_.push_back(std::move(runs));
}

// What is given must be something that can be read, and what is expected something that can follow.
void RuleSetBuilder::CheckSituations() const {
  for (const RuleNode& node : situations_) {
    const Failure* failure = set_.FindFailure(node["of"].Text());
    if (failure == nullptr) continue;  // is told already
    const std::set<std::string> facts = names_.FactsOf(failure->code);
    for (const RuleNode& given : {node["facts"], node["expect"]["facts"]}) {
      for (const auto& [name, value] : given.Members()) {
        if (facts.contains(name) || name == "chip") continue;
        value.ReportKey("nothing gives '" + failure->code + "' the fact '" + name + "'",
                        DidYouMean(name, {facts.begin(), facts.end()}));
      }
    }
  }
}

}  // namespace whyoom
