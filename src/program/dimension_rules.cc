#include <algorithm>
#include <numeric>
#include <set>
#include <string>

#include "program/dimensions.h"

namespace whyoom {

namespace {

std::vector<std::int64_t> List(const HloInstruction& instruction, std::string_view name) {
  return Integers(Attribute(instruction.attributes, name));
}

// Numbers of dimensions; what is the number of none, whatever the array, comes as -1.
std::vector<int> NamedDims(const HloInstruction& instruction, std::string_view name) {
  std::vector<int> dims;
  for (const std::int64_t dim : List(instruction, name)) {
    if (dims.size() >= kMaxRank) break;
    dims.push_back(dim >= 0 && dim < static_cast<std::int64_t>(kMaxRank) ? static_cast<int>(dim) : -1);
  }
  return dims;
}

bool Holds(const std::vector<int>& list, int value) { return std::find(list.begin(), list.end(), value) != list.end(); }

// A slice that keeps less of a dimension is a choice of its own, such as one layer, block or token.
bool KeepsMost(std::int64_t one, std::int64_t other) {
  constexpr std::int64_t kAtMost = 8;
  return one > 1 && other > 1 && std::max(one, other) / std::min(one, other) <= kAtMost;
}

}  // namespace

class DimensionRules {
 public:
  // Borrows both; fills in `dimensions`.
  DimensionRules(const HloModule& module, Dimensions* dimensions) : module_(module), dimensions_(*dimensions) {}

  void Apply() {
    for (std::size_t i = 0; i < module_.instructions.size() && Look(); ++i) Instruction(static_cast<int>(i));
    for (std::size_t i = 0; i < module_.instructions.size() && dimensions_.whole(); ++i) {
      if (At(static_cast<int>(i)).opcode == "while") Stacks(static_cast<int>(i));
    }
  }

 private:
  // An array: an instruction's result or a part of it.
  struct Array {
    int instruction = 0;
    int leaf = 0;
  };
  const HloInstruction& At(int instruction) const { return module_.instructions[instruction]; }
  const ArrayShape& Shape(Array array) const { return dimensions_.Leaf(array.instruction, array.leaf); }
  int Rank(Array array) const { return static_cast<int>(Shape(array).dims.size()); }
  std::int64_t Size(Array array, int dim) const { return Shape(array).dims[dim]; }
  int Dim(Array array, int dim) const { return dimensions_.Node(array.instruction, array.leaf, dim); }

  // To be asked before each step of what may take many. False once there were too many: the module is not gone through
  // any further.
  bool Look(std::size_t times = 1) {
    // Real programs look less than four times at each of their dimensions. Arrays that are held against each other all
    // with all, a hundred thousand of them, would take minutes.
    constexpr std::size_t kMostLooks = 4 * Dimensions::kMost;
    looks_ += times;
    if (looks_ + dimensions_.factors_.steps() > kMostLooks) dimensions_.whole_ = false;
    return dimensions_.whole_;
  }

  // Operand number `number` as an array; false where it is absent or a tuple.
  bool Operand(int instruction, std::size_t number, Array* array) const {
    const HloInstruction& at = At(instruction);
    if (number >= at.operands.size()) return false;
    *array = {at.operands[number], 0};
    return !module_.ShapeOf(array->instruction).is_tuple;
  }

  // equal sizes are equated, others passed over
  void Same(Array a, int a_dim, Array b, int b_dim) {
    if (a_dim < 0 || b_dim < 0 || a_dim >= Rank(a) || b_dim >= Rank(b) || Size(a, a_dim) != Size(b, b_dim)) return;
    if (Size(a, a_dim) != 1) dimensions_.factors_.Equate(Dim(a, a_dim), Dim(b, b_dim));
  }

  // equal sizes are equated, others related
  void Kin(Array a, int a_dim, Array b, int b_dim) {
    if (a_dim < 0 || b_dim < 0 || a_dim >= Rank(a) || b_dim >= Rank(b)) return;
    if (Size(a, a_dim) == Size(b, b_dim)) {
      Same(a, a_dim, b, b_dim);
    } else if (KeepsMost(Size(a, a_dim), Size(b, b_dim))) {
      dimensions_.factors_.Relate(Dim(a, a_dim), Dim(b, b_dim));
    }
  }

