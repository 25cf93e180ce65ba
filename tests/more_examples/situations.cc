#include "situations.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <set>
#include <utility>

#include "diagnose/finding_scope.h"
#include "diagnose/readings.h"
#include "facts/derive.h"
#include "input/byte_source.h"
#include "rules/expression_node.h"
#include "sample.h"
#include "text/quantity.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostRows = 6;
constexpr std::size_t kMostLabel = 100;  // so that it stands on one line
constexpr double kMiB = 1048576.0;
constexpr double kGiB = 1073741824.0;
constexpr std::array kShares = {0.0,  0.001, 0.002, 0.005, 0.01, 0.02, 0.03, 0.05, 0.1, 0.15, 0.2,
                                0.25, 0.3,   0.4,   0.5,   0.6,  0.66, 0.7,  0.75, 0.8, 0.9,  0.95,
                                0.98, 1.0,   1.05,  1.1,   1.2,  1.5,  2.0,  3.0,  4.0, 8.0};

template <typename T>
const T& OneOf(const std::vector<T>& all, std::mt19937_64* random) {
  return all[(*random)() % all.size()];
}

double Uniform(std::mt19937_64* random) { return static_cast<double>((*random)() >> 11) * 0x1.0p-53; }

// As a message prints it, and what that means.
std::string SizeText(double bytes) {
  if (bytes >= kGiB) return fmt::format("{:.2f}G", bytes / kGiB);
  if (bytes >= 16 * kMiB) return fmt::format("{:.0f}M", bytes / kMiB);
  return "";
}

double Rounded(double bytes) {
  const std::string text = SizeText(std::max(bytes, 0.0));
  if (text.empty()) return std::round(std::max(bytes, 0.0));
  return static_cast<double>(ParseSize(text).value_or(0));
}

bool IsBytes(const std::string& name) { return name.ends_with("_bytes"); }

nlohmann::ordered_json JsonOf(const std::string& name, const Value& value) {
  if (const auto number = AsNumber(value)) {
    const std::string text = IsBytes(name) ? SizeText(*number) : "";
    if (!text.empty() && static_cast<double>(ParseSize(text).value_or(0)) == *number) return text;
    if (*number == std::round(*number)) return static_cast<std::int64_t>(*number);
    return *number;
  }
  if (const auto truth = AsBool(value)) return *truth;
  return *AsText(value);
}

std::map<std::string, Value> FieldsOf(const Allocation& row) {
  std::map<std::string, Value> fields;
  const auto number = [&](const char* name, const auto& value) {
    if (value) fields[name] = static_cast<double>(*value);
  };
  const auto text = [&](const char* name, const std::string& value) {
    if (!value.empty()) fields[name] = value;
  };
  number("size_bytes", row.size_bytes);
  number("unpadded_bytes", row.unpadded_bytes);
  number("padding_bytes", row.padding_bytes);
  number("padding_factor", row.padding_factor);
  number("source_line", row.source_line);
  text("shape", row.shape_text);
  text("op_name", row.op_name);
  text("source_file", row.source_file);
  text("xla_label", CutBytes(row.xla_label, kMostLabel));
  text("kind", row.kind);
  text("tag", row.tag);
  return fields;
}

}  // namespace

