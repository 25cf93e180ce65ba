// The names that expressions may use without any pattern of the rule data giving them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/expression.h"

namespace whyoom {

struct NamedField {
  const char* name;
  ValueType type;
  const char* about;  // Markdown, for rules/README.md
};

// Fields of a row of a report; also as largest.FIELD. Here they are named and explained, facts/row_fields.h gives them.
const std::vector<NamedField>& RowFieldTable();
const std::vector<std::string>& RowFields();

// Of a name that is the program's own, with or without largest.; kAny for any other.
ValueType TypeOfBuiltIn(std::string_view name);

// Known whatever the failure: code, scenario, …, largest.FIELD.
const std::vector<std::string>& BuiltInNames();

// What is said of two runs of one job may name each fact as before.FACT and after.FACT, in a function over the rows
// also each field of a row as before.FIELD and after.FIELD, and these.
const std::vector<std::string>& ComparisonNames();
const std::vector<std::string>& RunNames();   // after before. and after.
const std::vector<std::string>& PairNames();  // in a row: of an allocation that both list

// Readers that a rule may name, and the facts that each gives.
const std::vector<std::string>& ReaderNames();
const std::vector<std::string>& ReaderFacts(std::string_view reader);  // none for an unknown one

}  // namespace whyoom
