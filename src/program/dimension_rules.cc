#include <algorithm>

#include "program/dimensions.h"

namespace whyoom {
namespace {

using Dims = std::vector<int>;  // numbers of dimensions, in an order

bool IsIn(const Dims& list, int value) { return std::ranges::find(list, value) != list.end(); }

Dims Joined(Dims one, const Dims& other) {
  one.insert(one.end(), other.begin(), other.end());
  return one;
}

// An array of an instruction's result. A missing array has no dimensions.
struct Array {
  const ArrayShape* shape = nullptr;
  FactorId factor = {};  // of its first dimension

  explicit operator bool() const { return shape != nullptr; }
  int Rank() const { return shape == nullptr ? 0 : static_cast<int>(shape->dims.size()); }
  bool Has(int dim) const { return dim >= 0 && dim < Rank(); }
  std::int64_t Size(int dim) const { return shape->dims[dim]; }
  FactorId Factor(int dim) const { return FactorId(factor.value + dim); }

  // The dimensions that are not in `without`, in ascending order.
  Dims Others(const Dims& without = {}) const {
    Dims dims;
    for (int dim = 0; dim < Rank(); ++dim) {
      if (!IsIn(without, dim)) dims.push_back(dim);
    }
    return dims;
  }

  // All dimensions in the order of the layout, major first.
  Dims InMemory() const {
    Dims dims(shape->minor_to_major.rbegin(), shape->minor_to_major.rend());
    std::erase_if(dims, [&](int dim) { return !Has(dim); });
    return dims.size() == shape->dims.size() ? dims : Others();
  }

  // The factors of those of the dimensions that exist.
  FactorIds Factors(const Dims& dims) const {
    FactorIds factors;
    for (const int dim : dims) {
      if (Has(dim)) factors.push_back(Factor(dim));
    }
    return factors;
  }
};

// The two minor dimensions of an array, and its tiles of these.
struct MinorDims {
  std::int64_t rows = 1, columns = 1;
  std::int64_t tile_rows = 1, tile_columns = 0;  // 0: not tiled

  explicit MinorDims(Array array) {
    const Dims order = array.InMemory();
    const std::vector<std::int64_t>& tile = array.shape->tile;
    if (!order.empty()) columns = array.Size(order.back());
    if (order.size() > 1) rows = array.Size(order[order.size() - 2]);
    if (!tile.empty()) tile_columns = tile.back();
    if (tile.size() > 1) tile_rows = tile[tile.size() - 2];
  }
  // With tiles of r x c, the order in memory is rows/r, columns/c, r, c.
  bool IsPlainOrder() const { return columns <= tile_columns || tile_columns == 0 || tile_rows == 1; }
  bool HasWholeTiles() const { return rows % tile_rows == 0; }
};

// Whether two arrays with the same bytes differ only in the dimensions above their tiles.
bool SameTiles(const MinorDims& one, const MinorDims& other) {
  if (one.IsPlainOrder() && other.IsPlainOrder()) return true;
  return one.columns == other.columns && one.tile_rows == other.tile_rows &&
         (one.rows == other.rows || (one.HasWholeTiles() && other.HasWholeTiles()));
}

}  // namespace

struct DimensionRules {
  const HloModule& module;
  Dimensions& dimensions;  // to fill
  std::size_t steps_so_far = 0;

  void Apply() {
    for (const InstructionId id : module.instructions.ids()) {
      if (!CountStep()) return;
      Instruction(id);
    }
    for (const InstructionId id : module.instructions.ids()) {
      if (dimensions.whole && At(id).opcode == "while") Stacks(id);
    }
  }

