// Simulates the memory of a program again after a change: which values are live together, and what they then need.
//
// The compiler gave each value a place (offset, size) and a time. Values of one place that follow each other without a
// gap are one buffer: a loop's carried values, updates in place, results that reuse an operand's memory. A change gives
// values other sizes or times; the most that is live at once is the new need.
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

// The bytes of each value after a change, by number in Program::values(). 0 for a value that goes away.
using Sizes = std::vector<std::int64_t>;

// "fusion.7" for "fusion.7.remat2", which the compiler recomputes to save memory.
std::string_view OriginalName(std::string_view name);

// An array and all its later recomputations: the name of the instruction, the shape, and the position among the arrays
// of that shape. A recomputation may make fewer arrays than the original. Points into the program.
using ComputedArray = std::tuple<std::string_view, std::string_view, int>;
ComputedArray OriginalOf(const Program& program, const ProgramValue& value);

// The compiler's buffers of a program, and what the program needs if its values have other sizes.
class BufferAssignment {
 public:
  // `undo_rematerialization`: values that the compiler recomputes to save memory live on instead, as they would in a
  // program that has room.
  BufferAssignment(const Program& program, bool undo_rematerialization);
  BufferAssignment(const BufferAssignment&) = delete;
  BufferAssignment& operator=(const BufferAssignment&) = delete;

  // What the whole program needs in HBM if its values have these sizes, and `added` buffers get memory of their own.
  // With the compiled sizes this is the compiler's figure, except for rounding. `live` (may be null) receives the
  // buffers (numbers in buffers()) that are live at the peak.
  std::int64_t Need(const Sizes& sizes, const std::vector<Buffer>& added = {}, std::vector<int>* live = nullptr) const;

  // The buffers (numbers in buffers()) that are live at the peak of the compiled program.
  std::vector<int> LiveAtPeak() const;

  // False if too many buffers share memory to simulate, or the program's dimensions are not known: then Need means
  // nothing.
  bool whole() const { return whole_; }

  // Gaps between places; negative if the compiler placed better than simulated.
  std::int64_t fragmentation() const { return fragmentation_; }
  Sizes CompiledSizes() const;
  const std::vector<Buffer>& buffers() const { return buffers_; }

 private:
  // A value that is as large as its argument or constant.
  struct Fixed {
    int allocation;
    int value;
  };

  void FindFixed();
  void FindBuffers(bool undo);
  std::set<int> ReturnedValues() const;
  bool WritesInPlace(int instruction) const;
  bool IsRematerialized(const ProgramValue& value) const;
  void AddPlaced(std::vector<int> values, const std::set<int>& returned);
  void AddRematerialized(const ComputedArray& array, const std::vector<int>& values, const std::set<int>& returned);
  // Places buffers in the memory of outputs that are made later, as the compiler does: the largest first, each in the
  // smallest output that is free. False if that takes too long.
  bool PlaceInOutputs(const std::vector<std::int64_t>& bytes, std::vector<char>* placed) const;
  std::int64_t FixedBytes(const Sizes& sizes) const;

  const Program& program_;
  std::vector<Buffer> buffers_;                      // of temporaries and outputs
  std::int64_t next_place_ = std::int64_t{1} << 60;  // for a buffer that shares its place with no other
  std::unique_ptr<const Occupancy> occupancy_;
  std::vector<Fixed> fixed_;  // those of one allocation together
  bool whole_ = true;
  std::int64_t fragmentation_ = 0;
};

}  // namespace whyoom
