#include "program/dump_text.h"

#include <algorithm>
#include <utility>

#include "facts/source_path.h"

namespace whyoom {
namespace {

constexpr std::size_t kMaxLabel = 250;  // where the compiler cuts it in its own reports
constexpr int kMaxFrames = 200;

bool Overlap(const MemoryValue& a, const MemoryValue& b) {
  return a.offset < b.offset + b.size && b.offset < a.offset + a.size;
}

// Larger first; of equal ones in the file's order. Keeps those whose memory is not taken yet.
std::vector<MemoryValue> WithoutSharing(std::vector<MemoryValue> values) {
  std::stable_sort(values.begin(), values.end(),
                   [](const MemoryValue& a, const MemoryValue& b) { return a.size > b.size; });
  constexpr std::size_t kMostKept = 4096;  // each is compared with all that are kept
  std::vector<MemoryValue> kept;
  for (MemoryValue& value : values) {
    if (kept.size() >= kMostKept) break;
    const bool shares =
        std::any_of(kept.begin(), kept.end(), [&](const MemoryValue& other) { return Overlap(value, other); });
    if (!shares) kept.push_back(std::move(value));
  }
  return kept;
}

std::string_view NameOf(const HloModule& module, int instruction) {
  return module.instructions[static_cast<std::size_t>(instruction)].name;
}

}  // namespace

std::vector<MemoryValue> LiveAtPeak(const MemoryAllocation& allocation) {
  const std::int64_t peak = PeakOf(allocation).moment;
  if (peak < 0) return WithoutSharing(allocation.values);
  std::vector<MemoryValue> live;
  for (const MemoryValue& value : allocation.values) {
    if (value.first >= 0 && value.first <= peak && peak <= value.last) live.push_back(value);
  }
  return WithoutSharing(std::move(live));
}

std::string InstructionLabel(const HloModule& module, int instruction) {
  const HloInstruction& read = module.instructions[static_cast<std::size_t>(instruction)];
  std::string label = std::string(read.name) + " = " + std::string(read.opcode) + "(" + std::string(read.literal);
  bool first = true;
  for (const int operand : read.operands) {
    if (label.size() > kMaxLabel) break;
    if (!first) label += ", ";
    label += NameOf(module, operand);
    first = false;
  }
  label += ")";
  for (const std::string_view more : {read.attributes, read.frontend}) {
    if (!more.empty()) label += ", " + std::string(more.substr(0, 2 * kMaxLabel));
  }
  std::erase(label, '%');
  std::replace(label.begin(), label.end(), '\n', ' ');  // kernels are described in several lines
  return label.substr(0, kMaxLabel);
}

SourceLine UserLine(const HloModule& module, int instruction) {
  SourceLine found;
  int number = module.instructions[static_cast<std::size_t>(instruction)].frame;
  for (int depth = 0; depth < kMaxFrames && number > 0; ++depth) {
    const SourceFrame& frame = module.frames[static_cast<std::size_t>(number)];
    number = frame.parent;
    if (frame.file.empty()) continue;
    const bool library = IsLibraryPath(frame.file);
    if (found.file.empty() || !library) {
      found.file = frame.file;
      found.line = frame.line > 0 ? std::optional(frame.line) : std::nullopt;
    }
    if (!library) break;
  }
  return found;
}

}  // namespace whyoom
