// Options with a fixed set of values: their names and descriptions for parsing, --help and completions.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstddef>
#include <map>
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
  const char* about;  // for --help; may be empty
};

template <typename T>
using Choices = std::vector<Choice<T>>;

extern const Choices<Format> kReportFormats;
extern const Choices<Format> kDiffFormats;
extern const Choices<Format> kExplainFormats;
extern const Choices<Format> kListFormats;
extern const Choices<ColorMode> kColors;
extern const Choices<ProgressMode> kProgress;
extern const Choices<PathListForm> kListForms;
extern const Choices<Shell> kShells;

// A word that the command line accepts, with its description.
struct Word {
  std::string text;
  std::string about;
};

// The accepted values of options that have a fixed set.
using ValueWords = std::map<const CLI::Option*, std::vector<Word>>;

// "text, json or ndjson"; with descriptions if `about`.
template <typename T>
std::string Listing(const Choices<T>& choices, bool about) {
  std::string list;
  for (std::size_t i = 0; i < choices.size(); ++i) {
    list += i == 0 ? "" : i + 1 == choices.size() ? " or " : ", ";
    list += choices[i].name;
    if (about && *choices[i].about != '\0') list += std::string(" (") + choices[i].about + ")";
  }
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
                                         meant.empty() ? "" : ", " + meant, Listing(choices, false)));
}

template <typename T>
std::vector<Word> ChoiceWords(const Choices<T>& choices) {
  std::vector<Word> words;
  for (const Choice<T>& choice : choices) words.push_back({choice.name, choice.about});
  return words;
}

// Adds an option that accepts one of `choices`; `kind` names them in errors.
template <typename T>
CLI::Option* AddChoice(CLI::App& app, const char* option, const char* kind, const char* type_name,
                       const Choices<T>& choices, T* value, ValueWords* words) {
  const auto take = [=](const std::string& given) { *value = ToChoice(option, kind, choices, given); };
  CLI::Option* added = app.add_option_function<std::string>(option, take, Listing(choices, true));
  (*words)[added] = ChoiceWords(choices);
  return added->type_name(type_name);
}

}  // namespace whyoom
