#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <string>
#include <utility>

#include "program/dimensions.h"

namespace whyoom {

namespace {

std::vector<std::int64_t> List(const HloInstruction& instruction, std::string_view name) {
  return Integers(Attribute(instruction.attributes, name));
}

// Reads dimension numbers. Replaces impossible numbers by -1.
std::vector<int> NamedDims(const HloInstruction& instruction, std::string_view name) {
  std::vector<int> dims;
  for (const std::int64_t dim : List(instruction, name)) {
    if (dims.size() >= kMaxRank) break;
    dims.push_back(dim >= 0 && dim < static_cast<std::int64_t>(kMaxRank) ? static_cast<int>(dim) : -1);
  }
  return dims;
}

bool IsIn(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

// Whether a slice keeps at least 1/8 of a dimension. A smaller slice is a selection, such as one layer, block or token.
bool KeepsMost(std::int64_t one, std::int64_t other) {
  constexpr std::int64_t kAtMost = 8;
  return one > 1 && other > 1 && std::max(one, other) / std::min(one, other) <= kAtMost;
}

}  // namespace

class DimensionRules {
 public:
  // Borrows both arguments; fills `dimensions`.
  DimensionRules(const HloModule& module, Dimensions* dimensions) : module_(module), dimensions_(*dimensions) {}

  void Apply() {
    for (const InstructionId id : module_.instructions.ids()) {
      if (!CountStep()) return;
      Instruction(id);
    }
    for (const InstructionId id : module_.instructions.ids()) {
      if (dimensions_.whole() && At(id).opcode == "while") Stacks(id);
    }
  }

 private:
  // An array of an instruction's result. A missing array has no dimensions.
  struct Array {
    const ArrayShape* shape = nullptr;
    FactorId factor = {};  // of its first dimension

    explicit operator bool() const { return shape != nullptr; }
    int Rank() const { return shape == nullptr ? 0 : static_cast<int>(shape->dims.size()); }
    bool Has(int dim) const { return dim >= 0 && dim < Rank(); }
    std::int64_t Size(int dim) const { return shape->dims[dim]; }

    // A dimension by number. All rules ignore a number that the array lacks.
    struct Dim {
      const ArrayShape* shape;
      FactorId factor;
      int dim;

      bool Exists() const { return dim >= 0 && shape != nullptr && std::cmp_less(dim, shape->dims.size()); }
      std::int64_t Size() const { return shape->dims[dim]; }
    };
    Dim operator[](int dim) const { return {shape, FactorId(factor.value + dim), dim}; }
  };
  using Dim = Array::Dim;

  const HloInstruction& At(InstructionId instruction) const { return module_.instructions[instruction]; }
  int Leaves(InstructionId instruction) const { return dimensions_.LeafCount(instruction); }
  Array Leaf(InstructionId instruction, int leaf) const {
    const ArrayId array{instruction, leaf};
    return {&dimensions_.ShapeOf(array), dimensions_.FirstFactor(array)};
  }
  // The first array of the result.
  Array Result(InstructionId instruction) const { return Leaves(instruction) > 0 ? Leaf(instruction, 0) : Array(); }
  // An operand, or a missing array if the operand is not an array.
  Array Operand(InstructionId instruction, std::size_t number) const {
    const std::vector<InstructionId>& operands = At(instruction).operands;
    const bool is_array = number < operands.size() && !module_.ShapeOf(operands[number]).is_tuple;
    return is_array ? Leaf(operands[number], 0) : Array();
  }

  // Counts steps of loops that may be long. Returns false once there were too many; then the rules stop.
  bool CountStep(std::size_t times = 1) {
    // Real programs need less than four steps per dimension. A hostile program could cause a pairwise comparison of a
    // hundred thousand arrays, which takes minutes.
    constexpr std::size_t kMostSteps = 4 * Dimensions::kMost;
    steps_ += times;
    if (steps_ + dimensions_.factors_.steps() > kMostSteps) dimensions_.whole_ = false;
    return dimensions_.whole_;
  }

  // Equates the dimensions if their sizes are equal.
  void Same(Dim a, Dim b) {
    if (a.Exists() && b.Exists() && a.Size() == b.Size() && a.Size() != 1)
      dimensions_.factors_.Equate(a.factor, b.factor);
  }

