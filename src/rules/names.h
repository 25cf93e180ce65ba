// Names that expressions can use although no pattern captures them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace whyoom {

struct NamedField {
  const char* name;
  const char* about;  // Markdown for docs/rules-language.md
};

// Fields of an allocation row, also available as largest.FIELD. This table documents them; facts/array.h computes
// them.
const std::vector<NamedField>& RowFieldTable();
const std::vector<std::string>& RowFields();

// What provides the facts that an expression uses, besides failures (their codes) and contexts: comparisons of two
// runs; terms, which may use facts of any failure; fields of a row. Remedies have no owner: they may use all facts.
inline constexpr const char* kComparisonOwner = "the comparison";
inline constexpr const char* kTermsOwner = "the terms";
inline constexpr const char* kRowOwner = "the fields of a row";
inline std::string ContextOwner(const std::string& id) { return "context " + id; }  // never a code

// Available for every failure: code, scenario, …, largest.FIELD.
const std::vector<std::string>& BuiltInNames();

// Names for comparisons of two runs. Every fact is also available as before.FACT and after.FACT, and in functions over
// rows every field as before.FIELD and after.FIELD.
const std::vector<std::string>& ComparisonNames();
const std::vector<std::string>& RunNames();  // after "before." and "after."

// The readers that a rule can name, and the facts that each provides.
const std::vector<std::string>& ReaderNames();
const std::vector<std::string>& ReaderFacts(std::string_view reader);  // empty for an unknown reader

}  // namespace whyoom