  // of equal dimensions
  void SameArrays(Array a, Array b) {
    if (!Look() || Shape(a).dims != Shape(b).dims) return;
    for (int dim = 0; dim < Rank(a); ++dim) Same(a, dim, b, dim);
  }

  // what is no dimension of the array is passed over
  void Add(Array array, int dim, std::vector<int>* factors) const {
    if (dim >= 0 && dim < Rank(array)) factors->push_back(Dim(array, dim));
  }

  void SameLeaves(int a, int a_first, int b, int b_first, int count) {
    count = std::min({count, dimensions_.LeafCount(a) - a_first, dimensions_.LeafCount(b) - b_first});
    for (int leaf = 0; leaf < count && dimensions_.whole(); ++leaf)
      SameArrays({a, a_first + leaf}, {b, b_first + leaf});
  }

  // all leaves, as far as they pair up
  void SameResults(int a, int b) {
    SameLeaves(a, 0, b, 0, std::min(dimensions_.LeafCount(a), dimensions_.LeafCount(b)));
  }

  // An array's dimensions in the order of its layout, major first.
  std::vector<int> InMemory(Array array) const {
    const ArrayShape& shape = Shape(array);
    std::vector<int> row;
    for (auto dim = shape.minor_to_major.rbegin(); dim != shape.minor_to_major.rend(); ++dim)
      if (*dim >= 0 && *dim < Rank(array)) row.push_back(*dim);
    if (row.size() == shape.dims.size()) return row;
    row.clear();
    for (int dim = 0; dim < Rank(array); ++dim) row.push_back(dim);
    return row;
  }

  // Whether two arrays of the same bytes differ only in how the dimensions above their tiles are written.
  bool SameTiles(Array a, const std::vector<int>& a_row, Array b, const std::vector<int>& b_row) const {
    // In tiles of r x c, memory holds d1/r, d0/c, r, c: that is the plain order only where one tile is as wide as the
    // array. Else both arrays must be cut into the same tiles, so that only what lies above them is written otherwise.
    struct Minor {
      std::int64_t rows = 1, columns = 1;            // the two minor dimensions
      std::int64_t tile_rows = 1, tile_columns = 0;  // 0: no tiles
    };
    const auto minor = [&](Array array, const std::vector<int>& row) {
      Minor is;
      if (!row.empty()) is.columns = Size(array, row.back());
      if (row.size() > 1) is.rows = Size(array, row[row.size() - 2]);
      const ArrayShape& shape = Shape(array);
      if (!shape.tiles.empty() && !shape.tiles[0].empty()) {
        is.tile_columns = shape.tiles[0].back();
        is.tile_rows = shape.tiles[0].size() > 1 ? shape.tiles[0][shape.tiles[0].size() - 2] : 1;
      }
      return is;
    };
    const Minor one = minor(a, a_row);
    const Minor other = minor(b, b_row);
    const auto plain = [](const Minor& is) {
      return is.columns <= is.tile_columns || is.tile_columns == 0 || is.tile_rows == 1;
    };
    if (plain(one) && plain(other)) return true;
    if (one.columns != other.columns || one.tile_rows != other.tile_rows) return false;
    return one.rows == other.rows || (one.rows % one.tile_rows == 0 && other.rows % other.tile_rows == 0);
  }

  void Instruction(int instruction) {
    const std::string_view opcode = At(instruction).opcode;
    if (opcode == "parameter" || opcode == "constant" || opcode == "iota") return;
    if (opcode == "broadcast") return Broadcast(instruction);
    if (opcode == "reshape") return Reshape(instruction);
    if (opcode == "bitcast") return Bitcast(instruction);
    if (opcode == "transpose") return Transpose(instruction);
    if (opcode == "dot") return Dot(instruction);
    if (opcode == "convolution") return Convolution(instruction);
    if (opcode == "reduce") return Reduce(instruction);
    if (opcode == "gather") return Gather(instruction);
    if (opcode == "scatter") return Scatter(instruction);
    if (opcode == "slice" || opcode == "pad" || opcode == "reduce-window" || opcode == "select-and-scatter" ||
        opcode == "all-gather" || opcode == "reduce-scatter" || opcode == "all-to-all") {
      return Resized(instruction);
    }
    if (opcode == "dynamic-slice") return DynamicSlice(instruction);
    if (opcode == "dynamic-update-slice") return DynamicUpdateSlice(instruction);
    if (opcode == "concatenate") return Concatenate(instruction);
    if (opcode == "get-tuple-element") return TupleElement(instruction);
    if (opcode == "tuple") return Tuple(instruction);
    if (opcode == "fusion" || opcode == "call" || opcode == "async-start" || opcode == "map") return Calls(instruction);
    if (opcode == "while") return While(instruction);
    if (opcode == "conditional") return Conditional(instruction);
    if (opcode.ends_with("-start")) return Start(instruction);
    if (opcode.ends_with("-done")) return Done(instruction);
    Elementwise(instruction);
  }

