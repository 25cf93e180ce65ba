// A compiled program: estimates of its memory, the sizes that would fit and the effect of each remedy
// (computed in program/), its compiles with remedies (`whyoom try`), and the programs that fit.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "facts/array.h"
#include "facts/evidence.h"
#include "text/numbers.h"

namespace whyoom {

// Identifies a dimension by an argument that has it and its index there, so that the user can find it.
struct AxisLocation {
  std::string array;        // the argument's path: "batch['tokens']"
  std::int64_t number = 0;  // index of the dimension in the array, from 0
  std::int64_t length = 0;  // over all devices
  std::string name;         // "batch", "sequence", "vocabulary"; empty if unknown
};

// The memory that a program needs at a point of its schedule.
struct MemoryMoment {
  double at = 0;           // position in the schedule, from 0 (start) to 1 (end)
  std::int64_t bytes = 0;  // arguments, outputs, constants and the temporaries that are live then
};

// An array that is live in a part of the schedule.
struct LiveArray {
  std::string array;       // its shape and the user's line: "f32[96,1024,50304] at llama.py:79"
  std::int64_t bytes = 0;  // with padding
  std::int64_t padding_bytes = 0;
  double begin = 0;  // positions in the schedule, as MemoryMoment::at
  double end = 0;
};

// Memory of one kind at the peak, and the user's modules that it belongs to, largest first.
struct MemoryPart {
  std::string kind;  // "activations"
  std::int64_t bytes = 0;
  std::vector<std::pair<std::string, std::int64_t>> modules;  // "decoder/layers/attention"
};

// Batch and sequence sizes as the user wrote them, over all devices, and the sizes that would fit. 0: unknown.
struct Room {
  std::int64_t batch = 0;
  std::int64_t largest_batch = 0;
  // A number of micro-batches with which the program fits: if possible the usual number or fewer, else the smallest
  // that suffices. 1: the whole batch fits.
  std::int64_t micro_batches = 0;
  std::int64_t sequence = 0;
  std::int64_t largest_sequence = 0;
  std::int64_t batch_devices = 0;          // number of devices that share the batch; 0: only one
  std::optional<AxisLocation> batch_axis;  // absent if no argument has it
  std::optional<AxisLocation> sequence_axis;
};

// How to split an array over a mesh axis that does not split it yet.
struct ArraySplit {
  std::string mesh_axis;  // "mesh axis 'data'", or "mesh axes 'data' and 'model'"
  std::string array;      // "params['w'] f32[4096,4096]"; "f32[8,512] at step.py:7" for a computed one; may be empty
  bool is_argument = false;
  std::string spec;  // the array's new PartitionSpec: "P(None, 'data')"
};

// The estimated effect of a remedy on the memory that the program needs.
struct Effect {
  std::string change;                // ProgramRemedy::name
  std::int64_t saves_bytes = 0;      // may be negative
  std::int64_t left_bytes = 0;       // what the program then needs
  std::int64_t spread_bytes = 0;     // the possible error of left_bytes, up or down
  std::string ruled_out;             // why the remedy cannot help here: "no_gradients"; empty if it may
  std::int64_t parts = 0;            // devices, steps or pieces that the estimate assumes; 0: none
  std::optional<AxisLocation> axis;  // the dimension that is cut into the parts
  bool of_state = false;             // splits weights and optimizer state
  std::optional<ArraySplit> split;   // the largest array that is split, if the mesh is known
};

struct ProgramEstimates {
  std::int64_t need_bytes = 0;
  std::vector<MemoryPart> memory;
  std::vector<MemoryMoment> timeline;  // over the schedule, see TimelineOf
  std::vector<LiveArray> live;         // the largest at each moment, see LiveArraysOf
  Room room;
  // The remedies that change at least one buffer, and those that the program rules out. The effect of other remedies
  // is unknown.
  std::vector<Effect> changes;
  Evidence signs;  // facts about typical mistakes in a failed program, see FindSigns
  const Effect* Find(std::string_view change) const;
};

void MaskSecretsOf(ProgramEstimates* estimates);

// A remedy, or two together, applied to the program and compiled (`whyoom try`).
struct CompiledAttempt {
  std::string remedy;                      // id; of two joined by "+"
  std::string setting;                     // what the user types
  std::optional<std::int64_t> need_bytes;  // in HBM; nullopt: see problem
  std::string problem;                     // why the need is unknown
  double seconds = 0;
  std::string patch;                                // unified diff against the user's files; empty: there is none
  std::optional<std::int64_t> verified_bytes = {};  // the need that the patched program had
};

// The setting of an attempt that changes compiler options begins with this.
inline constexpr std::string_view kCompilerOptions = "LIBTPU_INIT_ARGS=";

// The compile that the figures of a remedy come from.
struct CompiledBasis {
  std::string compiler;  // "libtpu 0.0.52"
  std::string setting;   // what the user types
  double seconds = 0;
};

// The compiles of a module, unchanged and with attempts.
struct Recompilation {
  std::string module;    // "jit_train_step"
  std::string dump;      // path of the buffer assignment of the failed compile
  std::string compiler;  // "libtpu 0.0.52"
  std::int64_t unchanged_bytes = 0;
  double seconds = 0;                     // of the unchanged program
  std::vector<CompiledAttempt> attempts;  // of a remedy, the smallest changes first
  std::string stopped;                    // "interrupted" or "out of time" if not all attempts were made