SituationSearch::SituationSearch(const RuleSet& rules, const std::vector<std::string>& logs, std::size_t per_code)
    : rules_(rules) {
  for (const RuleFile& file : RuleSet::BuiltIn()) {
    const Json parsed = Json::parse(file.text);
    if (!parsed.contains("terms")) continue;
    for (const auto& [name, term] : parsed["terms"].items())
      terms_[name] = term.is_string() ? term.get<std::string>() : term.dump();
  }
  // Terms may use terms.
  for (std::size_t before = 0; compiled_terms_.size() < terms_.size(); before = compiled_terms_.size()) {
    for (const auto& [name, source] : terms_) {
      std::vector<SyntaxFault> faults;
      Expression term = Expression::Compile(source, &faults, compiled_terms_);
      const std::vector<NameUse> uses = term.name_uses();
      const bool waits = std::any_of(uses.begin(), uses.end(), [&](const NameUse& use) {
        return terms_.contains(use.name) && !compiled_terms_.contains(use.name);
      });
      if (faults.empty() && !waits) compiled_terms_.emplace(name, std::move(term));
    }
    if (compiled_terms_.size() == before) break;
  }
  for (const Context& context : rules.contexts()) {
    for (const Example& example : context.match) {
      for (const auto& [name, value] : example.facts) values_[name].push_back(value);
    }
  }
  for (const Failure& failure : rules.failures()) {
    for (const Example& example : failure.match) AddSeeds(rules, example.text);
  }
  for (const std::string& log : logs) AddSeeds(rules, log);
  for (const Situation& situation : rules.situations()) pools_[situation.code].push_back({situation, ""});
  Random random(1);
  for (const Failure& failure : rules.failures()) {
    std::set<std::string> names;
    const auto add = [&](const Pattern& pattern) {
      names.insert(pattern.capture_names().begin(), pattern.capture_names().end());
    };
    for (const Head& head : failure.heads) add(head.pattern);
    for (const Pattern& fact : failure.facts) add(fact);
    for (const Context& context : rules.contexts()) {
      if (std::find(failure.contexts.begin(), failure.contexts.end(), context.id) == failure.contexts.end()) continue;
      for (const Pattern& pattern : context.patterns) add(pattern);
    }
    std::vector<Known>& pool = pools_[failure.code];
    for (const Known& known : pool) {
      for (const auto& [name, value] : known.situation.facts) names.insert(name);
    }
    facts_of_[failure.code].assign(names.begin(), names.end());
    if (pool.empty()) pool.push_back({{failure.code, "", "", {}, {}, "", ""}, ""});
    const std::size_t seeds = seeds_[failure.code] = pool.size();
    while (pool.size() < seeds + per_code)
      pool.push_back({Changed(pool[random() % seeds].situation, Focus(), &random), ""});
    for (Known& known : pool) known.concluded = Conclude(rules, known.situation);
  }
}

void SituationSearch::AddSeeds(const RuleSet& rules, const std::string& log) {
  static const Engine engine(rules);
  Readings readings = ReadArtifact(engine, {"log", ""}, *OpenMemory(log + "\n"));
  std::vector<Problem> problems;
  if (!readings.table) return;
  for (const Diagnosis& diagnosis : readings.table->Finish(&problems)) {
    Situation situation;
    situation.code = diagnosis.failure->code;
    situation.framework = diagnosis.framework;
    for (const auto& [name, fact] : diagnosis.facts.all()) {
      const auto& derived = diagnosis.failure->derived;
      const bool follows =
          fact.place.line == 0 && std::any_of(derived.begin(), derived.end(),
                                              [&, name = name](const DerivedFact& one) { return one.name == name; });
      if (follows || name == "chip" || !IsKnown(fact.value)) continue;
      situation.facts[name] =
          IsBytes(name) && AsNumber(fact.value) ? Value(Rounded(*AsNumber(fact.value))) : fact.value;
      values_[name].push_back(fact.value);
    }
    for (const Allocation& row : diagnosis.allocations) {
      if (situation.rows.size() == kMostRows) break;
      situation.rows.push_back(FieldsOf(row));
      rows_.push_back(situation.rows.back());
    }
    pools_[situation.code].push_back({std::move(situation), ""});
  }
}

