#include "rules/rule_image.h"

#include <cstdint>
#include <cstring>
#include <memory>
#include <type_traits>

#include "rules/describe_rules.h"

namespace whyoom {
namespace {

// Visits every field of a record in one order, to write or to read it.
template <bool kReading>
class ImageVisitor {
 public:
  explicit ImageVisitor(std::string_view packed = {}, const Terms* terms = nullptr) : rest_(packed), terms_(terms) {}

  std::string Take() { return std::move(packed_); }

  void Record(const char* /*title*/) {}
  void Need(const char* /*key*/, auto& value, const RuleField& /*field*/ = {}) { Move(value); }
  void Maybe(const char* /*key*/, auto& value, const RuleField& /*field*/ = {}) { Move(value); }
  void Short(const char* /*key*/, auto& value, const RuleField& /*field*/ = {}) { Move(value); }
  void Self(auto& value, const RuleField& /*field*/ = {}) { Move(value); }
  void Computed(std::string& value) { Move(value); }
  void Check(bool /*holds*/, const char* /*key*/, const std::string& /*what*/, const std::string& /*hint*/ = "") {}
  void Samples(whyoom::Samples& /*samples*/, const auto& /*matches*/, bool /*is_needed*/ = true) {}
  void CheckAffix(const std::string& /*pattern*/) {}
  void TriggerTexts(const char* /*key*/) {}

  void Head(RuleHead& head) {
    Move(head.literals);
    Move(head.trigger_count);
    Move(head.sign_literals);
    Move(head.nearby_literals);
    Move(head.fingerprint);
  }
  void Section(const char* /*key*/, auto& entries) { Move(entries); }
  void ByName(const char* /*key*/, auto& entries) {
    MoveList(entries, [this](auto& entry) {
      this->Move(entry.id);
      this->Move(entry);
    });
  }
  void Settings(const char* /*key*/, auto& record) { Move(record); }

 private:
  template <class Number>
  void MoveNumber(Number& number) {
    if constexpr (kReading) {
      std::memcpy(&number, rest_.data(), sizeof number);
      rest_.remove_prefix(sizeof number);
    } else {
      packed_.append(reinterpret_cast<const char*>(&number), sizeof number);
    }
  }
  // Moves a size or an enumerator.
  std::size_t MoveSize(std::size_t size) {
    auto number = static_cast<std::uint32_t>(size);
    MoveNumber(number);
    return number;
  }
  void MoveList(auto& items, const auto& move) {
    const std::size_t size = MoveSize(items.size());
    if constexpr (kReading) items.resize(size);
    for (auto& item : items) move(item);
  }

  void Move(std::string& text) {
    const std::size_t size = MoveSize(text.size());
    if constexpr (kReading) {
      text = rest_.substr(0, size);
      rest_.remove_prefix(size);
    } else {
      packed_ += text;
    }
  }
  void Move(bool& truth) { MoveNumber(truth); }
  void Move(int& number) { MoveNumber(number); }
  void Move(double& number) { MoveNumber(number); }
  void Move(Expression& expression) { MoveSource(expression); }
  void Move(Template& text) { MoveSource(text); }
  // Moves the source of an expression or a template, which is parsed when it is used.
  template <class T>
  void MoveSource(T& value) {
    std::string source = value.source();
    Move(source);
    if (kReading) value = T::Deferred(std::move(source), terms_);
  }
  void Move(Pattern& pattern) {
    Pattern::Parts parts = pattern.ok() ? pattern.parts() : Pattern::Parts();
    Move(parts.source);
    Move(parts.regex);
    MoveList(parts.groups, [this](Pattern::Group& group) {
      Move(group.name);
      Move(group.type);
    });
    Move(parts.set_literals);
    if (kReading && !parts.source.empty()) pattern = Pattern::FromStored(std::move(parts));
  }
  template <class T>
  void Move(std::optional<T>& value) {
    bool has_value = value.has_value();
    MoveNumber(has_value);
    if (!has_value) return;
    if constexpr (kReading) value.emplace();
    Move(*value);
  }
  template <class T>
  void Move(std::vector<T>& items) {
    MoveList(items, [this](T& item) { Move(item); });
  }
  void Move(std::set<std::string>& words) {
    std::vector<std::string> list(words.begin(), words.end());
    Move(list);
    if constexpr (kReading) words = {list.begin(), list.end()};
  }
  template <class T>
  void Move(std::map<std::string, T>& members) {
    std::vector<std::string> keys;
    for (const auto& [key, value] : members) keys.push_back(key);
    Move(keys);
    for (const std::string& key : keys) Move(members[key]);
  }
  template <class T>
  void Move(T& value) {
    if constexpr (std::is_enum_v<T>) {
      value = static_cast<T>(MoveSize(static_cast<std::size_t>(value)));
    } else {
      Describe(*this, value);
    }
  }

  std::string packed_;
  std::string_view rest_;
  const Terms* terms_;  // of expressions that are read
};

}  // namespace

std::string PackRules(const RuleSet& rules) {
  ImageVisitor<false> writer;
  RuleSet copy = rules;  // descriptions take records that can be changed
  writer.Head(copy);
  DescribeSections(writer, copy);
  return writer.Take();
}

RuleSet UnpackRules(std::string_view packed, bool is_whole) {
  RuleSet rules;
  ImageVisitor<true> reader(packed, rules.term_table.get());
  reader.Head(rules);
  if (is_whole) DescribeSections(reader, rules);
  for (const Term& term : rules.terms) rules.term_table->emplace(term.id, term.expression);
  return rules;
}

}  // namespace whyoom
