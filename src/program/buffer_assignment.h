// The compiler's buffer assignment: which values share memory, and the memory that the program needs if values change
// size.
//
// The compiler assigned each value an offset, a size and a live range. Values at the same offset and of the same size
// whose live ranges overlap are one buffer: loop-carried values, in-place updates, results that alias an operand.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <vector>

#include "program/occupancy.h"
#include "program/program.h"

namespace whyoom {

// The bytes of each value in a modified program; 0 if the value is removed.
using Sizes = Indexed<ValueId, std::int64_t>;

class BufferAssignment {
 public:
  // `undo_rematerialization`: extends the live range of each value that the compiler rematerializes to save memory, as
  // if memory were not short.
  BufferAssignment(const Program& program, bool undo_rematerialization);
  BufferAssignment(const BufferAssignment&) = delete;
  BufferAssignment& operator=(const BufferAssignment&) = delete;

  // The HBM that the whole program needs if its values have these sizes and the `added` buffers share no memory. For
  // the compiled sizes this equals the compiler's figure, unless rematerialization was undone.
  std::int64_t Need(const Sizes& sizes, const std::vector<Buffer>& added = {}) const;

  // The buffers that are live at the peak.
  std::vector<const Buffer*> LiveAtPeak(const Sizes& sizes) const;
  std::vector<const Buffer*> LiveAtPeak() const { return LiveAtPeak(CompiledSizes()); }

  // False if simulating takes too long, or the dimensions are not known. Then Need is meaningless.
  bool whole() const { return whole_; }

  // Whether the compiler computes the value again, or is a value that it computes again.
  bool IsRematerialized(const ProgramValue& value) const;

  // Bytes of small values and of gaps between buffers; negative if the compiler packs better than the simulation.
  std::int64_t fragmentation() const { return fragmentation_; }
  Sizes CompiledSizes() const;
  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  void FindBuffers(bool undo);
  std::set<ValueId> ReturnedValues() const;
  bool WritesInPlace(InstructionId instruction) const;
  // By buffer: the bytes that it needs outside the memory of outputs that are computed later.
  std::vector<std::int64_t> BytesOutsideOutputs(const Sizes& sizes) const;
  // Places buffers in the memory of outputs that are computed later, as the compiler does: the largest first, each in
  // the smallest output that is free. Sets their bytes to 0. Returns false if this takes too long.
  bool PlaceInOutputs(std::vector<std::int64_t>* bytes) const;
  std::int64_t FixedBytes(const Sizes& sizes) const;
  std::int64_t HeapBytes(const Sizes& sizes, const std::vector<Buffer>& added) const;  // temporaries and outputs

  const Program& program_;
  std::vector<Buffer> buffers_;  // of temporaries and outputs
  std::unique_ptr<const Occupancy> occupancy_;
  std::vector<std::vector<ValueId>> fixed_;  // by argument or constant: the values that span it
  bool whole_ = true;
  std::int64_t compiled_heap_ = 0;  // HeapBytes of the compiled sizes
  std::int64_t fragmentation_ = 0;
};

}  // namespace whyoom