std::vector<std::string> SituationSearch::CodesOf(const RuleOwner& owner) const {
  std::vector<std::string> codes;
  for (const Failure& failure : rules_.failures()) {
    const auto uses = [&](const std::vector<RemedyUse>& all) {
      return std::any_of(all.begin(), all.end(), [&](const RemedyUse& use) { return use.remedy == owner.id; });
    };
    const bool is_its = failure.code == owner.id || uses(failure.remedies) ||
                        std::any_of(failure.scenarios.begin(), failure.scenarios.end(),
                                    [&](const Scenario& scenario) { return uses(scenario.remedies); });
    if (is_its) codes.push_back(failure.code);
  }
  if (codes.empty()) {
    for (const auto& [code, pool] : pools_) codes.push_back(code);
  }
  // Most of what is said is of those that there are most logs of.
  std::stable_sort(codes.begin(), codes.end(),
                   [&](const std::string& one, const std::string& other) { return seeds_.at(one) > seeds_.at(other); });
  return codes;
}

std::string SituationSearch::Conclude(const RuleSet& rules, const Situation& situation) const {
  const std::optional<Diagnosis> diagnosis = Diagnose(rules, situation);
  return diagnosis ? Conclusions(situation, *diagnosis).dump(-1, ' ', false, Json::error_handler_t::replace) : "";
}

bool SituationSearch::Differ(const Situation& situation, const RuleSet& mutated) const {
  return Conclude(rules_, situation) != Conclude(mutated, situation);
}

void SituationSearch::ChangeFact(const std::string& name, const Focus& focus, Situation* situation,
                                 Random* random) const {
  // No log can have what the failure does not give.
  const auto facts = facts_of_.find(situation->code);
  if (facts == facts_of_.end() || !std::binary_search(facts->second.begin(), facts->second.end(), name)) return;
  const auto known = values_.find(name);
  if (IsBytes(name)) {
    std::vector<double> bases;
    for (const auto& [other, value] : situation->facts) {
      const bool is_near = std::find(focus.names.begin(), focus.names.end(), other) != focus.names.end();
      if (const auto number = AsNumber(value); number && IsBytes(other))
        bases.insert(bases.end(), is_near ? 4 : 1, *number);
    }
    if (bases.empty()) bases.push_back(15.75 * kGiB);
    if ((*random)() % 10 == 0) {
      situation->facts[name] = 0.0;
      return;
    }
    double share = std::exp(std::log(0.003) + Uniform(random) * std::log(1300.0));
    const double about = 0.93 + 0.14 * Uniform(random);
    if ((*random)() % 2 == 0) share = kShares[(*random)() % kShares.size()] * about;
    if (!focus.figures.empty() && (*random)() % 2 == 0) {
      const double figure = OneOf(focus.figures, random);
      if (figure > 1e5) {
        situation->facts[name] = Rounded(figure * about);
        return;
      }
      share = ((*random)() % 4 == 0 ? 1 - figure : figure) * about;
    }
    situation->facts[name] = Rounded(share * OneOf(bases, random));
    return;
  }
  if (!focus.texts.empty() && (known == values_.end() || AsText(known->second.front()) != nullptr) &&
      (*random)() % 2 == 0) {
    situation->facts[name] = OneOf(focus.texts, random);
    return;
  }
  if (known == values_.end()) return;
  Value value = OneOf(known->second, random);
  if (const auto number = AsNumber(value); number && (*random)() % 2 == 0) {
    constexpr std::array kChanges = {0.0, 1.0, 2.0, 3.0, 4.0, 8.0, 16.0, 0.5, 0.05, 0.95, 100.0};
    double change = kChanges[(*random)() % kChanges.size()];
    if (!focus.figures.empty() && (*random)() % 2 == 0)
      change = OneOf(focus.figures, random) * (0.93 + 0.14 * Uniform(random));
    if (number == std::round(*number)) change = std::round(change);
    value = (*random)() % 2 == 0 ? change : std::round(*number * change * 100) / 100;
  }
  if (AsBool(value) && (*random)() % 3 == 0) value = !*AsBool(value);
  situation->facts[name] = value;
}

