// Named expressions of rule files: terms and fields of a row.
#pragma once

#include <map>
#include <string>

#include "rules/expression.h"
#include "rules/rule_file.h"

namespace whyoom {

// Entries of rule files by name.
using Section = std::map<std::string, const JsonNode*>;

// Compiles the entries into `table`, where they replace those of the same name, and reports their faults unless
// `is_checked` is false. An entry is always unknown if it has a fault, is part of a cycle or uses such an entry. `what`
// is the kind of entry in faults: "term".
void CompileNamed(const Section& nodes, const std::string& what, bool is_checked, Terms* table);

// Reports a name that an entry of this kind cannot have.
void CheckTermName(const std::string& name, const JsonNode& node, const std::string& what);

}  // namespace whyoom
