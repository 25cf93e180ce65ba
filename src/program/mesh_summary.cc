#include <algorithm>
#include <iterator>
#include <map>
#include <set>
#include <string>
#include <utility>

#include "program/estimates.h"

namespace whyoom {
namespace {

constexpr std::size_t kMostOfRole = 8;      // arrays
constexpr std::int64_t kLeastShare = 1000;  // of the need: smaller arrays are left out

class MeshSummarizer {
 public:
  MeshSummarizer(const Program& program, const Semantics& semantics)
      : program_(program), semantics_(semantics), mesh_(program.mesh()) {
    for (const MemoryAllocation& allocation : program.memory().allocations) need_ += allocation.size;
  }

  MeshSummary Run() {
    AddArguments();
    AddResults();
    AddConstraints();
    AddCollectives();
    for (const auto& [axis, devices] : mesh_) summary_.axes.push_back({axis, devices});
    const auto is_larger = [](const MeshArray& a, const MeshArray& b) { return a.bytes > b.bytes; };
    for (auto& [role, arrays] : by_role_) {
      std::stable_sort(arrays.begin(), arrays.end(), is_larger);
      arrays.resize(std::min(arrays.size(), kMostOfRole));
      std::move(arrays.begin(), arrays.end(), std::back_inserter(summary_.arrays));
    }
    std::stable_sort(summary_.arrays.begin(), summary_.arrays.end(), is_larger);
    return std::move(summary_);
  }

 private:
  bool IsLarge(std::int64_t bytes) const { return bytes > 0 && bytes >= need_ / kLeastShare; }

  void Add(MeshArray array) {
    std::vector<MeshArray>& same = by_role_[array.role];
    // A constraint is repeated in the backward pass.
    const bool is_new = std::none_of(same.begin(), same.end(), [&](const MeshArray& one) {
      return one.array == array.array && one.number == array.number && one.spec == array.spec;
    });
    if (is_new && same.size() < kMostSeen) same.push_back(std::move(array));
  }

  void AddSplit(MeshArray array, const std::vector<std::vector<std::string>>& axes) {
    std::set<std::string> used;
    for (const auto& of_dim : axes) used.insert(of_dim.begin(), of_dim.end());
    if (!used.contains("")) {
      array.spec = SpecText(axes);
      for (const auto& [axis, devices] : mesh_) {
        if (devices > 1 && !used.contains(axis)) array.whole_over.push_back(axis);
      }
    }
    Add(std::move(array));
  }

  void AddArguments() {
    for (const ProgramParameter& parameter : program_.parameters()) {
      if (parameter.shards.empty() || !IsLarge(parameter.size)) continue;
      AddSplit({.role = "argument",
                .array = program_.NameOf(parameter),
                .number = parameter.number,
                .bytes = parameter.size},
               parameter.axes);
    }
  }

  // The results of the user's module have the order of those of the optimized one. Donated arguments are not repeated.
  void AddResults() {
    const HloModule& before = program_.before();
    if (!before.entry || !before.computations[before.entry].root) return;
    const HloInstruction& root = before.instructions[before.computations[before.entry].root];
    if (root.opcode != "tuple" || root.operands.size() != program_.outputs().size()) return;
    for (std::size_t number = 0; number < root.operands.size(); ++number) {
      const ProgramOutput& output = program_.outputs()[number];
      if (!output.value || !IsLarge(program_.values()[output.value].size)) continue;
      if (const std::optional<Sharding> sharding = ShardingOf(root.operands[number])) {
        AddSplit({.role = "result",
                  .array = program_.NameOf(output.array),
                  .number = static_cast<std::int64_t>(number),
                  .bytes = program_.values()[output.value].size},
                 sharding->axes);
      }
    }
  }

  // Constraints of with_sharding_constraint, and the axes that shard_map runs over.
  void AddConstraints() {
    const HloModule& before = program_.before();
    std::set<std::string> manual;
    for (const InstructionId id : before.instructions.ids()) {
      const HloInstruction& is = before.instructions[id];
      if (is.opcode != "custom-call") continue;
      ReadManualAxes(is.frontend, &manual);
      if (!is.op_name.ends_with("sharding_constraint")) continue;
      const ArrayShape& shape = before.ShapeOf(id).array;
      const std::optional<Sharding> sharding = ShardingOf(id);
      if (!sharding) continue;
      std::int64_t bytes = UnpaddedBytes(shape).value_or(0);
      for (const std::int64_t devices : sharding->shards) bytes /= devices;
      if (!IsLarge(bytes)) continue;
      AddSplit({.role = "constraint", .array = ShapeAtLine(before, shape, id), .bytes = bytes}, sharding->axes);
    }
    summary_.manual_axes.assign(manual.begin(), manual.end());
  }

  // The sharding that a custom call gives its operand.
  std::optional<Sharding> ShardingOf(InstructionId id) {
    const HloInstruction& is = program_.before().instructions[id];
    if (is.opcode != "custom-call") return std::nullopt;
    const ArrayShape& shape = program_.before().ShapeOf(id).array;
    Sharding sharding = ReadSharding(Attribute(is.attributes, "sharding"), is.frontend, shape.dims.size(), &mesh_);
    return sharding.shards.empty() ? std::nullopt : std::optional(std::move(sharding));
  }