  void Elementwise(int instruction) {
    for (std::size_t number = 0; number < At(instruction).operands.size(); ++number) {
      const int operand = At(instruction).operands[number];
      for (int leaf = 0; leaf < dimensions_.LeafCount(instruction) && Look(); ++leaf) {
        // Several results of several operands (sort, optimization-barrier) pair up; one operand may shape all results.
        const int from = dimensions_.LeafCount(operand) == 1 ? 0 : leaf;
        if (from < dimensions_.LeafCount(operand)) SameArrays({instruction, leaf}, {operand, from});
      }
    }
  }

  void Broadcast(int instruction) {
    Array from;
    if (!Operand(instruction, 0, &from)) return;
    const std::vector<int> dims = NamedDims(At(instruction), "dimensions");
    for (std::size_t i = 0; i < dims.size(); ++i) Same(from, static_cast<int>(i), {instruction, 0}, dims[i]);
  }

  void Reshape(int instruction) {
    Array from;
    if (!Operand(instruction, 0, &from)) return;
    std::vector<int> before;
    std::vector<int> after;
    for (int dim = 0; dim < Rank(from); ++dim) before.push_back(Dim(from, dim));
    for (int dim = 0; dim < Rank({instruction, 0}); ++dim) after.push_back(Dim({instruction, 0}, dim));
    dimensions_.factors_.Equate(before, after);
  }

  void Bitcast(int instruction) {
    Array from;
    if (!Operand(instruction, 0, &from)) return;
    const Array to{instruction, 0};
    if (ElementCount(Shape(from)) != ElementCount(Shape(to))) return;
    // The bytes stay as they are: what agrees is the order in memory, major first.
    const std::vector<int> before = InMemory(from);
    const std::vector<int> after = InMemory(to);
    if (!SameTiles(from, before, to, after)) return;
    const auto nodes = [&](Array array, const std::vector<int>& dims) {
      std::vector<int> row;
      for (const int dim : dims) row.push_back(Dim(array, dim));
      return row;
    };
    dimensions_.factors_.Equate(nodes(from, before), nodes(to, after));
  }

  void Transpose(int instruction) {
    Array from;
    if (!Operand(instruction, 0, &from)) return;
    const std::vector<int> order = NamedDims(At(instruction), "dimensions");
    for (std::size_t i = 0; i < order.size(); ++i) Same({instruction, 0}, static_cast<int>(i), from, order[i]);
  }

  void Dot(int instruction) {
    Array left;
    Array right;
    if (!Operand(instruction, 0, &left) || !Operand(instruction, 1, &right)) return;
    const Array result{instruction, 0};
    const HloInstruction& at = At(instruction);
    const std::vector<int> left_batch = NamedDims(at, "lhs_batch_dims");
    const std::vector<int> right_batch = NamedDims(at, "rhs_batch_dims");
    const std::vector<int> left_sum = NamedDims(at, "lhs_contracting_dims");
    const std::vector<int> right_sum = NamedDims(at, "rhs_contracting_dims");
    Product product;
    product.instruction = instruction;
    int to = 0;
    for (std::size_t i = 0; i < std::min(left_batch.size(), right_batch.size()); ++i, ++to) {
      Same(left, left_batch[i], right, right_batch[i]);
      Same(left, left_batch[i], result, to);
      Add(left, left_batch[i], &product.batch);
    }
    for (std::size_t i = 0; i < std::min(left_sum.size(), right_sum.size()); ++i) {
      Same(left, left_sum[i], right, right_sum[i]);
      Add(left, left_sum[i], &product.contracted);
    }
    for (int dim = 0; dim < Rank(left); ++dim) {
      if (Holds(left_batch, dim) || Holds(left_sum, dim)) continue;
      Add(left, dim, &product.left);
      Same(left, dim, result, to++);
    }
    for (int dim = 0; dim < Rank(right); ++dim) {
      if (Holds(right_batch, dim) || Holds(right_sum, dim)) continue;
      Add(right, dim, &product.right);
      Same(right, dim, result, to++);
    }
    dimensions_.products_.push_back(std::move(product));
  }

