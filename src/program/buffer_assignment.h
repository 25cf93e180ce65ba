// The compiler's buffer assignment: which values share memory, and the memory that the program needs if values change
// size.
//
// The compiler assigned each value an offset, a size and a live range. Values at the same offset and of the same size
// whose live ranges overlap are one buffer: loop-carried values, in-place updates, results that alias an operand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "facts/compiled_program.h"
#include "program/program.h"

namespace whyoom {

struct Buffer : Extent {
  AllocationId allocation = AllocationId(0);
  std::vector<ValueId> values;
  bool is_output = false;  // allocated throughout; until it is computed, other buffers may use its memory
};

// Joins buffers of one place and size whose live ranges overlap or touch: values that are updated in place. An output
// begins a new buffer. The result is sorted by allocation, offset, size and live range.
std::vector<Buffer> JoinInPlace(std::vector<Buffer> buffers);

// The buffers of all temporaries with a live range.
std::vector<Buffer> TemporariesOf(const ModuleMemory& memory);

// The memory in use from a position in the schedule until the next `Usage`.
struct Usage {
  std::int64_t moment = -1;  // -1: never
  std::int64_t bytes = 0;
};

// The memory in use over time, in the order of the moments at which it changes. Extents that overlap in memory count
// twice; JoinInPlace joins nearly all of them.
std::vector<Usage> UsageOver(const std::vector<Extent>& extents);

// The first moment of peak usage, also for the temporaries of a module.
Usage PeakOf(const std::vector<Extent>& extents);
inline Usage PeakOf(const ModuleMemory& memory) {
  const std::vector<Buffer> buffers = TemporariesOf(memory);
  return PeakOf({buffers.begin(), buffers.end()});
}

// The values of an allocation that are live at a moment (-1: all values), without values that overlap a larger one, or
// an equal one that precedes it in `values`. Largest first.
std::vector<MemoryValue> LiveAt(const MemoryAllocation& allocation, std::int64_t moment);

// The memory that a program needs over its schedule, without fragmentation. Divides the schedule into at most `most`
// parts and returns the peak of each part, which includes the overall peak. Empty if no live ranges are known.
std::vector<MemoryMoment> TimelineOf(const ModuleMemory& memory, std::size_t most = 64);

// The bytes of each value in a modified program; 0 if the value is removed.
using Sizes = Indexed<ValueId, std::int64_t>;

// The bytes that values need that share memory.
inline std::int64_t SharedBytes(const std::vector<ValueId>& values, const Sizes& sizes) {
  std::int64_t bytes = 0;
  for (const ValueId value : values) bytes = std::max(bytes, sizes[value]);
  return bytes;
}

struct BufferAssignment {
  // `undo_rematerialization`: extends the live range of each value that the compiler rematerializes to save memory, as
  // if memory were not short.
  BufferAssignment(const Program& program, bool undo_rematerialization);

  // The HBM that the whole program needs if its values have these sizes and the `added` buffers share no memory. For
  // the compiled sizes this equals the compiler's figure, unless rematerialization was undone.
  std::int64_t Need(const Sizes& sizes, const std::vector<Buffer>& added = {}) const;

  // The buffers that are live at the peak.
  std::vector<const Buffer*> LiveAtPeak(const Sizes& sizes) const;
  std::vector<const Buffer*> LiveAtPeak() const { return LiveAtPeak(compiled_sizes); }

  // Whether the compiler computes the value again, or is a value that it computes again.
  bool IsRematerialized(const ProgramValue& value) const;

  Sizes compiled_sizes;
  std::vector<Buffer> buffers;     // of temporaries and outputs
  bool whole = true;               // false if simulating takes too long: Need is meaningless
  std::int64_t fragmentation = 0;  // bytes of small values and of gaps; negative if the compiler packs better than this

 private:
  void FindBuffers(bool undo);
  // The buffers with the modified sizes, and the bytes of all outputs. Outputs and the buffers in their memory need
  // none among the temporaries.
  std::pair<std::vector<Extent>, std::int64_t> TemporariesAndOutputs(const Sizes& sizes) const;
  std::int64_t FixedBytes(const Sizes& sizes) const;  // of the values that span an argument or constant
  std::int64_t HeapBytes(const Sizes& sizes, const std::vector<Buffer>& added) const;  // temporaries and outputs

  const Program& program_;
  std::int64_t compiled_heap_ = 0;  // HeapBytes of the compiled sizes
};

}  // namespace whyoom
