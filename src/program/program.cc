#include "program/program.h"

#include <algorithm>
#include <charconv>
#include <map>
#include <string_view>
#include <unordered_map>
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

// What stands in single quotes from `*at` on, which is moved behind it; empty where nothing does.
std::string_view NextQuoted(std::string_view text, std::size_t* at) {
  const std::size_t open = text.find('\'', *at);
  const std::size_t close = open == std::string_view::npos ? open : text.find('\'', open + 1);
  *at = close == std::string_view::npos ? text.size() : close + 1;
  return close == std::string_view::npos ? std::string_view() : text.substr(open + 1, close - open - 1);
}

constexpr std::int64_t kMostDevices = std::int64_t{1} << 20;

// mesh['data'=4,'model'=1]: the devices along each axis.
std::map<std::string_view, std::int64_t> ReadMesh(std::string_view mesh) {
  std::map<std::string_view, std::int64_t> axes;
  for (std::size_t at = 0; at < mesh.size();) {
    const std::string_view name = NextQuoted(mesh, &at);
    std::int64_t size = 1;
    std::from_chars(mesh.data() + std::min(at + 1, mesh.size()), mesh.data() + mesh.size(), size);
    if (at < mesh.size()) axes[name] = std::clamp<std::int64_t>(size, 1, kMostDevices);
  }
  return axes;
}

struct Sharding {
  std::vector<std::int64_t> shards;            // of each dimension: over how many devices it is split
  std::vector<std::vector<std::string>> axes;  // along which axes of the mesh
};

// {mesh['data'=4,'model'=1], [{'data'}, {}]}   or   {devices=[4,1]<=[4]}   or   {replicated}
Sharding ReadSharding(std::string_view text, std::size_t rank) {
  Sharding sharding;
  if (text.empty()) return sharding;
  std::vector<std::int64_t>& shards = sharding.shards;
  shards.assign(rank, 1);
  sharding.axes.resize(rank);
  const std::size_t devices = text.find("devices=[");
  if (devices != std::string_view::npos) {
    const std::string_view list = text.substr(devices + 9);
    const std::vector<std::int64_t> counts = Integers(list.substr(0, list.find(']')));
    for (std::size_t dim = 0; dim < std::min(rank, counts.size()); ++dim) {
      shards[dim] = std::clamp<std::int64_t>(counts[dim], 1, kMostDevices);
      if (shards[dim] > 1) sharding.axes[dim].emplace_back();
    }
    return sharding;
  }
  const std::size_t mesh = text.find("mesh[");
  const std::size_t end = text.find(']', mesh);
  if (mesh == std::string_view::npos || end == std::string_view::npos) return sharding;
  const std::map<std::string_view, std::int64_t> axes = ReadMesh(text.substr(mesh, end - mesh));
  // [{'data'}, {}]: the axes of each dimension
  std::size_t dim = 0;
  for (std::size_t i = end + 1; i < text.size() && dim < rank; ++i) {
    if (text[i] != '{') continue;
    const std::size_t close = std::min(text.find('}', i), text.size());
    const std::string_view along = text.substr(i, close - i);
    for (std::size_t at = 0; at < along.size();) {
      const auto axis = axes.find(NextQuoted(along, &at));
      if (axis == axes.end() || axis->second <= 1) continue;
      shards[dim] = std::min(shards[dim] * axis->second, kMostDevices);
      sharding.axes[dim].emplace_back(axis->first);
    }
    ++dim;
    i = close;
  }
  return sharding;
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
      std::vector<int>& users = users_[operand];
      if (users.empty() || users.back() != static_cast<int>(i)) users.push_back(static_cast<int>(i));
    }
  }
  // A value lives from the instruction that makes it.
  for (const ProgramValue& value : values_) {
    if (value.instruction < 0 || value.first < 0) continue;
    int& position = positions_[value.instruction];
    if (position < 0 || value.first < position) position = static_cast<int>(value.first);
  }
  scheduled_ = positions_;
  for (const HloComputation& computation : module_.computations) {
    int after = -1;
    for (auto i = computation.instructions.rbegin(); i != computation.instructions.rend(); ++i) {
      int& position = scheduled_[*i];
      if (position < 0) position = after;
      after = position;
    }
  }
}

void Program::FindValues() {
  // No device has as much; what is kept of sizes beyond can be added up, for each dimension of each value and more.
  std::int64_t room = std::int64_t{1} << 57;
  values_in_.resize(memory_.allocations.size());
  values_of_.resize(module_.instructions.size());
  for (std::size_t i = 0; i < memory_.allocations.size(); ++i) {
    for (const MemoryValue& value : memory_.allocations[i].values) {
      ProgramValue found;
      found.allocation = static_cast<int>(i);
      found.size = std::clamp<std::int64_t>(value.size, 0, room);
      room -= found.size;
      found.offset = value.offset;
      found.first = value.first;
      found.last = value.last;
      found.instruction = module_.Find(value.name);
      if (found.instruction >= 0) found.leaf = dimensions_->LeafAt(found.instruction, value.index);
      found.number = static_cast<int>(values_.size());
      values_in_[i].push_back(found.number);
      if (found.instruction >= 0) values_of_[found.instruction].push_back(found.number);
      values_.push_back(found);
    }
  }
}