  void Convolution(int instruction) {
    // dim_labels=b01f_01io->b01f. On TPU every dot becomes one; a batch dimension of a dot is a spatial one whose
    // window is as large as itself.
    Array input;
    Array kernel;
    if (!Operand(instruction, 0, &input) || !Operand(instruction, 1, &kernel)) return;
    const Array result{instruction, 0};
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
    Product product;
    product.instruction = instruction;
    const auto add = [&](std::vector<int>* list, Array array, int dim) {
      if (dim >= 0 && dim < Rank(array) && Size(array, dim) > 1) Add(array, dim, list);
    };
    Same(input, place(in, 'b'), result, place(out, 'b'));
    Same(kernel, place(window, 'o'), result, place(out, 'f'));
    Same(input, place(in, 'f'), kernel, place(window, 'i'));
    add(&product.left, input, place(in, 'b'));
    add(&product.right, kernel, place(window, 'o'));
    add(&product.contracted, input, place(in, 'f'));
    for (char label = '0'; label <= '9' && place(in, label) >= 0; ++label) {
      const int i = place(in, label);
      const int k = place(window, label);
      const int o = place(out, label);
      if (i >= Rank(input) || k >= Rank(kernel) || o >= Rank(result) || k < 0 || o < 0) continue;
      const std::int64_t i_size = Size(input, i);
      const std::int64_t k_size = Size(kernel, k);
      const std::int64_t o_size = Size(result, o);
      if (i_size == k_size && k_size == o_size) {
        Same(input, i, kernel, k);
        Same(input, i, result, o);
        add(&product.batch, input, i);
      } else if (k_size == i_size && o_size < k_size) {  // the gradient of a kernel, or a dot's contraction
        Same(input, i, kernel, k);
        add(&product.contracted, input, i);
      } else if (k_size > o_size && k_size > 1 && KeepsMost(i_size, k_size)) {
        Kin(input, i, kernel, k);
        add(&product.contracted, input, i);
      } else {
        if (k_size == o_size && i_size == 1) Same(kernel, k, result, o);  // free of the right operand
        Kin(input, i, result, o);
        add(&product.left, input, i);
      }
    }
    dimensions_.products_.push_back(std::move(product));
  }

  void Reduce(int instruction) {
    const std::vector<int> summed = NamedDims(At(instruction), "dimensions");
    const std::size_t arrays = At(instruction).operands.size() / 2;
    for (std::size_t number = 0; number < std::max<std::size_t>(arrays, 1); ++number) {
      Array from;
      if (!Operand(instruction, number, &from) || static_cast<int>(number) >= dimensions_.LeafCount(instruction))
        return;
      int to = 0;
      for (int dim = 0; dim < Rank(from); ++dim) {
        if (!Holds(summed, dim)) Same(from, dim, {instruction, static_cast<int>(number)}, to++);
      }
      Array first;
      if (number > 0 && Operand(instruction, 0, &first)) SameArrays(from, first);
    }
  }

  void Gather(int instruction) {
    Array from;
    Array indices;
    if (!Operand(instruction, 0, &from) || !Operand(instruction, 1, &indices)) return;
    const HloInstruction& at = At(instruction);
    const Array result{instruction, 0};
    const std::vector<int> offsets = NamedDims(at, "offset_dims");
    const std::vector<int> collapsed = NamedDims(at, "collapsed_slice_dims");
    const std::vector<int> batching = NamedDims(at, "operand_batching_dims");
    const std::vector<std::int64_t> sizes = List(at, "slice_sizes");
    std::size_t offset = 0;
    for (int dim = 0; dim < Rank(from); ++dim) {
      if (Holds(collapsed, dim) || Holds(batching, dim)) continue;
      if (offset >= offsets.size()) break;
      if (static_cast<std::size_t>(dim) < sizes.size() && sizes[dim] == Size(from, dim))
        Same(from, dim, result, offsets[offset]);
      ++offset;
    }
    const std::vector<int> index = NamedDims(at, "index_vector_dim");
    int to = 0;
    for (int dim = 0; dim < Rank(indices); ++dim) {
      if (!index.empty() && index[0] == dim) continue;
      while (Holds(offsets, to)) ++to;
      Same(indices, dim, result, to++);
    }
  }

