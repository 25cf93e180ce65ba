// Lays a program's values out anew after a change: which of them are live together, and what they then take.
//
// The compiler gave each value a place (offset, size) and a time. Values of one place that follow each other without a
// gap are one buffer: a loop's carried values, what is updated in place, what takes an operand's memory over. A change
// gives values other sizes or times; the most that is live at once is the new need.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>
#include <tuple>
#include <vector>

#include "program/program.h"

namespace whyoom {

// What a change makes of the values of a program, by number in Program::values(): bytes, 0 for one that goes away.
using Sizes = std::vector<std::int64_t>;

// "fusion.7.remat2" is "fusion.7", computed again to save memory.
std::string_view OriginalName(std::string_view name);

// An array and all its later computations: the name of the instruction, the shape, and which of its arrays of that
// shape. What is computed again may be fewer arrays than at first. Points into the program.
using ComputedArray = std::tuple<std::string_view, std::string_view, int>;
ComputedArray OriginalOf(const Program& program, const ProgramValue& value);

struct Buffer {
  std::int64_t offset = 0;
  std::int64_t size = 0;
  std::int64_t first = 0;
  std::int64_t last = 0;
  int allocation = 0;
  std::vector<int> values;  // numbers in Program::values()
  bool is_output = false;   // handed out: its memory is there all the time, and others may use it before
};

class Occupancy;

class Layout {
 public:
  // `undo_rematerialization`: values that the compiler computes again to save memory live on instead, as they would in
  // a program that has room.
  Layout(const Program& program, bool undo_rematerialization);
  Layout(const Layout&) = delete;
  Layout& operator=(const Layout&) = delete;

  // What the whole program needs in HBM when its values take `sizes`; with the sizes as they are, what the compiler
  // said, to within what its allocator rounds.
  std::int64_t Need(const Sizes& sizes) const;

  // The same, with `added` buffers of their own, which no other shares memory with; and the buffers that are live at
  // the moment of the most (numbers in buffers()). `live` may be null.
  std::int64_t Need(const Sizes& sizes, const std::vector<Buffer>& added, std::vector<int>* live = nullptr) const;

  // False where more share their memory with each other than can be gone through, or the program's dimensions could not
  // be told apart: Need then tells nothing.
  bool whole() const { return whole_; }

  Sizes SizesAsTheyAre() const;
  const std::vector<Buffer>& buffers() const { return buffers_; }
  // Of the temporaries, what is neither a value's nor free for another: gaps between places.
  std::int64_t fragmentation() const { return fragmentation_; }

 private:
  struct Fixed {
    int allocation;  // those of one stand together
    std::size_t value;
  };

  void FindFixed();
  void FindBuffers(bool undo);
  // Which buffers lie in the memory of an output before it is made, as the compiler places them: the largest first,
  // each in the first that is large enough and free.
  // False where that takes too long.
  bool PlaceInOutputs(const std::vector<std::int64_t>& bytes, std::vector<char>* placed) const;
  std::int64_t PeakOf(const Sizes& sizes, const std::vector<Buffer>& added, std::vector<int>* live) const;

  const Program& program_;
  std::vector<Buffer> buffers_;  // of temporaries
  std::shared_ptr<const Occupancy> occupancy_;
  std::vector<Fixed> fixed_;
  bool whole_ = true;
  std::int64_t fragmentation_ = 0;  // may be negative where the compiler placed better
};

}  // namespace whyoom
