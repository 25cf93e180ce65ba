// What an artifact states of its programs. Jobs that print it print it for each step, in the same words: a line that
// says again what was said before is counted, and costs no more than finding it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/compiled_program.h"
#include "read/context_facts.h"
#include "text/timestamp.h"

namespace whyoom {

// What the match says; nothing where it does not say what the program needs.
std::optional<CompiledProgram> ReadStatement(const ContextFinder::Found& found, const JoinedLines& joined,
                                             const std::optional<Timestamp>& time);

class Statements {
 public:
  // Adds what is stated, in the words `text`; empty where these stand on several lines.
  void Add(CompiledProgram program, std::string text);

  // Where `line` states again what was said before: its place in the line, begin and end; it is counted then.
  std::optional<std::pair<std::size_t, std::size_t>> Again(std::string_view line) const;
  void Count(std::string_view text);

  ProgramTable Take();

 private:
  static constexpr std::size_t kRemembered = 16;
  struct Said {
    std::string text;
    CompiledProgram program;  // as it was stated first
    std::uint64_t again = 0;
  };
  void Settle(Said* said);

  ProgramTable programs_;
  std::vector<Said> said_;  // at most kRemembered, the oldest makes room
  std::size_t oldest_ = 0;
};

}  // namespace whyoom