  const HloInstruction& At(InstructionId instruction) const { return module.instructions[instruction]; }
  int Leaves(InstructionId instruction) const { return dimensions.LeafCount(instruction); }
  Array Leaf(InstructionId instruction, int leaf) const {
    const ArrayId array{instruction, leaf};
    return {&dimensions.ShapeOf(array), dimensions.FirstFactor(array)};
  }
  // The first array of the result.
  Array Result(InstructionId instruction) const { return Leaves(instruction) > 0 ? Leaf(instruction, 0) : Array(); }
  // An operand, or a missing array if the operand is not an array.
  Array Operand(InstructionId instruction, std::size_t number) const {
    const std::span<const InstructionId> operands = At(instruction).operands;
    const bool is_array = number < operands.size() && !module.ShapeOf(operands[number]).is_tuple;
    return is_array ? Leaf(operands[number], 0) : Array();
  }

  // Reads dimension numbers from an attribute. Replaces impossible numbers by -1.
  Dims Named(InstructionId instruction, std::string_view name) const {
    Dims dims;
    for (const std::int64_t dim : Integers(Attribute(At(instruction).attributes, name))) {
      if (dims.size() >= kMaxRank) break;
      dims.push_back(dim >= 0 && std::cmp_less(dim, kMaxRank) ? static_cast<int>(dim) : -1);
    }
    return dims;
  }

  // Counts steps of loops that may be long. Returns false once there were too many; then the rules stop.
  bool CountStep(std::size_t times = 1) {
    // Real programs need less than four steps per dimension. A hostile program could cause a pairwise comparison of a
    // hundred thousand arrays, which takes minutes.
    constexpr std::size_t kMostSteps = 4 * Dimensions::kMost;
    steps_so_far += times;
    if (steps_so_far + dimensions.factors.steps() > kMostSteps) dimensions.whole = false;
    return dimensions.whole;
  }

  // Equates the dimensions if their sizes are equal. Ignores numbers that an array lacks, as all rules do.
  void Same(Array a, int i, Array b, int j) {
    if (a.Has(i) && b.Has(j) && a.Size(i) == b.Size(j) && a.Size(i) != 1)
      dimensions.factors.Equate(a.Factor(i), b.Factor(j));
  }

  // Equates the dimensions if their sizes are equal, else relates them if one is at least 1/8 of the other. A smaller
  // slice is a selection, such as one layer, block or token.
  void Relate(Array a, int i, Array b, int j) {
    if (!a.Has(i) || !b.Has(j)) return;
    const auto [shorter, longer] = std::minmax({a.Size(i), b.Size(j)});
    if (1 < shorter && shorter < longer && longer / shorter <= 8) dimensions.factors.Relate(a.Factor(i), b.Factor(j));
    Same(a, i, b, j);
  }

  // Applies Same to the listed dimensions in order.
  void SameDims(Array a, const Dims& a_dims, Array b, const Dims& b_dims) {
    for (std::size_t i = 0; i < std::min(a_dims.size(), b_dims.size()); ++i) Same(a, a_dims[i], b, b_dims[i]);
  }

  // Equates the sequences of dimensions, whatever their number.
  void SameFactors(Array a, const Dims& a_dims, Array b, const Dims& b_dims) {
    if (a && b) dimensions.factors.Equate(a.Factors(a_dims), b.Factors(b_dims));
  }

  // Applies Same or Relate to all dimensions if the ranks are equal.
  void SameEach(Array a, Array b) {
    for (int dim = 0; a.Rank() == b.Rank() && dim < a.Rank(); ++dim) Same(a, dim, b, dim);
  }
  void RelateEach(Array a, Array b) {
    for (int dim = 0; a.Rank() == b.Rank() && dim < a.Rank(); ++dim) Relate(a, dim, b, dim);
  }

  // Equates all dimensions if the arrays have equal dimensions.
  void SameArrays(Array a, Array b) {
    if (CountStep() && a && b && a.shape->dims == b.shape->dims) SameEach(a, b);
  }

  // Equates up to `count` arrays of two results, in order.
  void SameLeaves(ArrayId a, ArrayId b, int count) {
    count = std::min({count, Leaves(a.instruction) - a.leaf, Leaves(b.instruction) - b.leaf});
    for (int leaf = 0; leaf < count && dimensions.whole; ++leaf)
      SameArrays(Leaf(a.instruction, a.leaf + leaf), Leaf(b.instruction, b.leaf + leaf));
  }

