// A program that was compiled and what it takes of the memory: told by the XLA dump of a compile that fitted, or as a
// log states it (rules/README.md, contexts that are programs). It is no failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/prospects.h"
#include "facts/where.h"
#include "text/timestamp.h"

namespace whyoom {

struct CompiledProgram {
  std::string id;     // of what it takes: the same program has the same, wherever it was found
  std::string basis;  // "dump" or "log"
  Where where;        // of the first of them: the dump's buffer assignment (line 1), or the line in the log
  Evidence facts;     // need_bytes, and what else is known: module, limit_bytes, chip, arguments_bytes, …
  std::vector<Allocation> allocations;  // the largest that are live at the peak; of a dump
  std::optional<Prospects> prospects;   // of a dump with the program itself
  std::uint64_t occurrences = 1;        // dumps, or statements in logs
  std::optional<Timestamp> first_time;  // of the statements, as far as prefixes carry one
  std::optional<Timestamp> last_time;
};

// Sets the id, from basis and facts; of the limit and of places nothing is in it.
void Identify(CompiledProgram* program);

// Programs that were found, each once, those that need most. Tables join in any order and grouping to the same table:
// what is kept does not depend on who came first.
class ProgramTable {
 public:
  static constexpr std::size_t kMost = 100;

  // Adds a program with its id.
  void Add(CompiledProgram program);

  // Adds what one artifact states, which `said` does not name.
  void AddOf(const Artifact& artifact, ProgramTable said);

  // Counts dumps or statements of programs that are not kept.
  void LeaveOut(std::uint64_t occurrences);

  // Commutative and associative; an empty table is neutral.
  void Join(ProgramTable other);

  bool empty() const { return programs_.empty() && left_out_ == 0; }
  std::uint64_t left_out() const { return left_out_; }

  // The one that needs most first. Borrowed until the table changes.
  std::vector<const CompiledProgram*> programs() const;

  // The same; the table is empty afterwards.
  std::vector<CompiledProgram> Take();

 private:
  std::map<std::pair<double, std::string>, CompiledProgram> programs_;  // by need, the largest first, and id
  std::uint64_t left_out_ = 0;
};

}  // namespace whyoom