  // Returns the first attempt of this remedy alone that fits the failure in `facts`, or else the one that needs least;
  // nullptr if none was compiled.
  const CompiledAttempt* Best(const std::string& remedy, const Evidence& facts) const;

  // Returns the first attempt of two remedies together, in any order, that fits; nullptr if none does.
  const CompiledAttempt* FittingPair(const std::string& remedy, const std::string& other, const Evidence& facts) const;

  // The need of the attempt, which must be known, corrected by the difference.
  std::int64_t NeedOf(const CompiledAttempt& attempt, const Evidence& facts) const;

  // The difference between the need in `facts`, those of the failure, and the need of the unchanged program here; for
  // example because the compiler's version differs. 0 if the need is unknown or the difference is only rounding.
  std::int64_t Difference(const Evidence& facts) const;

  // Whether the attempt, corrected by the difference, needs at most the limit in `facts`. False if that is unknown.
  bool Fits(const CompiledAttempt& attempt, const Evidence& facts) const;
};

// A program that compiled, and the memory that it needs. Read from the XLA dump of a compile that fitted, or from a log
// line that describes the program (docs/rules-reference.md, contexts with `program`). Not a failure.
struct CompiledProgram {
  std::string id;     // hash of basis and facts: equal for the same program, wherever it was found
  std::string basis;  // "dump" or "log"
  Where where;        // the first occurrence: the dump's buffer assignment (line 1), or the line in the log
  Evidence facts;     // need_bytes and other known facts: module, limit_bytes, chip, arguments_bytes, …
  std::vector<Allocation> allocations;        // dumps only: the largest that are live at the peak
  std::optional<ProgramEstimates> estimates;  // dumps only, if they contain the program's HLO
  std::uint64_t occurrences = 1;              // number of dumps or of log lines
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
  void LeaveOut(std::uint64_t occurrences) { left_out_ = SaturatingAdd(left_out_, occurrences); }

  // Commutative and associative; an empty table is neutral.
  void Join(ProgramTable other);

  void SetArtifact(const Artifact& artifact);

  bool empty() const { return programs_.empty() && left_out_ == 0; }
  std::uint64_t left_out() const { return left_out_; }
  const std::vector<CompiledProgram>& programs() const { return programs_; }  // sorted by need, largest first

  // Moves the programs out, in the same order.
  std::vector<CompiledProgram> Take() { return std::exchange(programs_, {}); }

 private:
  std::vector<CompiledProgram> programs_;
  std::uint64_t left_out_ = 0;
};

}  // namespace whyoom
