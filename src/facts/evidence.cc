#include "facts/evidence.h"

#include <algorithm>
#include <utility>

namespace whyoom {

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

void Evidence::Add(const Evidence& other) {
  for (const auto& [name, fact] : other.facts_) facts_.try_emplace(name, fact);
}

std::optional<double> Evidence::Number(std::string_view name) const { return AsNumber(Get(name)); }

std::string Evidence::Text(std::string_view name) const {
  const Fact* fact = Find(name);
  const std::string* text = fact == nullptr ? nullptr : AsText(fact->value);
  return text == nullptr ? std::string() : *text;
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
