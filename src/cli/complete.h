// Completion of command lines. The shell scripts call `whyoom __complete -- WORD ...`, so they always offer the words
// that the installed version accepts.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/choices.h"

namespace whyoom {

struct Completion {
  // Completions that the shell itself adds to the words.
  enum class Fill { kNone, kFiles, kFolders, kJob };

  std::vector<Word> words;  // each replaces the whole last word
  Fill fill = Fill::kNone;
  std::string prefix;         // for kFiles and kFolders: part of the last word before the name
  std::size_t job_begin = 0;  // for kJob: index of the first word of the job's command
};

// Returns the text before the first '.', ';' or ':' that ends a word outside parentheses: a short form for menus.
std::string Phrase(const std::string& about);

// Words from the rules. Each function is called only if its words are needed.
struct WordSources {
  std::function<std::vector<Word>()> topics;  // topics of `explain`
  std::function<std::vector<Word>()> codes;   // with and without a scenario
  std::function<std::vector<Word>()> frameworks;
};

// Completes the last word of `line`, which may be empty. `line` does not include the program's name.
Completion CompleteLine(const std::vector<std::string>& line, const WordSources& known);

// The format that the shell scripts read: "none", "files<TAB>PREFIX", "folders<TAB>PREFIX" or "job<TAB>INDEX", then one
// "WORD<TAB>ABOUT" per line.
std::string ToText(const Completion& completion);

// A script of integrations/completions.
std::string_view CompletionScript(Shell shell);

}  // namespace whyoom