void SituationSearch::ChangeRow(const Focus& focus, Situation* situation, Random* random) const {
  std::vector<std::map<std::string, Value>>& rows = situation->rows;
  const std::uint64_t what = (*random)() % 8;
  if ((rows.empty() || what == 0) && !rows_.empty() && rows.size() < kMostRows) rows.push_back(OneOf(rows_, random));
  if (rows.empty()) return;
  std::map<std::string, Value>& row = rows[(*random)() % rows.size()];
  const auto limit = situation->facts.find("limit_bytes");
  const double base =
      limit != situation->facts.end() && AsNumber(limit->second) ? *AsNumber(limit->second) : 15.75 * kGiB;
  const double share = (*random)() % 2 == 0 ? kShares[(*random)() % kShares.size()] * (0.93 + 0.14 * Uniform(random))
                                            : std::exp(std::log(0.002) + Uniform(random) * std::log(800.0));
  if (!focus.texts.empty() && (*random)() % 2 == 0) {
    constexpr std::array kTexts = {"xla_label", "op_name", "shape", "kind", "source_file"};
    const char* field = kTexts[(*random)() % kTexts.size()];
    const std::string text = SampleText(OneOf(focus.texts, random), random).value_or("");
    const std::string* before = row.contains(field) ? AsText(row.at(field)) : nullptr;
    row[field] =
        before != nullptr && (*random)() % 2 == 0 ? ((*random)() % 2 == 0 ? text + *before : *before + text) : text;
    if (AsText(row[field])->empty()) row.erase(field);
    return;
  }
  if (what == 1) rows.erase(rows.begin() + static_cast<std::ptrdiff_t>((*random)() % rows.size()));
  if (what == 2 || what == 3) row["size_bytes"] = Rounded(share * base);
  if (what == 4 && !rows_.empty()) {
    const std::map<std::string, Value>& other = OneOf(rows_, random);
    constexpr std::array kFields = {"shape", "op_name", "xla_label", "kind", "source_file", "source_line", "tag"};
    const char* field = kFields[(*random)() % kFields.size()];
    if (other.contains(field))
      row[field] = other.at(field);
    else
      row.erase(field);
  }
  if (what == 5) {
    const double size = AsNumber(row["size_bytes"]).value_or(base / 8);
    const double part = Uniform(random);
    row["size_bytes"] = Rounded(size);
    row["unpadded_bytes"] = Rounded(size * part);
    row["padding_factor"] = std::round(10 / std::max(part, 0.005)) / 10;
    row["padding_bytes"] = Rounded(size) - Rounded(size * part);
  }
  if (what == 6 && rows.size() < kMostRows) rows.push_back(row);
  if (what == 7 && !rows_.empty()) row = OneOf(rows_, random);
  std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) {
    const auto size = [](const auto& one) {
      return one.contains("size_bytes") ? AsNumber(one.at("size_bytes")).value_or(0) : 0.0;
    };
    return size(a) > size(b);
  });
}

Situation SituationSearch::Changed(Situation situation, const Focus& focus, Random* random) const {
  situation.expect.clear();
  situation.about.clear();
  const bool has_rows = rules_.FindFailure(situation.code)->reader == "memory_report";
  const auto facts = facts_of_.find(situation.code);
  // What the text speaks of has to come together.
  if (focus.of_framework && !focus.texts.empty() && (*random)() % 4 != 0)
    situation.framework = OneOf(focus.texts, random);
  for (const std::string& name : focus.names) {
    if ((*random)() % 2 == 0) ChangeFact(name, focus, &situation, random);
  }
  for (std::uint64_t i = focus.of_rows ? (*random)() % 4 : 0; i > 0; --i) ChangeRow(focus, &situation, random);
  for (std::uint64_t i = focus.names.empty() ? 1 + (*random)() % 4 : (*random)() % 3; i > 0; --i) {
    const std::uint64_t what = (*random)() % 20;
    if (what < 12 && facts != facts_of_.end() && !facts->second.empty()) {
      ChangeFact(OneOf(facts->second, random), focus, &situation, random);
    } else if (what < 14 && !situation.facts.empty()) {
      auto gone = situation.facts.begin();
      std::advance(gone, static_cast<std::ptrdiff_t>((*random)() % situation.facts.size()));
      situation.facts.erase(gone);
    } else if (what < 19 && has_rows) {
      ChangeRow(focus, &situation, random);
    } else {
      const std::vector<Framework>& all = rules_.frameworks();
      situation.framework = (*random)() % 4 == 0 ? "" : OneOf(all, random).id;
    }
  }
  return situation;
}