  // Equates the dimensions if their sizes are equal, else relates them if their sizes are similar.
  void Relate(Dim a, Dim b) {
    if (!a.Exists() || !b.Exists()) return;
    if (a.Size() != b.Size() && KeepsMost(a.Size(), b.Size())) dimensions_.factors_.Relate(a.factor, b.factor);
    Same(a, b);
  }

  // Applies Same or Relate to all dimensions if the ranks are equal.
  void SameEach(Array a, Array b) {
    for (int dim = 0; a.Rank() == b.Rank() && dim < a.Rank(); ++dim) Same(a[dim], b[dim]);
  }
  void RelateEach(Array a, Array b) {
    for (int dim = 0; a.Rank() == b.Rank() && dim < a.Rank(); ++dim) Relate(a[dim], b[dim]);
  }

  // Equates all dimensions if the arrays have equal dimensions.
  void SameArrays(Array a, Array b) {
    if (CountStep() && a && b && a.shape->dims == b.shape->dims) SameEach(a, b);
  }

  static void Add(Dim dim, FactorIds* factors) {
    if (dim.Exists()) factors->push_back(dim.factor);
  }

  // Equates up to `count` arrays of two results, in order.
  void SameLeaves(ArrayId a, ArrayId b, int count) {
    count = std::min({count, Leaves(a.instruction) - a.leaf, Leaves(b.instruction) - b.leaf});
    for (int leaf = 0; leaf < count && dimensions_.whole(); ++leaf)
      SameArrays(Leaf(a.instruction, a.leaf + leaf), Leaf(b.instruction, b.leaf + leaf));
  }

  void SameResults(InstructionId a, InstructionId b) { SameLeaves({a, 0}, {b, 0}, Leaves(a)); }

  static std::vector<int> Ascending(Array array) {
    std::vector<int> dims(array.Rank());
    std::iota(dims.begin(), dims.end(), 0);
    return dims;
  }

  // An array's dimensions in the order of its layout, major first.
  static std::vector<int> InMemory(Array array) {
    const ArrayShape& shape = *array.shape;
    std::vector<int> dims(shape.minor_to_major.rbegin(), shape.minor_to_major.rend());
    std::erase_if(dims, [&](int dim) { return !array.Has(dim); });
    return dims.size() == shape.dims.size() ? dims : Ascending(array);
  }

  // Whether two arrays with the same bytes differ only in the dimensions above their tiles.
  bool SameTiles(Array a, const std::vector<int>& a_order, Array b, const std::vector<int>& b_order) const {
    // With tiles of r x c, the order in memory is rows/r, columns/c, r, c. This is the plain order only if r is 1 or
    // the tile is as wide as the array. Otherwise both arrays must have the same tiles.
    struct Minor {
      std::int64_t rows = 1, columns = 1;            // the two minor dimensions
      std::int64_t tile_rows = 1, tile_columns = 0;  // 0: not tiled
    };
    const auto minor = [&](Array array, const std::vector<int>& order) {
      Minor is;
      if (!order.empty()) is.columns = array.Size(order.back());
      if (order.size() > 1) is.rows = array.Size(order[order.size() - 2]);
      const ArrayShape& shape = *array.shape;
      if (!shape.tile.empty()) is.tile_columns = shape.tile.back();
      if (shape.tile.size() > 1) is.tile_rows = shape.tile[shape.tile.size() - 2];
      return is;
    };
    const Minor one = minor(a, a_order);
    const Minor other = minor(b, b_order);
    const auto plain = [](const Minor& is) {
      return is.columns <= is.tile_columns || is.tile_columns == 0 || is.tile_rows == 1;
    };
    if (plain(one) && plain(other)) return true;
    if (one.columns != other.columns || one.tile_rows != other.tile_rows) return false;
    return one.rows == other.rows || (one.rows % one.tile_rows == 0 && other.rows % other.tile_rows == 0);
  }

