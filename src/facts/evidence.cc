#include "facts/evidence.h"

#include <re2/re2.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rules/recorder.h"
#include "text/regex_options.h"
#include "text/secrets.h"
#include "text/utf8.h"

namespace whyoom {
namespace {

// Derived facts take precedence over facts that were read, since a formula may replace them.
class DerivedScope : public Scope {
 public:
  DerivedScope(const Evidence& derived, const Scope& read) : derived_(derived), read_(read) {}
  Value Get(std::string_view name) const override {
    const Fact* fact = derived_.Find(name);
    return fact == nullptr ? read_.Get(name) : fact->value;
  }
  std::size_t row_count() const override { return read_.row_count(); }
  Value GetInRow(std::size_t row, std::string_view name) const override { return read_.GetInRow(row, name); }
  Recorder* recorder() const override { return read_.recorder(); }

 private:
  const Evidence& derived_;
  const Scope& read_;
};

}  // namespace

void Evidence::Set(std::string_view name, Value value, Place place, bool replace) {
  if (!IsKnown(value)) return;
  auto [entry, is_new] = facts_.try_emplace(std::string(name));
  if (is_new || replace) entry->second = {std::move(value), place};
}

const Fact* Evidence::Find(std::string_view name) const {
  const auto found = facts_.find(name);
  return found == facts_.end() ? nullptr : &found->second;
}

Value Evidence::Get(std::string_view name) const {
  const Fact* fact = Find(name);
  return fact == nullptr ? Value{Unknown{}} : fact->value;
}

std::string Evidence::Text(std::string_view name) const {
  const Value value = Get(name);
  const std::string* text = AsText(value);
  return text == nullptr ? "" : *text;
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
    Value value = one.from.Evaluate(scope);
    // A formula over figures that were printed with two decimals can yield fractions of a byte.
    if (const auto number = AsNumber(value); number && one.name.ends_with("_bytes")) value = std::round(*number);
    step.SetValue(value);
    follows.Set(one.name, std::move(value), {}, one.replace);
  }
  return follows;
}

bool Contradict(const Evidence& a, const Evidence& b, const std::vector<std::string>& names) {
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    const Value one = a.Get(name);
    const Value other = b.Get(name);
    return IsKnown(one) && IsKnown(other) && one != other;
  });
}

bool CountsTemporariesOnly(const Evidence& facts) {
  const double temporaries = facts.Number("hlo_temp_bytes").value_or(0);
  return temporaries > facts.Number("limit_bytes").value_or(temporaries) && facts.Number("arguments_bytes") == 0 &&
         facts.Number("output_bytes") == 0;
}

std::string BoundedPath(const std::string& path) { return CutBytes(MaskSecrets(Printable(path)), 4096); }

void MaskSecretsOf(std::vector<Problem>* problems) {
  for (Problem& problem : *problems) {
    for (std::string* text : {&problem.path, &problem.member, &problem.what, &problem.text}) *text = MaskSecrets(*text);
  }
}

bool IsLibraryPath(std::string_view path) {
  static const Regex library(
      R"([/\\](?:site|dist)-packages[/\\]|[/\\][Ll]ib(?:64)?[/\\]python\d|[/\\]Python\d+[/\\][Ll]ib[/\\]|[/\\]whyoom_try[/\\])"
      R"(|^/workspace/(?:vllm|tpu_inference)/|^<(?:frozen |string>|stdin>|attrs |decorator-gen)|^importlib[/\\._]|\.pyx$)");
  return re2::RE2::PartialMatch(path, library);
}

std::string BaseName(std::string_view path) {
  const std::size_t slash = path.find_last_of("/\\");
  return std::string(slash == std::string_view::npos ? path : path.substr(slash + 1));
}

std::string SourceLineText(std::string_view path, const std::optional<std::int64_t>& line) {
  static const Regex cell(R"(<ipython-input-(\d+)-.*>)");  // the file name that IPython gives a cell
  std::string name = BaseName(path);
  std::string number;
  if (re2::RE2::FullMatch(path, cell, &number)) name = "Cell In[" + number + "]";
  if (!line) return name;
  return name + (name.starts_with("Cell In") ? ", line " : ":") + std::to_string(*line);
}

}  // namespace whyoom
