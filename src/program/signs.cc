#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <utility>

#include "program/estimates.h"
#include "program/semantics.h"
#include "text/cleaning.h"

namespace whyoom {
namespace {

constexpr std::int64_t kLeastBytes = std::int64_t{1} << 20;
constexpr double kLeastSplitShare = 0.1;  // if less of the state is split, its arrays are whole by design

class SignFinder {
 public:
  explicit SignFinder(const Simulator& simulator)
      : program_(simulator.program()), semantics_(simulator.semantics()), simulator_(simulator) {}

  Evidence Find() {
    FindKept();
    FindWholeState();
    FindFloat64();
    FindAtPeak();
    FindTransfers();
    return std::move(signs_);
  }

 private:
  // Adds the bytes to the sign, which is called by its largest array.
  void Add(const std::string& name, std::int64_t bytes, const std::string& array) {
    if (bytes < kLeastBytes) return;
    const double sum = signs_.Number(name + "_bytes").value_or(0) + static_cast<double>(bytes);
    signs_.Set(name + "_bytes", sum, {}, true);
    if (bytes > largest_[name]) signs_.Set(name + "_array", array, {}, true);
    largest_[name] = std::max(largest_[name], bytes);
  }

  const ArrayShape& ShapeOf(const ProgramParameter& parameter) const { return program_.ShapeOf(parameter.array); }

  // State, which a step is expected to return, for which the program returns a new array of its type and shape.
  void FindKept() {
    std::multiset<std::pair<std::string, ArrayDims>> returned;
    std::set<std::string> kept;  // arguments of the function
    std::int64_t bytes = 0;
    for (const ProgramOutput& output : program_.outputs()) {
      if (output.value) returned.insert({program_.ShapeOf(output.array).dtype, program_.ShapeOf(output.array).dims});
    }
    for (const ProgramParameter& parameter : program_.parameters()) {
      const bool is_kept = semantics_.IsState(parameter) || semantics_.RoleOf(parameter) == Role::kCache;
      const auto same = returned.find({ShapeOf(parameter).dtype, ShapeOf(parameter).dims});
      if (!is_kept || parameter.shares_output || same == returned.end()) continue;
      returned.erase(same);
      Add("kept_state", parameter.size, program_.NameOf(parameter));
      kept.insert(parameter.Argument());
      bytes += parameter.size;
    }
    const auto is_plain = [](const std::string& name) { return std::all_of(name.begin(), name.end(), IsWordChar); };
    if (std::all_of(kept.begin(), kept.end(), is_plain))
      Add("kept_arguments", bytes, fmt::format("'{}'", fmt::join(kept, "', '")));
  }

  void FindWholeState() {
    double split = 0;  // bytes over all devices
    double whole = 0;
    std::vector<const ProgramParameter*> whole_state;
    for (const ProgramParameter& parameter : program_.parameters()) {
      if (!semantics_.IsState(parameter)) continue;
      auto bytes = static_cast<double>(parameter.size);
      for (const std::int64_t devices : parameter.shards) bytes *= static_cast<double>(devices);
      if (parameter.IsSplit()) {
        split += bytes;
      } else if (program_.partitions() > 1 && !parameter.shards.empty()) {
        whole += bytes;
        whole_state.push_back(&parameter);
      }
    }
    const char* sign = split > kLeastSplitShare * whole ? "whole_state" : "replicated_state";
    for (const ProgramParameter* parameter : whole_state) Add(sign, parameter->size, program_.NameOf(*parameter));
  }

  void FindFloat64() {
    const HloModule& before = program_.before();
    std::int64_t most = 0;
    InstructionId largest;
    for (const InstructionId id : before.instructions.ids()) {
      const ArrayShape& shape = before.ShapeOf(id).array;
      if (shape.dtype != kFloat64 || ElementCount(shape) * 8 <= most) continue;
      most = ElementCount(shape) * 8;
      largest = id;
    }
    if (largest) Add("float64", most, ShapeAtLine(before, before.ShapeOf(largest).array, largest));
  }

  // The largest array that is sent to the host. A transfer may send it in parts.
  void FindTransfers() {
    const ProgramValue* largest = nullptr;
    for (const InstructionId transfer : HostTransfers(program_.module())) {
      for (const InstructionId operand : program_.At(transfer).operands) {
        for (const ValueId id : program_.ValuesOf(operand)) {
          const ProgramValue& value = program_.values()[id];
          if (value.array && (largest == nullptr || value.size > largest->size)) largest = &value;
        }
      }
    }
    if (largest != nullptr) Add("host_transfer", largest->size, program_.NameOf(largest->array));
  }

  void FindAtPeak() {
    for (const ProgramParameter& parameter : program_.parameters()) {
      const ArrayShape& shape = ShapeOf(parameter);
      if (ElementCount(shape) < kLeastBytes / 4) continue;
      if (semantics_.RoleOf(parameter) == Role::kWeights) ++weights_[shape.dims];
      if (shape.memory_space == kHostMemorySpace) on_host_.insert(shape.shape);
    }
    std::map<ArrayDims, std::vector<const ProgramValue*>> gradients;  // by shape
    for (const Buffer* buffer : simulator_.compiled().LiveAtPeak()) {
      const ProgramValue* gradient = nullptr;
      std::string sign;
      for (const ValueId id : buffer->values) {
        const ProgramValue& value = program_.values()[id];
        if (!value.array) continue;
        if (gradient == nullptr && semantics_.IsBackward(value.array.instruction)) gradient = &value;
        if (!sign.empty() || program_.InstructionOf(value).opcode == "parameter") continue;
        sign = SignOf(value);
        if (!sign.empty()) Add(sign, buffer->size, program_.NameOf(value.array));
      }
      if (gradient != nullptr) gradients[program_.ShapeOf(gradient->array).dims].push_back(gradient);
    }
    constexpr std::size_t kMany = 3;  // gradients for each weight: one, and one that is being computed, are usual
    for (const auto& [dims, count] : weights_) {
      if (gradients[dims].size() < kMany * count) continue;
      for (const ProgramValue* value : gradients[dims])
        Add("repeated_gradients", value->size, program_.NameOf(value->array));
    }
  }

  std::string SignOf(const ProgramValue& value) const {
    const ArrayShape& shape = program_.ShapeOf(value.array);
    if (shape.memory_space != kHostMemorySpace && on_host_.contains(shape.shape)) return "fetched";
    if (!semantics_.trains()) return semantics_.KindOf(value.id) == ValueKind::kLogits ? "evaluation_logits" : "";
    const bool is_vmapped = IsMapped(program_.InstructionOf(value).op_name);
    if (shape.dims.size() < 3 || !is_vmapped || !semantics_.Has(value.id, semantics_.batch())) return "";
    return weights_.contains(ArrayDims(shape.dims.begin() + 1, shape.dims.end())) ? "example_gradients" : "";
  }

  const Program& program_;
  const Semantics& semantics_;
  const Simulator& simulator_;
  Evidence signs_;
  std::set<std::string_view> on_host_;           // shapes of large arguments in host memory
  std::map<ArrayDims, std::size_t> weights_;     // number of large weights by their dimensions
  std::map<std::string, std::int64_t> largest_;  // bytes of the array that the sign is called by
};

}  // namespace

Evidence FindSigns(const Simulator& simulator) { return SignFinder(simulator).Find(); }

}  // namespace whyoom