  void Instruction(InstructionId instruction) {
    using Rule = void (DimensionRules::*)(InstructionId);
    static constexpr std::pair<std::string_view, Rule> kRules[] = {
        {"parameter", nullptr},
        {"constant", nullptr},
        {"iota", nullptr},
        {"broadcast", &DimensionRules::Broadcast},
        {"reshape", &DimensionRules::Reshape},
        {"bitcast", &DimensionRules::Bitcast},
        {"transpose", &DimensionRules::Transpose},
        {"dot", &DimensionRules::Dot},
        {"convolution", &DimensionRules::Convolution},
        {"reduce", &DimensionRules::Reduce},
        {"gather", &DimensionRules::Gather},
        {"scatter", &DimensionRules::Scatter},
        {"slice", &DimensionRules::Resized},
        {"pad", &DimensionRules::Resized},
        {"reduce-window", &DimensionRules::Resized},
        {"all-gather", &DimensionRules::Resized},
        {"all-to-all", &DimensionRules::Resized},
        {"dynamic-slice", &DimensionRules::DynamicSlice},
        {"dynamic-update-slice", &DimensionRules::DynamicUpdateSlice},
        {"concatenate", &DimensionRules::Concatenate},
        {"get-tuple-element", &DimensionRules::TupleElement},
        {"tuple", &DimensionRules::Tuple},
        {"fusion", &DimensionRules::Calls},
        {"call", &DimensionRules::Calls},
        {"async-start", &DimensionRules::Calls},
        {"while", &DimensionRules::While},
        {"conditional", &DimensionRules::Conditional},
    };
    const std::string_view opcode = At(instruction).opcode;
    const auto* rule =
        std::find_if(std::begin(kRules), std::end(kRules), [&](const auto& one) { return one.first == opcode; });
    if (rule != std::end(kRules)) {
      if (rule->second != nullptr) (this->*rule->second)(instruction);
    } else if (opcode.ends_with("-start")) {
      Start(instruction);
    } else if (opcode.ends_with("-done")) {
      Done(instruction);
    } else {
      Elementwise(instruction);
    }
  }

  void Elementwise(InstructionId instruction) {
    for (const InstructionId operand : At(instruction).operands) {
      for (int leaf = 0; leaf < Leaves(instruction) && CountStep(); ++leaf) {
        // Operands and results (sort, optimization-barrier) correspond in order. A single array corresponds to all
        // results.
        const int from = Leaves(operand) == 1 ? 0 : leaf;
        if (from < Leaves(operand)) SameArrays(Leaf(instruction, leaf), Leaf(operand, from));
      }
    }
  }

  void Broadcast(InstructionId instruction) {
    const Array from = Operand(instruction, 0);
    int number = 0;
    for (const int dim : NamedDims(At(instruction), "dimensions")) Same(from[number++], Result(instruction)[dim]);
  }

  void Transpose(InstructionId instruction) {
    const Array from = Operand(instruction, 0);
    int number = 0;
    for (const int dim : NamedDims(At(instruction), "dimensions")) Same(Result(instruction)[number++], from[dim]);
  }

  // The factors of an array's dimensions in the given order.
  static FactorIds FactorsIn(Array array, const std::vector<int>& order) {
    FactorIds factors;
    for (const int dim : order) factors.push_back(array[dim].factor);
    return factors;
  }

  void Reshape(InstructionId instruction) {
    const Array from = Operand(instruction, 0);
    const Array to = Result(instruction);
    if (from) dimensions_.factors_.Equate(FactorsIn(from, Ascending(from)), FactorsIn(to, Ascending(to)));
  }

  void Bitcast(InstructionId instruction) {
    const Array from = Operand(instruction, 0);
    const Array to = Result(instruction);
    if (!from || !to || ElementCount(*from.shape) != ElementCount(*to.shape)) return;
    // The bytes do not change, so equate the dimensions in memory order, major first.
    const std::vector<int> before = InMemory(from);
    const std::vector<int> after = InMemory(to);
    if (SameTiles(from, before, to, after)) dimensions_.factors_.Equate(FactorsIn(from, before), FactorsIn(to, after));
  }

