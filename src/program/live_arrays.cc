#include <algorithm>
#include <set>
#include <string>

#include "facts/array.h"
#include "facts/evidence.h"
#include "program/estimates.h"
#include "program/hlo.h"
#include "program/memory.h"
#include "program/occupancy.h"

namespace whyoom {
namespace {

constexpr std::size_t kPerMoment = 5;
constexpr std::size_t kMostArrays = 64;
constexpr std::size_t kMostValues = 4096;  // the largest; each moment looks at all of them

struct Placed {
  const MemoryValue* value;
  const MemoryAllocation* allocation;
};

// The temporaries with a live range, largest first.
std::vector<Placed> LargestTemporaries(const ModuleMemory& memory) {
  std::vector<Placed> placed;
  for (const MemoryAllocation& allocation : memory.allocations) {
    if (allocation.kind != AllocationKind::kTemporaries) continue;
    for (const MemoryValue& value : allocation.values) {
      if (IsPlaced(value)) placed.push_back({&value, &allocation});
    }
  }
  std::stable_sort(placed.begin(), placed.end(),
                   [](const Placed& a, const Placed& b) { return a.value->size > b.value->size; });
  if (placed.size() > kMostValues) placed.resize(kMostValues);
  return placed;
}

std::vector<const Placed*> LargestAt(const std::vector<Placed>& placed, double moment) {
  std::vector<const Placed*> largest;
  for (const Placed& one : placed) {
    if (largest.size() == kPerMoment) break;
    const bool is_live =
        static_cast<double>(one.value->first) <= moment && moment <= static_cast<double>(one.value->last);
    const bool shares = std::any_of(largest.begin(), largest.end(), [&](const Placed* other) {
      return one.allocation == other->allocation && Overlap(*one.value, *other->value);
    });
    if (is_live && !shares) largest.push_back(&one);
  }
  return largest;
}

LiveArray Describe(const MemoryValue& value, const HloModule& module, double length) {
  const Allocation row = RowOfArray(value.size, value.shape);
  LiveArray live{row.array ? row.array->shape : value.shape, value.size, row.padding_bytes.value_or(0),
                 static_cast<double>(value.first) / length, static_cast<double>(value.last + 1) / length};
  if (const InstructionId instruction = module.Find(value.name)) {
    const SourceLine source = UserLine(module, instruction);
    if (!source.file.empty()) live.array += " at " + SourceLineText(source.file, source.line);
  }
  return live;
}

}  // namespace

std::vector<LiveArray> LiveArraysOf(const Program& program, const std::vector<MemoryMoment>& timeline) {
  const ModuleMemory& memory = program.memory();
  std::vector<LiveArray> arrays;
  if (timeline.empty() || memory.schedule_length <= 0) return arrays;
  std::int64_t length = memory.schedule_length;
  const std::vector<Placed> placed = LargestTemporaries(memory);
  for (const Placed& one : placed) length = std::max(length, one.value->last + 1);  // as TimelineOf
  std::set<const Placed*> chosen;
  for (const MemoryMoment& moment : timeline) {
    for (const Placed* one : LargestAt(placed, moment.at * static_cast<double>(length))) chosen.insert(one);
  }
  for (const Placed& one : placed) {
    if (arrays.size() < kMostArrays && chosen.contains(&one))
      arrays.push_back(Describe(*one.value, program.module(), static_cast<double>(length)));
  }
  return arrays;
}

}  // namespace whyoom
