#include "facts/derive.h"

#include <cmath>
#include <optional>
#include <string_view>
#include <utility>

#include "rules/recorder.h"

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
  if (!name.ends_with("_bytes")) return value;
  const std::optional<double> number = AsNumber(value);
  return number ? Value(std::round(*number)) : value;
}

}  // namespace

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

void AddDerived(const std::vector<DerivedFact>& derived, const Scope& read, Evidence* facts) {
  const Evidence follows = Derive(derived, read);
  for (const auto& [name, fact] : follows.all()) facts->Set(name, fact.value, fact.place, true);
}

}  // namespace whyoom
