#include "program/dump_files.h"

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

namespace whyoom {
namespace {

// A need above this share of the limit may not fit, because the limit may be rounded.
constexpr double kSurelyFits = 0.99;

const char* const kDamaged = "truncated or damaged: ";
const char* const kOther = "from another compile than the other files of its module: ";
const char* const kNoFittingSizes = "ignored, so cannot estimate what would fit";

bool IsDamaged(const HloModule& module) { return !module.whole && !module.over_limit; }

// Intact files agree completely. Another compile of the same function would change more than 1 % of the values.
bool IsFew(std::size_t wrong, std::size_t all) { return wrong * 100 <= all; }

// The shape of an element ("{1,0}") of an instruction's result; null if there is none.
const HloShape* ElementOf(const HloModule& module, InstructionId instruction, std::string_view index) {
  if (!instruction) return nullptr;
  const HloShape* shape = &module.ShapeOf(instruction);
  for (const std::int64_t element : Integers(index)) {
    if (element < 0 || std::cmp_greater_equal(element, shape->elements.size())) return nullptr;
    shape = &module.shapes[shape->elements[element]];
  }
  return shape;
}

// Whether the assignment's values match the module, which must be compiled and whole.
bool ValuesAgree(const ModuleMemory& memory, const HloModule& module) {
  std::size_t wrong = 0;
  std::size_t all = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    all += allocation.values.size();
    wrong += std::ranges::count_if(allocation.values, [&](const MemoryValue& value) {
      const HloShape* shape = ElementOf(module, module.Find(value.name), value.index);
      if (shape == nullptr || shape->is_tuple) return shape == nullptr || !value.shape.starts_with('(');
      const std::string& array = shape->array.shape;  // "f32[8]"; empty if it was not understood
      return !array.empty() && value.shape != array && !value.shape.starts_with(array + "{");
    });
  }
  return IsFew(wrong, all);
}

// Whether the live ranges match the assignment's temporaries.
bool RangesAgree(const ModuleMemory& memory) {
  std::size_t wrong = 0;
  std::size_t all = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (allocation.kind != AllocationKind::kTemporaries) continue;
    all += allocation.values.size();
    wrong += std::ranges::count_if(allocation.values, [](const MemoryValue& value) { return value.first < 0; });
  }
  return IsFew(wrong, all);
}

// Whether each name that has a live range but is not a value of the assignment is an instruction of the module.
bool RangesAgree(const ModuleMemory& memory, const HloModule& module) {
  const std::vector<std::string>& names = memory.ranges_without_value;
  const auto wrong =
      std::ranges::count_if(names, [&](const std::string& place) { return !module.Find(SplitPlace(place).first); });
  return IsFew(wrong, names.size());
}

// Whether the assignment lacks arrays in HBM that have a live range, of more than 1 % of the need.
bool LacksValues(const ModuleMemory& memory, const HloModule& module) {
  if (memory.over_limit) return false;  // the reader dropped values
  double missing = 0;
  for (const std::string& place : memory.ranges_without_value) {
    const auto [name, index] = SplitPlace(place);
    const HloShape* shape = ElementOf(module, module.Find(name), index);
    if (shape == nullptr || shape->is_tuple || shape->array.dtype.empty() || shape->array.memory_space != 0) continue;
    const std::int64_t bytes = UnpaddedBytes(shape->array).value_or(0);
    if (bytes >= kMemoryLimits.smallest) missing += static_cast<double>(bytes);
  }
  return missing * 100 > static_cast<double>(memory.need_bytes);
}

// Whether the unoptimized module has the compiled module's parameters, which are smaller if that is partitioned.
bool ParametersAgree(const HloModule& before, const HloModule& compiled) {
  const bool is_split = PartitionsOf(compiled) > 1;
  return std::ranges::equal(before.Parameters(), compiled.Parameters(), [&](InstructionId one, InstructionId other) {
    if (!one || !other) return true;
    const ArrayShape& all = before.ShapeOf(one).array;
    const ArrayShape& part = compiled.ShapeOf(other).array;
    // An array of 64-bit numbers becomes two.
    if (part.dtype.empty() || all.dtype.empty() || ElementBits(all.dtype).value_or(64) == 64) return true;
    if (part.dtype != all.dtype || part.dims.size() != all.dims.size()) return false;
    return is_split ? std::ranges::equal(part.dims, all.dims, std::less_equal<>()) : part.dims == all.dims;
  });
}

struct DumpFileReader {
  const DumpPaths& paths;
  double limit_bytes;
  bool for_remedies;
  const Stop& stop;
  DumpFiles files = {};

