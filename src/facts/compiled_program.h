// A program that compiled, and the memory that it needs. Read from the XLA dump of a compile that fitted, or from a log
// line that describes the program (docs/rules-reference.md, contexts with `program`). Not a failure.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "facts/allocation.h"
#include "facts/evidence.h"
#include "facts/program_estimates.h"
#include "facts/where.h"
#include "text/timestamp.h"

namespace whyoom {

struct CompiledProgram {
  std::string id;     // hash of basis and facts: equal for the same program, wherever it was found
  std::string basis;  // "dump" or "log"
  Where where;        // the first occurrence: the dump's buffer assignment (line 1), or the line in the log
  Evidence facts;     // need_bytes and other known facts: module, limit_bytes, chip, arguments_bytes, …
  std::vector<Allocation> allocations;        // dumps only: the largest that are live at the peak
  std::optional<ProgramEstimates> estimates;  // dumps only, if they contain the program's HLO
  std::uint64_t occurrences = 1;              // number of dumps or of log lines
  std::optional<Timestamp> first_time;        // of the occurrences; nullopt if one has no time
  std::optional<Timestamp> last_time;
};

// Computes the id from the basis and the facts, except the limit, the chip and all places.
void Identify(CompiledProgram* program);

// The programs that need most memory, without duplicates. Joining tables in any order and grouping gives the same one.
class ProgramTable {
 public:
  static constexpr std::size_t kMost = 100;

  // Adds a program whose id is set.
  void Add(CompiledProgram program);

  // Counts occurrences of programs that are not kept.
  void LeaveOut(std::uint64_t occurrences);

  // Commutative and associative; an empty table is neutral.
  void Join(ProgramTable other);

  void SetArtifact(const Artifact& artifact);

  bool empty() const { return programs_.empty() && left_out_ == 0; }
  std::uint64_t left_out() const { return left_out_; }
  const std::vector<CompiledProgram>& programs() const { return programs_; }  // sorted by need, largest first

  // Moves the programs out, in the same order, and empties the table.
  std::vector<CompiledProgram> Take();

 private:
  std::vector<CompiledProgram> programs_;
  std::uint64_t left_out_ = 0;
};

}  // namespace whyoom