  void SameResults(InstructionId a, InstructionId b) { SameLeaves({a, 0}, {b, 0}, Leaves(a)); }

  void Instruction(InstructionId id) {
    const HloInstruction& is = At(id);
    const Array from = Operand(id, 0);
    const Array to = Result(id);
    const Dims named = Named(id, "dimensions");
    if (is.opcode == "broadcast") return SameDims(from, from.Others(), to, named);
    if (is.opcode == "transpose") return SameDims(to, to.Others(), from, named);
    if (is.opcode == "reduce") return SameDims(from, from.Others(named), to, to.Others());
    if (is.opcode == "reshape") return SameFactors(from, from.Others(), to, to.Others());
    if (is.opcode == "bitcast") return Bitcast(from, to);
    if (is.opcode == "dot") return Dot(id);
    if (is.opcode == "convolution") return Convolution(id);
    if (is.opcode == "gather") return Slices(id, to, "offset_dims", "collapsed_slice_dims", "operand_batching_dims");
    if (is.opcode == "scatter") {
      SameArrays(from, to);
      return Slices(id, Operand(id, 2), "update_window_dims", "inserted_window_dims", "input_batching_dims");
    }
    if (is.opcode == "dynamic-slice") return SameEach(from, to);
    if (is.opcode == "dynamic-update-slice") {
      SameArrays(from, to);
      return SameEach(from, Operand(id, 1));
    }
    if (is.opcode == "get-tuple-element") return TupleElement(id);
    if (is.opcode == "tuple") return Tuple(id);
    if (is.Is({"fusion", "call", "async-start", "while", "conditional"})) return Calls(id);
    if (is.Is({"slice", "pad", "reduce-window", "concatenate", "all-gather", "all-to-all"})) return Resized(id);
    // copy-start, all-gather-start, …
    if (is.opcode.ends_with("-start")) return EachPair(id, &DimensionRules::RelateEach);
    if (is.opcode.ends_with("-done")) return EachPair(id, &DimensionRules::SameArrays);
    Elementwise(id);
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

  // The bytes do not change, so equates the dimensions in memory order, major first.
  void Bitcast(Array from, Array to) {
    if (from && to && ElementCount(*from.shape) == ElementCount(*to.shape) && SameTiles(MinorDims(from), MinorDims(to)))
      SameFactors(from, from.InMemory(), to, to.InMemory());
  }

  void Dot(InstructionId instruction) {
    const Array left = Operand(instruction, 0);
    const Array right = Operand(instruction, 1);
    if (!left || !right) return;
    const Array result = Result(instruction);
    const Dims left_batch = Named(instruction, "lhs_batch_dims");
    const Dims right_batch = Named(instruction, "rhs_batch_dims");
    const Dims left_sum = Named(instruction, "lhs_contracting_dims");
    const Dims right_sum = Named(instruction, "rhs_contracting_dims");
    const Dims left_free = left.Others(Joined(left_batch, left_sum));
    const Dims right_free = right.Others(Joined(right_batch, right_sum));
    const Dims of_left = Joined(left_batch, left_free);  // the first dimensions of the result; then those of the right
    SameDims(left, left_batch, right, right_batch);
    SameDims(left, left_sum, right, right_sum);
    SameDims(left, of_left, result, result.Others());
    SameDims(right, Joined(Dims(of_left.size(), -1), right_free), result, result.Others());
    dimensions.products.push_back({instruction, left.Factors(left_batch), left.Factors(left_free),
                                   right.Factors(right_free), left.Factors(left_sum)});
  }

  // dim_labels=b01f_01io->b01f. On TPU every dot becomes a convolution. A batch dimension of the dot becomes a spatial
  // dimension whose window has the same size.
  void Convolution(InstructionId instruction) {
    const Array input = Operand(instruction, 0);
    const Array kernel = Operand(instruction, 1);
    const Array result = Result(instruction);
    const std::string_view labels = Attribute(At(instruction).attributes, "dim_labels");
    const std::size_t under = std::min(labels.find('_'), labels.size());
    const std::size_t arrow = std::min(labels.find("->", under), labels.size());
    if (!input || !kernel || arrow == labels.size()) return;
    // The dimension with this label, -1 if there is none.
    const auto in = [&](char label) { return PlaceOf(labels.substr(0, under), label); };
    const auto window = [&](char label) { return PlaceOf(labels.substr(under + 1, arrow - under - 1), label); };
    const auto out = [&](char label) { return PlaceOf(labels.substr(arrow + 2), label); };
    Product product{instruction};
    Same(input, in('b'), result, out('b'));
    Same(kernel, window('o'), result, out('f'));
    Same(input, in('f'), kernel, window('i'));
    Add(&product.left, input, in('b'));
    Add(&product.right, kernel, window('o'));
    Add(&product.contracted, input, in('f'));
    for (char label = '0'; label <= '9' && in(label) >= 0; ++label) {
      const int i = in(label);
      const int k = window(label);
      const int o = out(label);
      if (!input.Has(i) || !kernel.Has(k) || !result.Has(o)) continue;
      if (input.Size(i) == kernel.Size(k) && result.Size(o) <= kernel.Size(k)) {
        Same(input, i, kernel, k);
        Same(input, i, result, o);
        // A smaller result: the gradient of a kernel, or a contraction of a dot.
        Add(result.Size(o) == kernel.Size(k) ? &product.batch : &product.contracted, input, i);
        continue;
      }
      if (input.Size(i) == 1) Same(kernel, k, result, o);  // a free dimension of the right operand
      Relate(input, i, result, o);
      Add(&product.left, input, i);
    }
    dimensions.products.push_back(std::move(product));
  }

  static void Add(FactorIds* list, Array array, int dim) {
    if (array.Has(dim) && array.Size(dim) > 1) list->push_back(array.Factor(dim));
  }

  static int PlaceOf(std::string_view labels, char label) {
    const std::size_t at = labels.find(label);
    return at == std::string_view::npos ? -1 : static_cast<int>(at);
  }

  // Equates the dimensions of an array with those of its slices: a gather's result, or a scatter's updates. `of_slices`
  // names the dimensions of a slice there. The others are those of the indices, except index_vector_dim.
  void Slices(InstructionId instruction, Array slices, const char* of_slices, const char* collapsed,
              const char* batching) {
    const Array whole = Operand(instruction, 0);
    const Array indices = Operand(instruction, 1);
    if (!whole || !indices || !slices) return;
    const Dims window = Named(instruction, of_slices);
    SameDims(whole, whole.Others(Joined(Named(instruction, collapsed), Named(instruction, batching))), slices, window);
    SameDims(indices, indices.Others(Named(instruction, "index_vector_dim")), slices, slices.Others(window));
  }

  // Each operand against the result, or its result if there are several.
  void Resized(InstructionId instruction) {
    for (int number = 0; std::cmp_less(number, At(instruction).operands.size()); ++number) {
      const int leaf = Leaves(instruction) > 1 ? number : 0;
      if (leaf < Leaves(instruction)) RelateEach(Operand(instruction, number), Leaf(instruction, leaf));
    }
  }

  void TupleElement(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    const std::vector<std::int64_t> index = Integers(Attribute(at.attributes, "index"));
    if (at.operands.empty() || index.empty()) return;
    const std::vector<int>& starts = dimensions.ArraysOf(at.operands[0]).starts;
    if (index[0] >= 0 && std::cmp_less(index[0], starts.size()))
      SameLeaves({instruction, 0}, {at.operands[0], starts[index[0]]}, Leaves(instruction));
  }

  void Tuple(InstructionId instruction) {
    int leaf = 0;
    for (const InstructionId operand : At(instruction).operands) {
      if (leaf >= Leaves(instruction)) return;
      SameLeaves({instruction, leaf}, {operand, 0}, Leaves(operand));
      leaf += Leaves(operand);
    }
  }

  // Equates the operands with the parameters of a computation that the instruction calls, and the results of both.
  void Call(InstructionId instruction, ComputationId computation, std::span<const InstructionId> operands) {
    const HloComputation& called = module.computations[computation];
    for (std::size_t i = 0; i < std::min(called.parameters.size(), operands.size()); ++i) {
      if (called.parameters[i]) SameResults(called.parameters[i], operands[i]);
    }
    if (!called.root) return;
    // The result of async-start is ((operands), result, context).
    const std::vector<int>& starts = dimensions.ArraysOf(instruction).starts;
    const int leaf = At(instruction).opcode == "async-start" && starts.size() > 1 ? starts[1] : 0;
    SameLeaves({instruction, leaf}, {called.root, 0}, Leaves(called.root));
  }

  void Calls(InstructionId instruction) {
    const HloInstruction& at = At(instruction);
    if (at.opcode == "while" && !at.operands.empty()) SameResults(instruction, at.operands[0]);
    for (std::size_t i = 0; i < at.calls.size(); ++i) {
      // The first operand of a conditional chooses the branch; the others are the argument of one branch each.
      const std::size_t own = std::min(i + 1, at.operands.size());
      Call(instruction, at.calls[i], at.opcode == "conditional" ? at.operands.subspan(own) : at.operands);
    }
  }

  // The factor of the dimension of length `steps` that an instruction reads or writes one element of; empty if none.
  FactorId StackedDim(InstructionId instruction, std::int64_t steps) const {
    const bool writes = At(instruction).opcode == "dynamic-update-slice";
    if (!writes && At(instruction).opcode != "dynamic-slice") return {};
    const Array whole = Operand(instruction, 0);
    const Array part = writes ? Operand(instruction, 1) : Result(instruction);
    for (int dim = 0; whole.Rank() == part.Rank() && dim < whole.Rank(); ++dim) {
      if (whole.Size(dim) == steps && part.Size(dim) == 1) return whole.Factor(dim);
    }
    return {};
  }

  // Finds a loop's number of steps, and the stacks of that length that it reads or writes one step at a time.
  void Stacks(InstructionId instruction) {
    const HloInstruction& loop = At(instruction);
    if (loop.calls.size() < 2) return;
    // The condition compares the step with the number of steps.
    std::int64_t steps = 0;
    for (const InstructionId at : module.computations[loop.calls[0]].instructions) {
      if (!CountStep()) break;
      const std::vector<std::int64_t> numbers = Integers(At(at).opcode == "constant" ? At(at).literal : "");
      if (!numbers.empty()) steps = std::max(steps, numbers[0]);
    }
    if (steps < 2) return;
    FactorId first;
    for (const ComputationId computation : WithFusions(module, loop.calls[1])) {
      for (const InstructionId at : module.computations[computation].instructions) {
        const FactorId stacked = StackedDim(at, steps);
        if (!first) first = stacked;
        if (stacked) dimensions.factors.Equate(first, stacked);
        if (!CountStep()) return;
      }
      if (!CountStep(8)) return;
    }
    dimensions.loops.push_back({instruction, steps, first});
  }

  // Applies the rule to each array of an operand and each of the result.
  void EachPair(InstructionId instruction, void (DimensionRules::*rule)(Array, Array)) {
    for (const InstructionId operand : At(instruction).operands) {
      for (int from = 0; from < Leaves(operand); ++from) {
        for (int leaf = 0; leaf < Leaves(instruction) && CountStep(); ++leaf)
          (this->*rule)(Leaf(operand, from), Leaf(instruction, leaf));
      }
    }
  }
};

void Dimensions::ApplyRules() { DimensionRules{module_, *this}.Apply(); }

}  // namespace whyoom
