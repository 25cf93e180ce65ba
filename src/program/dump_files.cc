#include "program/dump_files.h"

#include <algorithm>
#include <functional>
#include <future>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "program/dimensions.h"

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
  const HloShape* shape = &module.ShapeOf(instruction);
  for (const std::int64_t element : Integers(index)) {
    if (element < 0 || std::cmp_greater_equal(element, shape->elements.size())) return nullptr;
    shape = &module.shapes[shape->elements[element]];
  }
  return shape;
}

// Whether a text such as "f32[8]{0:T(128)}" has this shape.
bool HasShape(std::string_view text, const HloShape& shape) {
  if (shape.is_tuple) return text.starts_with('(');
  const std::string_view array = shape.array.shape;
  if (array.empty()) return true;  // not understood
  return text.starts_with(array) && (text.size() == array.size() || text[array.size()] == '{');
}

bool IsValueOf(const MemoryValue& value, const HloModule& module) {
  const InstructionId instruction = module.Find(value.name);
  const HloShape* shape = instruction ? ElementOf(module, instruction, value.index) : nullptr;
  return shape != nullptr && HasShape(value.shape, *shape);
}

// The result of looking up "while.5{1}" in a module.
struct FoundPlace {
  InstructionId instruction;
  const HloShape* shape;  // of the element; null if there is none
};

FoundPlace LookUp(std::string_view place, const HloModule& module) {
  const std::size_t brace = place.ends_with('}') ? place.rfind('{') : std::string_view::npos;
  const InstructionId instruction = module.Find(place.substr(0, brace));
  const std::string_view index = brace == std::string_view::npos ? std::string_view() : place.substr(brace);
  return {instruction, instruction ? ElementOf(module, instruction, index) : nullptr};
}

// The least memory that an array needs in HBM; 0 for tuples and arrays in other memory.
std::int64_t BytesInHbm(const HloShape* shape) {
  if (shape == nullptr || shape->is_tuple || shape->array.dtype.empty() || shape->array.memory_space != 0) return 0;
  return UnpaddedBytes(shape->array).value_or(0);
}

class MissingValues {
 public:
  void Add(std::int64_t bytes) {
    ++count_;
    bytes_ += static_cast<double>(bytes);
  }
  bool AreMany(const ModuleMemory& memory) const {
    std::size_t values = count_;
    for (const MemoryAllocation& allocation : memory.allocations) values += allocation.values.size();
    return !IsFew(count_, values) || bytes_ * 100 > static_cast<double>(memory.need_bytes);
  }

 private:
  std::size_t count_ = 0;
  double bytes_ = 0;
};

// The shapes of the entry computation's parameters; null for each missing parameter.
std::vector<const HloShape*> EntryParameters(const HloModule& module) {
  std::vector<const HloShape*> shapes;
  if (!module.entry) return shapes;
  for (const InstructionId parameter : module.computations[module.entry].parameters)
    shapes.push_back(parameter ? &module.ShapeOf(parameter) : nullptr);
  return shapes;
}

void AddParameters(const ModuleMemory& memory, const HloModule& module, std::int64_t smallest, MissingValues* missing) {
  std::vector<const HloShape*> parameters = EntryParameters(module);
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (allocation.parameter >= 0 && std::cmp_less(allocation.parameter, parameters.size()))
      parameters[allocation.parameter] = nullptr;
  }
  for (const HloShape* parameter : parameters) {
    if (const std::int64_t bytes = BytesInHbm(parameter); bytes >= smallest) missing->Add(bytes);
  }
}

// Whether an array can be a shard of another, or all of it. Always true for 64-bit numbers: they become two arrays.
bool CanBePartOf(const ArrayShape& part, const ArrayShape& all, bool is_split) {
  if (part.dtype.empty() || all.dtype.empty() || ElementBits(all.dtype).value_or(64) == 64) return true;
  if (part.dtype != all.dtype || part.dims.size() != all.dims.size()) return false;
  return is_split ? std::equal(part.dims.begin(), part.dims.end(), all.dims.begin(), std::less_equal<>())
                  : part.dims == all.dims;
}