  // "xla.sdy.manual_axes="#sdy<manual_axes{\"seq\"}>"".
  static void ReadManualAxes(std::string_view frontend, std::set<std::string>* manual) {
    constexpr std::string_view kManual = "manual_axes{";
    const std::size_t begin = frontend.find(kManual);
    if (begin == std::string_view::npos) return;
    const std::string_view list = frontend.substr(begin + kManual.size());
    for (const std::string& axis : QuotedNames(list.substr(0, list.find('}')))) {
      if (manual->size() < kMostManual) manual->insert(axis);
    }
  }

  // Names only the largest, because each name costs a search of the parameters.
  void AddCollectives() {
    FindCollectives();
    std::vector<const ProgramValue*> large;
    for (const ProgramValue& value : program_.values()) {
      if (value.array && IsLarge(value.size) && CollectiveOf(value.array.instruction)) large.push_back(&value);
    }
    std::stable_sort(large.begin(), large.end(),
                     [](const ProgramValue* a, const ProgramValue* b) { return a->size > b->size; });
    large.resize(std::min(large.size(), kMostCollectives));
    for (const ProgramValue* value : large) {
      const HloInstruction& is = program_.At(CollectiveOf(value->array.instruction));
      const std::string_view groups = Attribute(is.attributes, "replica_groups");
      const std::size_t names = groups.rfind('{');
      Add({.role = is.opcode.starts_with("all-gather") ? "gathered" : "exchanged",
           .array = program_.NameOf(value->array) + OfWeights(*value),
           .axes = groups.starts_with("mesh[") && names != std::string_view::npos ? QuotedNames(groups.substr(names))
                                                                                  : std::vector<std::string>(),
           .bytes = value->size});
    }
  }

  bool IsCollective(InstructionId id) const {
    const std::string_view opcode = program_.At(id).opcode;
    return opcode.starts_with("all-gather") || opcode.starts_with("all-to-all") ||
           opcode.starts_with("ragged-all-to-all") || opcode.starts_with("collective-permute");
  }

  // Finds the first instruction of each computation that gathers or exchanges arrays.
  void FindCollectives() {
    for (const InstructionId id : program_.module().instructions.ids()) {
      if (IsCollective(id)) collectives_.try_emplace(program_.At(id).computation, id);
    }
  }

  // The instruction, or one in a computation that it calls, that gathers or exchanges arrays.
  InstructionId CollectiveOf(InstructionId id) const {
    if (IsCollective(id)) return id;
    const HloInstruction& is = program_.At(id);
    if (is.opcode != "fusion" && !is.opcode.starts_with("async-")) return {};
    for (const ComputationId called : is.calls) {
      if (const auto found = collectives_.find(called); found != collectives_.end()) return found->second;
    }
    return {};
  }

  // ", of params['w'] f32[4096,4096]" if the array is gathered from the only weights of its dimensions.
  std::string OfWeights(const ProgramValue& value) const {
    if (semantics_.KindOf(value.id) != ValueKind::kGatheredWeights) return {};
    const ArrayDims dims = Sorted(program_.ShapeOf(value.array).dims);
    const ProgramParameter* found = nullptr;
    for (const ProgramParameter& parameter : program_.parameters()) {
      if (semantics_.RoleOf(parameter) != Role::kWeights) continue;
      ArrayDims whole = parameter.WholeDims(program_.ShapeOf(parameter.array).dims);
      ArrayDims layer(whole.begin() + (whole.empty() ? 0 : 1), whole.end());
      if (Sorted(std::move(whole)) != dims && Sorted(std::move(layer)) != dims) continue;
      if (found != nullptr) return {};
      found = &parameter;
    }
    return found == nullptr ? "" : ", of " + program_.NameOf(*found);
  }

  static ArrayDims Sorted(ArrayDims dims) {
    std::sort(dims.begin(), dims.end());
    return dims;
  }

  static constexpr std::size_t kMostCollectives = 64;
  static constexpr std::size_t kMostManual = 64;
  static constexpr std::size_t kMostSeen = 4096;  // of a role; limits work on hostile input

  const Program& program_;
  const Semantics& semantics_;
  Mesh mesh_;
  std::int64_t need_ = 0;
  std::map<ComputationId, InstructionId> collectives_;
  std::map<std::string, std::vector<MeshArray>> by_role_;
  MeshSummary summary_;
};

}  // namespace

std::optional<MeshSummary> SummarizeMesh(const Program& program, const Semantics& semantics) {
  if (!program.is_for_a_mesh()) return std::nullopt;
  if (program.partitions() > 1 && DeviceCount(program.mesh()) > program.partitions()) return std::nullopt;
  MeshSummary summary = MeshSummarizer(program, semantics).Run();
  return summary.axes.empty() ? std::nullopt : std::optional(std::move(summary));
}

}  // namespace whyoom