  void Dot(InstructionId instruction) {
    const Array left = Operand(instruction, 0);
    const Array right = Operand(instruction, 1);
    if (!left || !right) return;
    const Array result = Result(instruction);
    const HloInstruction& at = At(instruction);
    const std::vector<int> left_batch = NamedDims(at, "lhs_batch_dims");
    const std::vector<int> right_batch = NamedDims(at, "rhs_batch_dims");
    const std::vector<int> left_sum = NamedDims(at, "lhs_contracting_dims");
    const std::vector<int> right_sum = NamedDims(at, "rhs_contracting_dims");
    Product product{instruction};
    int to = 0;
    for (std::size_t i = 0; i < std::min(left_batch.size(), right_batch.size()); ++i, ++to) {
      Same(left[left_batch[i]], right[right_batch[i]]);
      Same(left[left_batch[i]], result[to]);
      Add(left[left_batch[i]], &product.batch);
    }
    for (std::size_t i = 0; i < std::min(left_sum.size(), right_sum.size()); ++i) {
      Same(left[left_sum[i]], right[right_sum[i]]);
      Add(left[left_sum[i]], &product.contracted);
    }
    const auto free = [&](Array from, const std::vector<int>& batch, const std::vector<int>& sum, FactorIds* list) {
      for (int dim = 0; dim < from.Rank(); ++dim) {
        if (IsIn(batch, dim) || IsIn(sum, dim)) continue;
        Add(from[dim], list);
        Same(from[dim], result[to++]);
      }
    };
    free(left, left_batch, left_sum, &product.left);
    free(right, right_batch, right_sum, &product.right);
    dimensions_.products_.push_back(std::move(product));
  }

  void Convolution(InstructionId instruction) {
    // dim_labels=b01f_01io->b01f. On TPU every dot becomes a convolution. A batch dimension of the dot becomes a
    // spatial dimension whose window has the same size.
    const Array input = Operand(instruction, 0);
    const Array kernel = Operand(instruction, 1);
    if (!input || !kernel) return;
    const Array result = Result(instruction);
    const std::string labels(Attribute(At(instruction).attributes, "dim_labels"));
    const std::size_t under = labels.find('_');
    const std::size_t arrow = labels.find("->");
    if (under == std::string::npos || arrow == std::string::npos || arrow < under) return;
    const std::string in = labels.substr(0, under);
    const std::string window = labels.substr(under + 1, arrow - under - 1);
    const std::string out = labels.substr(arrow + 2);
    const auto place = [](const std::string& row, char label) {
      const std::size_t at = row.find(label);
      return at == std::string::npos ? -1 : static_cast<int>(at);
    };
    Product product{instruction};
    const auto add = [](FactorIds* list, Dim dim) {
      if (dim.Exists() && dim.Size() > 1) Add(dim, list);
    };
    const Dim batch = input[place(in, 'b')];
    const Dim features = input[place(in, 'f')];
    const Dim made = kernel[place(window, 'o')];
    Same(batch, result[place(out, 'b')]);
    Same(made, result[place(out, 'f')]);
    Same(features, kernel[place(window, 'i')]);
    add(&product.left, batch);
    add(&product.right, made);
    add(&product.contracted, features);
    for (char label = '0'; label <= '9' && place(in, label) >= 0; ++label) {
      const Dim i = input[place(in, label)];
      const Dim k = kernel[place(window, label)];
      const Dim o = result[place(out, label)];
      if (!i.Exists() || !k.Exists() || !o.Exists()) continue;
      if (i.Size() == k.Size() && k.Size() == o.Size()) {
        Same(i, k);
        Same(i, o);
        add(&product.batch, i);
      } else if (k.Size() == i.Size() && o.Size() < k.Size()) {  // gradient of a kernel, or contraction of a dot
        Same(i, k);
        add(&product.contracted, i);
      } else {
        if (k.Size() == o.Size() && i.Size() == 1) Same(k, o);  // a free dimension of the right operand
        Relate(i, o);
        add(&product.left, i);
      }
    }
    dimensions_.products_.push_back(std::move(product));
  }

  void Reduce(InstructionId instruction) {
    const std::vector<int> summed = NamedDims(At(instruction), "dimensions");
    int to = 0;
    const Array from = Operand(instruction, 0);
    for (int dim = 0; dim < from.Rank(); ++dim) {
      if (!IsIn(summed, dim)) Same(from[dim], Result(instruction)[to++]);
    }
  }

  // Equates the dimensions of the indices, except index_vector_dim, with those of a gather's result or a scatter's
  // updates that do not belong to slices.
  void SameIndices(InstructionId instruction, Array to, const std::vector<int>& of_slices) {
    const Array indices = Operand(instruction, 1);
    const std::vector<int> index = NamedDims(At(instruction), "index_vector_dim");
    int next = 0;
    for (int dim = 0; dim < indices.Rank(); ++dim) {
      if (!index.empty() && index[0] == dim) continue;
      while (IsIn(of_slices, next)) ++next;
      Same(indices[dim], to[next++]);
    }
  }