SituationSearch::Focus SituationSearch::FocusOn(const std::string& source) const {
  Focus focus;
  std::set<std::string> names;
  std::set<std::string> seen;
  std::vector<std::string> open = {source};
  while (!open.empty()) {
    const std::string text = open.back();
    open.pop_back();
    // Sentences are words with expressions in braces; their other words are no names that anything has.
    std::string word;
    for (std::size_t i = 0; i <= text.size(); ++i) {
      const char c = i < text.size() ? text[i] : ' ';
      if (c == '\'' && i + 1 < text.size()) {
        const std::size_t end = std::min(text.find('\'', i + 1), text.size());
        focus.texts.push_back(text.substr(i + 1, end - i - 1));
        i = end;
        continue;
      }
      if (std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '.') {
        word += c;
        continue;
      }
      focus.of_framework = focus.of_framework || word == "framework";
      focus.of_rows = focus.of_rows || word.ends_with("_of") || word.starts_with("largest.") || word == "size_bytes";
      if (terms_.contains(word) && seen.insert(word).second) {
        open.push_back(terms_.at(word));
      } else if (!word.empty() && std::isdigit(static_cast<unsigned char>(word[0])) != 0) {
        std::vector<SyntaxFault> faults;
        const std::vector<internal::Token> tokens = internal::Tokenize(word, &faults);
        if (faults.empty()) focus.figures.push_back(tokens.front().number);
      } else if (values_.contains(word) || IsBytes(word)) {
        names.insert(word);
      }
      word.clear();
    }
  }
  focus.names.assign(names.begin(), names.end());
  return focus;
}

// An expression or a sentence, and what it comes to.
class SituationSearch::RuleText {
 public:
  RuleText(const RuleSet& rules, const Terms& terms, const std::string& source) : rules_(rules) {
    if (source.empty()) return;
    std::vector<SyntaxFault> faults;
    if (source.find('{') != source.npos) {
      sentence_ = Template::Compile(source, &faults, terms);
    } else {
      expression_ = Expression::Compile(source, &faults, terms);
    }
    if (!faults.empty()) sentence_.reset(), expression_.reset();
  }

  bool ok() const { return sentence_ || expression_; }

  // Of the situation and of each of its rows.
  std::string Of(const Situation& situation) const {
    Finding finding = FindingOf(rules_, situation);
    AddDerived(finding.failure->derived, FindingScope(rules_, finding), &finding.facts);
    const FindingScope scope(rules_, finding);
    std::string result = Shown(scope, nullptr);
    for (std::size_t row = 0; row < scope.row_count(); ++row) result += "\n" + Shown(scope, &row);
    return result;
  }

 private:
  std::string Shown(const FindingScope& scope, const std::size_t* row) const {
    if (sentence_) return (row == nullptr ? sentence_->Fill(scope) : sentence_->FillInRow(scope, *row)).value_or("?");
    const Value value = row == nullptr ? expression_->Evaluate(scope) : expression_->EvaluateInRow(scope, *row);
    if (const auto number = AsNumber(value)) return fmt::format("{}", *number);
    if (const auto truth = AsBool(value)) return *truth ? "true" : "false";
    const std::string* text = AsText(value);
    return text == nullptr ? "?" : "'" + *text;
  }

