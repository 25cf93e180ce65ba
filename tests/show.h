// Values and facts as text, so that a test can list them in one line.
#pragma once

#include <fmt/format.h>

#include <string>

#include "facts/evidence.h"
#include "rules/value.h"

// "unknown", "true", "5", "0.5", "'text'".
inline std::string Show(const whyoom::Value& value) {
  if (const auto truth = whyoom::AsBool(value)) return *truth ? "true" : "false";
  if (const auto number = whyoom::AsNumber(value)) return fmt::format("{}", *number);
  const std::string* text = whyoom::AsText(value);
  return text == nullptr ? "unknown" : "'" + *text + "'";
}

// "limit_bytes=5 used_bytes=7", sorted by name.
inline std::string Show(const whyoom::Evidence& facts) {
  std::string shown;
  for (const auto& [name, fact] : facts.all()) shown += (shown.empty() ? "" : " ") + name + "=" + Show(fact.value);
  return shown;
}

// "limit_bytes=5@3", with the line of each fact.
inline std::string ShowWithLines(const whyoom::Evidence& facts) {
  std::string shown;
  for (const auto& [name, fact] : facts.all())
    shown += fmt::format("{}{}={}@{}", shown.empty() ? "" : " ", name, Show(fact.value), fact.place.line);
  return shown;
}