class DumpFileReader {
 public:
  DumpFileReader(const DumpPaths& paths, const MemoryLimits& limits, double limit_bytes, bool for_remedies,
                 const Stop& stop)
      : paths_(paths), limits_(limits), limit_bytes_(limit_bytes), for_remedies_(for_remedies), stop_(stop) {}

  // After a stop, discards all results: a partly read file would look damaged.
  DumpFiles Read() {
    ReadAll();
    if (!stop_.IsRequested()) return std::move(files_);
    DumpFiles none;
    none.problem = {paths_.buffer_assignment, "", stop_.Why() + ": " + kNeedUnknown};
    return none;
  }

 private:
  HloModule ReadText(const std::string& path) const {
    return path.empty() ? HloModule() : ReadHlo(*OpenFile(path, &stop_));
  }

  void ReadAll() {
    files_.failed = !paths_.intermediate.empty();
    files_.text_path = files_.failed ? paths_.intermediate : paths_.optimized;
    if (!ReadFiles() || !CheckValues()) return;
    CheckText();
    CheckRanges();
    if (compares_ && LacksValues(files_.memory, files_.text, limits_.smallest)) {
      Refuse(std::string(kDamaged) + kNeedUnknown);
      return;
    }
    files_.usable = true;
    CheckFailure();
    files_.whole = for_remedies_ && compares_ && files_.memory.schedule_length > 0;
    if (files_.whole) ReadBefore();
  }

  bool ReadFiles() {
    const std::unique_ptr<ByteSource> assignment = OpenFile(paths_.buffer_assignment, &stop_);
    const std::unique_ptr<ByteSource> ranges =
        paths_.live_range.empty() ? nullptr : OpenFile(paths_.live_range, &stop_);
    // Read the memory in parallel with the module, which takes longer. The result does not depend on the timing.
    std::future<ModuleMemory> reading = std::async(std::launch::async | std::launch::deferred,
                                                   [&] { return ReadMemory(*assignment, ranges.get(), limits_); });
    files_.text = ReadText(files_.text_path);
    files_.memory = reading.get();
    compares_ = files_.text.whole && files_.text.entry;
    if (!assignment->problem().empty()) return Refuse(std::string(assignment->problem()));
    if (files_.memory.allocations.empty()) return Refuse(kNoBufferAssignment);
    return files_.memory.assignment_whole || Refuse(std::string(kDamaged) + kNeedUnknown);
  }

  // Reports if the text is missing or damaged. Source lines and names are still read from the readable part.
  void CheckText() {
    if (!for_remedies_ || compares_ || !files_.problem.what.empty()) return;
    if (files_.text_path.empty()) {
      Note(paths_.buffer_assignment, "the folder contains no HLO text of this module: " + std::string(kCannotEstimate));
    } else if (IsDamaged(files_.text)) {
      Note(files_.text_path, std::string(kDamaged) + kCannotEstimate);
    }
  }

  bool FindStale() {
    if (!files_.failed || paths_.optimized.empty()) return false;
    HloModule optimized = ReadText(paths_.optimized);
    if (!optimized.whole || !optimized.entry || !ValuesAgree(files_.memory, optimized)) return false;
    Note(paths_.intermediate, "from another compile than the other files, whose program did not fail");
    files_.failed = false;
    files_.text = std::move(optimized);
    files_.text_path = paths_.optimized;
    return true;
  }

  // Checks the assignment against the module. If it does not match the module that XLA writes on failure, but matches
  // the optimized module, the failure was from another compile.
  bool CheckValues() {
    if (!compares_) return true;
    if (ValuesAgree(files_.memory, files_.text) || FindStale()) return true;
    // The live ranges decide which of the two is from another compile.
    if (files_.memory.has_ranges() && !RangesAgree(files_.memory) && RangesAgree(files_.memory, files_.text))
      return Refuse(std::string(kOther) + kNeedUnknown);
    Note(files_.text_path, std::string(kOther) + kCannotEstimate);
    files_.text = HloModule();
    compares_ = false;
    return true;
  }

  void CheckRanges() {
    ModuleMemory& memory = files_.memory;
    if (paths_.live_range.empty()) {
      if (for_remedies_)
        Note(paths_.buffer_assignment,
             "the folder contains no live ranges of this module: " + std::string(kCannotEstimate));
      return;
    }
    if (files_.memory.has_ranges() && RangesAgree(memory) && (!compares_ || RangesAgree(memory, files_.text))) return;
    Note(paths_.live_range, std::string(files_.memory.has_ranges() ? kOther : kDamaged) + kCannotEstimate);
    DropRanges(&memory);
  }