void Program::FindParameters() {
  if (module_.entry < 0) return;
  const HloComputation& entry = module_.computations[module_.entry];
  std::size_t room = std::size_t{1} << 23;  // for the path, which each array of a parameter has
  for (std::size_t number = 0; number < entry.parameters.size(); ++number) {
    const int instruction = entry.parameters[number];
    if (instruction < 0) continue;
    const HloInstruction& is = module_.instructions[instruction];
    ProgramParameter parameter;
    parameter.instruction = instruction;
    parameter.number = static_cast<int>(number);
    parameter.path = is.op_name.empty() ? std::string(is.name) : Unescape(is.op_name);
    const auto arrays = static_cast<std::size_t>(std::max(1, dimensions_->LeafCount(instruction)));
    parameter.path.resize(std::min(parameter.path.size(), room / arrays));
    room -= arrays * parameter.path.size();
    // After partitioning the annotation is gone.
    const HloInstruction* written = &is;
    if (before_.entry >= 0) {
      const HloComputation& main = before_.computations[before_.entry];
      if (number < main.parameters.size() && main.parameters[number] >= 0)
        written = &before_.instructions[main.parameters[number]];
    }
    // sharding={mesh['data'=1], [{'data'}, {}]} or xla.sdy.sharding="#sdy.sharding<@mesh, [{\"data\"}, {}]>"
    const std::string_view sharding = Attribute(written->attributes, "sharding");
    names_axis_ = names_axis_ || sharding.find("{'") != std::string_view::npos ||
                  written->frontend.find("{\\\"") != std::string_view::npos;
    AddParameters(std::move(parameter), sharding);
  }
}

// One for each array of the parameter.
void Program::AddParameters(ProgramParameter parameter, std::string_view sharding) {
  const std::size_t begin = parameters_.size();
  const int leaves = dimensions_->LeafCount(parameter.instruction);
  std::map<std::size_t, Sharding> of_rank;
  for (parameter.leaf = 0; parameter.leaf < leaves; ++parameter.leaf) {
    const std::size_t rank = ShapeOf(parameter).dims.size();
    const auto [read, is_new] = of_rank.try_emplace(rank);
    if (is_new) read->second = ReadSharding(sharding, rank);
    parameter.shards = read->second.shards;
    parameter.axes = read->second.axes;
    parameter.place = static_cast<int>(parameters_.size());
    parameters_.push_back(parameter);
  }
  for (const int i : ValuesOf(parameter.instruction)) {
    const ProgramValue& value = values_[i];
    const MemoryAllocation& allocation = AllocationOf(value);
    if (allocation.kind != AllocationKind::kArgument || value.leaf < 0) continue;
    ProgramParameter& of = parameters_[begin + value.leaf];
    of.size = allocation.size;
    of.shares_output = allocation.is_output;
  }
}

std::vector<std::pair<int, int>> Program::ReturnedArrays(int root) const {
  std::vector<std::pair<int, int>> arrays;
  const HloInstruction& is = module_.instructions[root];
  const std::vector<int> itself = {root};
  for (const int operand : is.opcode == "tuple" ? is.operands : itself) {
    for (int leaf = 0; leaf < dimensions_->LeafCount(operand); ++leaf) {
      // Of a tuple with more than its shape has, the rest is damage.
      if (static_cast<int>(arrays.size()) >= dimensions_->LeafCount(root)) return arrays;
      arrays.emplace_back(operand, leaf);
    }
  }
  return arrays;
}

void Program::FindOutputs() {
  if (module_.entry < 0) return;
  const int root = module_.computations[module_.entry].root;
  if (root < 0) return;
  for (const auto& [instruction, leaf] : ReturnedArrays(root)) {
    ProgramOutput output;
    output.instruction = instruction;
    output.leaf = leaf;
    outputs_.push_back(output);
  }
  std::unordered_map<int, int> taken;  // by get-tuple-element
  for (ProgramOutput& output : outputs_) {
    // A get-tuple-element only names an element.
    for (int depth = 0; depth < 64; ++depth) {
      const HloInstruction& made = module_.instructions[output.instruction];
      if (made.opcode != "get-tuple-element" || made.operands.empty()) break;
      const auto [from, is_new] = taken.try_emplace(output.instruction, -1);
      if (is_new) from->second = dimensions_->TakenLeaf(made);
      if (from->second < 0) break;
      output.instruction = made.operands[0];
      output.leaf = from->second;
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
