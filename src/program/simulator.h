// Applies remedies to a program: which values get smaller, go away or are added, and what the whole program then needs.
//
// How the compiler would fuse and schedule a modified program is not in the dump, so each estimate has a spread.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "input/stop.h"
#include "program/buffer_assignment.h"
#include "program/meaning.h"
#include "program/program.h"

namespace whyoom {

struct Estimate {
  std::int64_t left_bytes = 0;    // what the modified program needs
  std::int64_t spread_bytes = 0;  // how far off that may be, up or down
};

// A program with one remedy applied.
struct ModifiedProgram {
  Sizes sizes;                      // of the program's values
  std::int64_t more = 0;            // bytes that the program needs throughout, in addition
  std::vector<Buffer> added = {};   // in addition for a time; `values` of each: what it is made again from, if anything
  std::string_view ruled_out = {};  // why the program proves that the remedy cannot help, see Prospect; else empty
  std::int64_t tried = 0;           // buffers that the remedy was applied to, and that need as much as before
  Sizes at_best = {};               // if the remedy also shrank values that may have the axis; else empty
  // What the remedy was applied to, so that the user can find it.
  std::int64_t parts = 0;  // devices, steps or pieces; 0: none
  Axis axis = {};          // that is cut into them
  bool of_state = false;   // weights and optimizer state are

  void Remove(const std::vector<ValueId>& values) {
    for (const ValueId id : values) sizes[id] = 0;
  }
  // A buffer that lives from `first` to `last`, made again from `values`.
  void Add(std::int64_t size, std::int64_t first, std::int64_t last, std::vector<ValueId> values) {
    added.push_back({.size = size, .first = first, .last = last, .values = std::move(values)});
  }
};

class Simulator {
 public:
  // Borrows all. `limit_bytes` is what a device has; 0: not known. Results mean nothing once `stop` (may be null)
  // requests a stop.
  Simulator(const Program& program, const Meaning& meaning, std::int64_t limit_bytes, const Stop* stop = nullptr);

  const Program& program() const { return program_; }
  const Meaning& meaning() const { return meaning_; }
  const BufferAssignment& compiled() const { return compiled_; }
  std::int64_t need_bytes() const { return need_; }
  // False if the program is too large to simulate: then no estimate counts.
  bool whole() const { return compiled_.whole() && roomy_.whole(); }
  bool IsStopped() const { return stop_ != nullptr && stop_->IsAsked(); }

  ModifiedProgram Unmodified() const { return {.sizes = compiled_.CompiledSizes()}; }
  ModifiedProgram RuledOut(std::string_view why) const;  // unmodified: the program proves that the remedy cannot help
  // The sizes of all values if arrays have the size that `size_of(value)` returns.
  template <class SizeOf>
  Sizes Resized(const SizeOf& size_of) const {
    Sizes sizes = compiled_.CompiledSizes();
    for (const ProgramValue& value : program_.values()) {
      if (value.array) sizes[value.id] = size_of(value);
    }
    return sizes;
  }
  // Two remedies applied together: each shrinks what the other leaves.
  ModifiedProgram Combined(const ModifiedProgram& one, const ModifiedProgram& other) const;

  Estimate EstimateOf(const ModifiedProgram& modified) const;
  // How many buffers the remedy was applied to.
  std::int64_t CountModified(const ModifiedProgram& modified) const;
  // Whether it depends on values of unknown dimensions if the modified program fits.
  bool IsOpen(const ModifiedProgram& modified) const;
  // Nothing fits an unknown limit.
  bool Fits(const Estimate& estimate) const { return limit_ > 0 && estimate.left_bytes <= limit_; }

 private:
  const Program& program_;
  const Meaning& meaning_;
  std::int64_t limit_ = 0;
  const Stop* stop_ = nullptr;
  BufferAssignment compiled_;
  BufferAssignment roomy_;  // without rematerialization
  std::int64_t need_ = 0;
};

}  // namespace whyoom
