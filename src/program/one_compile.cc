#include "program/one_compile.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace whyoom {
namespace {

// Real files agree in all; a few that do not are less than what another compile of the same function changes.
bool IsFew(std::size_t wrong, std::size_t all) { return wrong * 100 <= all; }

// The shape of an element of an instruction's result, "{1,0}"; null where it has none.
const HloShape* ElementOf(const HloModule& module, int instruction, std::string_view index) {
  const HloShape* shape = &module.ShapeOf(instruction);
  for (const std::int64_t element : Integers(index)) {
    if (element < 0 || static_cast<std::size_t>(element) >= shape->elements.size()) return nullptr;
    shape = &module.shapes[At(shape->elements[static_cast<std::size_t>(element)])];
  }
  return shape;
}

// "f32[8]{0:T(128)}" is an array of the shape "f32[8]".
bool IsOfShape(std::string_view text, const HloShape& shape) {
  if (shape.is_tuple) return text.starts_with('(');
  const std::string_view array = shape.array.shape;
  if (array.empty()) return true;  // not understood
  return text.starts_with(array) && (text.size() == array.size() || text[array.size()] == '{');
}

bool IsValueOf(const MemoryValue& value, const HloModule& module) {
  const int instruction = module.Find(value.name);
  const HloShape* shape = instruction < 0 ? nullptr : ElementOf(module, instruction, value.index);
  return shape != nullptr && IsOfShape(value.shape, *shape);
}

// The instruction of "while.5{1}"; `shape` becomes that of the element, null where it has none.
int InstructionOf(std::string_view place, const HloModule& module, const HloShape** shape) {
  const std::size_t brace = place.ends_with('}') ? place.rfind('{') : std::string_view::npos;
  const int instruction = module.Find(place.substr(0, brace));
  const std::string_view index = brace == std::string_view::npos ? std::string_view() : place.substr(brace);
  *shape = instruction < 0 ? nullptr : ElementOf(module, instruction, index);
  return instruction;
}

// What an array takes in HBM at least; 0 for tuples and what lies elsewhere.
std::int64_t BytesInHbm(const HloShape* shape) {
  if (shape == nullptr || shape->is_tuple || shape->array.dtype.empty() || shape->array.memory_space != 0) return 0;
  return UnpaddedBytes(shape->array).value_or(0);
}

class Lack {
 public:
  void Add(std::int64_t bytes) {
    ++count_;
    bytes_ += static_cast<double>(bytes);
  }
  bool IsMuch(const ModuleMemory& memory) const {
    std::size_t values = count_;
    for (const MemoryAllocation& allocation : memory.allocations) values += allocation.values.size();
    return !IsFew(count_, values) || bytes_ * 100 > static_cast<double>(memory.need_bytes);
  }

 private:
  std::size_t count_ = 0;
  double bytes_ = 0;
};

// The shapes of the entry's parameters; a missing one is null.
std::vector<const HloShape*> EntryParameters(const HloModule& module) {
  std::vector<const HloShape*> shapes;
  if (module.entry < 0) return shapes;
  for (const int parameter : module.computations[At(module.entry)].parameters)
    shapes.push_back(parameter < 0 ? nullptr : &module.ShapeOf(parameter));
  return shapes;
}

void AddParameters(const ModuleMemory& memory, const HloModule& module, std::int64_t smallest, Lack* lack) {
  std::vector<const HloShape*> parameters = EntryParameters(module);
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (allocation.parameter >= 0 && At(allocation.parameter) < parameters.size())
      parameters[At(allocation.parameter)] = nullptr;
  }
  for (const HloShape* parameter : parameters) {
    if (const std::int64_t bytes = BytesInHbm(parameter); bytes >= smallest) lack->Add(bytes);
  }
}

// Whether an array can be what one device has of another, or all of it. What has 64 bits is taken apart.
bool CanBePartOf(const ArrayShape& part, const ArrayShape& all, bool is_split) {
  if (part.dtype.empty() || all.dtype.empty() || ElementBits(all.dtype).value_or(64) == 64) return true;
  if (part.dtype != all.dtype || part.dims.size() != all.dims.size()) return false;
  return is_split ? std::equal(part.dims.begin(), part.dims.end(), all.dims.begin(), std::less_equal<>())
                  : part.dims == all.dims;
}

bool IsSplit(const HloModule& module) {
  const auto partitions = module.header.find("num_partitions");
  return partitions != module.header.end() && partitions->second != "1";
}

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
    const HloShape* shape = nullptr;
    if (InstructionOf(place, module, &shape) < 0) ++wrong;
  }
  return IsFew(wrong, memory.ranges_without_value.size());
}

bool LacksValues(const ModuleMemory& memory, const HloModule& module, std::int64_t smallest) {
  if (memory.over_limit) return false;  // it lacks them because they were left out
  Lack lack;
  for (const std::string& place : memory.ranges_without_value) {
    const HloShape* shape = nullptr;
    InstructionOf(place, module, &shape);
    if (const std::int64_t bytes = BytesInHbm(shape); bytes >= smallest) lack.Add(bytes);
  }
  if (memory.schedule_length == 0) AddParameters(memory, module, smallest, &lack);  // all that is known then
  return lack.IsMuch(memory);
}

bool ParametersAgree(const HloModule& before, const HloModule& compiled) {
  const std::vector<const HloShape*> all = EntryParameters(before);
  const std::vector<const HloShape*> parts = EntryParameters(compiled);
  if (all.size() != parts.size()) return false;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i] == nullptr || parts[i] == nullptr || all[i]->is_tuple || parts[i]->is_tuple) continue;
    if (!CanBePartOf(parts[i]->array, all[i]->array, IsSplit(compiled))) return false;
  }
  return true;
}

}  // namespace whyoom