  const RuleSet& rules_;
  std::optional<Template> sentence_;
  std::optional<Expression> expression_;
};

// Between two situations that differ in one figure and come to something else, those nearest to where it changes.
std::vector<Situation> SituationSearch::Border(const Situation& one, const Situation& other, const RuleText& text) {
  double* figure = nullptr;
  double from = 0;
  double to = 0;
  Situation between = one;
  const auto look = [&](std::map<std::string, Value>* fields, const std::map<std::string, Value>& theirs) {
    for (auto& [name, value] : *fields) {
      const auto there = theirs.find(name);
      double* mine = std::get_if<double>(&value);
      if (mine == nullptr || there == theirs.end() || !AsNumber(there->second) || *AsNumber(there->second) == *mine)
        continue;
      figure = mine;
      from = *mine;
      to = *AsNumber(there->second);
    }
  };
  look(&between.facts, other.facts);
  for (std::size_t i = 0; i < std::min(between.rows.size(), other.rows.size()); ++i)
    look(&between.rows[i], other.rows[i]);
  if (figure == nullptr) return {};
  const std::string at_begin = text.Of(one);
  const double width = std::abs(to - from);
  for (int i = 0; i < 24 && std::abs(to - from) > 0.004 * width; ++i) {
    *figure = Rounded((from + to) / 2);
    (text.Of(between) == at_begin ? from : to) = *figure;
  }
  std::vector<Situation> near;
  for (const double share : {0.03, 0.07, 0.015, 0.1}) {
    for (const double side : {1 - share, 1 + share}) {
      *figure = Rounded(from * side);
      near.push_back(between);
    }
  }
  return near;
}

Situation SituationSearch::Smallest(Situation situation, const RuleSet& mutated) const {
  const auto keep_if = [&](Situation smaller) {
    if (!Differ(smaller, mutated)) return false;
    situation = std::move(smaller);
    return true;
  };
  for (bool again = true; again;) {
    again = false;
    for (std::size_t i = situation.rows.size(); i-- > 0;) {
      Situation smaller = situation;
      smaller.rows.erase(smaller.rows.begin() + static_cast<std::ptrdiff_t>(i));
      again = keep_if(std::move(smaller)) || again;
    }
    const std::map<std::string, Value> facts = situation.facts;
    for (const auto& [name, value] : facts) {
      Situation smaller = situation;
      smaller.facts.erase(name);
      again = keep_if(std::move(smaller)) || again;
    }
    for (std::size_t i = 0; i < situation.rows.size(); ++i) {
      const std::map<std::string, Value> fields = situation.rows[i];
      for (const auto& [name, value] : fields) {
        Situation smaller = situation;
        smaller.rows[i].erase(name);
        again = keep_if(std::move(smaller)) || again;
      }
    }
    if (!situation.framework.empty()) {
      Situation smaller = situation;
      smaller.framework.clear();
      again = keep_if(std::move(smaller)) || again;
    }
  }
  return situation;
}

void SituationSearch::Accept(const RuleOwner& owner, Situation situation, const RuleSet& mutated) {
  situation = Smallest(std::move(situation), mutated);
  const Json is = Json::parse(Conclude(rules_, situation));
  const std::string other = Conclude(mutated, situation);
  const Json mutant = other.empty() ? Json::object() : Json::parse(other);
  Json expect = Json::object();
  for (const auto& [key, value] : is.items()) {
    if (mutant.contains(key) && mutant[key] == value) continue;
    if (key != "advice" && key != "facts") {
      expect[key] = value;
      continue;
    }
    const Json others = mutant.contains(key) ? mutant[key] : Json::object();
    for (const auto& [id, one] : value.items()) {
      if (!others.contains(id) || others[id] != one) expect[key][id] = one;
    }
    for (const auto& [id, one] : others.items()) {
      if (!value.contains(id)) expect[key][id] = nullptr;
    }
  }
  // Of what is said of a remedy, what tells the two apart.
  if (expect.contains("advice")) {
    for (auto& [id, one] : expect["advice"].items()) {
      if (!one.is_object() || !mutant.contains("advice") || !mutant["advice"].contains(id)) continue;
      Json narrow = Json::object();
      for (const auto& [key, value] : one.items()) {
        const Json& theirs = mutant["advice"][id];
        if (!theirs.contains(key) || theirs[key] != value) narrow[key] = value;
      }
      if (!narrow.empty()) one = narrow;
    }
  }
  // The order of all is long, and changes wherever one of them is added; where something else shows it, that will do.
  if (expect.contains("remedies") && expect.size() > 1) expect.erase("remedies");
  situation.expect = expect.dump();
  const std::scoped_lock lock(mutex_);
  accepted_.push_back({owner.section + "/" + owner.id, std::move(situation)});
}

