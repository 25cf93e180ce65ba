#include "program/program.h"

#include <fmt/format.h>

#include <charconv>
#include <numeric>
#include <utility>

#include "text/cleaning.h"
#include "text/regex_options.h"

namespace whyoom {
namespace {

constexpr std::size_t kLongestName = 64;  // of an axis; longer ones are ignored

// Takes a name in single or double quotes, which may have backslashes, and the number after it (else 1) from the text.
// The name is empty if it is too long to be a user's.
std::optional<std::pair<std::string, std::int64_t>> TakeAxis(re2::StringPiece* text) {
  static const Regex axis(R"(['"]([^'"\\]*)[^'"]*['"](?:=(\d+))?)");
  std::pair<std::string, std::int64_t> taken("", 1);
  re2::StringPiece number;
  if (!re2::RE2::FindAndConsume(text, axis, &taken.first, &number)) return std::nullopt;
  std::from_chars(number.data(), number.data() + number.size(), taken.second);
  if (taken.first.size() > kLongestName) taken.first.clear();
  return taken;
}

// Reads [{'data'}, {}]: the axes of each of the first `rank` dimensions; none if there are fewer dimensions.
std::vector<std::vector<std::string>> ReadAxes(re2::StringPiece text, std::size_t rank) {
  static const Regex braces(R"(\{([^}]*))");
  std::vector<std::vector<std::string>> axes;
  for (re2::StringPiece names; axes.size() < rank && re2::RE2::FindAndConsume(&text, braces, &names);) {
    std::vector<std::string>& of_dim = axes.emplace_back();
    while (const auto axis = TakeAxis(&names))
      if (!axis->first.empty()) of_dim.push_back(axis->first);
  }
  return axes.size() == rank ? axes : std::vector<std::vector<std::string>>(rank);
}

std::int64_t DevicesAlong(const std::vector<std::string>& axes, const Mesh& mesh) {
  return std::accumulate(axes.begin(), axes.end(), std::int64_t{1}, [&](std::int64_t devices, const std::string& axis) {
    const auto found = mesh.find(axis);
    return found == mesh.end() ? devices : std::min(devices * found->second, kMostDevices);
  });
}

}  // namespace

std::int64_t DeviceCount(const Mesh& mesh) {
  std::int64_t devices = 1;
  for (const auto& [axis, length] : mesh) devices = std::min(devices * length, kMostDevices);
  return devices;
}

void AddMeshAxes(std::string_view text, Mesh* mesh) {
  static const Regex mesh_axes(R"(mesh<?\[([^\]]*))");
  re2::StringPiece rest = text;
  re2::StringPiece axes;
  while (re2::RE2::FindAndConsume(&rest, mesh_axes, &axes)) {
    while (const auto axis = TakeAxis(&axes)) {
      const auto& [name, devices] = *axis;
      if (!name.empty()) (*mesh)[name] = std::clamp<std::int64_t>(devices, 1, kMostDevices);
    }
  }
}

Sharding ReadSharding(std::string_view sharding, std::string_view frontend, std::size_t rank, Mesh* mesh) {
  static const Regex list(R"(devices=\[([\d,]*))");
  const std::size_t shardy_at = frontend.find("sdy.sharding");
  const bool has_shardy = shardy_at != std::string_view::npos;
  if (sharding.empty() && !has_shardy) return {};
  AddMeshAxes(sharding, mesh);
  std::string text;
  const bool has_counts = re2::RE2::PartialMatch(sharding, list, &text);
  const std::vector<std::int64_t> counts = Integers(text);
  const std::string_view named =
      has_shardy ? frontend.substr(shardy_at) : sharding.substr(std::min(sharding.find("], ["), sharding.size()));
  const std::vector<std::vector<std::string>> axes = ReadAxes(named, rank);
  const bool is_known = std::ranges::all_of(axes, [&](const std::vector<std::string>& of_dim) {
    return std::ranges::all_of(of_dim, [&](const std::string& axis) { return mesh->contains(axis); });
  });
  if (sharding.empty() && !is_known) return {};
  Sharding read{{}, std::vector<std::vector<std::string>>(rank)};
  for (std::size_t dim = 0; dim < rank; ++dim) {
    const std::int64_t count = dim < counts.size() ? std::clamp<std::int64_t>(counts[dim], 1, kMostDevices) : 1;
    if (has_counts && axes[dim].size() == 1) mesh->insert({axes[dim][0], count});
    read.shards.push_back(has_counts ? count : DevicesAlong(axes[dim], *mesh));
    if (read.shards[dim] == 1) continue;
    for (const std::string& axis : axes[dim]) {
      if (DevicesAlong({axis}, *mesh) > 1) read.axes[dim].push_back(axis);
    }
    if (read.axes[dim].empty()) read.axes[dim].emplace_back();
  }
  return read;
}

std::string SpecText(const std::vector<std::vector<std::string>>& dims) {
  const auto is_plain = [](char c) { return IsWordChar(c) || c == '-' || c == '.'; };  // needs no escape
  std::vector<std::string> texts;
  for (const std::vector<std::string>& axes : dims) {
    for (const std::string& axis : axes) {
      if (axis.empty() || axis.size() > kLongestName || !std::ranges::all_of(axis, is_plain)) return {};
    }
    const std::string names = fmt::format("'{}'", fmt::join(axes, "', '"));
    texts.push_back(axes.empty() ? "None" : axes.size() > 1 ? "(" + names + ")" : names);
  }
  while (!texts.empty() && texts.back() == "None") texts.pop_back();
  return fmt::format("P({})", fmt::join(texts, ", "));
}

Program::Program(HloModule compiled, HloModule unoptimized, ModuleMemory assigned)
    : module(std::move(compiled)),
      before(std::move(unoptimized)),
      memory(std::move(assigned)),
      dimensions(module),
      partitions(PartitionsOf(module)) {
  FindValues();
  FindSchedule();
  FindParameters();
  FindOutputs();
}

void Program::FindValues() {
  values_in.resize(memory.allocations.size());
  values_of.resize(module.instructions.size());
  for (const AllocationId allocation : memory.allocations.ids()) {
    for (const MemoryValue& value : memory.allocations[allocation].values) {
      ProgramValue found{value, values.next_id(), allocation, {module.Find(value.name)}};
      if (const InstructionId instruction = found.array.instruction) {
        found.array = dimensions.ArrayAt(instruction, value.index);
        values_of[instruction].push_back(found.id);
      }
      values_in[allocation].push_back(found.id);
      values.push_back(found);
    }
  }
}

void Program::FindSchedule() {
  positions.assign(module.instructions.size(), -1);
  users.resize(module.instructions.size());
  for (const InstructionId id : module.instructions.ids()) {
    for (const InstructionId operand : At(id).operands) {
      std::vector<InstructionId>& of_operand = users[operand];
      if (of_operand.empty() || of_operand.back() != id) of_operand.push_back(id);
    }
  }
  // The live range of a value begins at the instruction that defines it.
  for (const ProgramValue& value : values) {
    if (!value.array.instruction || value.first < 0) continue;
    int& position = positions[value.array.instruction];
    if (position < 0 || value.first < position) position = static_cast<int>(value.first);
  }
}

std::string Program::NameOf(ArrayId array) const {
  for (const ProgramParameter& parameter : parameters) {
    if (parameter.array == array) return NameOf(parameter);
  }
  return ShapeAtLine(module, ShapeOf(array), array.instruction);
}

bool Program::PassesOn(const HloInstruction& loop, std::size_t place) const {
  if (loop.opcode != "while" || loop.calls.size() < 2) return false;
  const HloComputation& body = module.computations[loop.calls[1]];
  if (!body.root || body.parameters.empty() || place >= At(body.root).operands.size()) return false;
  const HloInstruction& returned = At(At(body.root).operands[place]);
  return returned.opcode == "get-tuple-element" && !returned.operands.empty() &&
         returned.operands[0] == body.parameters[0] && Attribute(returned.attributes, "index") == std::to_string(place);
}

void Program::FindParameters() {
  AddMeshAxes(Attribute(before.header, "frontend_attributes"), &mesh);
  const std::vector<InstructionId> compiled = module.Parameters();
  const std::vector<InstructionId> unoptimized = before.Parameters();
  std::size_t room = std::size_t{1} << 23;  // limits the total length of paths: each array of a parameter has a copy
  for (std::size_t number = 0; number < compiled.size(); ++number) {
    if (!compiled[number]) continue;
    const HloInstruction& is = At(compiled[number]);
    ProgramParameter parameter;
    parameter.array = {compiled[number], 0};
    parameter.number = static_cast<int>(number);
    parameter.path = is.op_name.empty() ? std::string(is.name) : UnescapedPath(std::string(is.op_name));
    const auto arrays = static_cast<std::size_t>(std::max(1, dimensions.LeafCount(compiled[number])));
    parameter.path.resize(std::min(parameter.path.size(), room / arrays));
    room -= arrays * parameter.path.size();
    // Partitioning removes the annotation, so prefer the module before optimization.
    const HloInstruction& written =
        number < unoptimized.size() && unoptimized[number] ? before.instructions[unoptimized[number]] : is;
    AddParameters(std::move(parameter), written);
  }
}

// Adds one entry for each array of the parameter. `written` has its annotations.
void Program::AddParameters(ProgramParameter parameter, const HloInstruction& written) {
  const std::string_view sharding = Attribute(written.attributes, "sharding");
  names_axis = names_axis || Mentions(sharding, "{'") || Mentions(written.frontend, "{\\\"");
  const std::size_t begin = parameters.size();
  const InstructionId instruction = parameter.array.instruction;
  std::map<std::size_t, Sharding> of_rank;
  for (; parameter.array.leaf < dimensions.LeafCount(instruction); ++parameter.array.leaf) {
    const std::size_t rank = ShapeOf(parameter.array).dims.size();
    const auto [read, is_new] = of_rank.try_emplace(rank);
    if (is_new) read->second = ReadSharding(sharding, written.frontend, rank, &mesh);
    static_cast<Sharding&>(parameter) = read->second;
    parameter.place = parameters.size();
    parameters.push_back(parameter);
  }
  for (const ValueId id : values_of[instruction]) {
    const ProgramValue& value = values[id];
    const MemoryAllocation& allocation = AllocationOf(value);
    if (allocation.kind != AllocationKind::kArgument || !value.array) continue;
    ProgramParameter& of = parameters[begin + value.array.leaf];
    of.size = allocation.size;
    of.shares_output = allocation.is_output;
  }
}

void Program::FindOutputs() {
  const InstructionId root = module.entry ? module.computations[module.entry].root : InstructionId();
  if (!root) return;
  const auto most = static_cast<std::size_t>(dimensions.LeafCount(root));  // further elements of a tuple are damage
  for (const InstructionId operand :
       At(root).opcode == "tuple" ? At(root).operands : std::span<const InstructionId>(&root, 1)) {
    for (int leaf = 0; leaf < dimensions.LeafCount(operand) && outputs.size() < most; ++leaf)
      outputs.push_back({.array = {operand, leaf}, .value = {}});
  }
  std::map<ArrayId, ValueId> own;  // values in allocations of outputs
  for (const ProgramValue& value : values) {
    if (AllocationOf(value).kind == AllocationKind::kOutput) own[value.array] = value.id;
  }
  for (ProgramOutput& output : outputs) {
    // Follow get-tuple-elements to the instruction that computes the array.
    while (const ArrayId from = dimensions.TupleElementOf(At(output.array.instruction))) output.array = from;
    if (const auto value = own.find(output.array); value != own.end()) output.value = value->second;
  }
}

}  // namespace whyoom
