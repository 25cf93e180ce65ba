#include "program/program.h"

#include <algorithm>
#include <charconv>
#include <map>
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

// Of each dimension over how many devices it is split:
//   sharding={mesh['data'=4,'model'=1], [{'data'}, {}]}   or   sharding={devices=[4,1]<=[4]}   or sharding={replicated}
std::vector<std::int64_t> ReadSharding(std::string_view attributes, std::size_t rank) {
  const std::string_view text = Attribute(attributes, "sharding");
  std::vector<std::int64_t> shards;
  if (text.empty()) return shards;
  shards.assign(rank, 1);
  const std::size_t devices = text.find("devices=[");
  if (devices != std::string_view::npos) {
    const std::string_view list = text.substr(devices + 9);
    const std::vector<std::int64_t> counts = Integers(list.substr(0, list.find(']')));
    for (std::size_t dim = 0; dim < std::min(rank, counts.size()); ++dim)
      shards[dim] = std::max<std::int64_t>(1, counts[dim]);
    return shards;
  }
  const std::size_t mesh = text.find("mesh[");
  const std::size_t end = text.find(']', mesh);
  if (mesh == std::string_view::npos || end == std::string_view::npos) return shards;
  std::map<std::string, std::int64_t> axes;
  std::string name;
  for (std::size_t i = mesh + 5; i < end; ++i) {
    if (text[i] != '\'') continue;
    const std::size_t close = text.find('\'', i + 1);
    if (close == std::string_view::npos || close > end) break;
    name = text.substr(i + 1, close - i - 1);
    std::int64_t size = 1;
    std::from_chars(text.data() + std::min(close + 2, text.size()), text.data() + text.size(), size);
    axes[name] = size;
    i = close;
  }
  // [{'data'}, {}]: the axes of each dimension
  std::size_t dim = 0;
  for (std::size_t i = end + 1; i < text.size() && dim < rank; ++i) {
    if (text[i] == '{') {
      const std::size_t close = std::min(text.find('}', i), text.size());
      for (const auto& [axis, size] : axes) {
        if (text.substr(i, close - i).find("'" + axis + "'") != std::string_view::npos)
          shards[dim] *= std::max<std::int64_t>(1, size);
      }
      ++dim;
      i = close;
    }
  }
  return shards;
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
  FindSchedule();
  FindParameters();
  FindOutputs();
}

void Program::FindSchedule() {
  positions_.assign(module_.instructions.size(), -1);
  users_.resize(module_.instructions.size());
  for (std::size_t i = 0; i < module_.instructions.size(); ++i) {
    for (const int operand : module_.instructions[i].operands) {
      std::vector<int>& users = users_[static_cast<std::size_t>(operand)];
      if (users.empty() || users.back() != static_cast<int>(i)) users.push_back(static_cast<int>(i));
    }
  }
  // A value lives from the instruction that makes it.
  for (const ProgramValue& value : values_) {
    if (value.instruction < 0 || value.first < 0) continue;
    int& position = positions_[static_cast<std::size_t>(value.instruction)];
    if (position < 0 || value.first < position) position = static_cast<int>(value.first);
  }
  scheduled_ = positions_;
  for (const HloComputation& computation : module_.computations) {
    int after = -1;
    for (auto i = computation.instructions.rbegin(); i != computation.instructions.rend(); ++i) {
      int& position = scheduled_[static_cast<std::size_t>(*i)];
      if (position < 0) position = after;
      after = position;
    }
  }
}

void Program::FindValues() {
  values_in_.resize(memory_.allocations.size());
  values_of_.resize(module_.instructions.size());
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
      const int number = static_cast<int>(values_.size());
      values_in_[i].push_back(number);
      if (found.instruction >= 0) values_of_[static_cast<std::size_t>(found.instruction)].push_back(number);
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
      // After partitioning the annotation is gone.
      std::string_view attributes = is.attributes;
      std::string_view frontend = is.frontend;
      if (before_.entry >= 0) {
        const HloComputation& main = before_.computations[static_cast<std::size_t>(before_.entry)];
        if (number < main.parameters.size() && main.parameters[number] >= 0) {
          attributes = before_.instructions[static_cast<std::size_t>(main.parameters[number])].attributes;
          frontend = before_.instructions[static_cast<std::size_t>(main.parameters[number])].frontend;
        }
      }
      // sharding={mesh['data'=1], [{'data'}, {}]} or xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"
      names_axis_ = names_axis_ || Attribute(attributes, "sharding").find("{'") != std::string_view::npos ||
                    frontend.find("{\\\"") != std::string_view::npos;
      parameter.shards = ReadSharding(attributes, dimensions_->Leaf(instruction, leaf).dims.size());
      parameters_.push_back(std::move(parameter));
    }
  }
  for (ProgramParameter& parameter : parameters_) {
    for (const int i : ValuesOf(parameter.instruction)) {
      const ProgramValue& value = values_[static_cast<std::size_t>(i)];
      const MemoryAllocation& allocation = AllocationOf(value);
      if (allocation.kind != AllocationKind::kArgument || parameter.leaf != value.leaf) continue;
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
      const int from = dimensions_->TakenLeaf(made);
      if (from < 0) break;
      output.instruction = made.operands[0];
      output.leaf = from;
    }
  }
  std::map<std::pair<int, int>, int> own;  // values in memory that is for outputs
  for (std::size_t i = 0; i < values_.size(); ++i) {
    if (AllocationOf(values_[i]).kind == AllocationKind::kOutput)
      own[{values_[i].instruction, values_[i].leaf}] = static_cast<int>(i);
  }
  for (ProgramOutput& output : outputs_) {
    const auto value = own.find({output.instruction, output.leaf});
    if (value != own.end()) output.value = value->second;
  }
}

}  // namespace whyoom
