// What can stand next on a command line. The shells' scripts know nothing themselves: they ask
// `whyoom __complete -- WORD ...`, so that what they offer cannot differ from what is understood.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/choices.h"

namespace whyoom {

struct Completion {
  // What a shell knows itself, and offers beside the words.
  enum class Fill { kNone, kFiles, kFolders, kJob };

  std::vector<Word> words;  // each is the whole word that would stand in place of the last one
  Fill fill = Fill::kNone;
  std::string prefix;         // of kFiles and kFolders: the name begins after this part of the last word
  std::size_t job_begin = 0;  // of kJob: the index of the first word of another program's command line
};

// A menu has room for a phrase, where --help has sentences: what stands before the first stop outside of brackets.
std::string Phrase(const std::string& about);

// What the rule data knows; each is only called where its words are asked for.
struct KnownWords {
  std::function<std::vector<Word>()> topics;  // of `explain`
  std::function<std::vector<Word>()> codes;   // with and without a scenario
  std::function<std::vector<Word>()> frameworks;
};

// `line` is what stands behind the program's name; its last word is the one to complete, and may be empty.
Completion CompleteLine(const std::vector<std::string>& line, const KnownWords& known);

// For the scripts: "none", "files<TAB>PREFIX", "folders<TAB>PREFIX" or "job<TAB>INDEX", then "WORD<TAB>ABOUT" a line.
std::string ToText(const Completion& completion);

// One of integrations/completions.
std::string_view CompletionScript(Shell shell);

}  // namespace whyoom
