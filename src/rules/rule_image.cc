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
  static constexpr bool kReads = kReading;

  explicit ImageVisitor(std::string_view packed = {}) : rest_(packed) {}

  std::string Take() { return std::move(packed_); }

  void Record(const char* /*title*/, const char* /*about*/) {}
  void Need(const char* /*key*/, auto& value, const RuleField& field = {}) { Self(value, field); }
  void Maybe(const char* /*key*/, auto& value, const RuleField& field = {}) { Self(value, field); }
  void Short(const char* /*key*/, auto& value, const RuleField& field = {}) { Self(value, field); }
  void Self(auto& value, const RuleField& field) {
    in_row_field_ = field.in_row_field;
    Move(value);
  }
  void Computed(std::string& value) { Move(value); }
  void Unstored(const char* /*key*/, auto& /*value*/, const RuleField& /*field*/ = {}) {}
  void OwnedBy(const std::string& /*owner*/) {}
  void Check(bool /*holds*/, const char* /*key*/, const std::string& /*what*/, const std::string& /*hint*/ = "") {}
  void Distinct(const char* /*key*/, const auto& /*items*/) {}
  void Samples(whyoom::Samples& /*samples*/) {}
  void MaybeSamples(whyoom::Samples& /*samples*/) {}
  void Samples(whyoom::Samples& /*samples*/, const auto& /*matches*/) {}
  void CheckAffix(const std::string& /*pattern*/) {}
  void TriggerTexts(const char* /*key*/, const char* /*about*/) {}

  void Section(const char* /*key*/, auto& entries, const char* /*about*/) { Move(entries); }
  template <class T>
  void ByName(const char* /*key*/, std::vector<T>& entries, const char* /*about*/) {
    MoveList(entries, [this](T& entry) {
      Move(entry.id);
      Move(entry);
    });
  }
  void Settings(const char* /*key*/, auto& record) { Move(record); }

  std::shared_ptr<const Terms> terms;   // of expressions that are read
  std::shared_ptr<const Terms> fields;  // of the conditions of row fields

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
  void Move(Expression& expression) { expression = MoveSource(expression); }
  void Move(Template& text) { text = MoveSource(text); }
  // Moves the source of an expression or a template, which is parsed when it is used.
  template <class T>
  T MoveSource(const T& value) {
    std::string source = value.source();
    Move(source);
    return kReading ? T::Deferred(source, in_row_field_ ? fields : terms) : value;
  }
  void Move(Pattern& pattern) {
    Pattern::Parts parts = kReading ? Pattern::Parts() : pattern.StoredParts();
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
  bool in_row_field_ = false;
};

}  // namespace

std::string PackRules(const RuleData& data) {
  ImageVisitor<false> writer;
  RuleData copy = data;  // descriptions take records that can be changed
  DescribeSections(writer, copy);
  return writer.Take();
}

RuleData UnpackRules(std::string_view packed) {
  RuleData data;
  ImageVisitor<true> reader(packed);
  // The tables belong to the data; expressions must not own what owns them.
  reader.terms = std::shared_ptr<const Terms>(std::shared_ptr<void>(), data.term_table.get());
  reader.fields = std::shared_ptr<const Terms>(std::shared_ptr<void>(), data.field_table.get());
  DescribeSections(reader, data);
  for (const Term& term : data.terms) data.term_table->emplace(term.id, term.expression);
  for (const DerivedRowField& field : data.derived_row_fields) data.field_table->emplace(field.id, field.when);
  return data;
}

std::string PackTexts(const std::vector<std::string>& texts) {
  std::string packed;
  for (const std::string& text : texts) packed.append(text).push_back('\0');
  return packed;
}

std::vector<std::string> UnpackTexts(std::string_view packed) {
  std::vector<std::string> texts;
  for (std::size_t end = packed.find('\0'); end != std::string_view::npos; end = packed.find('\0')) {
    texts.emplace_back(packed.substr(0, end));
    packed.remove_prefix(end + 1);
  }
  return texts;
}

}  // namespace whyoom
