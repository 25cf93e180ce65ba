#include "program/written.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <optional>
#include <utility>

namespace whyoom {
namespace {

// What is smaller fills no memory, and there is much of it.
constexpr std::int64_t kSmallestElements = std::int64_t{1} << 18;  // elements
constexpr std::size_t kMostValues = 200000;
constexpr int kDeepestLook = 200;  // computations that call each other

// Every large result as if it had a place of its own.
ModuleMemory EachResult(const HloModule& module) {
  ModuleMemory memory;
  MemoryAllocation all;
  for (std::size_t i = 0; i < module.instructions.size() && all.values.size() < kMostValues; ++i) {
    const HloShape& shape = module.ShapeOf(static_cast<int>(i));
    if (shape.is_tuple || shape.array.dtype.empty() || ElementCount(shape.array) < kSmallestElements) continue;
    MemoryValue value;
    value.name = module.instructions[i].name;
    value.size = UnpaddedBytes(shape.array).value_or(0);
    all.values.push_back(std::move(value));
  }
  memory.allocations.push_back(std::move(all));
  return memory;
}

// What only hands data on or makes it of nothing.
bool Works(std::string_view opcode) {
  static constexpr std::array<std::string_view, 19> kIdle = {"parameter",
                                                             "constant",
                                                             "broadcast",
                                                             "iota",
                                                             "get-tuple-element",
                                                             "tuple",
                                                             "bitcast",
                                                             "reshape",
                                                             "transpose",
                                                             "copy",
                                                             "while",
                                                             "convert",
                                                             "call",
                                                             "conditional",
                                                             "fusion",
                                                             "bitcast-convert",
                                                             "opt-barrier",
                                                             "dynamic-slice",
                                                             "dynamic-update-slice"};
  return std::find(kIdle.begin(), kIdle.end(), opcode) == kIdle.end();
}

}  // namespace

std::vector<std::int64_t> Sorted(std::vector<std::int64_t> dims) {
  std::sort(dims.begin(), dims.end());
  return dims;
}

Written::Written(HloModule module, const RoleWords& role_words)
    : program_([&] {
        if (Dimensions::Count(module) > Dimensions::kMost) {
          whole_ = false;
          module = HloModule();
        }
        ModuleMemory memory = EachResult(module);
        return Program(std::move(module), HloModule(), std::move(memory));
      }()),
      meaning_(program_, role_words) {
  whole_ = whole_ && program_.dimensions().whole();
  const HloModule& text = program_.module();
  if (text.entry >= 0) {
    std::vector<int> within;
    std::vector<char> seen(text.computations.size(), 0);
    Walk(text.entry, 0, &within, &seen);
  }
  ReadHeader();
  FindCallbacks();
  FindScores();
}

std::string_view Written::OpName(int instruction) const {
  return program_.module().instructions[static_cast<std::size_t>(instruction)].op_name;
}

std::int64_t Written::StepsOf(int loop) const {
  const std::vector<Loop>& known = program_.dimensions().loops();  // in the order of the module
  const auto found =
      std::partition_point(known.begin(), known.end(), [&](const Loop& one) { return one.instruction < loop; });
  return found == known.end() || found->instruction != loop ? 0 : found->steps;
}

void Written::Walk(int computation, int depth, std::vector<int>* within, std::vector<char>* seen) {
  // A computation that is called from several places counts at the first one.
  if (depth > kDeepestLook || (*seen)[static_cast<std::size_t>(computation)] != 0) return;
  (*seen)[static_cast<std::size_t>(computation)] = 1;
  const HloModule& module = program_.module();
  for (const int i : module.computations[static_cast<std::size_t>(computation)].instructions) {
    const HloInstruction& is = module.instructions[static_cast<std::size_t>(i)];
    Take(i, *within);
    const bool loop = is.opcode == "while" && is.calls.size() == 2;
    if (loop) {
      loops_.push_back({i, StepsOf(i), *within});
      within->push_back(static_cast<int>(loops_.size()) - 1);
      Walk(is.calls[1], depth + 1, within, seen);
      within->pop_back();
      continue;
    }
    for (const int called : is.calls) Walk(called, depth + 1, within, seen);
  }
}

void Written::Take(int instruction, const std::vector<int>& within) {
  const HloModule& module = program_.module();
  const HloInstruction& is = module.instructions[static_cast<std::size_t>(instruction)];
  const HloShape& shape = module.ShapeOf(instruction);
  if (!Works(is.opcode) || shape.is_tuple || shape.array.dtype.empty()) return;
  Result result;
  result.instruction = instruction;
  result.elements = ElementCount(shape.array);
  if (result.elements < kSmallestElements) return;
  std::copy_if(shape.array.dims.begin(), shape.array.dims.end(), std::back_inserter(result.dims),
               [](std::int64_t dim) { return dim != 1; });
  result.is_float = shape.array.dtype.find('f') != std::string::npos;
  result.bits = ElementBits(shape.array.dtype).value_or(0);
  result.loops = within;
  results_.push_back(std::move(result));
}

// input_output_alias={ {1}: (11, {}, may-alias), … }   buffer_donor={ (0, {}), … }
void Written::ReadHeader() {
  const HloModule& module = program_.module();
  for (const std::string_view name : {"input_output_alias", "buffer_donor"}) {
    const auto found = module.header.find(name);
    if (found == module.header.end()) continue;
    const std::string_view text = found->second;
    for (std::size_t at = text.find('('); at != std::string_view::npos; at = text.find('(', at + 1)) {
      const std::vector<std::int64_t> number = Integers(text.substr(at + 1));
      if (!number.empty()) donated_.insert(static_cast<int>(number[0]));
    }
  }
  for (const ProgramParameter& parameter : program_.parameters()) {
    if (program_.ShapeOf(parameter).memory_space == kHostMemorySpace) on_host_.insert(parameter.number);
  }
  // Before optimization the layouts stand in the head alone.
  const auto layout = module.header.find("entry_computation_layout");
  if (layout == module.header.end()) return;
  int number = 0;
  int depth = 0;
  const std::string_view text = layout->second;
  for (std::size_t i = text.find('('); i < text.size(); ++i) {
    if (text[i] == '(' || text[i] == '{' || text[i] == '[') ++depth;
    if (text[i] == ')' || text[i] == '}' || text[i] == ']') --depth;
    if (depth <= 0) break;
    if (text[i] == ',' && depth == 1) ++number;
    if (text[i] == 'S' && text.substr(i, 4) == "S(5)") on_host_.insert(number);
  }
}

void Written::FindCallbacks() {
  for (const HloInstruction& is : program_.module().instructions) {
    const bool calls = is.opcode == "custom-call" && (is.target.find("callback") != std::string_view::npos ||
                                                      is.target.find("_python_") != std::string_view::npos);
    const bool sends = is.opcode == "send" && Attribute(is.attributes, "is_host_transfer") == "true";
    if (calls || sends) ++callbacks_;
  }
}

// A product for each example and head, of which the exponential is taken: a softmax follows.
void Written::FindScores() {
  const HloModule& module = program_.module();
  std::set<std::vector<std::int64_t>> exponentials;
  for (const Result& result : results_) {
    if (module.instructions[static_cast<std::size_t>(result.instruction)].opcode == "exponential")
      exponentials.insert(Sorted(result.dims));
  }
  for (const Result& result : results_) {
    const HloInstruction& is = module.instructions[static_cast<std::size_t>(result.instruction)];
    if (is.opcode != "dot" || Integers(Attribute(is.attributes, "lhs_batch_dims")).empty()) continue;
    if (result.dims.size() > 2 && exponentials.contains(Sorted(result.dims))) scores_.insert(Sorted(result.dims));
  }
}

std::vector<std::int64_t> Written::DimsOf(const ProgramParameter& parameter) const {
  return program_.ShapeOf(parameter).dims;  // sharding is an annotation before the module is split
}

}  // namespace whyoom