  void CheckFailure() {
    if (!files_.failed || limit_bytes_ <= 0 ||
        static_cast<double>(files_.memory.need_bytes) > kSurelyFits * limit_bytes_)
      return;
    Note(paths_.intermediate,
         "XLA writes this file only if memory runs out, but the program in the other files fits, so the files are from "
         "different compiles");
    files_.failed = false;
  }

  void ReadBefore() {
    if (paths_.before.empty() || IsTooLarge(files_.text)) return;
    files_.before = ReadText(paths_.before);
    if (IsDamaged(files_.before)) {
      Note(paths_.before, std::string(kDamaged) + kNoFittingSizes);
    } else if (!ParametersAgree(files_.before, files_.text)) {
      Note(paths_.before, std::string(kOther) + kNoFittingSizes);
    } else {
      return;
    }
    files_.before = HloModule();
    files_.before_rejected = true;
  }

  // Keeps the first note: the most severe problems are checked first.
  void Note(const std::string& path, std::string what) {
    if (files_.problem.what.empty()) files_.problem = {path, "", std::move(what)};
  }

  bool Refuse(std::string what) {
    files_.problem = {paths_.buffer_assignment, "", std::move(what)};
    return false;
  }

  const DumpPaths& paths_;
  const MemoryLimits& limits_;
  const double limit_bytes_;
  const bool for_remedies_;
  const Stop& stop_;
  DumpFiles files_;
  bool compares_ = false;  // the text is whole, so names and shapes can be looked up in it
};

}  // namespace

bool ValuesAgree(const ModuleMemory& memory, const HloModule& module) {
  std::size_t wrong = 0;
  std::size_t all = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    for (const MemoryValue& value : allocation.values) {
      ++all;
      if (!IsValueOf(value, module)) ++wrong;
    }
  }
  return IsFew(wrong, all);
}

bool RangesAgree(const ModuleMemory& memory) {
  std::size_t wrong = 0;
  std::size_t all = 0;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (allocation.kind != AllocationKind::kTemporaries) continue;
    for (const MemoryValue& value : allocation.values) {
      ++all;
      if (value.first < 0) ++wrong;
    }
  }
  return IsFew(wrong, all);
}

bool RangesAgree(const ModuleMemory& memory, const HloModule& module) {
  std::size_t wrong = 0;
  for (const std::string& place : memory.ranges_without_value) {
    if (!LookUp(place, module).instruction) ++wrong;
  }
  return IsFew(wrong, memory.ranges_without_value.size());
}

bool LacksValues(const ModuleMemory& memory, const HloModule& module, std::int64_t smallest) {
  if (memory.over_limit) return false;  // the reader dropped values
  MissingValues missing;
  for (const std::string& place : memory.ranges_without_value) {
    if (const std::int64_t bytes = BytesInHbm(LookUp(place, module).shape); bytes >= smallest) missing.Add(bytes);
  }
  if (memory.schedule_length == 0) AddParameters(memory, module, smallest, &missing);  // without live ranges
  return missing.AreMany(memory);
}

bool ParametersAgree(const HloModule& before, const HloModule& compiled) {
  const std::vector<const HloShape*> all = EntryParameters(before);
  const std::vector<const HloShape*> parts = EntryParameters(compiled);
  if (all.size() != parts.size()) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr || parts[i] == nullptr || all[i]->is_tuple || parts[i]->is_tuple) continue;
    if (!CanBePartOf(parts[i]->array, all[i]->array, PartitionsOf(compiled) > 1)) return false;
  }
  return true;
}

DumpFiles ReadDumpFiles(const DumpPaths& paths, const MemoryLimits& limits, double limit_bytes, bool for_remedies,
                        const Stop& stop) {
  return DumpFileReader(paths, limits, limit_bytes, for_remedies, stop).Read();
}

bool IsTooLarge(const HloModule& compiled) { return Dimensions::Count(compiled) > Dimensions::kMost; }

}  // namespace whyoom
