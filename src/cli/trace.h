// `whyoom rules trace LOG[:LINE]`: how far each rule got in a log, and why the advice is what it is.
#pragma once

#include <string>

#include "cli/options.h"
#include "report/text/text_page.h"

namespace whyoom {

// Sets what is to be traced from its word on the command line: a path, with ":LINE" behind it unless a file has that
// name. Throws CLI::ValidationError for a line 0.
void SetTraced(const std::string& word, Options* options);

// Gives the exit status: 0 also where nothing is found.
int RunTrace(const Options& options, const TextOptions& text);

}  // namespace whyoom