  void Scatter(int instruction) {
    Array onto;
    Array indices;
    Array updates;
    if (!Operand(instruction, 0, &onto) || !Operand(instruction, 1, &indices) || !Operand(instruction, 2, &updates))
      return;
    SameArrays(onto, {instruction, 0});
    const HloInstruction& at = At(instruction);
    const std::vector<int> window = NamedDims(at, "update_window_dims");
    const std::vector<int> inserted = NamedDims(at, "inserted_window_dims");
    const std::vector<int> batching = NamedDims(at, "input_batching_dims");
    std::size_t next = 0;
    for (int dim = 0; dim < Rank(onto); ++dim) {
      if (Holds(inserted, dim) || Holds(batching, dim)) continue;
      if (next < window.size()) Same(onto, dim, updates, window[next++]);
    }
    const std::vector<int> index = NamedDims(at, "index_vector_dim");
    int to = 0;
    for (int dim = 0; dim < Rank(indices); ++dim) {
      if (!index.empty() && index[0] == dim) continue;
      while (Holds(window, to)) ++to;
      Same(indices, dim, updates, to++);
    }
  }

  // slice, pad, reduce-window, collectives: dimension by dimension
  void Resized(int instruction) {
    Array from;
    const Array to{instruction, 0};
    if (!Operand(instruction, 0, &from) || Rank(from) != Rank(to)) return;
    for (int dim = 0; dim < Rank(to); ++dim) Kin(from, dim, to, dim);
  }

  void DynamicSlice(int instruction) {
    Array from;
    const Array to{instruction, 0};
    if (!Operand(instruction, 0, &from) || Rank(from) != Rank(to)) return;
    for (int dim = 0; dim < Rank(to); ++dim) Same(from, dim, to, dim);
  }

  void DynamicUpdateSlice(int instruction) {
    Array onto;
    Array update;
    if (!Operand(instruction, 0, &onto)) return;
    SameArrays(onto, {instruction, 0});
    if (!Operand(instruction, 1, &update) || Rank(update) != Rank(onto)) return;
    for (int dim = 0; dim < Rank(onto); ++dim) Same(onto, dim, update, dim);
  }

  void Concatenate(int instruction) {
    for (std::size_t number = 0; number < At(instruction).operands.size(); ++number) {
      Array from;
      if (!Operand(instruction, number, &from) || Rank(from) != Rank({instruction, 0})) continue;
      for (int dim = 0; dim < Rank(from); ++dim) Kin(from, dim, {instruction, 0}, dim);
    }
  }

  void TupleElement(int instruction) {
    const HloInstruction& at = At(instruction);
    const std::vector<std::int64_t> index = List(at, "index");
    if (at.operands.empty() || index.empty()) return;
    const int from = at.operands[0];
    const HloShape& shape = module_.ShapeOf(from);
    if (!shape.is_tuple || index[0] < 0 || index[0] >= static_cast<std::int64_t>(shape.elements.size())) return;
    const int start = dimensions_.LeavesOf(At(from).shape).starts[index[0]];
    SameLeaves(instruction, 0, from, start, dimensions_.LeafCount(instruction));
  }

  void Tuple(int instruction) {
    int leaf = 0;
    for (const int operand : At(instruction).operands) {
      if (leaf >= dimensions_.LeafCount(instruction)) return;
      SameLeaves(instruction, leaf, operand, 0, dimensions_.LeafCount(operand));
      leaf += dimensions_.LeafCount(operand);
    }
  }

  // fusion, call, async-start: the computation's parameters are the operands
  void Calls(int instruction) {
    const HloInstruction& at = At(instruction);
    if (at.calls.empty()) return;
    const HloComputation& called = module_.computations[at.calls[0]];
    for (std::size_t i = 0; i < std::min(called.parameters.size(), at.operands.size()); ++i) {
      if (called.parameters[i] >= 0) SameResults(called.parameters[i], at.operands[i]);
    }
    if (called.root < 0) return;
    if (at.opcode != "async-start") return SameResults(called.root, instruction);
    // ((operands), result, context)
    const HloShape& shape = module_.ShapeOf(instruction);
    if (shape.is_tuple && shape.elements.size() >= 2) {
      const int start = dimensions_.LeavesOf(at.shape).starts[1];
      SameLeaves(instruction, start, called.root, 0, dimensions_.LeafCount(called.root));
    }
  }