bool SituationSearch::Find(const RuleOwner& owner, const std::string& source, const std::string& instead,
                           const RuleSet& mutated, std::size_t tries) {
  std::vector<Situation> earlier;
  {
    const std::scoped_lock lock(mutex_);
    for (const Accepted& one : accepted_) earlier.push_back(one.situation);
  }
  for (const Situation& situation : earlier) {
    const std::optional<Diagnosis> diagnosis = Diagnose(mutated, situation);
    if (!diagnosis || !WhatDiffers(Json::parse(situation.expect), Conclusions(situation, *diagnosis)).empty())
      return true;
  }
  const RuleText before(rules_, compiled_terms_, source);
  const RuleText after(rules_, compiled_terms_, instead);
  const bool are_texts = before.ok() && after.ok();
  const auto may_differ = [&](const Situation& one) { return !are_texts || before.Of(one) != after.Of(one); };
  const std::vector<std::string> codes = CodesOf(owner);
  for (const std::string& code : codes) {
    for (const Known& known : pools_.at(code)) {
      if (!may_differ(known.situation) || Conclude(mutated, known.situation) == known.concluded) continue;
      Accept(owner, known.situation, mutated);
      return true;
    }
  }
  const Focus focus = FocusOn(source);
  Random random(std::hash<std::string>()(owner.id + source));
  for (std::size_t i = 0; i < tries; ++i) {
    const std::vector<Known>& pool = pools_.at(codes[random() % 3 != 0 ? 0 : random() % codes.size()]);
    Situation situation = Changed(OneOf(pool, &random).situation, focus, &random);
    std::vector<Situation> candidates = {situation};
    if (before.ok() && !focus.names.empty()) {
      Situation other = situation;
      ChangeFact(OneOf(focus.names, &random), focus, &other, &random);
      if (before.Of(other) != before.Of(situation)) candidates = Border(situation, other, before);
      candidates.push_back(std::move(other));
    }
    for (Situation& candidate : candidates) {
      if (!may_differ(candidate) || !Differ(candidate, mutated)) continue;
      Accept(owner, std::move(candidate), mutated);
      return true;
    }
  }
  return false;
}

std::map<std::string, nlohmann::ordered_json> SituationSearch::Found() const {
  std::map<std::string, nlohmann::ordered_json> by_owner;
  for (const Accepted& one : accepted_) {
    nlohmann::ordered_json json;
    json["of"] = one.situation.code;
    if (!one.situation.framework.empty()) json["framework"] = one.situation.framework;
    for (const auto& [name, value] : one.situation.facts) json["facts"][name] = JsonOf(name, value);
    for (const auto& fields : one.situation.rows) {
      nlohmann::ordered_json row = nlohmann::ordered_json::object();
      for (const auto& [name, value] : fields) row[name] = JsonOf(name, value);
      json["rows"].push_back(row);
    }
    json["expect"] = nlohmann::ordered_json::parse(one.situation.expect);
    by_owner[one.owner].push_back(json);
  }
  return by_owner;
}

}  // namespace whyoom
