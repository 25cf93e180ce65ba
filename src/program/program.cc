#include "program/program.h"

#include <charconv>
#include <utility>

namespace whyoom {
namespace {

// "params[\'wq\']" as it stands in the metadata.
std::string Unescape(std::string_view text) {
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 1 < text.size()) ++i;
    plain += text[i];
  }
  return plain;
}

}  // namespace

Program::Program(HloModule module, HloModule before, ModuleMemory memory)
    : module_(std::move(module)), before_(std::move(before)), memory_(std::move(memory)) {
  dimensions_ = std::make_unique<Dimensions>(module_);
  const auto partitions = module_.header.find("num_partitions");
  if (partitions != module_.header.end()) {
    const std::string& text = partitions->second;
    std::from_chars(text.data(), text.data() + text.size(), partitions_);
  }
  FindValues();
  FindParameters();
  FindOutputs();
}

void Program::FindValues() {
  for (std::size_t i = 0; i < memory_.allocations.size(); ++i) {
    for (const MemoryValue& value : memory_.allocations[i].values) {
      ProgramValue found;
      found.allocation = static_cast<int>(i);
      found.size = value.size;
      found.offset = value.offset;
      found.first = value.first;
      found.last = value.last;
      found.instruction = module_.Find(value.name);
      if (found.instruction >= 0) found.leaf = dimensions_->LeafAt(found.instruction, value.index);
      values_.push_back(found);
    }
  }
}

void Program::FindParameters() {
  if (module_.entry < 0) return;
  const HloComputation& entry = module_.computations[static_cast<std::size_t>(module_.entry)];
  for (std::size_t number = 0; number < entry.parameters.size(); ++number) {
    const int instruction = entry.parameters[number];
    if (instruction < 0) continue;
    const HloInstruction& is = module_.instructions[static_cast<std::size_t>(instruction)];
    for (int leaf = 0; leaf < dimensions_->LeafCount(instruction); ++leaf) {
      ProgramParameter parameter;
      parameter.instruction = instruction;
      parameter.leaf = leaf;
      parameter.number = static_cast<int>(number);
      parameter.path = is.op_name.empty() ? std::string(is.name) : Unescape(is.op_name);
      parameter.sharding = Attribute(is.attributes, "sharding");
      parameters_.push_back(std::move(parameter));
    }
  }
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const ProgramValue& value = values_[i];
    const MemoryAllocation& allocation = memory_.allocations[static_cast<std::size_t>(value.allocation)];
    if (allocation.kind != AllocationKind::kArgument) continue;
    for (ProgramParameter& parameter : parameters_) {
      if (parameter.instruction != value.instruction || parameter.leaf != value.leaf) continue;
      parameter.size = allocation.size;
      parameter.shares_output = allocation.is_output;
    }
  }
}

void Program::FindOutputs() {
  if (module_.entry < 0) return;
  const int root = module_.computations[static_cast<std::size_t>(module_.entry)].root;
  if (root < 0) return;
  // The arrays of the root, traced to what makes them.
  const auto add = [&](int instruction, int leaf) {
    ProgramOutput output;
    output.instruction = instruction;
    output.leaf = leaf;
    outputs_.push_back(output);
  };
  const HloInstruction& is = module_.instructions[static_cast<std::size_t>(root)];
  if (is.opcode == "tuple") {
    for (const int operand : is.operands) {
      for (int leaf = 0; leaf < dimensions_->LeafCount(operand); ++leaf) add(operand, leaf);
    }
  } else {
    for (int leaf = 0; leaf < dimensions_->LeafCount(root); ++leaf) add(root, leaf);
  }
  for (ProgramOutput& output : outputs_) {
    // A get-tuple-element only names an element.
    for (int depth = 0; depth < 64; ++depth) {
      const HloInstruction& made = module_.instructions[static_cast<std::size_t>(output.instruction)];
      if (made.opcode != "get-tuple-element" || made.operands.empty()) break;
      const int from = dimensions_->LeafAt(made.operands[0], "{" + std::string(Attribute(made.attributes, "index")) + "}");
      if (from < 0) break;
      output.instruction = made.operands[0];
      output.leaf = from;
    }
  }
}

}  // namespace whyoom