  // The dimensions of an array that remain in its slices.
  std::vector<int> SlicedDims(Array array, std::vector<int> collapsed, const std::vector<int>& batching) const {
    collapsed.insert(collapsed.end(), batching.begin(), batching.end());
    std::vector<int> dims;
    for (int dim = 0; dim < array.Rank(); ++dim) {
      if (!IsIn(collapsed, dim)) dims.push_back(dim);
    }
    return dims;
  }

  void Gather(InstructionId instruction) {
    const Array from = Operand(instruction, 0);
    const HloInstruction& at = At(instruction);
    const Array result = Result(instruction);
    const std::vector<int> offsets = NamedDims(at, "offset_dims");
    const std::vector<std::int64_t> sizes = List(at, "slice_sizes");
    const std::vector<int> dims =
        SlicedDims(from, NamedDims(at, "collapsed_slice_dims"), NamedDims(at, "operand_batching_dims"));
    for (std::size_t i = 0; i < std::min(dims.size(), offsets.size()); ++i) {
      if (std::cmp_less(dims[i], sizes.size()) && sizes[dims[i]] == from.Size(dims[i]))
        Same(from[dims[i]], result[offsets[i]]);
    }
    if (from) SameIndices(instruction, result, offsets);
  }

  void Scatter(InstructionId instruction) {
    const Array onto = Operand(instruction, 0);
    const Array updates = Operand(instruction, 2);
    if (!onto || !updates || !Operand(instruction, 1)) return;
    const HloInstruction& at = At(instruction);
    SameArrays(onto, Result(instruction));
    const std::vector<int> window = NamedDims(at, "update_window_dims");
    const std::vector<int> dims =
        SlicedDims(onto, NamedDims(at, "inserted_window_dims"), NamedDims(at, "input_batching_dims"));
    for (std::size_t i = 0; i < std::min(dims.size(), window.size()); ++i) Same(onto[dims[i]], updates[window[i]]);
    SameIndices(instruction, updates, window);
  }

  void Resized(InstructionId instruction) { RelateEach(Operand(instruction, 0), Result(instruction)); }
  void DynamicSlice(InstructionId instruction) { SameEach(Operand(instruction, 0), Result(instruction)); }

  void DynamicUpdateSlice(InstructionId instruction) {
    const Array onto = Operand(instruction, 0);
    SameArrays(onto, Result(instruction));
    SameEach(onto, Operand(instruction, 1));
  }

  void Concatenate(InstructionId instruction) {
    for (std::size_t number = 0; number < At(instruction).operands.size(); ++number)
      RelateEach(Operand(instruction, number), Result(instruction));
  }

  void TupleElement(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    const std::vector<std::int64_t> index = List(at, "index");
    if (at.operands.empty() || index.empty()) return;
    const InstructionId from = at.operands[0];
    const HloShape& shape = module_.ShapeOf(from);
    if (!shape.is_tuple || index[0] < 0 || std::cmp_greater_equal(index[0], shape.elements.size())) return;
    SameLeaves({instruction, 0}, {from, dimensions_.ArraysOf(from).starts[index[0]]}, Leaves(instruction));
  }

  void Tuple(InstructionId instruction) {
    int leaf = 0;
    for (const InstructionId operand : At(instruction).operands) {
      if (leaf >= Leaves(instruction)) return;
      SameLeaves({instruction, leaf}, {operand, 0}, Leaves(operand));
      leaf += Leaves(operand);
    }
  }

  // fusion, call, async-start: the operands become the parameters of the computation.
  void Calls(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    if (at.calls.empty()) return;
    const HloComputation& called = module_.computations[at.calls[0]];
    for (std::size_t i = 0; i < std::min(called.parameters.size(), at.operands.size()); ++i) {
      if (called.parameters[i]) SameResults(called.parameters[i], at.operands[i]);
    }
    if (!called.root) return;
    if (at.opcode != "async-start") return SameResults(called.root, instruction);
    // The result is ((operands), result, context).
    const HloShape& shape = module_.ShapeOf(instruction);
    if (!shape.is_tuple || shape.elements.size() < 2) return;
    SameLeaves({instruction, dimensions_.ArraysOf(instruction).starts[1]}, {called.root, 0}, Leaves(called.root));
  }