  void While(int instruction) {
    const HloInstruction& at = At(instruction);
    if (!at.operands.empty()) SameResults(instruction, at.operands[0]);
    for (const int call : at.calls) {
      const HloComputation& called = module_.computations[call];
      if (!called.parameters.empty() && called.parameters[0] >= 0) SameResults(instruction, called.parameters[0]);
      if (called.root >= 0 && dimensions_.LeafCount(called.root) == dimensions_.LeafCount(instruction))
        SameResults(instruction, called.root);
    }
  }

  std::int64_t Steps(int condition) {
    std::int64_t steps = 0;
    for (const int at : module_.computations[condition].instructions) {
      if (!Look()) break;
      if (At(at).opcode != "constant") continue;
      const std::vector<std::int64_t> numbers = Integers(At(at).literal);
      if (!numbers.empty()) steps = std::max(steps, numbers[0]);
    }
    return steps;
  }

  // The factor of what an instruction reads or writes one of `steps` of; -1: it does not.
  int StackedDim(int instruction, std::int64_t steps) const {
    const bool writes = At(instruction).opcode == "dynamic-update-slice";
    if (!writes && At(instruction).opcode != "dynamic-slice") return -1;
    Array whole;
    Array part{instruction, 0};
    if (!Operand(instruction, 0, &whole) || (writes && !Operand(instruction, 1, &part))) return -1;
    if (Rank(whole) != Rank(part)) return -1;
    for (int dim = 0; dim < Rank(whole); ++dim) {
      if (Size(whole, dim) == steps && Size(part, dim) == 1) return Dim(whole, dim);
    }
    return -1;
  }

  // of a loop: what it reads or writes one step at a time is as long as it runs
  void Stacks(int instruction) {
    const HloInstruction& loop = At(instruction);
    if (loop.calls.size() < 2) return;
    // The condition compares the step with how many there are.
    const std::int64_t steps = Steps(loop.calls[0]);
    if (steps < 2) return;
    int first = -1;
    std::vector<std::pair<int, int>> open = {{loop.calls[1], 0}};
    std::set<std::pair<int, int>> seen;
    while (!open.empty()) {
      const auto [computation, depth] = open.back();
      open.pop_back();
      if (!Look(8)) return;
      if (!seen.insert({computation, depth}).second) continue;
      for (const int at : module_.computations[computation].instructions) {
        if (At(at).opcode == "fusion" && depth < 8) {
          for (const int call : At(at).calls) open.emplace_back(call, depth + 1);
        }
        const int stacked = StackedDim(at, steps);
        if (first < 0) first = stacked;
        if (stacked >= 0) dimensions_.factors_.Equate(first, stacked);
        if (!Look()) return;
      }
    }
    dimensions_.loops_.push_back({instruction, steps, first});
  }

  void Conditional(int instruction) {
    const HloInstruction& at = At(instruction);
    for (std::size_t i = 0; i < at.calls.size(); ++i) {
      const HloComputation& called = module_.computations[at.calls[i]];
      if (called.root >= 0) SameResults(instruction, called.root);
      if (i + 1 < at.operands.size() && !called.parameters.empty() && called.parameters[0] >= 0)
        SameResults(at.operands[i + 1], called.parameters[0]);
    }
  }

  // copy-start, all-gather-start, …
  void Start(int instruction) {
    for (std::size_t number = 0; number < At(instruction).operands.size(); ++number) {
      Array from;
      if (!Operand(instruction, number, &from)) continue;
      for (int leaf = 0; leaf < dimensions_.LeafCount(instruction) && Look(); ++leaf) {
        const Array to{instruction, leaf};
        if (Rank(to) != Rank(from)) continue;
        for (int dim = 0; dim < Rank(from); ++dim) Kin(from, dim, to, dim);
      }
    }
  }

  void Done(int instruction) {
    const HloInstruction& at = At(instruction);
    if (at.operands.empty()) return;
    for (int to = 0; to < dimensions_.LeafCount(instruction); ++to) {
      for (int leaf = 0; leaf < dimensions_.LeafCount(at.operands[0]) && dimensions_.whole(); ++leaf)
        SameArrays({instruction, to}, {at.operands[0], leaf});
    }
  }

  const HloModule& module_;
  Dimensions& dimensions_;
  std::size_t looks_ = 0;
};
void Dimensions::ApplyRules() { DimensionRules(module_, this).Apply(); }

}  // namespace whyoom