  // After a stop, discards all results: a partly read file would look damaged.
  DumpFiles Read() {
    files.failed = !paths.intermediate.empty();
    files.text_path = files.failed ? paths.intermediate : paths.optimized;
    const std::string problem = ReadFiles();
    files.usable = problem.empty();
    if (files.usable) CheckFailure();
    files.whole = files.usable && for_remedies && IsComplete(files.text) && files.memory.schedule_length > 0;
    if (files.whole && !paths.before.empty()) ReadBefore();
    if (!files.usable) files.problem = {paths.assignment, "", problem};
    if (stop.IsRequested()) return {.problem = {paths.assignment, "", stop.Why() + ": " + kNeedUnknown}};
    return std::move(files);
  }

  HloModule ReadText(const std::string& path) const {
    return path.empty() ? HloModule() : ReadHlo(*OpenFile(path, &stop));
  }
  // Whether names and shapes can be looked up.
  static bool IsComplete(const HloModule& module) { return module.whole && module.entry; }

  // Returns why the assignment is not usable; empty if it is.
  std::string ReadFiles() {
    const std::unique_ptr<ByteSource> assignment = OpenFile(paths.assignment, &stop);
    const std::unique_ptr<ByteSource> ranges = paths.live_range.empty() ? nullptr : OpenFile(paths.live_range, &stop);
    // Read the memory in parallel with the module, which takes longer. The result does not depend on the timing.
    std::future<ModuleMemory> reading = std::async(std::launch::async | std::launch::deferred, [&] {
      return ReadMemory(*assignment, ranges.get(), kMemoryLimits);
    });
    files.text = ReadText(files.text_path);
    files.memory = reading.get();
    if (!assignment->problem().empty()) return std::string(assignment->problem());
    if (files.memory.allocations.empty()) return kNoBufferAssignment;
    if (!files.memory.assignment_whole) return std::string(kDamaged) + kNeedUnknown;
    if (!CheckText()) return std::string(kOther) + kNeedUnknown;
    CheckRanges();
    return IsComplete(files.text) && LacksValues(files.memory, files.text) ? std::string(kDamaged) + kNeedUnknown : "";
  }

  // Returns false if the assignment is from another compile than the text and the live ranges. Source lines and names
  // are also read from the readable part of a damaged text.
  bool CheckText() {
    if (IsComplete(files.text) && !ValuesAgree(files.memory, files.text)) {
      HloModule optimized = files.failed ? ReadText(paths.optimized) : HloModule();
      if (IsComplete(optimized) && ValuesAgree(files.memory, optimized)) {
        Note(paths.intermediate, "from another compile than the other files, whose program did not fail");
        files.failed = false;
        files.text_path = paths.optimized;
        files.text = std::move(optimized);
        return true;
      }
      if (files.memory.has_ranges() && !RangesAgree(files.memory) && RangesAgree(files.memory, files.text))
        return false;
      Note(files.text_path, std::string(kOther) + kCannotEstimate);
      files.text = HloModule();
    } else if (for_remedies && files.text_path.empty()) {
      Note(paths.assignment, "the folder contains no HLO text of this module: " + std::string(kCannotEstimate));
    } else if (for_remedies && IsDamaged(files.text)) {
      Note(files.text_path, std::string(kDamaged) + kCannotEstimate);
    }
    return true;
  }

  void CheckRanges() {
    ModuleMemory& memory = files.memory;
    if (!paths.live_range.empty()) {
      if (memory.has_ranges() && RangesAgree(memory) && (!IsComplete(files.text) || RangesAgree(memory, files.text)))
        return;
      Note(paths.live_range, std::string(memory.has_ranges() ? kOther : kDamaged) + kCannotEstimate);
      memory.schedule_length = 0;
      memory.ranges_without_value.clear();
      for (MemoryAllocation& allocation : memory.allocations) {
        for (MemoryValue& value : allocation.values) value.first = value.last = -1;
      }
    } else if (for_remedies) {
      Note(paths.assignment, "the folder contains no live ranges of this module: " + std::string(kCannotEstimate));
    }
  }

  void CheckFailure() {
    const bool fits = static_cast<double>(files.memory.need_bytes) <= kSurelyFits * limit_bytes;
    if (!files.failed || limit_bytes <= 0 || !fits) return;
    Note(paths.intermediate,
         "XLA writes this file only if memory runs out, but the program in the other files fits, so the files are from "
         "different compiles");
    files.failed = false;
  }

  void ReadBefore() {
    files.before = ReadText(paths.before);
    const bool damaged = IsDamaged(files.before);
    if (!damaged && ParametersAgree(files.before, files.text)) return;
    Note(paths.before, std::string(damaged ? kDamaged : kOther) + kNoFittingSizes);
    files.before = HloModule();
    files.before_rejected = true;
  }

  // Keeps the first note: the most severe problems are checked first.
  void Note(const std::string& path, std::string what) {
    if (files.problem.what.empty()) files.problem = {path, "", std::move(what)};
  }
};

}  // namespace

DumpFiles ReadDumpFiles(const DumpPaths& paths, double limit_bytes, bool for_remedies, const Stop& stop) {
  return DumpFileReader{paths, limit_bytes, for_remedies, stop}.Read();
}

}  // namespace whyoom
