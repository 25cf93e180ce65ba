#include "facts/evidence.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rules/recorder.h"
#include "text/secrets.h"

namespace whyoom {
namespace {

// Derived facts take precedence over facts that were read, since a formula may replace them.
class DerivedScope : public Scope {
 public:
  DerivedScope(const Evidence& follows, const Scope& read) : follows_(follows), read_(read) {}

  Value Get(std::string_view name) const override {
    const Fact* fact = follows_.Find(name);
    return fact == nullptr ? read_.Get(name) : fact->value;
  }
  std::size_t row_count() const override { return read_.row_count(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return read_.GetInRow(row, name); }
  Recorder* recorder() const override { return read_.recorder(); }

 private:
  const Evidence& follows_;
  const Scope& read_;
};

// Rounds a number of bytes: a formula over figures that were printed with two decimals can yield fractions.
Value Whole(std::string_view name, Value value) {
  const std::optional<double> number = AsNumber(value);
  return number && name.ends_with("_bytes") ? Value(std::round(*number)) : value;
}

}  // namespace

void Evidence::Set(std::string_view name, Value value, Place place, bool replace) {
  if (!IsKnown(value)) return;
  auto [entry, is_new] = facts_.try_emplace(std::string(name));
  if (is_new || replace) entry->second = {std::move(value), place};
}

void Evidence::Remove(std::string_view name) {
  if (const auto found = facts_.find(name); found != facts_.end()) facts_.erase(found);
}

const Fact* Evidence::Find(std::string_view name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? nullptr : &found->second;
}

Value Evidence::Get(std::string_view name) const {
  const Fact* fact = Find(name);
  return fact == nullptr ? Value{Unknown{}} : fact->value;
}

std::optional<double> Evidence::Number(std::string_view name) const { return AsNumber(Get(name)); }

std::string Evidence::Text(std::string_view name) const {
  const Fact* fact = Find(name);
  const std::string* text = fact == nullptr ? nullptr : AsText(fact->value);
  return text == nullptr ? std::string() : *text;
}

void Evidence::Add(const Evidence& other, bool replace) {
  for (const auto& [name, fact] : other.facts_) Set(name, fact.value, fact.place, replace);
}

void Evidence::MaskSecrets() {
  for (auto& [name, fact] : facts_) {
    if (std::string* text = std::get_if<std::string>(&fact.value)) *text = whyoom::MaskSecrets(*text);
  }
}

Evidence Derive(const std::vector<DerivedFact>& derived, const Scope& read) {
  Evidence follows;
  const DerivedScope scope(follows, read);
  for (const DerivedFact& one : derived) {
    RecordedStep step(read.recorder(), one.name);
    step.Set("known already");
    if (!one.replace && IsKnown(scope.Get(one.name))) continue;
    step.Set("not derived");
    if (one.when && AsBool(one.when->Evaluate(scope)) != true) continue;
    Value value = Whole(one.name, one.from.Evaluate(scope));
    step.SetValue(value);
    follows.Set(one.name, std::move(value), {}, one.replace);
  }
  return follows;
}

bool Contradict(const Evidence& a, const Evidence& b, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Fact* one = a.Find(name);
    const Fact* other = b.Find(name);
    return one != nullptr && other != nullptr && one->value != other->value;
  });
}

bool CountsTemporariesOnly(const Evidence& facts) {
  const double temporaries = facts.Number("hlo_temp_bytes").value_or(0);
  return temporaries > facts.Number("limit_bytes").value_or(temporaries) && facts.Number("arguments_bytes") == 0 &&
         facts.Number("output_bytes") == 0;
}

}  // namespace whyoom
