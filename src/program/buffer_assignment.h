// The compiler's buffers: which values share memory, and what the program needs if its values have other sizes.
//
// The compiler gave each value a place (offset, size) and a time. Values of one place that follow each other without a
// gap are one buffer: a loop's carried values, updates in place, results that reuse an operand's memory.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string_view>
#include <tuple>
#include <vector>

#include "program/occupancy.h"
#include "program/program.h"

namespace whyoom {

// The bytes of each value after a change. 0 for a value that goes away.
using Sizes = Indexed<ValueId, std::int64_t>;

// "fusion.7" for "fusion.7.remat2", which the compiler recomputes to save memory.
std::string_view OriginalName(std::string_view name);

// An array and all its later recomputations: the name of the instruction, the shape, and the position among the arrays
// of that shape. A recomputation may make fewer arrays than the original. Points into the program.
using ComputedArray = std::tuple<std::string_view, std::string_view, int>;
ComputedArray OriginalOf(const Program& program, const ProgramValue& value);

class BufferAssignment {
 public:
  // `undo_rematerialization`: values that the compiler recomputes to save memory live on instead, as they would in a
  // program that has room.
  BufferAssignment(const Program& program, bool undo_rematerialization);
  BufferAssignment(const BufferAssignment&) = delete;
  BufferAssignment& operator=(const BufferAssignment&) = delete;

  // What the whole program needs in HBM if its values have these sizes, and `added` buffers get memory of their own.
  // With the compiled sizes this is the compiler's figure, except for rounding.
  std::int64_t Need(const Sizes& sizes, const std::vector<Buffer>& added = {}) const;

  // The buffers that are live at the peak.
  std::vector<const Buffer*> LiveAtPeak(const Sizes& sizes) const;
  std::vector<const Buffer*> LiveAtPeak() const { return LiveAtPeak(CompiledSizes()); }

  // False if too many buffers share memory to simulate, or the program's dimensions are not known: then Need means
  // nothing.
  bool whole() const { return whole_; }

  // Gaps between places; negative if the compiler placed better than simulated.
  std::int64_t fragmentation() const { return fragmentation_; }
  Sizes CompiledSizes() const;
  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  void FindBuffers(bool undo);
  std::set<ValueId> ReturnedValues() const;
  bool WritesInPlace(InstructionId instruction) const;
  bool IsRematerialized(const ProgramValue& value) const;
  void AddPlaced(std::vector<ValueId> values, const std::set<ValueId>& returned);
  void AddRematerialized(const ComputedArray& array, const std::vector<ValueId>& values,
                         const std::set<ValueId>& returned);
  // By buffer, what it needs in memory of its own besides outputs.
  std::vector<std::int64_t> BytesOutsideOutputs(const Sizes& sizes) const;
  // Places buffers in the memory of outputs that are made later, as the compiler does: the largest first, each in the
  // smallest output that is free. Sets the bytes of those to 0. Returns false if that takes too long.
  bool PlaceInOutputs(std::vector<std::int64_t>* bytes) const;
  std::int64_t FixedBytes(const Sizes& sizes) const;

  const Program& program_;
  std::vector<Buffer> buffers_;                      // of temporaries and outputs
  std::int64_t next_place_ = std::int64_t{1} << 60;  // for a buffer that shares its place with no other
  std::unique_ptr<const Occupancy> occupancy_;
  std::vector<std::vector<ValueId>> fixed_;  // by argument or constant: the values that are as large
  bool whole_ = true;
  std::int64_t fragmentation_ = 0;
};

}  // namespace whyoom
