// Options with a fixed set of values: their names for parsing and --help.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <string>
#include <vector>

#include "cli/options.h"
#include "rules/suggest.h"
#include "text/utf8.h"

namespace whyoom {

template <typename T>
struct Choice {
  const char* name;
  T value;
};

template <typename T>
using Choices = std::vector<Choice<T>>;

extern const Choices<Format> kReportFormats;
extern const Choices<Format> kTextOrJson;
extern const Choices<Format> kExplainFormats;
extern const Choices<ColorMode> kColors;
extern const Choices<ProgressMode> kProgress;
extern const Choices<PathListForm> kListForms;

// "text, json or ndjson".
template <typename T>
std::string Listing(const Choices<T>& choices) {
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i)
    list += std::string(i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ") + choices[i].name;
  return list;
}

// Throws CLI::ValidationError, which lists the choices, if `given` is none of them.
template <typename T>
T ToChoice(const char* option, const char* kind, const Choices<T>& choices, const std::string& given) {
  for (const Choice<T>& choice : choices) {
    if (given == choice.name) return choice.value;
  }
  std::vector<std::string> names;
  for (const Choice<T>& choice : choices) names.emplace_back(choice.name);
  const std::string meant = DidYouMean(given, names);
  throw CLI::ValidationError(fmt::format("{} {}: unknown {}{} (expected {})", option, Printable(given), kind,
                                         meant.empty() ? "" : ", " + meant, Listing(choices)));
}

// Adds an option that accepts one of `choices`; `kind` names them in errors.
template <typename T>
CLI::Option* AddChoice(CLI::App& app, const char* option, const char* kind, const char* type_name,
                       const Choices<T>& choices, T* value) {
  const auto take = [=](const std::string& given) { *value = ToChoice(option, kind, choices, given); };
  return app.add_option_function<std::string>(option, take, Listing(choices))->type_name(type_name);
}

}  // namespace whyoom