  void While(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    if (!at.operands.empty()) SameResults(instruction, at.operands[0]);
    for (const ComputationId call : at.calls) {
      const HloComputation& called = module_.computations[call];
      if (!called.parameters.empty() && called.parameters[0]) SameResults(instruction, called.parameters[0]);
      if (called.root && Leaves(called.root) == Leaves(instruction)) SameResults(instruction, called.root);
    }
  }

  std::int64_t Steps(ComputationId condition) {
    std::int64_t steps = 0;
    for (const InstructionId at : module_.computations[condition].instructions) {
      if (!CountStep()) break;
      if (At(at).opcode != "constant") continue;
      const std::vector<std::int64_t> numbers = Integers(At(at).literal);
      if (!numbers.empty()) steps = std::max(steps, numbers[0]);
    }
    return steps;
  }

  // The factor of the dimension of length `steps` that an instruction reads or writes one element of; empty if none.
  FactorId StackedDim(InstructionId instruction, std::int64_t steps) const {
    const bool writes = At(instruction).opcode == "dynamic-update-slice";
    if (!writes && At(instruction).opcode != "dynamic-slice") return {};
    const Array whole = Operand(instruction, 0);
    const Array part = writes ? Operand(instruction, 1) : Result(instruction);
    for (int dim = 0; whole.Rank() == part.Rank() && dim < whole.Rank(); ++dim) {
      if (whole.Size(dim) == steps && part.Size(dim) == 1) return whole[dim].factor;
    }
    return {};
  }

  // Finds a loop's number of steps, and the stacks of that length that it reads or writes one step at a time.
  void Stacks(InstructionId instruction) {
    const HloInstruction& loop = At(instruction);
    if (loop.calls.size() < 2) return;
    // The condition compares the step with the number of steps.
    const std::int64_t steps = Steps(loop.calls[0]);
    if (steps < 2) return;
    FactorId first;
    std::vector<std::pair<ComputationId, int>> open = {{loop.calls[1], 0}};
    std::set<std::pair<ComputationId, int>> seen;
    while (!open.empty()) {
      const auto [computation, depth] = open.back();
      open.pop_back();
      if (!CountStep(8)) return;
      if (!seen.insert({computation, depth}).second) continue;
      for (const InstructionId at : module_.computations[computation].instructions) {
        if (At(at).opcode == "fusion" && depth < 8) {
          for (const ComputationId call : At(at).calls) open.emplace_back(call, depth + 1);
        }
        const FactorId stacked = StackedDim(at, steps);
        if (!first) first = stacked;
        if (stacked) dimensions_.factors_.Equate(first, stacked);
        if (!CountStep()) return;
      }
    }
    dimensions_.loops_.push_back({instruction, steps, first});
  }

  void Conditional(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    for (std::size_t i = 0; i < at.calls.size(); ++i) {
      const HloComputation& called = module_.computations[at.calls[i]];
      if (called.root) SameResults(instruction, called.root);
      if (i + 1 < at.operands.size() && !called.parameters.empty() && called.parameters[0])
        SameResults(at.operands[i + 1], called.parameters[0]);
    }
  }

  // copy-start, all-gather-start, …
  void Start(InstructionId instruction) {
    for (std::size_t number = 0; number < At(instruction).operands.size(); ++number) {
      for (int leaf = 0; leaf < Leaves(instruction) && CountStep(); ++leaf)
        RelateEach(Operand(instruction, number), Leaf(instruction, leaf));
    }
  }

  void Done(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    if (at.operands.empty()) return;
    for (int to = 0; to < Leaves(instruction); ++to) {
      for (int leaf = 0; leaf < Leaves(at.operands[0]) && dimensions_.whole(); ++leaf)
        SameArrays(Leaf(instruction, to), Leaf(at.operands[0], leaf));
    }
  }

  const HloModule& module_;
  Dimensions& dimensions_;
  std::size_t steps_ = 0;
};

void Dimensions::ApplyRules() { DimensionRules(module_, this).Apply(); }

}  // namespace whyoom
