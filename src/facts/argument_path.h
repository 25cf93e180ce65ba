// What the path of a program's argument, "state['opt_state'][0].mu['blocks']['wq']", reveals about its role.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rules/rule_set.h"

namespace whyoom {

// The name of the user's argument: "state" of "state.params['embed']".
std::string ArgumentOf(std::string_view path);

// Splits a path into words in lower case.
std::vector<std::string> PathWords(std::string_view path);

// Whether the path contains a part that only the state of an optimizer has.
bool NamesOptimizerPart(std::string_view path, const RoleWords& role_words);

// Whether a word or a part of the path names the state of an optimizer. Short words ("m") name other arrays, too.
bool NamesOptimizerState(std::string_view path, const RoleWords& role_words);

}  // namespace whyoom
